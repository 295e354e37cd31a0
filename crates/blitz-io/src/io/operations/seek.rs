//! Going to another place.

use super::Step;
use crate::io::AsyncSeek;
use std::io::{self, SeekFrom};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Goes to another place, after what is under way.
#[derive(Debug)]
pub struct Seek {
    /// Nothing once it has been begun.
    pub(in crate::io) to: Option<SeekFrom>,
}

impl<S: AsyncSeek + ?Sized> Step<S> for Seek {
    type Output = io::Result<u64>;

    fn poll(&mut self, mut stream: Pin<&mut S>, cx: &mut Context<'_>) -> Poll<io::Result<u64>> {
        if let Some(to) = self.to {
            ready!(stream.as_mut().poll_complete(cx))?;
            stream.as_mut().start_seek(to)?;
            self.to = None;
        }
        stream.poll_complete(cx)
    }
}
