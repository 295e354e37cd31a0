//! The trait of readers with a buffer.

use super::AsyncRead;
use super::async_read::rest;
use std::io;
use std::ops::DerefMut;
use std::pin::Pin;
use std::task::{Context, Poll};

/// A reader with a buffer inside. Its methods for users are those of [`AsyncBufReadExt`](super::AsyncBufReadExt).
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::io::AsyncBufRead;
/// use std::future::poll_fn;
/// use std::pin::Pin;
///
/// let mut reader = &b"one two"[..];
/// let word = poll_fn(|cx| {
///     let buffer = Pin::new(&mut reader).poll_fill_buf(cx);
///     buffer.map_ok(|bytes| bytes[..3].to_vec())
/// })
/// .await?;
/// Pin::new(&mut reader).consume(4); // with the space
/// assert_eq!((&word[..], reader), (&b"one"[..], &b"two"[..]));
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
pub trait AsyncBufRead: AsyncRead {
    /// What is in the buffer, which is filled if it is empty. Nothing is the end. To be followed by [`consume`](Self::consume).
    ///
    /// If there is nothing yet the task is woken when that has changed; of several tasks only the last one that asked.
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>>;

    /// `amt` bytes of what [`poll_fill_buf`](Self::poll_fill_buf) returned have been used: the next ones come after them.
    fn consume(self: Pin<&mut Self>, amt: usize);
}

macro_rules! buf_read_target {
    () => {
        fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
            Pin::new(&mut **self.get_mut()).poll_fill_buf(cx)
        }

        fn consume(mut self: Pin<&mut Self>, amt: usize) {
            Pin::new(&mut **self).consume(amt);
        }
    };
}

impl<T: AsyncBufRead + Unpin + ?Sized> AsyncBufRead for Box<T> {
    buf_read_target!();
}

impl<T: AsyncBufRead + Unpin + ?Sized> AsyncBufRead for &mut T {
    buf_read_target!();
}

impl<P> AsyncBufRead for Pin<P>
where
    P: DerefMut,
    P::Target: AsyncBufRead,
{
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        self.as_deref_mut().poll_fill_buf(cx)
    }

    fn consume(self: Pin<&mut Self>, amt: usize) {
        self.as_deref_mut().consume(amt);
    }
}

impl AsyncBufRead for &[u8] {
    #[inline]
    fn poll_fill_buf(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        Poll::Ready(Ok(*self))
    }

    #[inline]
    fn consume(mut self: Pin<&mut Self>, amt: usize) {
        *self = &self[amt..];
    }
}

impl<T: AsRef<[u8]> + Unpin> AsyncBufRead for io::Cursor<T> {
    #[inline]
    fn poll_fill_buf(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        Poll::Ready(Ok(rest(self.into_ref().get_ref())))
    }

    #[inline]
    fn consume(mut self: Pin<&mut Self>, amt: usize) {
        let position = self.position() + amt as u64;
        self.set_position(position);
    }
}
