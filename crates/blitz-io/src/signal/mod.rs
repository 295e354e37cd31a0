//! Signals of the operating system, as something to await. On Windows, these are the events that the console sends to its processes: see
//! [`ctrl_c`] and the module `windows` there.
//!
//! On Unix a handler may do very little: it counts the signal and writes a byte to a pipe. The driver of every runtime that has had a listener watches
//! the pipe and wakes the listeners, which compare the count with what they have heard. So a signal that comes after
//! `signal` has returned is never missed, even if nobody awaits it at that moment. Several signals that come in quick
//! succession are heard as one, as with signals in general. No thread wakes up while there are no signals.
//!
//! ```no_run
//! # async fn serve() {}
//! # #[cfg(unix)]
//! # async fn example() -> std::io::Result<()> {
//! use blitz_io::signal::unix::{SignalKind, signal};
//!
//! let mut terminate = signal(SignalKind::terminate())?;
//! blitz_io::select! {
//!     _ = serve() => {}
//!     _ = terminate.recv() => println!("asked to end"),
//!     result = blitz_io::signal::ctrl_c() => result?,
//! }
//! # Ok(()) }
//! ```

mod bells;
#[cfg(all(unix, not(loom)))]
mod handler;
#[cfg(all(unix, not(loom)))]
mod relay;
#[cfg(all(unix, not(loom)))]
pub mod unix;
#[cfg(all(windows, not(loom)))]
pub mod windows;

/// Waits until somebody presses Ctrl-C (SIGINT on Unix).
///
/// From the first call on, and until the process ends, Ctrl-C does not end the process any more: it is for the program to do that. (On Windows
/// that is so while somebody waits.) A Ctrl-C between two calls is heard by nobody; to hear all, keep a listener: `unix::signal`, `windows::ctrl_c`.
///
/// # Errors
/// If the system refuses the handler or the pipe.
///
/// # Panics
/// If the thread is in no runtime.
///
/// ```
/// # #[cfg(unix)] {
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// use std::future::Future;
///
/// let mut ctrl_c = Box::pin(blitz_io::signal::ctrl_c());
/// // The first poll installs the handler.
/// let early = std::future::poll_fn(|cx| std::task::Poll::Ready(ctrl_c.as_mut().poll(cx))).await;
/// assert!(early.is_pending());
/// // As a terminal does it.
/// # extern crate libc;
/// unsafe { libc::raise(libc::SIGINT) };
/// ctrl_c.await.unwrap();
/// # }); }
/// ```
#[cfg(not(loom))]
pub async fn ctrl_c() -> std::io::Result<()> {
    #[cfg(unix)]
    let mut ctrl_c = unix::signal(unix::SignalKind::interrupt())?;
    #[cfg(windows)]
    let mut ctrl_c = windows::ctrl_c()?;
    match ctrl_c.recv().await {
        Some(()) => Ok(()),
        None => Err(std::io::Error::other(
            "the runtime that waits for Ctrl-C has been shut down",
        )),
    }
}
