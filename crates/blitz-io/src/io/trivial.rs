//! Readers and writers that are always ready.

use super::{AsyncBufRead, AsyncRead, AsyncSeek, AsyncWrite, ReadBuf};
use crate::coop;
use std::io::{self, IoSlice, SeekFrom};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A reader that is at its end. As a writer, it takes everything and keeps nothing.
///
/// ```
/// use blitz_io::io::{AsyncReadExt, empty};
///
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// assert_eq!(empty().read(&mut [0; 8]).await.unwrap(), 0);
/// # });
/// ```
pub fn empty() -> Empty {
    Empty(())
}

/// See [`empty`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Empty(());

impl AsyncRead for Empty {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        _buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let _spent = ready!(coop::take_unit(cx));
        Poll::Ready(Ok(()))
    }
}

impl AsyncBufRead for Empty {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let _spent = ready!(coop::take_unit(cx));
        Poll::Ready(Ok(&[]))
    }

    fn consume(self: Pin<&mut Self>, _amount: usize) {}
}

/// A reader of the same byte without end.
///
/// ```
/// use blitz_io::io::{AsyncReadExt, repeat};
///
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let mut bytes = [0; 3];
/// repeat(7).read_exact(&mut bytes).await.unwrap();
/// assert_eq!(bytes, [7; 3]);
/// # });
/// ```
pub fn repeat(byte: u8) -> Repeat {
    Repeat(byte)
}

/// See [`repeat`].
#[derive(Debug, Clone, Copy)]
pub struct Repeat(u8);

impl AsyncRead for Repeat {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let _spent = ready!(coop::take_unit(cx));
        // SAFETY: all of it is filled.
        unsafe {
            buf.poll_with(|room| {
                room.fill(MaybeUninit::new(self.0));
                Poll::Ready(Ok((room.len(), ())))
            })
        }
    }
}

/// A writer that takes everything and keeps nothing.
///
/// ```
/// use blitz_io::io::{AsyncWriteExt, sink};
///
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// sink().write_all(b"gone").await.unwrap();
/// # });
/// ```
pub fn sink() -> Sink {
    Sink(())
}

/// See [`sink`].
#[derive(Debug, Clone, Copy, Default)]
pub struct Sink(());

/// Takes everything.
macro_rules! bottomless {
    ($type:ty) => {
        impl AsyncWrite for $type {
            fn poll_write(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buf: &[u8],
            ) -> Poll<io::Result<usize>> {
                let _spent = ready!(coop::take_unit(cx));
                Poll::Ready(Ok(buf.len()))
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bufs: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                let _spent = ready!(coop::take_unit(cx));
                Poll::Ready(Ok(bufs.iter().map(|bytes| bytes.len()).sum()))
            }

            fn is_write_vectored(&self) -> bool {
                true
            }

            fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                let _spent = ready!(coop::take_unit(cx));
                Poll::Ready(Ok(()))
            }

            fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                let _spent = ready!(coop::take_unit(cx));
                Poll::Ready(Ok(()))
            }
        }
    };
}

bottomless!(Sink);
bottomless!(Empty);

impl AsyncSeek for Empty {
    fn start_seek(self: Pin<&mut Self>, _position: SeekFrom) -> io::Result<()> {
        Ok(())
    }

    fn poll_complete(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        let _spent = ready!(coop::take_unit(cx));
        Poll::Ready(Ok(0))
    }
}
