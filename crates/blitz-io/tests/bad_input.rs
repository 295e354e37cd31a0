//! Settings and attributes that make no sense: which one, what was wrong, what to do instead.

use blitz_io::Builder;
use std::io::ErrorKind;
#[cfg(unix)]
use std::{
    io::Write,
    path::PathBuf,
    process::{Command, Stdio},
};

#[test]
#[should_panic(expected = "Worker threads cannot be set to 0")]
fn no_worker_threads() {
    Builder::new_multi_thread().worker_threads(0);
}

#[test]
#[should_panic(expected = "Max blocking threads cannot be set to 0")]
fn no_blocking_threads() {
    Builder::new_multi_thread().max_blocking_threads(0);
}

#[test]
#[should_panic(expected = "a RwLock may not be created with 0 readers")]
fn no_readers() {
    blitz_io::sync::RwLock::with_max_readers((), 0);
}

#[test]
#[should_panic(expected = "a RwLock has room for u32::MAX >> 3 readers at most")]
fn more_readers_than_a_lock_can_count() {
    blitz_io::sync::RwLock::const_with_max_readers((), u32::MAX);
}

fn refusal(set: impl Fn(&mut Builder) -> &mut Builder) -> std::io::Error {
    let mut builder = Builder::new_multi_thread();
    set(builder.worker_threads(1))
        .build()
        .map(|_| ())
        .unwrap_err()
}

#[test]
fn more_threads_than_anybody_has_is_an_error() {
    for threads in [1 << 20, usize::MAX] {
        let error = refusal(|builder| builder.worker_threads(threads));
        let text = error.to_string();
        assert!(
            text.contains("threads") && text.contains("at most"),
            "{text}"
        );
    }
}

#[test]
fn a_name_that_no_thread_can_have_is_an_error() {
    for builder in [Builder::new_multi_thread(), Builder::new_current_thread()] {
        let mut builder = builder;
        let error = builder.thread_name("a\0b").build().map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let text = error.to_string();
        assert!(
            text.contains("thread_name") && text.contains("NUL"),
            "{text}"
        );
    }
}

#[test]
fn a_stack_that_no_thread_can_have_is_an_error() {
    for bytes in [usize::MAX, usize::MAX / 16 * 15] {
        let error = refusal(|builder| builder.thread_stack_size(bytes));
        assert!(error.to_string().contains("thread"), "{error}");
    }
}

#[test]
fn only_a_current_thread_runtime_starts_with_a_paused_clock() {
    let error = refusal(|builder| builder.start_paused(true));
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    let text = error.to_string();
    assert!(
        text.contains("start_paused") && text.contains("new_current_thread"),
        "{text}"
    );
}

/// The newest build of the attributes: beside this program, or with `--target` where the compiler's own programs lie.
#[cfg(unix)]
fn attributes() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let beside = program.parent().unwrap();
    // target/debug/deps, and from target/TRIPLE/debug/deps the same.
    let profile = beside.parent().unwrap();
    let of_compiler = profile
        .parent()
        .unwrap()
        .with_file_name(profile.file_name().unwrap());
    let folders = [beside.to_owned(), of_compiler.join("deps")];
    let entries = folders
        .iter()
        .filter_map(|folder| std::fs::read_dir(folder).ok());
    let libraries = entries
        .flatten()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy();
            let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
            name.starts_with(&format!("{prefix}blitz_io_macros-")) && name.ends_with(suffix)
        });
    let newest = libraries.max_by_key(|path| path.metadata().unwrap().modified().unwrap());
    newest.expect("the attributes are built before their tests")
}

/// What the compiler says about `source`.
#[cfg(unix)]
fn complaint(source: &str) -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut compiler = Command::new(rustc)
        .args(["-", "--edition=2024", "--crate-type=lib", "--emit=metadata"])
        .args(["--error-format=short", "-o", "/dev/null", "--extern"])
        .arg(format!("blitz_io_macros={}", attributes().display()))
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    compiler
        .stdin
        .take()
        .unwrap()
        .write_all(source.as_bytes())
        .unwrap();
    let output = compiler.wait_with_output().unwrap();
    assert!(!output.status.success(), "it compiles: {source}");
    String::from_utf8(output.stderr).unwrap()
}

#[cfg(unix)]
#[test]
fn a_main_function_has_no_arguments() {
    let text = complaint("#[blitz_io_macros::main]\nasync fn main(x: u32) { }\n");
    assert!(
        text.contains("the main function cannot accept arguments"),
        "{text}"
    );
    let text = complaint("#[blitz_io_macros::test]\n#[test]\nasync fn f() { }\n");
    assert!(text.contains("second test attribute is supplied"), "{text}");
}

#[cfg(unix)]
#[test]
fn attributes_say_what_is_wrong_with_them_where_it_is() {
    for (arguments, function, place, message) in [
        (
            "",
            "fn f() {}",
            "2:1",
            "the `async` keyword is missing from the function declaration",
        ),
        ("", "async fn f();", "", "expected an `async fn`"),
        ("", "struct S;", "", "expected an `async fn`"),
        (
            "(flavor = \"fast\")",
            "async fn f() {}",
            "1:34",
            "No such runtime flavor `fast`. The runtime flavors are `current_thread`, `local`, and `multi_thread`.",
        ),
        (
            "(threads = 2)",
            "async fn f() {}",
            "1:25",
            "Unknown attribute threads is specified; expected one of: `flavor`, `worker_threads`, `start_paused`, `crate`, `unhandled_panic`, `name`.",
        ),
        (
            "(worker_threads)",
            "async fn f() {}",
            "1:25",
            "The `worker_threads` attribute requires an argument.",
        ),
        (
            "(start_paused = 1)",
            "async fn f() {}",
            "1:40",
            "Failed to parse value of `start_paused` as bool.",
        ),
        (
            "(start_paused = true flavor = \"multi_thread\")",
            "async fn f() {}",
            "1:45",
            "expected `,`",
        ),
        (
            "(worker_threads = 2, flavor = \"current_thread\")",
            "async fn f() {}",
            "1:42",
            "The `worker_threads` option requires the `multi_thread` runtime flavor.",
        ),
        (
            "(worker_threads = 0)",
            "async fn f() {}",
            "1:42",
            "`worker_threads` may not be 0.",
        ),
    ] {
        for attribute in ["main", "test"] {
            let text = complaint(&format!(
                "#[blitz_io_macros::{attribute}{arguments}]\n{function}\n"
            ));
            assert!(
                text.contains(message),
                "{attribute}{arguments} {function}:\n{text}"
            );
            assert!(
                text.contains(place),
                "{attribute}{arguments} {function}: not at {place}:\n{text}"
            );
        }
    }
}
