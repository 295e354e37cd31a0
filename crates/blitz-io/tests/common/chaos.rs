//! Readers and writers that do as little at a time as they may: a few bytes, or nothing and a wake-up, as a generator says.

use blitz_io::io::{AsyncRead, AsyncWrite, ReadBuf};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Marsaglia's xorshift.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 16) % limit as u64) as usize
    }

    pub fn bytes(&mut self, length: usize, kinds: usize) -> Vec<u8> {
        (0..length)
            .map(|_| b'a' + self.below(kinds) as u8)
            .collect()
    }
}

/// Passes on what it is asked for, in pieces of 1 to `piece` bytes, and every third time or so not at once.
#[derive(Debug)]
pub struct Chaos<S> {
    pub inner: S,
    random: Random,
    piece: usize,
}

impl<S> Chaos<S> {
    pub fn new(inner: S, seed: u64, piece: usize) -> Self {
        Self {
            inner,
            random: Random::new(seed),
            piece,
        }
    }

    /// How much may be done now.
    fn allowance(&mut self, cx: &Context<'_>) -> Poll<usize> {
        if self.random.below(3) == 0 {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        Poll::Ready(1 + self.random.below(self.piece))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Chaos<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let length = std::task::ready!(self.allowance(cx)).min(buf.remaining());
        let mut part = ReadBuf::new(buf.initialize_unfilled_to(length));
        std::task::ready!(Pin::new(&mut self.inner).poll_read(cx, &mut part))?;
        let length = part.filled().len();
        buf.advance(length);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Chaos<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let length = std::task::ready!(self.allowance(cx)).min(bytes.len());
        Pin::new(&mut self.inner).poll_write(cx, &bytes[..length])
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        std::task::ready!(self.allowance(cx));
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        std::task::ready!(self.allowance(cx));
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
