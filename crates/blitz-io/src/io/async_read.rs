//! The trait of readers.

use super::ReadBuf;
use std::io;
use std::ops::DerefMut;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Something to read bytes from. Its methods for users are those of [`AsyncReadExt`](super::AsyncReadExt).
///
/// ```
/// use blitz_io::io::{AsyncRead, AsyncReadExt, ReadBuf};
/// use std::io;
/// use std::pin::Pin;
/// use std::task::{Context, Poll};
///
/// /// Reads from another one, and counts.
/// struct Counting<R> {
///     inner: R,
///     bytes: usize,
/// }
///
/// impl<R: AsyncRead + Unpin> AsyncRead for Counting<R> {
///     fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
///         let before = buf.filled().len();
///         let result = Pin::new(&mut self.inner).poll_read(cx, buf);
///         self.bytes += buf.filled().len() - before;
///         result
///     }
/// }
///
/// # blitz_io::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let mut reader = Counting { inner: &b"hello"[..], bytes: 0 };
/// reader.read_to_string(&mut String::new()).await?;
/// assert_eq!(reader.bytes, 5);
/// # io::Result::Ok(()) }).unwrap();
/// ```
pub trait AsyncRead {
    /// Appends what there is to the buffer, as much as there is room for.
    ///
    /// Ready with nothing appended is the end, unless there was no room. If there is nothing to read yet, nothing is appended, and the task
    /// is woken when that has changed; of several tasks only the last one that asked. With an error nothing has been appended.
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>>;
}

macro_rules! read_target {
    () => {
        fn poll_read(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buf: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut **self).poll_read(cx, buf)
        }
    };
}

impl<T: AsyncRead + Unpin + ?Sized> AsyncRead for Box<T> {
    read_target!();
}

impl<T: AsyncRead + Unpin + ?Sized> AsyncRead for &mut T {
    read_target!();
}

impl<P> AsyncRead for Pin<P>
where
    P: DerefMut,
    P::Target: AsyncRead,
{
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.as_deref_mut().poll_read(cx, buf)
    }
}

impl AsyncRead for &[u8] {
    #[inline]
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let (now, later) = self.split_at(self.len().min(buf.remaining()));
        buf.put_slice(now);
        *self = later;
        Poll::Ready(Ok(()))
    }
}

impl<T: AsRef<[u8]> + Unpin> AsyncRead for io::Cursor<T> {
    #[inline]
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let rest = rest(&self);
        let length = rest.len().min(buf.remaining());
        buf.put_slice(&rest[..length]);
        let position = self.position() + length as u64;
        self.set_position(position);
        Poll::Ready(Ok(()))
    }
}

/// What is behind the position, which may be behind the end.
pub(super) fn rest<T: AsRef<[u8]>>(cursor: &io::Cursor<T>) -> &[u8] {
    let bytes = cursor.get_ref().as_ref();
    let start = usize::try_from(cursor.position()).map_or(bytes.len(), |at| at.min(bytes.len()));
    &bytes[start..]
}
