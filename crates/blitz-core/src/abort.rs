//! Panics where nothing may unwind end the process, with a message.

/// Ends the process instead of unwinding further.
pub(crate) struct AbortOnDrop(pub(crate) &'static str);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        complain(format_args!("{}; aborting", self.0));
        std::process::abort();
    }
}

/// Runs `work`, which must not unwind: somebody else uses a frame of the caller's.
#[inline]
pub(crate) fn without_unwinding<R>(what: &'static str, work: impl FnOnce() -> R) -> R {
    let abort = AbortOnDrop(what);
    let result = work();
    std::mem::forget(abort);
    result
}

/// A message for whoever reads the standard error. Unlike `eprintln!`, this does not panic if nobody can.
pub fn complain(message: std::fmt::Arguments<'_>) {
    use std::io::Write;
    let _ = writeln!(std::io::stderr(), "Blitz: {message}");
}
