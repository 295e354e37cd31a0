//! A program of its own: it changes its environment.

#[test]
fn a_token_that_is_no_text_does_not_open_the_page() {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStringExt;
        let token = std::ffi::OsString::from_vec(b"s\xffcret".to_vec());
        // SAFETY: this program has no other thread that looks at its environment.
        unsafe {
            std::env::set_var("BLITZ_CONSOLE", "127.0.0.1:0");
            std::env::set_var("BLITZ_CONSOLE_TOKEN", token);
        }
        let error = blitz_console::from_env().map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("BLITZ_CONSOLE_TOKEN"), "{error}");
    }
}
