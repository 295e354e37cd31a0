//! Any stream in two halves, for two tasks.
//!
//! The halves share the stream behind a lock, which is held during a poll and never while a task waits. A stream keeps the wakers of its reader and of
//! its writer apart, so the halves do not disturb each other. Sockets need no lock, because they have halves of their own: see
//! [`TcpStream::into_split`](crate::net::TcpStream::into_split).

use super::{AsyncRead, AsyncWrite, ReadBuf};
use crate::primitives::ignore_poison;
use std::fmt;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

/// Splits a stream into a half that reads and a half that writes.
///
/// # Cost
/// One allocation; a lock for each operation.
///
/// ```
/// use blitz_io::io::{self, AsyncReadExt, AsyncWriteExt};
///
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let (near, far) = io::duplex(8);
/// let (mut reader, mut writer) = io::split(near);
/// let echo = blitz_io::spawn(async move {
///     let (mut reader, mut writer) = io::split(far);
///     io::copy(&mut reader, &mut writer).await?;
///     writer.shutdown().await
/// });
/// let sent = blitz_io::spawn(async move {
///     writer.write_all(b"more than there is room for").await?;
///     writer.shutdown().await
/// });
/// let mut answer = String::new();
/// reader.read_to_string(&mut answer).await?;
/// assert_eq!(answer, "more than there is room for");
/// # sent.await.unwrap()?;
/// # echo.await.unwrap()
/// # }).unwrap();
/// ```
pub fn split<T>(stream: T) -> (ReadHalf<T>, WriteHalf<T>)
where
    T: AsyncRead + AsyncWrite,
{
    let stream = Arc::new(Mutex::new(stream));
    (ReadHalf(Arc::clone(&stream)), WriteHalf(stream))
}

/// The half that reads. See [`split`].
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::io::{self, AsyncReadExt, AsyncWriteExt};
///
/// let (mut peer, stream) = io::duplex(64);
/// let (mut reader, writer) = io::split(stream);
/// peer.write_all(b"hello").await?;
/// let mut word = [0; 5];
/// reader.read_exact(&mut word).await?;
/// assert!(reader.is_pair_of(&writer));
/// let stream = reader.unsplit(writer); // one again
/// # drop(stream);
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
pub struct ReadHalf<T>(Arc<Mutex<T>>);

/// The half that writes. See [`split`].
///
/// Dropping it tells the peer nothing while the other half is there: [`shutdown`](super::AsyncWriteExt::shutdown) does.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::io::{self, AsyncReadExt, AsyncWriteExt};
///
/// let (mut peer, stream) = io::duplex(64);
/// let (reader, mut writer) = io::split(stream);
/// writer.write_all(b"hello").await?;
/// writer.shutdown().await?; // the peer sees the end
/// let mut text = String::new();
/// peer.read_to_string(&mut text).await?;
/// assert_eq!(text, "hello");
/// assert!(writer.is_pair_of(&reader));
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
pub struct WriteHalf<T>(Arc<Mutex<T>>);

// SAFETY: with a reference to a half nobody gets at the stream, except to ask it, under the lock, whether it can write from several buffers; that is asked through
// a reference, which may be had anywhere. (The halves themselves may only go where the stream may.)
unsafe impl<T: Sync> Sync for ReadHalf<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for WriteHalf<T> {}

/// Uses the stream. After a panic in it, it is as good as it ever was.
fn with<T, R>(stream: &Mutex<T>, operation: impl FnOnce(Pin<&mut T>) -> R) -> R {
    let mut stream = ignore_poison(stream.lock());
    // SAFETY: it is where it was put by `split`, in memory that the halves share, and only `unsplit` takes it out again, for those that may be moved.
    operation(unsafe { Pin::new_unchecked(&mut *stream) })
}

impl<T> ReadHalf<T> {
    /// Whether these are the halves of one stream.
    pub fn is_pair_of(&self, other: &WriteHalf<T>) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Puts the halves of a stream together.
    ///
    /// # Panics
    /// If they are of different streams: ask [`is_pair_of`](Self::is_pair_of).
    #[track_caller]
    pub fn unsplit(self, wr: WriteHalf<T>) -> T
    where
        T: Unpin,
    {
        assert!(
            self.is_pair_of(&wr),
            "unsplit: the two halves are of different streams"
        );
        drop(wr);
        let stream = Arc::into_inner(self.0).expect("a stream has two halves");
        ignore_poison(stream.into_inner())
    }
}

impl<T> WriteHalf<T> {
    /// Whether these are the halves of one stream.
    pub fn is_pair_of(&self, other: &ReadHalf<T>) -> bool {
        other.is_pair_of(self)
    }
}

impl<T: AsyncRead> AsyncRead for ReadHalf<T> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        with(&self.0, |stream| stream.poll_read(cx, buf))
    }
}

impl<T: AsyncWrite> AsyncWrite for WriteHalf<T> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        with(&self.0, |stream| stream.poll_write(cx, buf))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        with(&self.0, |stream| stream.poll_write_vectored(cx, bufs))
    }

    fn is_write_vectored(&self) -> bool {
        with(&self.0, |stream| stream.is_write_vectored())
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        with(&self.0, |stream| stream.poll_flush(cx))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        with(&self.0, |stream| stream.poll_shutdown(cx))
    }
}

impl<S> fmt::Debug for ReadHalf<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadHalf").finish_non_exhaustive()
    }
}

impl<S> fmt::Debug for WriteHalf<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WriteHalf").finish_non_exhaustive()
    }
}
