//! A socket that the driver knows.
//!
//! All operations on sockets go through here. They try, and wait for the driver if the kernel says that the operation would block. They
//! report only what the kernel said to the one that asked.

use super::interest::Interest;
use super::readiness::Seen;
use super::source::{Source, Waiter, Way};
use super::{Handle, Ready};
use crate::coop;
use std::future::poll_fn;
use std::io;
use std::ops::Deref;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Systems move some bytes less than 2 GiB in one call at most, however much is asked for.
const MOST_AT_ONCE: usize = 1 << 30;

/// A place with the driver. Whoever has it sees to it that the kernel knows the descriptor no longer than this is there.
#[derive(Debug)]
pub(crate) struct Registration {
    key: usize,
    source: Arc<Source>,
    handle: Arc<Handle>,
}

impl Registration {
    pub(crate) fn new(
        socket: &mut impl mio::event::Source,
        handle: Arc<Handle>,
        interest: mio::Interest,
    ) -> io::Result<Self> {
        let (key, source) = handle.sources.add().ok_or_else(gone)?;
        let registration = Self {
            key,
            source,
            handle,
        };
        let registry = &registration.handle.registry;
        registry.register(socket, mio::Token(key), interest)?;
        Ok(registration)
    }

    /// Takes the socket out of the kernel's list, before this is dropped.
    pub(crate) fn deregister(&self, socket: &mut impl mio::event::Source) -> io::Result<()> {
        self.handle.registry.deregister(socket)
    }

    /// Tries until the kernel says something else than "would block", whenever `poll_ready` says that it is worth it. That answer makes `refuted` untrue.
    fn attempt<R>(
        &self,
        cx: &mut Context<'_>,
        refuted: Ready,
        mut poll_ready: impl FnMut(&mut Context<'_>) -> Poll<Seen>,
        mut operation: impl FnMut() -> io::Result<R>,
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
            match operation() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.source.readiness().forget(seen, refuted);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return Poll::Ready(result),
            }
        }
    }

    /// Does something of the caller's own, for any number of tasks at once.
    pub(crate) async fn async_io<R>(
        &self,
        interest: Interest,
        mut operation: impl FnMut() -> io::Result<R>,
    ) -> io::Result<R> {
        let wanted = interest.wanted();
        let mut waiter = Waiter::new(&self.source, wanted);
        poll_fn(|cx| {
            loop {
                // One for each turn: what is closed stays so although the operation may never succeed, and must let others run.
                let unit = ready!(coop::take_unit(cx));
                let Poll::Ready(seen) = waiter.poll(cx) else {
                    unit.refund();
                    return Poll::Pending;
                };
                if seen.is_closed() {
                    return Poll::Ready(Err(gone()));
                }
                match operation() {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                        self.forget(seen, wanted);
                    }
                    result => return Poll::Ready(result),
                }
            }
        })
        .await
    }

    /// As [`attempt`](Self::attempt) once, without waiting.
    pub(crate) fn try_io<R>(
        &self,
        wanted: Ready,
        operation: impl FnOnce() -> io::Result<R>,
    ) -> io::Result<R> {
        let seen = self.source.readiness().get();
        if !seen.ready().intersects(wanted) {
            return Err(match seen.is_closed() {
                true => gone(),
                false => io::ErrorKind::WouldBlock.into(),
            });
        }
        let result = operation();
        if matches!(&result, Err(error) if error.kind() == io::ErrorKind::WouldBlock) {
            self.forget(seen, wanted);
        }
        result
    }

    /// Somebody says that something is not true any more. That a way is closed stays so: no event would tell of it again.
    pub(crate) fn forget(&self, seen: Seen, ready: Ready) {
        let closed = Ready::READ_CLOSED | Ready::WRITE_CLOSED;
        self.source.readiness().forget(seen, ready - closed);
    }

    /// Waits until something that `interest` says is known.
    ///
    /// That takes nothing of the budget: who has waited has done nothing yet.
    pub(crate) async fn ready(&self, interest: Interest) -> io::Result<Seen> {
        let mut waiter = Waiter::new(&self.source, interest.wanted());
        let seen = poll_fn(|cx| waiter.poll(cx)).await;
        if seen.is_closed() {
            return Err(gone());
        }
        Ok(seen)
    }

    /// As [`ready`](Self::ready), in the place that each way has for one task.
    pub(crate) fn poll_ready(
        &self,
        way: Way,
        interest: Interest,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<Seen>> {
        let unit = ready!(coop::take_unit(cx));
        match self.source.poll_ready_for(way, interest.wanted(), cx) {
            Poll::Ready(seen) if seen.is_closed() => Poll::Ready(Err(gone())),
            Poll::Ready(seen) => Poll::Ready(Ok(seen)),
            Poll::Pending => {
                unit.refund();
                Poll::Pending
            }
        }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        // Only now that the kernel has forgotten it can the key go to another socket.
        self.handle.sources.retire(self.key);
    }
}

// What is behind the pointers is behind locks that a panic does not break, or atomic.
impl UnwindSafe for Registration {}
impl RefUnwindSafe for Registration {}

/// A non-blocking socket, registered for both ways. Deregisters itself when it is dropped.
#[derive(Debug)]
pub struct Registered<S: mio::event::Source> {
    /// `None` only on its way out.
    socket: Option<S>,
    registration: Registration,
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
        let registration = Registration::new(&mut socket, handle, interest)?;
        Ok(Self {
            socket: Some(socket),
            registration,
        })
    }

    /// As [`new`](Self::new), for a socket that is probably `ready` already: the first operation tries, and does not wait for the driver's word before.
    #[track_caller]
    pub(crate) fn assuming(socket: S, ready: Ready) -> io::Result<Self> {
        let registered = Self::new(socket)?;
        registered.registration.source.readiness().assume(ready);
        Ok(registered)
    }

    /// Whether it is registered there.
    #[cfg(unix)]
    pub(crate) fn belongs_to(&self, handle: &Arc<Handle>) -> bool {
        Arc::ptr_eq(&self.registration.handle, handle)
    }

    /// Whether its runtime has ended.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub(crate) fn is_closed(&self) -> bool {
        self.registration.source.readiness().get().is_closed()
    }

    /// The token of its events.
    #[cfg(all(test, unix))]
    pub(super) fn key(&self) -> usize {
        self.registration.key
    }

    /// Takes the socket out of the driver.
    pub(crate) fn into_inner(mut self) -> io::Result<S> {
        let mut socket = self.socket.take().expect("still registered");
        let result = self.registration.deregister(&mut socket);
        result.map(|()| socket)
    }

    /// Does what `operation` does once that does not have to wait. The place of `way` is for one task.
    pub(crate) fn poll_io<R>(
        &self,
        way: Way,
        cx: &mut Context<'_>,
        mut operation: impl FnMut(&S) -> io::Result<R>,
    ) -> Poll<io::Result<R>> {
        let source = &self.registration.source;
        let poll_ready = |cx: &mut Context<'_>| source.poll_ready(way, cx);
        self.registration
            .attempt(cx, way.wanted(), poll_ready, || operation(self))
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
        let readiness = self.registration.source.readiness();
        let before = readiness.get();
        let moved = ready!(self.poll_io(way, cx, &mut operation))?;
        if short_is_all && (1..asked.min(MOST_AT_ONCE)).contains(&moved) {
            let exhausted = match way {
                Way::Read if before.ready().intersects(Ready::PRIORITY) => Ready::EMPTY,
                Way::Read => Ready::READABLE,
                Way::Write => Ready::WRITABLE,
            };
            // If there has been an event since, this has no effect.
            readiness.forget(before, exhausted);
        }
        Poll::Ready(Ok(moved))
    }

    /// As [`poll_io`](Self::poll_io), for any number of tasks at once.
    pub(crate) async fn io<R>(
        &self,
        way: Way,
        mut operation: impl FnMut(&S) -> io::Result<R>,
    ) -> io::Result<R> {
        let mut waiter = Waiter::new(&self.registration.source, way.wanted());
        poll_fn(|cx| {
            let poll_ready = |cx: &mut Context<'_>| waiter.poll(cx);
            self.registration
                .attempt(cx, way.wanted(), poll_ready, || operation(self))
        })
        .await
    }

    /// Waits until something that `interest` says is known, and says what.
    pub(crate) async fn ready(&self, interest: Interest) -> io::Result<Ready> {
        let seen = self.registration.ready(interest).await?;
        Ok(seen.ready() & interest.wanted())
    }

    /// Waits until it is worth reading, in the place for one task.
    pub(crate) fn poll_read_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ready = self
            .registration
            .poll_ready(Way::Read, Interest::READABLE, cx);
        ready.map_ok(drop)
    }

    /// Waits until it is worth writing, in the place for one task.
    pub(crate) fn poll_write_ready(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ready = self
            .registration
            .poll_ready(Way::Write, Interest::WRITABLE, cx);
        ready.map_ok(drop)
    }

    /// Tries `operation` if what `interest` says is known; an answer of [`WouldBlock`](io::ErrorKind::WouldBlock)
    /// makes it untrue until the next event.
    pub(crate) fn try_io<R>(
        &self,
        interest: Interest,
        operation: impl FnOnce(&S) -> io::Result<R>,
    ) -> io::Result<R> {
        self.registration
            .try_io(interest.wanted(), || operation(self))
    }

    /// As [`try_io`](Self::try_io), and waits until it can be done. For any number of tasks at once.
    pub(crate) async fn async_io<R>(
        &self,
        interest: Interest,
        operation: impl FnMut() -> io::Result<R>,
    ) -> io::Result<R> {
        self.registration.async_io(interest, operation).await
    }
}

fn gone() -> io::Error {
    io::Error::other(crate::runtime::SHUT_DOWN)
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
            let _ = self.registration.deregister(&mut socket);
        }
    }
}
