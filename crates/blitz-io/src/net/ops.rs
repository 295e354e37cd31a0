//! Reading and writing as futures, for whatever implements the traits of `futures-io`.

use futures_io::{AsyncRead, AsyncWrite};
use std::future::poll_fn;
use std::io::{self, IoSlice, IoSliceMut};
use std::pin::Pin;

/// Reads what there is, at most a buffer full; zero bytes are the end of the stream.
pub(crate) async fn read<R: AsyncRead + Unpin>(
    reader: &mut R,
    buffer: &mut [u8],
) -> io::Result<usize> {
    poll_fn(|cx| Pin::new(&mut *reader).poll_read(cx, buffer)).await
}

/// As [`read`] with several buffers.
pub(crate) async fn read_vectored<R: AsyncRead + Unpin>(
    reader: &mut R,
    buffers: &mut [IoSliceMut<'_>],
) -> io::Result<usize> {
    poll_fn(|cx| Pin::new(&mut *reader).poll_read_vectored(cx, buffers)).await
}

/// Fills the buffer.
pub(crate) async fn read_exact<R: AsyncRead + Unpin>(
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
pub(crate) async fn read_to_end<R: AsyncRead + Unpin>(
    reader: &mut R,
    bytes: &mut Vec<u8>,
) -> io::Result<usize> {
    /// What is read at once, at least.
    const CHUNK: usize = 8 * 1024;
    let before = bytes.len();
    let mut filled = before;
    loop {
        if bytes.len() == filled {
            bytes.resize((filled * 2).max(filled + CHUNK), 0);
        }
        match read(reader, &mut bytes[filled..]).await {
            Ok(0) => break,
            Ok(length) => filled += length,
            Err(error) => {
                bytes.truncate(filled);
                return Err(error);
            }
        }
    }
    bytes.truncate(filled);
    Ok(filled - before)
}

/// As [`read_to_end`], for text.
pub(crate) async fn read_to_string<R: AsyncRead + Unpin>(
    reader: &mut R,
    text: &mut String,
) -> io::Result<usize> {
    let mut bytes = Vec::new();
    read_to_end(reader, &mut bytes).await?;
    let read = String::from_utf8(bytes)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
    text.push_str(&read);
    Ok(read.len())
}

/// Writes what there is room for, and returns how much that was.
pub(crate) async fn write<W: AsyncWrite + Unpin>(
    writer: &mut W,
    bytes: &[u8],
) -> io::Result<usize> {
    poll_fn(|cx| Pin::new(&mut *writer).poll_write(cx, bytes)).await
}

/// As [`write`] with several buffers.
pub(crate) async fn write_vectored<W: AsyncWrite + Unpin>(
    writer: &mut W,
    buffers: &[IoSlice<'_>],
) -> io::Result<usize> {
    poll_fn(|cx| Pin::new(&mut *writer).poll_write_vectored(cx, buffers)).await
}

/// Writes everything.
pub(crate) async fn write_all<W: AsyncWrite + Unpin>(
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
pub(crate) async fn flush<W: AsyncWrite + Unpin>(writer: &mut W) -> io::Result<()> {
    poll_fn(|cx| Pin::new(&mut *writer).poll_flush(cx)).await
}

/// Tells the peer that this was all.
pub(crate) async fn shutdown<W: AsyncWrite + Unpin>(writer: &mut W) -> io::Result<()> {
    poll_fn(|cx| Pin::new(&mut *writer).poll_close(cx)).await
}
