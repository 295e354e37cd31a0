//! Signals of Unix.

use super::bells::{Bells, Listener};
use super::relay::Relay;
use crate::coop;
use futures_core::Stream;
use libc::c_int;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Which signal.
///
/// ```
/// use blitz_io::signal::unix::SignalKind;
///
/// assert_eq!(SignalKind::from_raw(15), SignalKind::terminate());
/// ```
///
/// # By name
/// ```
/// use blitz_io::signal::unix::SignalKind;
///
/// let named = [
///     SignalKind::alarm(), SignalKind::child(), SignalKind::hangup(), SignalKind::interrupt(), SignalKind::io(), SignalKind::pipe(),
///     SignalKind::quit(), SignalKind::terminate(), SignalKind::user_defined1(), SignalKind::user_defined2(), SignalKind::window_change(),
/// ];
/// assert!(named.iter().all(|kind| kind.as_raw_value() > 0));
/// assert_eq!(SignalKind::interrupt().as_raw_value(), 2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SignalKind(c_int);

/// Defines the signals that have names.
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $signal:ident;)*) => {
        impl SignalKind {$(
            $(#[$doc])*
            pub const fn $name() -> Self {
                Self(libc::$signal)
            }
        )*}
    };
}

kinds! {
    /// SIGALRM: a timer of the system.
    alarm = SIGALRM;
    /// SIGCHLD: a child process has ended or stopped.
    child = SIGCHLD;
    /// SIGHUP: the terminal is gone; daemons read their configuration again.
    hangup = SIGHUP;
    /// SIGINT: Ctrl-C.
    interrupt = SIGINT;
    /// SIGIO: a descriptor is ready.
    io = SIGIO;
    /// SIGPIPE: nobody reads the pipe that was written to.
    pipe = SIGPIPE;
    /// SIGQUIT: Ctrl-\.
    quit = SIGQUIT;
    /// SIGTERM: the polite request to end.
    terminate = SIGTERM;
    /// SIGUSR1.
    user_defined1 = SIGUSR1;
    /// SIGUSR2.
    user_defined2 = SIGUSR2;
    /// SIGWINCH: the terminal has another size.
    window_change = SIGWINCH;
}

#[cfg(any(
    target_os = "dragonfly",
    target_os = "freebsd",
    target_os = "macos",
    target_os = "netbsd",
    target_os = "openbsd",
    target_os = "illumos"
))]
kinds! {
    /// SIGINFO: somebody asks how far it is.
    info = SIGINFO;
}

impl SignalKind {
    /// By its number.
    pub const fn from_raw(signal: c_int) -> Self {
        Self(signal)
    }

    /// Its number.
    pub const fn as_raw_value(&self) -> c_int {
        self.0
    }
}

impl From<c_int> for SignalKind {
    fn from(signal: c_int) -> Self {
        Self(signal)
    }
}

impl From<SignalKind> for c_int {
    fn from(kind: SignalKind) -> Self {
        kind.0
    }
}

/// Starts to listen to a signal. Whatever it did before, ending the process for instance, does not happen any more, until the process ends; a handler
/// that was installed before is called as well.
///
/// Any number of listeners, also in several runtimes, hear every signal.
///
/// # Errors
/// [`Other`](io::ErrorKind::Other) for a signal that does not exist or that nobody can listen to (SIGKILL, SIGSTOP, SIGSEGV,
/// SIGILL, SIGFPE); otherwise if the system is out of descriptors.
///
/// # Panics
/// If the thread is in no runtime.
///
/// ```
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// use blitz_io::signal::unix::{SignalKind, signal};
///
/// let mut reload = signal(SignalKind::hangup()).unwrap();
/// # extern crate libc;
/// unsafe { libc::raise(libc::SIGHUP) };
/// // It came before anybody awaited it, and is heard nevertheless.
/// assert_eq!(reload.recv().await, Some(()));
/// # });
/// ```
#[track_caller]
pub fn signal(kind: SignalKind) -> io::Result<Signal> {
    let relay = Relay::here()?;
    let number = relay.post().install(kind.0)?;
    Ok(Signal {
        listener: Listener::new(&relay.post().bells, number),
        relay,
    })
}

/// Listens to a signal. Also a [`Stream`].
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::signal::unix::{SignalKind, signal};
///
/// let mut reload = signal(SignalKind::hangup())?;
/// # // SAFETY: a signal to this thread, which we listen to.
/// # unsafe { libc::raise(libc::SIGHUP) };
/// assert_eq!(reload.recv().await, Some(())); // `kill -HUP` of this process
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
#[must_use = "signals are only heard if somebody listens"]
pub struct Signal {
    listener: Listener<&'static Bells>,
    relay: Arc<Relay>,
}

impl Signal {
    /// Waits for the signal. It is there at once if the signal has come since this was ready the last time (or since
    /// [`signal`] returned): several are then heard as one. May be cancelled.
    ///
    /// `None`: the runtime has been shut down.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::signal::unix::{SignalKind, signal};
    ///
    /// let mut events = signal(SignalKind::user_defined1())?;
    /// # // SAFETY: signals to this thread, which we listen to.
    /// # unsafe { libc::raise(libc::SIGUSR1) };
    /// # // SAFETY: as above.
    /// # unsafe { libc::raise(libc::SIGUSR1) };
    /// events.recv().await; // once, however often it has come
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn recv(&mut self) -> Option<()> {
        poll_fn(|cx| self.poll_recv(cx)).await
    }

    /// As [`recv`](Self::recv).
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::signal::unix::{SignalKind, signal};
    /// use std::future::poll_fn;
    ///
    /// let mut events = signal(SignalKind::user_defined2())?;
    /// # // SAFETY: a signal to this thread, which we listen to.
    /// # unsafe { libc::raise(libc::SIGUSR2) };
    /// poll_fn(|cx| events.poll_recv(cx)).await;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<()>> {
        let unit = ready!(coop::take_unit(cx));
        match self.listener.poll(cx) {
            Poll::Ready(()) => Poll::Ready(Some(())),
            // After the waker has been left: whoever closes it from now on wakes us.
            Poll::Pending if self.relay.is_closed() => Poll::Ready(None),
            Poll::Pending => {
                unit.refund();
                Poll::Pending
            }
        }
    }
}

impl Stream for Signal {
    type Item = ();

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<()>> {
        self.poll_recv(cx)
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signal").finish_non_exhaustive()
    }
}
