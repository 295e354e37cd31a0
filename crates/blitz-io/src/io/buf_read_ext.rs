//! Reading from a buffer as futures.

use super::{Lines, Split, ops};
use futures_io::AsyncBufRead;
use std::future::Future;
use std::io;
use std::pin::Pin;

/// What can be done with an [`AsyncBufRead`], such as a [`BufReader`](super::BufReader).
///
/// ```
/// use blitz_io::io::{AsyncBufReadExt, AsyncReadExt};
///
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let mut reader: &[u8] = b"GET / HTTP/1.1\r\nhost: example.org\r\n\r\n";
/// let mut line = String::new();
/// // A line of a stranger: no more than 8000 bytes.
/// reader.by_ref().take(8000).read_line(&mut line).await?;
/// assert_eq!(line, "GET / HTTP/1.1\r\n");
/// # std::io::Result::Ok(())
/// # }).unwrap();
/// ```
pub trait AsyncBufReadExt: AsyncBufRead {
    /// What is in the buffer, which is filled if it is empty. Nothing is the end. To be followed by [`consume`](Self::consume).
    ///
    /// # Errors
    /// Those of the reader.
    fn fill_buf(&mut self) -> impl Future<Output = io::Result<&[u8]>>
    where
        Self: Unpin,
    {
        ops::fill_buf(self)
    }

    /// `amount` bytes of what [`fill_buf`](Self::fill_buf) returned have been used.
    fn consume(&mut self, amount: usize)
    where
        Self: Unpin,
    {
        Pin::new(self).consume(amount);
    }

    /// Appends everything up to the next `delimiter` (which is included) or the end, and returns how much that was.
    ///
    /// The sender decides how much memory that takes: see [`take`](super::AsyncReadExt::take). If the future is dropped half-way, what
    /// has come is in `bytes`, and calling this again goes on.
    ///
    /// # Errors
    /// Those of the reader.
    fn read_until(
        &mut self,
        delimiter: u8,
        bytes: &mut Vec<u8>,
    ) -> impl Future<Output = io::Result<usize>>
    where
        Self: Unpin,
    {
        ops::read_until(self, delimiter, bytes)
    }

    /// Appends everything up to the next newline (which is included) or the end, and returns how much that was: zero at the end.
    ///
    /// The sender decides how much memory that takes: see [`take`](super::AsyncReadExt::take). What has come is lost if the future is
    /// dropped half-way; [`lines`](Self::lines) loses nothing.
    ///
    /// # Errors
    /// [`InvalidData`](io::ErrorKind::InvalidData) if it is not UTF-8, and those of the reader; `text` is as before then.
    fn read_line(&mut self, text: &mut String) -> impl Future<Output = io::Result<usize>>
    where
        Self: Unpin,
    {
        async move {
            let mut bytes = Vec::new();
            ops::read_until(self, b'\n', &mut bytes).await?;
            ops::append_text(text, bytes)
        }
    }

    /// The lines, without `\n` or `\r\n` at their ends; also a `Stream`.
    fn lines(self) -> Lines<Self>
    where
        Self: Sized,
    {
        Lines::new(self)
    }

    /// The stretches between delimiters; also a `Stream`. As with [`lines`](Self::lines), a delimiter at the very end is not followed by an
    /// empty one.
    fn split(self, delimiter: u8) -> Split<Self>
    where
        Self: Sized,
    {
        Split::new(self, delimiter)
    }
}

impl<R: AsyncBufRead + ?Sized> AsyncBufReadExt for R {}
