//! How far a seek of what a buffer wraps has come.

use super::AsyncSeek;
use std::io::{self, SeekFrom};
use std::pin::Pin;

/// How far a seek of what is inside has come.
#[derive(Debug, Clone, Copy)]
pub(super) enum SeekState {
    /// There is none.
    Idle,
    /// It is to begin when what is inside has nothing else to do.
    Wanted(SeekFrom),
    /// It has begun.
    Begun,
}

impl SeekState {
    /// Begins it; if that fails there is none any more.
    pub(super) fn begin<S: AsyncSeek>(
        &mut self,
        stream: Pin<&mut S>,
        position: SeekFrom,
    ) -> io::Result<()> {
        *self = Self::Idle;
        stream.start_seek(position)?;
        *self = Self::Begun;
        Ok(())
    }

    /// It is over; whether there was one.
    pub(super) fn end(&mut self) -> bool {
        matches!(std::mem::replace(self, Self::Idle), Self::Begun)
    }
}
