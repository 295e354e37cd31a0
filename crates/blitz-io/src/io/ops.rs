//! Reading and writing as futures, for whatever implements the traits of `futures-io`: what the methods of sockets and those of the
//! extension traits do.

use futures_io::{AsyncBufRead, AsyncRead, AsyncWrite};
use std::future::{Future, poll_fn};
use std::io::{self, IoSlice, IoSliceMut};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Reads what there is, at most a buffer full; zero bytes are the end of the stream.
pub(crate) async fn read<R: AsyncRead + Unpin + ?Sized>(
    reader: &mut R,
    buffer: &mut [u8],
) -> io::Result<usize> {
    poll_fn(|cx| Pin::new(&mut *reader).poll_read(cx, buffer)).await
}

/// As [`read`] with several buffers.
pub(crate) async fn read_vectored<R: AsyncRead + Unpin + ?Sized>(
    reader: &mut R,
    buffers: &mut [IoSliceMut<'_>],
) -> io::Result<usize> {
    poll_fn(|cx| Pin::new(&mut *reader).poll_read_vectored(cx, buffers)).await
}

/// Fills the buffer.
pub(crate) async fn read_exact<R: AsyncRead + Unpin + ?Sized>(
    reader: &mut R,
    mut buffer: &mut [u8],
) -> io::Result<()> {
    while !buffer.is_empty() {
        match read(reader, buffer).await? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            length => buffer = &mut buffer[length..],
        }
    }
    Ok(())
}

/// Appends everything up to the end of the stream, and returns how much that was.
pub(crate) async fn read_to_end<R: AsyncRead + Unpin + ?Sized>(
    reader: &mut R,
    bytes: &mut Vec<u8>,
) -> io::Result<usize> {
    /// What is read at once, at least.
    const CHUNK: usize = 8 * 1024;
    let before = bytes.len();
    let mut tail = Tail {
        filled: before,
        bytes,
    };
    loop {
        let Tail { bytes, filled } = &mut tail;
        if bytes.len() == *filled {
            bytes.resize((*filled * 2).max(*filled + CHUNK), 0);
        }
        match read(reader, &mut bytes[*filled..]).await? {
            0 => return Ok(*filled - before),
            length => *filled += length,
        }
    }
}

/// A vector with room behind what has been read into it. The room goes when this does: also with an error, a panic, or a future that is
/// given up.
struct Tail<'a> {
    bytes: &'a mut Vec<u8>,
    filled: usize,
}

impl Drop for Tail<'_> {
    fn drop(&mut self) {
        self.bytes.truncate(self.filled);
    }
}

/// As [`read_to_end`], for text.
pub(crate) async fn read_to_string<R: AsyncRead + Unpin + ?Sized>(
    reader: &mut R,
    text: &mut String,
) -> io::Result<usize> {
    let mut bytes = Vec::new();
    read_to_end(reader, &mut bytes).await?;
    append_text(text, bytes)
}

/// Appends bytes that should be text, all or nothing.
pub(crate) fn append_text(text: &mut String, bytes: Vec<u8>) -> io::Result<usize> {
    let read = into_text(bytes)?;
    text.push_str(&read);
    Ok(read.len())
}

/// Bytes that should be text.
pub(crate) fn into_text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Reads a number of bytes that the type says.
pub(crate) async fn read_array<const N: usize, R: AsyncRead + Unpin + ?Sized>(
    reader: &mut R,
) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    read_exact(reader, &mut bytes).await?;
    Ok(bytes)
}

/// Awaits something in the buffer, or the end.
pub(crate) fn fill_buf<R: AsyncBufRead + Unpin + ?Sized>(reader: &mut R) -> FillBuf<'_, R> {
    FillBuf {
        reader: Some(reader),
    }
}

/// See [`fill_buf`].
pub(crate) struct FillBuf<'a, R: ?Sized> {
    reader: Option<&'a mut R>,
}

impl<'a, R: AsyncBufRead + Unpin + ?Sized> Future for FillBuf<'a, R> {
    type Output = io::Result<&'a [u8]>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let reader = self.reader.take().expect("not polled after it was ready");
        match Pin::new(&mut *reader).poll_fill_buf(cx) {
            Poll::Ready(Ok(bytes)) => {
                // SAFETY: the bytes are borrowed from the reader, which is borrowed for `'a` and which nobody uses any more: it has
                // been taken out of this future, which is how one would tell the compiler if it followed that through a match.
                let bytes = unsafe { std::slice::from_raw_parts(bytes.as_ptr(), bytes.len()) };
                Poll::Ready(Ok(bytes))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => {
                self.reader = Some(reader);
                Poll::Pending
            }
        }
    }
}

/// Where `chunk` ends, if the delimiter is in it or it is the end: how much of it is to be used, and whether that is all.
pub(crate) fn up_to(delimiter: u8, chunk: &[u8]) -> (usize, bool) {
    match chunk.iter().position(|&byte| byte == delimiter) {
        Some(index) => (index + 1, true),
        None => (chunk.len(), chunk.is_empty()),
    }
}

/// Appends everything up to the delimiter, which is included, or the end.
pub(crate) async fn read_until<R: AsyncBufRead + Unpin + ?Sized>(
    reader: &mut R,
    delimiter: u8,
    bytes: &mut Vec<u8>,
) -> io::Result<usize> {
    let before = bytes.len();
    loop {
        let chunk = fill_buf(reader).await?;
        let (used, complete) = up_to(delimiter, chunk);
        bytes.extend_from_slice(&chunk[..used]);
        Pin::new(&mut *reader).consume(used);
        if complete {
            return Ok(bytes.len() - before);
        }
    }
}

/// Writes what there is room for, and returns how much that was.
pub(crate) async fn write<W: AsyncWrite + Unpin + ?Sized>(
    writer: &mut W,
    bytes: &[u8],
) -> io::Result<usize> {
    poll_fn(|cx| Pin::new(&mut *writer).poll_write(cx, bytes)).await
}

/// As [`write`] with several buffers.
pub(crate) async fn write_vectored<W: AsyncWrite + Unpin + ?Sized>(
    writer: &mut W,
    buffers: &[IoSlice<'_>],
) -> io::Result<usize> {
    poll_fn(|cx| Pin::new(&mut *writer).poll_write_vectored(cx, buffers)).await
}

/// Writes everything.
pub(crate) async fn write_all<W: AsyncWrite + Unpin + ?Sized>(
    writer: &mut W,
    mut bytes: &[u8],
) -> io::Result<()> {
    while !bytes.is_empty() {
        match write(writer, bytes).await? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            length => bytes = &bytes[length..],
        }
    }
    Ok(())
}

/// Sees that what has been written is on its way.
pub(crate) async fn flush<W: AsyncWrite + Unpin + ?Sized>(writer: &mut W) -> io::Result<()> {
    poll_fn(|cx| Pin::new(&mut *writer).poll_flush(cx)).await
}

/// Tells the peer that this was all.
pub(crate) async fn shutdown<W: AsyncWrite + Unpin + ?Sized>(writer: &mut W) -> io::Result<()> {
    poll_fn(|cx| Pin::new(&mut *writer).poll_close(cx)).await
}
