//! A reader and a writer as one stream.

use super::{AsyncBufRead, AsyncRead, AsyncWrite, ReadBuf};
use pin_project_lite::pin_project;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Puts a reader and a writer together: the way back from [`split`](super::split), for any two.
///
/// ```
/// use blitz_io::io::{self, AsyncReadExt, AsyncWriteExt};
///
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let mut stream = io::join(&b"question"[..], Vec::new());
/// let mut text = String::new();
/// stream.read_to_string(&mut text).await?;
/// stream.write_all(b"answer").await?;
/// assert_eq!((text.as_str(), stream.writer()), ("question", &b"answer".to_vec()));
/// # io::Result::Ok(()) }).unwrap();
/// ```
pub fn join<R, W>(reader: R, writer: W) -> Join<R, W>
where
    R: AsyncRead,
    W: AsyncWrite,
{
    Join { reader, writer }
}

pin_project! {
    /// A reader and a writer as one stream. See [`join`].
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::{self, AsyncReadExt, AsyncWriteExt};
    ///
    /// let mut stream = io::join(&b"input"[..], Vec::new());
    /// stream.write_all(b"output").await?;
    /// assert_eq!((*stream.reader(), &stream.writer()[..]), (&b"input"[..], &b"output"[..]));
    /// stream.writer_mut().clear();
    /// assert_eq!(stream.reader_mut().read_u8().await?, b'i');
    /// let (reader, writer) = stream.into_inner();
    /// assert_eq!((reader, writer.len()), (&b"nput"[..], 0));
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    #[derive(Debug)]
    pub struct Join<R, W> {
        #[pin]
        reader: R,
        #[pin]
        writer: W,
    }
}

impl<R, W> Join<R, W>
where
    R: AsyncRead,
    W: AsyncWrite,
{
    /// Takes it apart.
    pub fn into_inner(self) -> (R, W) {
        (self.reader, self.writer)
    }

    /// What it reads from.
    pub fn reader(&self) -> &R {
        &self.reader
    }

    /// What it writes to.
    pub fn writer(&self) -> &W {
        &self.writer
    }

    /// What it reads from.
    pub fn reader_mut(&mut self) -> &mut R {
        &mut self.reader
    }

    /// What it writes to.
    pub fn writer_mut(&mut self) -> &mut W {
        &mut self.writer
    }

    /// What it reads from, pinned.
    ///
    /// ```
    /// use blitz_io::io;
    /// use std::pin::pin;
    ///
    /// let mut stream = pin!(io::join(&b"input"[..], Vec::new()));
    /// assert_eq!(*stream.as_mut().reader_pin_mut(), b"input");
    /// stream.writer_pin_mut().push(b'x');
    /// ```
    pub fn reader_pin_mut(self: Pin<&mut Self>) -> Pin<&mut R> {
        self.project().reader
    }

    /// What it writes to, pinned.
    pub fn writer_pin_mut(self: Pin<&mut Self>) -> Pin<&mut W> {
        self.project().writer
    }
}

impl<R: AsyncRead, W> AsyncRead for Join<R, W> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.project().reader.poll_read(cx, buf)
    }
}

impl<R: AsyncBufRead, W> AsyncBufRead for Join<R, W> {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        self.project().reader.poll_fill_buf(cx)
    }

    fn consume(self: Pin<&mut Self>, amt: usize) {
        self.project().reader.consume(amt);
    }
}

impl<R, W: AsyncWrite> AsyncWrite for Join<R, W> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.project().writer.poll_write(cx, buf)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.project().writer.poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.writer.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().writer.poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.project().writer.poll_shutdown(cx)
    }
}
