//! Reading from a buffer as futures.

use super::operations::Operation;
use super::operations::buf_read::{FillBuf, ReadLine, ReadUntil};
use super::{AsyncBufRead, Lines, Split};
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
/// (&mut reader).take(8000).read_line(&mut line).await?;
/// assert_eq!(line, "GET / HTTP/1.1\r\n");
/// # std::io::Result::Ok(())
/// # }).unwrap();
/// ```
pub trait AsyncBufReadExt: AsyncBufRead {
    /// Appends everything up to the next `byte` (which is included) or the end, and returns how much that was.
    ///
    /// The sender decides how much memory that takes: see [`take`](super::AsyncReadExt::take). If the future is dropped half-way, what
    /// has come is in `buf`, and calling this again goes on.
    ///
    /// # Errors
    /// Those of the reader.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncBufReadExt;
    ///
    /// let mut reader = &b"key=value"[..];
    /// let mut key = Vec::new();
    /// reader.read_until(b'=', &mut key).await?;
    /// assert_eq!((&key[..], reader), (&b"key="[..], &b"value"[..]));
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    fn read_until<'a>(
        &'a mut self,
        byte: u8,
        buf: &'a mut Vec<u8>,
    ) -> Operation<'a, Self, ReadUntil<'a>>
    where
        Self: Unpin,
    {
        let step = ReadUntil {
            delimiter: byte,
            bytes: buf,
            read: 0,
        };
        Operation::new(self, step)
    }

    /// Appends everything up to the next newline (which is included) or the end, and returns how much that was: zero at the end.
    ///
    /// The sender decides how much memory that takes: see [`take`](super::AsyncReadExt::take). What has come is lost if the future is
    /// dropped half-way; [`lines`](Self::lines) loses nothing.
    ///
    /// # Errors
    /// [`InvalidData`](std::io::ErrorKind::InvalidData) if it is not UTF-8, and those of the reader. What is not UTF-8 is not appended; what came before
    /// an error of the reader is.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncBufReadExt;
    ///
    /// let (mut reader, mut line) = (&b"one\ntwo"[..], String::new());
    /// assert_eq!(reader.read_line(&mut line).await?, 4);
    /// assert_eq!(reader.read_line(&mut line).await?, 3); // appends
    /// assert_eq!(reader.read_line(&mut line).await?, 0);
    /// assert_eq!(line, "one\ntwo");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    fn read_line<'a>(&'a mut self, buf: &'a mut String) -> Operation<'a, Self, ReadLine<'a>>
    where
        Self: Unpin,
    {
        Operation::new(self, ReadLine::new(buf))
    }

    /// The stretches between delimiters; also a `Stream`. As with [`lines`](Self::lines), a delimiter at the very end is not followed by an
    /// empty one.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncBufReadExt;
    ///
    /// let mut fields = AsyncBufReadExt::split(&b"Ada,Lovelace"[..], b',');
    /// assert_eq!(fields.next_segment().await?.as_deref(), Some(&b"Ada"[..]));
    /// assert_eq!(fields.next_segment().await?.as_deref(), Some(&b"Lovelace"[..]));
    /// assert_eq!(fields.next_segment().await?, None);
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    fn split(self, byte: u8) -> Split<Self>
    where
        Self: Sized + Unpin,
    {
        Split::new(self, byte)
    }

    /// What is in the buffer, which is filled if it is empty. Nothing is the end. To be followed by [`consume`](Self::consume).
    ///
    /// # Errors
    /// Those of the reader.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncBufReadExt;
    ///
    /// let mut reader = &b"   indented"[..];
    /// loop {
    ///     let buffer = reader.fill_buf().await?;
    ///     let spaces = buffer.iter().take_while(|byte| **byte == b' ').count();
    ///     if spaces == 0 {
    ///         break;
    ///     }
    ///     reader.consume(spaces);
    /// }
    /// assert_eq!(reader, b"indented");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    fn fill_buf(&mut self) -> FillBuf<'_, Self>
    where
        Self: Unpin,
    {
        FillBuf::new(self)
    }

    /// `amt` bytes of what [`fill_buf`](Self::fill_buf) returned have been used.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncBufReadExt;
    ///
    /// let mut reader = &b"hello"[..];
    /// let first = reader.fill_buf().await?[0];
    /// reader.consume(1);
    /// assert_eq!((first, reader), (b'h', &b"ello"[..]));
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    fn consume(&mut self, amt: usize)
    where
        Self: Unpin,
    {
        Pin::new(self).consume(amt);
    }

    /// The lines, without `\n` or `\r\n` at their ends; also a `Stream`.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncBufReadExt;
    ///
    /// let mut lines = (&b"one\r\ntwo\n"[..]).lines();
    /// assert_eq!(lines.next_line().await?.as_deref(), Some("one"));
    /// assert_eq!(lines.next_line().await?.as_deref(), Some("two"));
    /// assert_eq!(lines.next_line().await?, None);
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    fn lines(self) -> Lines<Self>
    where
        Self: Sized,
    {
        Lines::new(self)
    }
}

impl<R: AsyncBufRead + ?Sized> AsyncBufReadExt for R {}
