//! Whatever has a descriptor that the kernel can wait for.
//!
//! Readiness is remembered until somebody says that it is not true any more (see the driver's `readiness`). Here that is the user, who
//! alone knows what the descriptor does: a guard stands for what was known when it was handed out, and clearing it forgets that, unless there has been an
//! event since.

use super::{Interest, Ready};
use crate::driver::{Registration, Seen, Way};
use mio::unix::SourceFd;
use std::error::Error;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::task::{Context, Poll, ready};

/// Something with a descriptor, with a way to wait until it is ready.
///
/// It has to be non-blocking, and stay registered under the same descriptor. What is done with it is up to the user: see [`async_io`](Self::async_io), or
/// [`readable`](Self::readable) and [`AsyncFdReadyGuard::try_io`].
///
/// ```
/// use blitz_io::io::Interest;
/// use blitz_io::io::unix::AsyncFd;
/// use std::io::{Read, Write};
/// use std::os::unix::net::UnixStream;
///
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let (mut here, there) = UnixStream::pair()?;
/// there.set_nonblocking(true)?;
/// // SAFETY: the descriptor is the stream's, and stays open as long as that is there.
/// let there = unsafe { AsyncFd::register(there) }?;
/// here.write_all(b"hello")?;
/// let mut buffer = [0; 8];
/// let length = there.async_io(Interest::READABLE, |mut stream| stream.read(&mut buffer)).await?;
/// assert_eq!(&buffer[..length], b"hello");
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
pub struct AsyncFd<T: AsRawFd> {
    registration: Registration,
    /// `None` only on its way out.
    inner: Option<T>,
}

impl<T: AsRawFd> AsyncFd<T> {
    /// Registers it for both ways.
    ///
    /// # Safety
    /// The descriptor has to stay open, and the same, until this is dropped or taken apart.
    ///
    /// # Errors
    /// If the kernel cannot wait for it; gives it back.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::unix::AsyncFd;
    /// use std::os::unix::net::UnixStream;
    ///
    /// let (stream, _other) = UnixStream::pair()?;
    /// stream.set_nonblocking(true)?;
    /// // SAFETY: the descriptor is the stream's, and stays open as long as that is there.
    /// let stream = unsafe { AsyncFd::register(stream) }?;
    /// stream.writable().await?.retain_ready();
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    #[track_caller]
    pub unsafe fn register(inner: T) -> Result<Self, AsyncFdRegisterError<T>> {
        Self::registered(inner, Interest::READABLE | Interest::WRITABLE)
    }

    /// Registers it for what `interest` says.
    ///
    /// # Safety
    /// As for [`register`](Self::register).
    ///
    /// # Errors
    /// If the kernel cannot wait for it; gives it back.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::Interest;
    /// use blitz_io::io::unix::AsyncFd;
    /// use std::os::unix::net::UnixStream;
    ///
    /// let (reader, _writer) = UnixStream::pair()?;
    /// reader.set_nonblocking(true)?;
    /// // SAFETY: the descriptor is the stream's, and stays open as long as that is there.
    /// let reader = unsafe { AsyncFd::register_with_interest(reader, Interest::READABLE) }?;
    /// # drop(reader);
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    #[track_caller]
    pub unsafe fn register_with_interest(
        inner: T,
        interest: Interest,
    ) -> Result<Self, AsyncFdRegisterError<T>> {
        Self::registered(inner, interest)
    }

    #[track_caller]
    fn registered(inner: T, interest: Interest) -> Result<Self, AsyncFdRegisterError<T>> {
        let driver = crate::context::driver();
        let descriptor = inner.as_raw_fd();
        match Registration::new(&mut SourceFd(&descriptor), driver, interest.to_mio()) {
            Ok(registration) => Ok(Self {
                registration,
                inner: Some(inner),
            }),
            Err(cause) => Err(AsyncFdRegisterError { inner, cause }),
        }
    }

    /// What is registered.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # use blitz_io::io::unix::AsyncFd;
    /// # use std::os::unix::net::UnixStream;
    /// # let (stream, _other) = UnixStream::pair()?;
    /// let mut stream = AsyncFd::new(stream)?;
    /// assert!(stream.get_ref().local_addr()?.is_unnamed());
    /// stream.get_mut().set_nonblocking(true)?;
    /// let stream: UnixStream = stream.into_inner(); // out of the runtime
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn get_ref(&self) -> &T {
        self.inner.as_ref().expect("still registered")
    }

    /// What is registered.
    pub fn get_mut(&mut self) -> &mut T {
        self.inner.as_mut().expect("still registered")
    }

    /// Takes it out of the driver.
    pub fn into_inner(mut self) -> T {
        self.take().expect("still registered")
    }

    fn take(&mut self) -> Option<T> {
        let inner = self.inner.take()?;
        let descriptor = inner.as_raw_fd();
        // Closing does the same; what should the caller do about an error?
        let _ = self.registration.deregister(&mut SourceFd(&descriptor));
        Some(inner)
    }

    fn guard(&self, seen: Seen, interest: Interest) -> AsyncFdReadyGuard<'_, T> {
        AsyncFdReadyGuard {
            known: Known::new(seen, interest),
            async_fd: self,
        }
    }

    fn guard_mut(&mut self, seen: Seen, interest: Interest) -> AsyncFdReadyMutGuard<'_, T> {
        AsyncFdReadyMutGuard {
            known: Known::new(seen, interest),
            async_fd: self,
        }
    }

    /// As [`readable`](Self::readable). Of several tasks only the last one that called this is woken.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # use blitz_io::io::unix::AsyncFd;
    /// # use std::io::Write;
    /// # use std::os::unix::net::UnixStream;
    /// use std::future::poll_fn;
    ///
    /// # let (stream, mut other) = UnixStream::pair()?;
    /// # stream.set_nonblocking(true)?;
    /// let mut stream = AsyncFd::new(stream)?;
    /// other.write_all(b"hello")?;
    /// poll_fn(|cx| stream.poll_read_ready(cx).map_ok(drop)).await?;
    /// poll_fn(|cx| stream.poll_read_ready_mut(cx).map_ok(drop)).await?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn poll_read_ready<'a>(
        &'a self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyGuard<'a, T>>> {
        let interest = Interest::READABLE;
        let seen = ready!(self.registration.poll_ready(Way::Read, interest, cx))?;
        Poll::Ready(Ok(self.guard(seen, interest)))
    }

    /// As [`poll_read_ready`](Self::poll_read_ready), for one who may change what is registered.
    pub fn poll_read_ready_mut<'a>(
        &'a mut self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyMutGuard<'a, T>>> {
        let interest = Interest::READABLE;
        let seen = ready!(self.registration.poll_ready(Way::Read, interest, cx))?;
        Poll::Ready(Ok(self.guard_mut(seen, interest)))
    }

    /// As [`writable`](Self::writable). Of several tasks only the last one that called this is woken.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # use blitz_io::io::unix::AsyncFd;
    /// # use std::os::unix::net::UnixStream;
    /// use std::future::poll_fn;
    ///
    /// # let (stream, _other) = UnixStream::pair()?;
    /// # stream.set_nonblocking(true)?;
    /// let mut stream = AsyncFd::new(stream)?;
    /// poll_fn(|cx| stream.poll_write_ready(cx).map_ok(drop)).await?;
    /// poll_fn(|cx| stream.poll_write_ready_mut(cx).map_ok(drop)).await?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn poll_write_ready<'a>(
        &'a self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyGuard<'a, T>>> {
        let interest = Interest::WRITABLE;
        let seen = ready!(self.registration.poll_ready(Way::Write, interest, cx))?;
        Poll::Ready(Ok(self.guard(seen, interest)))
    }

    /// As [`poll_write_ready`](Self::poll_write_ready), for one who may change what is registered.
    pub fn poll_write_ready_mut<'a>(
        &'a mut self,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<AsyncFdReadyMutGuard<'a, T>>> {
        let interest = Interest::WRITABLE;
        let seen = ready!(self.registration.poll_ready(Way::Write, interest, cx))?;
        Poll::Ready(Ok(self.guard_mut(seen, interest)))
    }

    /// Waits until something of what `interest` says is known; any number of tasks may do so. May be cancelled.
    ///
    /// # Errors
    /// Only if the runtime has been shut down.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # use blitz_io::io::unix::AsyncFd;
    /// # use std::os::unix::net::UnixStream;
    /// use blitz_io::io::Interest;
    ///
    /// # let (stream, _other) = UnixStream::pair()?;
    /// # stream.set_nonblocking(true)?;
    /// let mut stream = AsyncFd::new(stream)?;
    /// let both = Interest::READABLE | Interest::WRITABLE;
    /// assert!(stream.ready(both).await?.ready().is_writable());
    /// assert!(!stream.ready_mut(both).await?.ready().is_readable()); // nothing has come
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn ready(&self, interest: Interest) -> io::Result<AsyncFdReadyGuard<'_, T>> {
        let seen = self.registration.ready(interest).await?;
        Ok(self.guard(seen, interest))
    }

    /// As [`ready`](Self::ready), for one who may change what is registered. Cancel-safe.
    ///
    /// # Errors
    /// Only if the runtime has been shut down.
    pub async fn ready_mut(
        &mut self,
        interest: Interest,
    ) -> io::Result<AsyncFdReadyMutGuard<'_, T>> {
        let seen = self.registration.ready(interest).await?;
        Ok(self.guard_mut(seen, interest))
    }

    /// Waits until it is worth reading. Cancel-safe.
    ///
    /// # Errors
    /// Only if the runtime has been shut down.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # use blitz_io::io::unix::AsyncFd;
    /// # use std::os::unix::net::UnixStream;
    /// use std::io::{Read, Write};
    ///
    /// # let (stream, mut other) = UnixStream::pair()?;
    /// # stream.set_nonblocking(true)?;
    /// let mut stream = AsyncFd::new(stream)?;
    /// other.write_all(b"hello")?;
    /// let mut buffer = [0; 8];
    /// let length = loop {
    ///     let mut guard = stream.readable_mut().await?;
    ///     if let Ok(result) = guard.try_io(|stream| stream.get_mut().read(&mut buffer)) {
    ///         break result?;
    ///     } // it was not: wait again
    /// };
    /// assert_eq!(&buffer[..length], b"hello");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn readable(&self) -> io::Result<AsyncFdReadyGuard<'_, T>> {
        self.ready(Interest::READABLE).await
    }

    /// Waits until it is worth reading. Cancel-safe.
    ///
    /// # Errors
    /// Only if the runtime has been shut down.
    pub async fn readable_mut(&mut self) -> io::Result<AsyncFdReadyMutGuard<'_, T>> {
        self.ready_mut(Interest::READABLE).await
    }

    /// Waits until it is worth writing. Cancel-safe.
    ///
    /// # Errors
    /// Only if the runtime has been shut down.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # use blitz_io::io::unix::AsyncFd;
    /// # use std::os::unix::net::UnixStream;
    /// use std::io::{Read, Write};
    ///
    /// # let (stream, mut other) = UnixStream::pair()?;
    /// # stream.set_nonblocking(true)?;
    /// let mut stream = AsyncFd::new(stream)?;
    /// let mut guard = stream.writable_mut().await?;
    /// let written = guard.try_io(|stream| stream.get_mut().write(b"hello"));
    /// assert_eq!(written.unwrap()?, 5);
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn writable(&self) -> io::Result<AsyncFdReadyGuard<'_, T>> {
        self.ready(Interest::WRITABLE).await
    }

    /// Waits until it is worth writing. Cancel-safe.
    ///
    /// # Errors
    /// Only if the runtime has been shut down.
    pub async fn writable_mut(&mut self) -> io::Result<AsyncFdReadyMutGuard<'_, T>> {
        self.ready_mut(Interest::WRITABLE).await
    }

    /// Calls `f` whenever it is worth trying, until it says something else than [`WouldBlock`](io::ErrorKind::WouldBlock). Cancel-safe.
    ///
    /// # Errors
    /// Those of `f`, and if the runtime has been shut down.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # use blitz_io::io::unix::AsyncFd;
    /// # use std::os::unix::net::UnixStream;
    /// use blitz_io::io::Interest;
    /// use std::io::{Read, Write};
    ///
    /// # let (stream, mut other) = UnixStream::pair()?;
    /// # stream.set_nonblocking(true)?;
    /// let mut stream = AsyncFd::new(stream)?;
    /// other.write_all(b"hello")?;
    /// let mut buffer = [0; 8];
    /// let length = stream.async_io_mut(Interest::READABLE, |stream| stream.read(&mut buffer)).await?;
    /// assert_eq!(&buffer[..length], b"hello");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn async_io<R>(
        &self,
        interest: Interest,
        mut f: impl FnMut(&T) -> io::Result<R>,
    ) -> io::Result<R> {
        let inner = self.get_ref();
        self.registration.async_io(interest, || f(inner)).await
    }

    /// As [`async_io`](Self::async_io), for one who may change what is registered. Cancel-safe.
    ///
    /// # Errors
    /// Those of `f`, and if the runtime has been shut down.
    pub async fn async_io_mut<R>(
        &mut self,
        interest: Interest,
        mut f: impl FnMut(&mut T) -> io::Result<R>,
    ) -> io::Result<R> {
        let inner = self.inner.as_mut().expect("still registered");
        self.registration.async_io(interest, || f(inner)).await
    }

    /// Calls `f` if that is known to be worth trying.
    ///
    /// # Errors
    /// Those of `f`; [`WouldBlock`](io::ErrorKind::WouldBlock) if it was not tried.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # use blitz_io::io::unix::AsyncFd;
    /// # use std::os::unix::net::UnixStream;
    /// use blitz_io::io::Interest;
    /// use std::io::{ErrorKind, Read};
    ///
    /// # let (stream, _other) = UnixStream::pair()?;
    /// # stream.set_nonblocking(true)?;
    /// let mut stream = AsyncFd::new(stream)?;
    /// let nothing = stream.try_io_mut(Interest::READABLE, |stream| stream.read(&mut [0; 8]));
    /// assert_eq!(nothing.unwrap_err().kind(), ErrorKind::WouldBlock);
    /// let nothing = stream.try_io(Interest::READABLE, |mut stream| stream.read(&mut [0; 8]));
    /// assert!(nothing.is_err());
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn try_io<R>(
        &self,
        interest: Interest,
        f: impl FnOnce(&T) -> io::Result<R>,
    ) -> io::Result<R> {
        let inner = self.get_ref();
        self.registration.try_io(interest.wanted(), || f(inner))
    }

    /// As [`try_io`](Self::try_io), for one who may change what is registered.
    ///
    /// # Errors
    /// Those of `f`; [`WouldBlock`](io::ErrorKind::WouldBlock) if it was not tried.
    pub fn try_io_mut<R>(
        &mut self,
        interest: Interest,
        f: impl FnOnce(&mut T) -> io::Result<R>,
    ) -> io::Result<R> {
        let inner = self.inner.as_mut().expect("still registered");
        self.registration.try_io(interest.wanted(), || f(inner))
    }

    /// As [`register`](Self::register), of which nothing says that the descriptor stays open.
    ///
    /// # Errors
    /// If the kernel cannot wait for it.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    #[track_caller]
    #[deprecated(note = "nothing says that the descriptor stays open; use `AsyncFd::register`")]
    pub fn new(inner: T) -> io::Result<Self> {
        Ok(Self::registered(
            inner,
            Interest::READABLE | Interest::WRITABLE,
        )?)
    }

    /// As [`register_with_interest`](Self::register_with_interest), of which nothing says that the descriptor stays open.
    ///
    /// # Errors
    /// If the kernel cannot wait for it.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    #[track_caller]
    #[deprecated(
        note = "nothing says that the descriptor stays open; use `AsyncFd::register_with_interest`"
    )]
    pub fn with_interest(inner: T, interest: Interest) -> io::Result<Self> {
        Ok(Self::registered(inner, interest)?)
    }

    /// As [`register`](Self::register), of which nothing says that the descriptor stays open.
    ///
    /// # Errors
    /// If the kernel cannot wait for it; gives it back.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    #[track_caller]
    #[deprecated(note = "nothing says that the descriptor stays open; use `AsyncFd::register`")]
    pub fn try_new(inner: T) -> Result<Self, AsyncFdRegisterError<T>> {
        Self::registered(inner, Interest::READABLE | Interest::WRITABLE)
    }

    /// As [`register_with_interest`](Self::register_with_interest), of which nothing says that the descriptor stays open.
    ///
    /// # Errors
    /// If the kernel cannot wait for it; gives it back.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    #[track_caller]
    #[deprecated(
        note = "nothing says that the descriptor stays open; use `AsyncFd::register_with_interest`"
    )]
    pub fn try_with_interest(
        inner: T,
        interest: Interest,
    ) -> Result<Self, AsyncFdRegisterError<T>> {
        Self::registered(inner, interest)
    }
}

impl<T: AsRawFd> AsRawFd for AsyncFd<T> {
    fn as_raw_fd(&self) -> RawFd {
        self.get_ref().as_raw_fd()
    }
}

impl<T: AsRawFd> AsFd for AsyncFd<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: whoever registered it has promised that it stays open as long as this is there.
        unsafe { BorrowedFd::borrow_raw(self.as_raw_fd()) }
    }
}

impl<T: AsRawFd + fmt::Debug> fmt::Debug for AsyncFd<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AsyncFd")
            .field("inner", &self.inner)
            .finish()
    }
}

impl<T: AsRawFd> Drop for AsyncFd<T> {
    fn drop(&mut self) {
        drop(self.take());
    }
}

/// What a guard stands for: what was known, and has not been cleared.
#[derive(Debug)]
struct Known {
    seen: Seen,
    ready: Ready,
}

impl Known {
    fn new(seen: Seen, interest: Interest) -> Self {
        Self {
            ready: seen.ready() & interest.wanted(),
            seen,
        }
    }

    fn clear(&mut self, registration: &Registration, ready: Ready) {
        registration.forget(self.seen, self.ready & ready);
        self.ready = self.ready - ready;
    }

    /// What an answer of "would block" says: nothing of it was true.
    fn check<R>(
        &mut self,
        registration: &Registration,
        result: io::Result<R>,
    ) -> Result<io::Result<R>, TryIoError> {
        match result {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.clear(registration, Ready::ALL);
                Err(TryIoError(()))
            }
            result => Ok(result),
        }
    }
}

/// Defines what both guards do.
macro_rules! guard {
    ($type:ident) => {
        impl<'a, T: AsRawFd> $type<'a, T> {
            /// Nothing of what was known is true any more: the next wait waits for an event.
            ///
            /// Only to be called after the descriptor has said that it would block.
            pub fn clear_ready(&mut self) {
                self.clear_ready_matching(Ready::ALL);
            }

            /// As [`clear_ready`](Self::clear_ready), of what is in `ready`.
            pub fn clear_ready_matching(&mut self, ready: Ready) {
                self.known.clear(&self.async_fd.registration, ready);
            }

            /// What was known is still true. Nothing happens: this is for those who want to say so.
            pub fn retain_ready(&mut self) {}

            /// What was known when this was handed out, without what has been cleared.
            pub fn ready(&self) -> Ready {
                self.known.ready
            }
        }

        impl<T: AsRawFd + fmt::Debug> fmt::Debug for $type<'_, T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($type))
                    .field("async_fd", &self.async_fd)
                    .finish_non_exhaustive()
            }
        }
    };
}

/// An [`AsyncFd`] that is worth trying. To be told if it was not: see [`try_io`](Self::try_io).
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # use blitz_io::io::unix::AsyncFd;
/// # use std::os::unix::net::UnixStream;
/// use blitz_io::io::Ready;
/// use std::io::{Read, Write};
///
/// # let (stream, mut other) = UnixStream::pair()?;
/// # stream.set_nonblocking(true)?;
/// let stream = AsyncFd::new(stream)?;
/// other.write_all(b"hello")?;
/// let mut guard = stream.readable().await?;
/// let mut buffer = [0; 8];
/// let length = guard.try_io(|stream| stream.get_ref().read(&mut buffer)).unwrap()?;
/// assert_eq!(&buffer[..length], b"hello");
///
/// // By hand: what is known, what is not true any more, and what it is about.
/// assert!(guard.ready().is_readable());
/// let again = guard.get_inner().read(&mut buffer);
/// assert!(again.is_err()); // it would block ...
/// guard.clear_ready(); // ... so the next `readable` waits
/// assert!(!guard.ready().is_readable());
/// guard.clear_ready_matching(Ready::READABLE | Ready::READ_CLOSED); // or a part of it
/// guard.retain_ready(); // does nothing, and says so
/// assert!(guard.get_ref().get_ref().peer_addr()?.is_unnamed());
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
#[must_use = "say whether it was ready: `try_io`, `clear_ready` or `retain_ready`"]
pub struct AsyncFdReadyGuard<'a, T: AsRawFd> {
    async_fd: &'a AsyncFd<T>,
    known: Known,
}

guard!(AsyncFdReadyGuard);

impl<'a, Inner: AsRawFd> AsyncFdReadyGuard<'a, Inner> {
    /// Calls `f`; if that says [`WouldBlock`](io::ErrorKind::WouldBlock), [clears](Self::clear_ready) what was known.
    ///
    /// # Errors
    /// If it would block: then wait again.
    pub fn try_io<R>(
        &mut self,
        f: impl FnOnce(&'a AsyncFd<Inner>) -> io::Result<R>,
    ) -> Result<io::Result<R>, TryIoError> {
        let result = f(self.async_fd);
        self.known.check(&self.async_fd.registration, result)
    }

    /// What it is a guard of.
    pub fn get_ref(&self) -> &'a AsyncFd<Inner> {
        self.async_fd
    }

    /// What is registered.
    pub fn get_inner(&self) -> &'a Inner {
        self.async_fd.get_ref()
    }
}

/// As [`AsyncFdReadyGuard`], for one who may change what is registered.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # use blitz_io::io::unix::AsyncFd;
/// # use std::os::unix::net::UnixStream;
/// use blitz_io::io::Ready;
/// use std::io::{Read, Write};
///
/// # let (stream, mut other) = UnixStream::pair()?;
/// # stream.set_nonblocking(true)?;
/// let mut stream = AsyncFd::new(stream)?;
/// other.write_all(b"hello")?;
/// let mut guard = stream.readable_mut().await?;
/// let mut buffer = [0; 8];
/// let length = guard.try_io(|stream| stream.get_mut().read(&mut buffer)).unwrap()?;
/// assert_eq!(&buffer[..length], b"hello");
///
/// // By hand: what is known, what is not true any more, and what it is about.
/// assert!(guard.ready().is_readable());
/// assert!(guard.get_inner_mut().read(&mut buffer).is_err()); // it would block ...
/// guard.clear_ready_matching(Ready::READABLE); // ... so the next `readable` waits
/// guard.clear_ready(); // or all of it
/// assert!(guard.get_inner().peer_addr()?.is_unnamed());
/// assert!(guard.get_ref().get_ref().take_error()?.is_none());
/// guard.get_mut().get_mut().set_nonblocking(true)?;
/// guard.retain_ready();
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
#[must_use = "say whether it was ready: `try_io`, `clear_ready` or `retain_ready`"]
pub struct AsyncFdReadyMutGuard<'a, T: AsRawFd> {
    async_fd: &'a mut AsyncFd<T>,
    known: Known,
}

guard!(AsyncFdReadyMutGuard);

impl<Inner: AsRawFd> AsyncFdReadyMutGuard<'_, Inner> {
    /// Calls `f`; if that says [`WouldBlock`](io::ErrorKind::WouldBlock), [clears](Self::clear_ready) what was known.
    ///
    /// # Errors
    /// If it would block: then wait again.
    pub fn try_io<R>(
        &mut self,
        f: impl FnOnce(&mut AsyncFd<Inner>) -> io::Result<R>,
    ) -> Result<io::Result<R>, TryIoError> {
        let result = f(self.async_fd);
        self.known.check(&self.async_fd.registration, result)
    }

    /// What it is a guard of.
    pub fn get_ref(&self) -> &AsyncFd<Inner> {
        self.async_fd
    }

    /// What it is a guard of.
    pub fn get_mut(&mut self) -> &mut AsyncFd<Inner> {
        self.async_fd
    }

    /// What is registered.
    pub fn get_inner(&self) -> &Inner {
        self.async_fd.get_ref()
    }

    /// What is registered.
    pub fn get_inner_mut(&mut self) -> &mut Inner {
        self.async_fd.get_mut()
    }
}

/// What was tried would block.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # use blitz_io::io::unix::AsyncFd;
/// # use std::os::unix::net::UnixStream;
/// use std::io::{ErrorKind, Read};
///
/// # let (stream, _other) = UnixStream::pair()?;
/// # stream.set_nonblocking(true)?;
/// let stream = AsyncFd::new(stream)?;
/// let mut guard = stream.writable().await?;
/// // There is nothing to read.
/// let error = guard.try_io(|stream| stream.get_ref().read(&mut [0; 8])).unwrap_err();
/// println!("{error:?}: wait again");
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
#[derive(Debug)]
pub struct TryIoError(());

/// The kernel cannot wait for something; it is given back.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::io::unix::AsyncFd;
///
/// // The system does not wait for files: they are always ready.
/// let file = std::fs::File::open("Cargo.toml").unwrap();
/// # #[cfg(target_os = "linux")] {
/// let (file, error) = AsyncFd::try_new(file).unwrap_err().into_parts();
/// println!("{error}; open it with blitz_io::fs::File: {file:?}");
/// # }
/// # });
/// ```
pub struct AsyncFdRegisterError<T> {
    inner: T,
    cause: io::Error,
}

/// The old name.
#[doc(hidden)]
#[deprecated(note = "it is called `AsyncFdRegisterError`")]
pub type AsyncFdTryNewError<T> = AsyncFdRegisterError<T>;

impl<T> AsyncFdRegisterError<T> {
    /// What was to be registered, and why it was not.
    pub fn into_parts(self) -> (T, io::Error) {
        (self.inner, self.cause)
    }
}

impl<T> fmt::Display for AsyncFdRegisterError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.cause.fmt(f)
    }
}

impl<T> fmt::Debug for AsyncFdRegisterError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.cause, f)
    }
}

impl<T> Error for AsyncFdRegisterError<T> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.cause)
    }
}

impl<T> From<AsyncFdRegisterError<T>> for io::Error {
    fn from(error: AsyncFdRegisterError<T>) -> Self {
        error.cause
    }
}
