//! Seeking as futures.

use futures_io::AsyncSeek;
use std::future::{Future, poll_fn};
use std::io::{self, SeekFrom};
use std::pin::Pin;

/// What can be done with an [`AsyncSeek`].
pub trait AsyncSeekExt: AsyncSeek {
    /// Goes to another place, and returns where that is, from the start.
    ///
    /// # Errors
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) if it would be before the start, and those of the stream.
    fn seek(&mut self, to: SeekFrom) -> impl Future<Output = io::Result<u64>>
    where
        Self: Unpin,
    {
        poll_fn(move |cx| Pin::new(&mut *self).poll_seek(cx, to))
    }

    /// Goes back to the start.
    ///
    /// # Errors
    /// Those of the stream.
    fn rewind(&mut self) -> impl Future<Output = io::Result<()>>
    where
        Self: Unpin,
    {
        async move { self.seek(SeekFrom::Start(0)).await.map(drop) }
    }

    /// Where it is, from the start.
    ///
    /// # Errors
    /// Those of the stream.
    fn stream_position(&mut self) -> impl Future<Output = io::Result<u64>>
    where
        Self: Unpin,
    {
        self.seek(SeekFrom::Current(0))
    }
}

impl<S: AsyncSeek + ?Sized> AsyncSeekExt for S {}
