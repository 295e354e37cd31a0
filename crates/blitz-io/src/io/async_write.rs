//! The trait of writers.

use std::io::{self, IoSlice, Write};
use std::ops::DerefMut;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Something to write bytes to. Its methods for users are those of [`AsyncWriteExt`](super::AsyncWriteExt).
///
/// ```
/// use blitz_io::io::{AsyncWrite, AsyncWriteExt};
/// use std::io;
/// use std::pin::Pin;
/// use std::task::{Context, Poll};
///
/// /// Writes capitals.
/// struct Loud<W>(W);
///
/// impl<W: AsyncWrite + Unpin> AsyncWrite for Loud<W> {
///     fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
///         Pin::new(&mut self.0).poll_write(cx, &bytes.to_ascii_uppercase())
///     }
///
///     fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
///         Pin::new(&mut self.0).poll_flush(cx)
///     }
///
///     fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
///         Pin::new(&mut self.0).poll_shutdown(cx)
///     }
/// }
///
/// # blitz_io::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let mut writer = Loud(Vec::new());
/// writer.write_all(b"hello").await?;
/// assert_eq!(writer.0, b"HELLO");
/// # io::Result::Ok(()) }).unwrap();
/// ```
pub trait AsyncWrite {
    /// Writes what there is room for, and says how much that was: zero if it takes nothing any more, or if `buf` is empty.
    ///
    /// If there is no room yet, nothing is written, and the task is woken when that has changed; of several tasks only the last one that
    /// asked. With an error nothing has been written.
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>>;

    /// Sees that what has been written is on its way: buffers are emptied.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// Flushes, and tells the other side that this was all. What comes from there can still be read.
    ///
    /// After it is ready, writing is an error or has no effect; doing this again is neither.
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// As [`poll_write`](Self::poll_write), from several buffers one after the other. A writer that does not know how takes the first
    /// that is not empty.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncWrite;
    /// use std::future::poll_fn;
    /// use std::io::IoSlice;
    /// use std::pin::Pin;
    ///
    /// let mut message = Vec::new();
    /// assert!(message.is_write_vectored()); // it takes all of them
    /// let parts = [IoSlice::new(b"head"), IoSlice::new(b"body")];
    /// let written = poll_fn(|cx| Pin::new(&mut message).poll_write_vectored(cx, &parts)).await?;
    /// assert_eq!((written, &message[..]), (8, &b"headbody"[..]));
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let first = bufs.iter().find(|bytes| !bytes.is_empty());
        self.poll_write(cx, first.map_or(&[], |bytes| &**bytes))
    }

    /// Whether [`poll_write_vectored`](Self::poll_write_vectored) is better than copying to one buffer.
    fn is_write_vectored(&self) -> bool {
        false
    }
}

macro_rules! write_target {
    () => {
        fn poll_write(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buf: &[u8],
        ) -> Poll<io::Result<usize>> {
            Pin::new(&mut **self).poll_write(cx, buf)
        }

        fn poll_write_vectored(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            bufs: &[IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            Pin::new(&mut **self).poll_write_vectored(cx, bufs)
        }

        fn is_write_vectored(&self) -> bool {
            (**self).is_write_vectored()
        }

        fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut **self).poll_flush(cx)
        }

        fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut **self).poll_shutdown(cx)
        }
    };
}

impl<T: AsyncWrite + Unpin + ?Sized> AsyncWrite for Box<T> {
    write_target!();
}

impl<T: AsyncWrite + Unpin + ?Sized> AsyncWrite for &mut T {
    write_target!();
}

impl<P> AsyncWrite for Pin<P>
where
    P: DerefMut,
    P::Target: AsyncWrite,
{
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.as_deref_mut().poll_write(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.as_deref_mut().poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        (**self).is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.as_deref_mut().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.as_deref_mut().poll_shutdown(cx)
    }
}

/// What the standard library can write to without waiting.
macro_rules! write_to_memory {
    ($($memory:ty),*) => {$(
        impl AsyncWrite for $memory {
            #[inline]
            fn poll_write(
                mut self: Pin<&mut Self>,
                _: &mut Context<'_>,
                buf: &[u8],
            ) -> Poll<io::Result<usize>> {
                Poll::Ready(Write::write(&mut *self, buf))
            }

            #[inline]
            fn poll_write_vectored(
                mut self: Pin<&mut Self>,
                _: &mut Context<'_>,
                bufs: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                Poll::Ready(Write::write_vectored(&mut *self, bufs))
            }

            #[inline]
            fn is_write_vectored(&self) -> bool {
                true
            }

            #[inline]
            fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }

            #[inline]
            fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
                Poll::Ready(Ok(()))
            }
        }
    )*};
}

write_to_memory!(
    Vec<u8>,
    io::Cursor<&mut [u8]>,
    io::Cursor<&mut Vec<u8>>,
    io::Cursor<Vec<u8>>,
    io::Cursor<Box<[u8]>>
);
