//! Learning that a process has ended.

#[cfg(any(target_os = "linux", target_os = "android"))]
use crate::driver::{Descriptor, Registered, Way};
use crate::signal::unix::{Signal, SignalKind, signal};
use std::io;
#[cfg(any(target_os = "linux", target_os = "android"))]
use std::os::fd::OwnedFd;
use std::process::{Child, ExitStatus};
use std::task::{Context, Poll, ready};

/// Watches one process.
#[derive(Debug)]
pub(super) enum Watch {
    /// A descriptor for the process, which is readable when it has ended.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    Descriptor(Registered<Descriptor<OwnedFd>>),
    /// The signal says that some child has changed: ask.
    Signal(Signal),
}

impl Watch {
    /// Watches a child that has not been reaped.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    #[track_caller]
    pub(super) fn new(child: &Child) -> io::Result<Self> {
        #[cfg(any(target_os = "linux", target_os = "android"))]
        if let Some(descriptor) = open(child)? {
            let descriptor = Descriptor(descriptor);
            let registered = Registered::with_interest(descriptor, mio::Interest::READABLE)?;
            return Ok(Watch::Descriptor(registered));
        }
        #[cfg(not(any(target_os = "linux", target_os = "android")))]
        let _ = child;
        Self::by_signal()
    }

    /// Watches by SIGCHLD.
    pub(super) fn by_signal() -> io::Result<Self> {
        signal(SignalKind::child()).map(Watch::Signal)
    }

    /// Waits until the child, which is the one that is watched, has ended, and reaps it. If the runtime that has watched it so far has ended, the one that
    /// this thread is in does.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        child: &mut Child,
    ) -> Poll<io::Result<ExitStatus>> {
        if let Some(status) = ready!(self.poll_where_it_is(cx, child))? {
            return Poll::Ready(Ok(status));
        }
        if crate::context::current().is_some() {
            *self = Self::new(child)?;
            if let Some(status) = ready!(self.poll_where_it_is(cx, child))? {
                return Poll::Ready(Ok(status));
            }
        }
        let gone = "the runtime that waits for the process has been shut down";
        Poll::Ready(Err(io::Error::other(gone)))
    }

    /// As [`poll`](Self::poll); `None` if the runtime that watches has ended.
    fn poll_where_it_is(
        &mut self,
        cx: &mut Context<'_>,
        child: &mut Child,
    ) -> Poll<io::Result<Option<ExitStatus>>> {
        match self {
            #[cfg(any(target_os = "linux", target_os = "android"))]
            Watch::Descriptor(descriptor) => {
                let status = ready!(descriptor.poll_io(Way::Read, cx, |_| {
                    child
                        .try_wait()?
                        .ok_or_else(|| io::ErrorKind::WouldBlock.into())
                }));
                match status {
                    Err(_) if descriptor.is_closed() => Poll::Ready(Ok(None)),
                    status => Poll::Ready(status.map(Some)),
                }
            }
            // The listener is older than the question, so an end after the question is heard.
            Watch::Signal(signal) => loop {
                if let Some(status) = child.try_wait()? {
                    return Poll::Ready(Ok(Some(status)));
                }
                if ready!(signal.poll_recv(cx)).is_none() {
                    return Poll::Ready(Ok(None));
                }
            },
        }
    }
}

/// A descriptor for a child, which is readable when the child has ended. `None` if this kernel has none, or does not hand them out.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn open(child: &Child) -> io::Result<Option<OwnedFd>> {
    use std::os::fd::FromRawFd;

    let no_flags: libc::c_uint = 0;
    // SAFETY: takes two numbers. The child has not been reaped, so the number still is its own.
    let result = unsafe { libc::syscall(libc::SYS_pidfd_open, child.id(), no_flags) };
    if let Ok(descriptor @ 0..) = i32::try_from(result) {
        // SAFETY: the call has made this descriptor for us. It is closed in children.
        return Ok(Some(unsafe { OwnedFd::from_raw_fd(descriptor) }));
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::EMFILE | libc::ENFILE | libc::ENOMEM) => Err(error),
        _ => Ok(None),
    }
}
