//! The traits of `futures-io` for what is ours and implements our own: one is written in terms of the other. Feature `futures-io`.

use super::{
    AsyncBufRead, AsyncRead, AsyncWrite, BufReader, BufStream, BufWriter, Chain, DuplexStream,
    Empty, Join, ReadBuf, ReadHalf, Repeat, SimplexStream, Sink, Take, WriteHalf,
};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Reads into bytes.
pub(crate) fn poll_read_bytes<R: AsyncRead + ?Sized>(
    reader: Pin<&mut R>,
    cx: &mut Context<'_>,
    bytes: &mut [u8],
) -> Poll<io::Result<usize>> {
    let mut buffer = ReadBuf::new(bytes);
    ready!(reader.poll_read(cx, &mut buffer))?;
    Poll::Ready(Ok(buffer.filled().len()))
}

macro_rules! read {
    ($([$($generics:tt)*] $type:ty;)*) => {$(
        impl<$($generics)*> futures_io::AsyncRead for $type {
            fn poll_read(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buffer: &mut [u8],
            ) -> Poll<io::Result<usize>> {
                poll_read_bytes(self, cx, buffer)
            }
        }
    )*};
}

macro_rules! buf_read {
    ($([$($generics:tt)*] $type:ty;)*) => {$(
        impl<$($generics)*> futures_io::AsyncBufRead for $type {
            fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
                AsyncBufRead::poll_fill_buf(self, cx)
            }

            fn consume(self: Pin<&mut Self>, amount: usize) {
                AsyncBufRead::consume(self, amount);
            }
        }
    )*};
}

macro_rules! write {
    ($([$($generics:tt)*] $type:ty;)*) => {$(
        impl<$($generics)*> futures_io::AsyncWrite for $type {
            fn poll_write(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                bytes: &[u8],
            ) -> Poll<io::Result<usize>> {
                AsyncWrite::poll_write(self, cx, bytes)
            }

            fn poll_write_vectored(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                buffers: &[IoSlice<'_>],
            ) -> Poll<io::Result<usize>> {
                AsyncWrite::poll_write_vectored(self, cx, buffers)
            }

            fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                AsyncWrite::poll_flush(self, cx)
            }

            fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
                AsyncWrite::poll_shutdown(self, cx)
            }
        }
    )*};
}

read! {
    [] DuplexStream;
    [] Empty;
    [] Repeat;
    [R: AsyncRead] BufReader<R>;
    [R: AsyncRead] BufWriter<R>;
    [S: AsyncRead + AsyncWrite] BufStream<S>;
    [A: AsyncRead, B: AsyncRead] Chain<A, B>;
    [R: AsyncRead] Take<R>;
    [S: AsyncRead] ReadHalf<S>;
    [] SimplexStream;
    [R: AsyncRead, W] Join<R, W>;
}

buf_read! {
    [] Empty;
    [R: AsyncRead] BufReader<R>;
    [S: AsyncRead + AsyncWrite] BufStream<S>;
    [A: AsyncBufRead, B: AsyncBufRead] Chain<A, B>;
    [R: AsyncBufRead] Take<R>;
}

write! {
    [] DuplexStream;
    [] Sink;
    [W: AsyncWrite] BufReader<W>;
    [W: AsyncWrite] BufWriter<W>;
    [S: AsyncRead + AsyncWrite] BufStream<S>;
    [S: AsyncWrite] WriteHalf<S>;
    [] Empty;
    [] SimplexStream;
    [R, W: AsyncWrite] Join<R, W>;
}
