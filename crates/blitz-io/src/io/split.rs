//! Any stream in two halves, for two tasks.
//!
//! The halves share the stream behind a lock that is held during a poll and never while anybody waits. A stream keeps the wakers of its reader and of
//! its writer apart, so the halves do not disturb each other. Sockets need no lock: they have halves of their own, see
//! [`TcpStream::into_split`](crate::net::TcpStream::into_split).

use super::{AsyncRead, AsyncWrite, ReadBuf};
use std::fmt;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
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
pub fn split<S: Unpin>(stream: S) -> (ReadHalf<S>, WriteHalf<S>) {
    let stream = Arc::new(Mutex::new(stream));
    (ReadHalf(Arc::clone(&stream)), WriteHalf(stream))
}

/// The half that reads. See [`split`].
pub struct ReadHalf<S>(Arc<Mutex<S>>);

/// The half that writes. See [`split`].
///
/// Dropping it tells the peer nothing while the other half is there: [`shutdown`](super::AsyncWriteExt::shutdown) does.
pub struct WriteHalf<S>(Arc<Mutex<S>>);

/// Uses the stream. After a panic in it, it is as good as it ever was.
fn with<S: Unpin, R>(stream: &Mutex<S>, operation: impl FnOnce(Pin<&mut S>) -> R) -> R {
    let mut stream = stream.lock().unwrap_or_else(PoisonError::into_inner);
    operation(Pin::new(&mut *stream))
}

impl<S: Unpin> ReadHalf<S> {
    /// Whether these are the halves of one stream.
    pub fn is_pair_of(&self, write: &WriteHalf<S>) -> bool {
        Arc::ptr_eq(&self.0, &write.0)
    }

    /// Puts the halves of a stream together.
    ///
    /// # Errors
    /// Gives both back if they are of different streams.
    pub fn reunite(self, write: WriteHalf<S>) -> Result<S, ReuniteError<Self, WriteHalf<S>>> {
        if !self.is_pair_of(&write) {
            return Err(ReuniteError(self, write));
        }
        drop(write);
        let stream = Arc::into_inner(self.0).expect("a stream has two halves");
        Ok(stream.into_inner().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ReadHalf<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        with(&self.0, |stream| stream.poll_read(cx, buf))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteHalf<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        with(&self.0, |stream| stream.poll_write(cx, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        with(&self.0, |stream| stream.poll_write_vectored(cx, buffers))
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

/// Two halves that do not belong together.
#[derive(Debug)]
pub struct ReuniteError<R, W>(pub R, pub W);

impl<R, W> fmt::Display for ReuniteError<R, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the two halves are of different streams")
    }
}

impl<R: fmt::Debug, W: fmt::Debug> std::error::Error for ReuniteError<R, W> {}
