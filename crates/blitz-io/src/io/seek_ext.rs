//! Seeking as futures.

use super::AsyncSeek;
use super::operations::Operation;
use super::operations::seek::Seek;
use std::io::SeekFrom;

/// What can be done with an [`AsyncSeek`].
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::io::{AsyncReadExt, AsyncSeekExt};
/// use std::io::{Cursor, SeekFrom};
///
/// let mut text = Cursor::new("hello, world");
/// text.seek(SeekFrom::Start(7)).await?;
/// let mut word = String::new();
/// text.read_to_string(&mut word).await?;
/// assert_eq!((&word[..], text.stream_position().await?), ("world", 12));
/// text.rewind().await?;
/// assert_eq!(text.stream_position().await?, 0);
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
pub trait AsyncSeekExt: AsyncSeek {
    /// Goes to another place, and returns where that is, from the start.
    ///
    /// # Errors
    /// [`InvalidInput`](std::io::ErrorKind::InvalidInput) if it would be before the start, and those of the stream.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::AsyncSeekExt;
    /// use std::io::{Cursor, SeekFrom};
    ///
    /// let mut text = Cursor::new("hello");
    /// assert_eq!(text.seek(SeekFrom::End(-2)).await?, 3);
    /// assert!(text.seek(SeekFrom::Current(-4)).await.is_err()); // before the start
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    fn seek(&mut self, pos: SeekFrom) -> Operation<'_, Self, Seek>
    where
        Self: Unpin,
    {
        Operation::new(self, Seek { to: Some(pos) })
    }

    /// Goes back to the start.
    ///
    /// # Errors
    /// Those of the stream.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::{AsyncReadExt, AsyncSeekExt};
    ///
    /// let mut text = std::io::Cursor::new("ab");
    /// assert_eq!(text.read_u8().await?, b'a');
    /// text.rewind().await?;
    /// assert_eq!(text.read_u8().await?, b'a');
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    fn rewind(&mut self) -> Operation<'_, Self, Seek>
    where
        Self: Unpin,
    {
        self.seek(SeekFrom::Start(0))
    }

    /// Where it is, from the start.
    ///
    /// # Errors
    /// Those of the stream.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::{AsyncReadExt, AsyncSeekExt};
    ///
    /// let mut text = std::io::Cursor::new("ab");
    /// text.read_u8().await?;
    /// assert_eq!(text.stream_position().await?, 1);
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    fn stream_position(&mut self) -> Operation<'_, Self, Seek>
    where
        Self: Unpin,
    {
        self.seek(SeekFrom::Current(0))
    }
}

impl<S: AsyncSeek + ?Sized> AsyncSeekExt for S {}
