//! Readers and writers that are always ready.

use super::{AsyncBufRead, AsyncRead, AsyncWrite, ReadBuf};
use crate::coop;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A reader that is at its end.
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
        _cx: &mut Context<'_>,
        _buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl AsyncBufRead for Empty {
    fn poll_fill_buf(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
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
        let filled = unsafe {
            buf.read_with(|room| {
                room.fill(MaybeUninit::new(self.0));
                Ok(room.len())
            })
        };
        Poll::Ready(filled)
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

impl AsyncWrite for Sink {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let _spent = ready!(coop::take_unit(cx));
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
