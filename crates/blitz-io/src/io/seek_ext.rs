//! Seeking as futures.

use super::AsyncSeek;
use super::operations::Operation;
use super::operations::seek::Seek;
use std::io::SeekFrom;

/// What can be done with an [`AsyncSeek`].
pub trait AsyncSeekExt: AsyncSeek {
    /// Goes to another place, and returns where that is, from the start.
    ///
    /// # Errors
    /// [`InvalidInput`](std::io::ErrorKind::InvalidInput) if it would be before the start, and those of the stream.
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
    fn stream_position(&mut self) -> Operation<'_, Self, Seek>
    where
        Self: Unpin,
    {
        self.seek(SeekFrom::Current(0))
    }
}

impl<S: AsyncSeek + ?Sized> AsyncSeekExt for S {}
