//! The page of a program that says nothing of it but `BLITZ_CONSOLE`.
//!
//! Systems call the functions in a section of an executable before `main`. The one here only leaves word with the engine; whatever is to be done is done when the first pool or runtime begins, by a
//! thread of its own: whoever makes a pool may have locks.

use blitz_core::companion::complain;

#[used]
#[cfg_attr(
    any(
        target_os = "linux",
        target_os = "android",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "openbsd",
        target_os = "dragonfly",
    ),
    // SAFETY: the section holds pointers to functions of this type.
    unsafe(link_section = ".init_array")
)]
// SAFETY: as above.
#[cfg_attr(
    target_vendor = "apple",
    unsafe(link_section = "__DATA,__mod_init_func")
)]
// SAFETY: as above.
#[cfg_attr(windows, unsafe(link_section = ".CRT$XCU"))]
static BEFORE_MAIN: extern "C" fn() = before_main;

extern "C" fn before_main() {
    blitz_core::console::at_first(serve);
}

fn serve() {
    if crate::asked_for().is_none() {
        return;
    }
    let served = crate::on_a_thread(|| {
        if let Err(error) = crate::from_env() {
            complain(format_args!("{error}"));
        }
    });
    if let Err(error) = served {
        complain(format_args!("BLITZ_CONSOLE: {error}"));
    }
}
