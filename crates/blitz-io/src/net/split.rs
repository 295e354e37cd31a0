//! A stream in two halves, for two tasks.
//!
//! [`ReadHalf`] and [`WriteHalf`] borrow the stream; [`OwnedReadHalf`] and [`OwnedWriteHalf`] share it, and can be put together
//! again. Each half is the only one of its way, so it needs no lock.

use super::stream::{Bytes, Stream};
use crate::io;
use std::net::Shutdown;
use std::ops::Deref;
use std::sync::Arc;

/// The half that reads, borrowed. Derefs to the stream for everything that does not read or write.
#[derive(Debug)]
pub struct ReadHalf<'a, S: Stream>(&'a S);

/// The half that writes, borrowed. Derefs to the stream for everything that does not read or write.
#[derive(Debug)]
pub struct WriteHalf<'a, S: Stream>(&'a S);

/// The half that reads. Derefs to the stream for everything that does not read or write.
#[derive(Debug)]
pub struct OwnedReadHalf<S: Stream>(Arc<S>);

/// The half that writes. Derefs to the stream for everything that does not read or write.
///
/// When it is dropped, the peer is told that this was all.
#[derive(Debug)]
pub struct OwnedWriteHalf<S: Stream> {
    stream: Arc<S>,
    shuts: bool,
}

pub(super) fn borrowed<S: Stream>(stream: &mut S) -> (ReadHalf<'_, S>, WriteHalf<'_, S>) {
    (ReadHalf(stream), WriteHalf(stream))
}

pub(super) fn owned<S: Stream>(stream: S) -> (OwnedReadHalf<S>, OwnedWriteHalf<S>) {
    let stream = Arc::new(stream);
    let write = OwnedWriteHalf {
        stream: stream.clone(),
        shuts: true,
    };
    (OwnedReadHalf(stream), write)
}

readable_stream!(['a, S: Stream] ReadHalf<'a, S>, this => this.0.socket());
writable_stream!(['a, S: Stream] WriteHalf<'a, S>, this => this.0.socket());
readable_stream!([S: Stream] OwnedReadHalf<S>, this => this.0.socket());
writable_stream!([S: Stream] OwnedWriteHalf<S>, this => this.stream.socket());

impl<S: Stream> Deref for ReadHalf<'_, S> {
    type Target = S;

    fn deref(&self) -> &S {
        self.0
    }
}

impl<S: Stream> Deref for WriteHalf<'_, S> {
    type Target = S;

    fn deref(&self) -> &S {
        self.0
    }
}

impl<S: Stream> Deref for OwnedReadHalf<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.0
    }
}

impl<S: Stream> Deref for OwnedWriteHalf<S> {
    type Target = S;

    fn deref(&self) -> &S {
        &self.stream
    }
}

impl<S: Stream> OwnedReadHalf<S> {
    /// Puts the halves of a stream together.
    ///
    /// # Errors
    /// Gives both back if they are of different streams.
    pub fn reunite(self, write: OwnedWriteHalf<S>) -> Result<S, ReuniteError<S>> {
        if !Arc::ptr_eq(&self.0, &write.stream) {
            return Err(io::ReuniteError(self, write));
        }
        write.forget();
        Ok(Arc::into_inner(self.0).expect("a stream has two halves"))
    }
}

impl<S: Stream> OwnedWriteHalf<S> {
    /// As [`OwnedReadHalf::reunite`].
    ///
    /// # Errors
    /// Gives both back if they are of different streams.
    pub fn reunite(self, read: OwnedReadHalf<S>) -> Result<S, ReuniteError<S>> {
        read.reunite(self)
    }

    /// Drops it without telling the peer that this was all.
    pub fn forget(mut self) {
        self.shuts = false;
    }
}

impl<S: Stream> Drop for OwnedWriteHalf<S> {
    fn drop(&mut self) {
        if self.shuts {
            // If that does not work the connection is over anyway.
            let _ = self.stream.socket().shut(Shutdown::Write);
        }
    }
}

/// Two halves that do not belong together.
pub type ReuniteError<S> = io::ReuniteError<OwnedReadHalf<S>, OwnedWriteHalf<S>>;
