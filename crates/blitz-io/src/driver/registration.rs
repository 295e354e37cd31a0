//! A socket that the driver knows.
//!
//! All operations on sockets go through here: try, and wait for the driver's word if the kernel says that one would have to. They
//! only ever report what the kernel said to the one who asked.

use super::readiness::Seen;
use super::source::{Source, Waiter, Way};
use super::{Handle, Ready};
use crate::coop;
use std::future::poll_fn;
use std::io;
use std::ops::Deref;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Systems move some bytes less than 2 GiB in one call at most, however much is asked for.
const MOST_AT_ONCE: usize = 1 << 30;

/// A non-blocking socket, registered for both ways. Deregisters itself when it is dropped.
#[derive(Debug)]
pub struct Registered<S: mio::event::Source> {
    /// `None` only on its way out.
    socket: Option<S>,
    key: usize,
    source: Arc<Source>,
    handle: Arc<Handle>,
}

impl<S: mio::event::Source> Registered<S> {
    /// Registers a socket with the runtime that this thread is in.
    ///
    /// # Panics
    /// If it is in none.
    #[track_caller]
    pub(crate) fn new(socket: S) -> io::Result<Self> {
        Self::with_handle(socket, crate::context::driver())
    }

    /// As [`new`](Self::new), for what has one way only.
    #[cfg(unix)]
    #[track_caller]
    pub(crate) fn with_interest(socket: S, interest: mio::Interest) -> io::Result<Self> {
        Self::register(socket, crate::context::driver(), interest)
    }

    pub(super) fn with_handle(socket: S, handle: Arc<Handle>) -> io::Result<Self> {
        let both = mio::Interest::READABLE | mio::Interest::WRITABLE;
        // What short reads mean depends on it, see `poll_stream`.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let both = both | mio::Interest::PRIORITY;
        Self::register(socket, handle, both)
    }

    fn register(mut socket: S, handle: Arc<Handle>, interest: mio::Interest) -> io::Result<Self> {
        let (key, source) = handle.sources.add().ok_or_else(gone)?;
        if let Err(error) = handle
            .registry
            .register(&mut socket, mio::Token(key), interest)
        {
            handle.sources.retire(key);
            return Err(error);
        }
        Ok(Self {
            socket: Some(socket),
            key,
            source,
            handle,
        })
    }

    /// Whether it is registered there.
    #[cfg(unix)]
    pub(crate) fn belongs_to(&self, handle: &Arc<Handle>) -> bool {
        Arc::ptr_eq(&self.handle, handle)
    }

    /// Whether its runtime has ended.
    #[cfg(unix)]
    pub(crate) fn is_closed(&self) -> bool {
        self.source.readiness().get().is_closed()
    }

    /// The token of its events.
    #[cfg(test)]
    pub(super) fn key(&self) -> usize {
        self.key
    }

    /// Takes the socket out of the driver.
    pub(crate) fn into_inner(mut self) -> io::Result<S> {
        let mut socket = self.socket.take().expect("still registered");
        let result = self.handle.registry.deregister(&mut socket);
        result.map(|()| socket)
    }

    /// Does what `operation` does once that does not have to wait. The place of `way` is for one task.
    pub(crate) fn poll_io<R>(
        &self,
        way: Way,
        cx: &mut Context<'_>,
        operation: impl FnMut(&S) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        self.attempt(way, cx, |cx| self.source.poll_ready(way, cx), operation)
    }

    /// Tries until the kernel says something else than "would block", whenever `poll_ready` says that it is worth it.
    fn attempt<R>(
        &self,
        way: Way,
        cx: &mut Context<'_>,
        mut poll_ready: impl FnMut(&mut Context<'_>) -> Poll<Seen>,
        mut operation: impl FnMut(&S) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        let unit = ready!(coop::take_unit(cx));
        loop {
            let Poll::Ready(seen) = poll_ready(cx) else {
                unit.refund();
                return Poll::Pending;
            };
            if seen.is_closed() {
                return Poll::Ready(Err(gone()));
            }
            match operation(self) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.source.readiness().forget(seen, way.wanted());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return Poll::Ready(result),
            }
        }
    }

    /// As [`poll_io`](Self::poll_io) for an operation that moves up to `asked` bytes of a stream.
    ///
    /// With `short_is_all`, a stream that has moved less than that has no more for now: nobody needs to ask the kernel again to learn it.
    /// Unless there is urgent data: a read ends before that, whatever comes after it. The kernel tells of urgent data with the event of its
    /// arrival. If that event is here before the read, we see it; if it comes later, it is one since, and nothing is forgotten.
    /// And unless it is more than the kernel moves in one call anyway.
    pub(crate) fn poll_stream(
        &self,
        way: Way,
        cx: &mut Context<'_>,
        (asked, short_is_all): (usize, bool),
        mut operation: impl FnMut(&S) -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        let before = self.source.readiness().get();
        let moved = ready!(self.poll_io(way, cx, &mut operation))?;
        if short_is_all && (1..asked.min(MOST_AT_ONCE)).contains(&moved) {
            let exhausted = match way {
                Way::Read if before.ready().intersects(Ready::URGENT) => Ready::EMPTY,
                Way::Read => Ready::READABLE,
                Way::Write => Ready::WRITABLE,
            };
            // If there has been an event since, this has no effect.
            self.source.readiness().forget(before, exhausted);
        }
        Poll::Ready(Ok(moved))
    }

    /// As [`poll_io`](Self::poll_io), for any number of tasks at once.
    pub(crate) async fn io<R>(
        &self,
        way: Way,
        mut operation: impl FnMut(&S) -> io::Result<R>,
    ) -> io::Result<R> {
        let mut waiter = Waiter::new(&self.source, way.wanted());
        poll_fn(|cx| self.attempt(way, cx, |cx| waiter.poll(cx), &mut operation)).await
    }

    /// Waits until something of `wanted` is known, and says what.
    pub(crate) async fn ready(&self, wanted: Ready) -> io::Result<Ready> {
        let mut waiter = Waiter::new(&self.source, wanted);
        poll_fn(|cx| Self::poll_seen(cx, |cx| waiter.poll(cx))).await
    }

    /// Waits as [`ready`](Self::ready), in the place for one task.
    pub(crate) fn poll_ready(&self, way: Way, cx: &mut Context<'_>) -> Poll<io::Result<Ready>> {
        Self::poll_seen(cx, |cx| self.source.poll_ready(way, cx))
    }

    fn poll_seen(
        cx: &mut Context<'_>,
        poll_ready: impl FnOnce(&mut Context<'_>) -> Poll<Seen>,
    ) -> Poll<io::Result<Ready>> {
        let unit = ready!(coop::take_unit(cx));
        match poll_ready(cx) {
            Poll::Ready(seen) if seen.is_closed() => Poll::Ready(Err(gone())),
            Poll::Ready(seen) => Poll::Ready(Ok(seen.ready())),
            Poll::Pending => {
                unit.refund();
                Poll::Pending
            }
        }
    }

    /// Tries `operation` if the way is known to be open; an answer of [`WouldBlock`](io::ErrorKind::WouldBlock)
    /// closes it until the next event.
    pub(crate) fn try_io<R>(
        &self,
        wanted: Ready,
        operation: impl FnOnce(&S) -> io::Result<R>,
    ) -> io::Result<R> {
        let seen = self.source.readiness().get();
        if seen.is_closed() {
            return Err(gone());
        }
        if !seen.ready().intersects(wanted) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        let result = operation(self);
        if matches!(&result, Err(error) if error.kind() == io::ErrorKind::WouldBlock) {
            self.source.readiness().forget(seen, wanted);
        }
        result
    }
}

fn gone() -> io::Error {
    io::Error::other("the runtime that this socket belongs to has been shut down")
}

impl<S: mio::event::Source> Deref for Registered<S> {
    type Target = S;

    fn deref(&self) -> &S {
        self.socket.as_ref().expect("still registered")
    }
}

impl<S: mio::event::Source> Drop for Registered<S> {
    fn drop(&mut self) {
        if let Some(mut socket) = self.socket.take() {
            // Closing does the same; what should the caller do about an error?
            let _ = self.handle.registry.deregister(&mut socket);
        }
        // Only now that the kernel has forgotten it can the key go to another socket.
        self.handle.sources.retire(self.key);
    }
}
