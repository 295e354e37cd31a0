//! A one-way stream inside of the program: a ring of bytes with a limit, and at most one waker of each side.
//!
//! What changes it hands out the wakers that are to be called, so that those who have it under a lock call them without.

use super::{AsyncRead, AsyncWrite, ReadBuf, ReadHalf, WriteHalf, split};
use crate::coop;
use crate::waker_place::{Arriving, leave};
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

/// The two ends of a one-way stream inside of the program. Up to `max_buf_size` bytes can be on their way; a writer waits when that much is.
///
/// The reader is at its end when the writer has been [shut down](super::AsyncWriteExt::shutdown), and not when it has only been dropped.
///
/// # Panics
/// If `max_buf_size` is 0: nothing would ever get through.
///
/// ```
/// use blitz_io::io::{AsyncReadExt, AsyncWriteExt, simplex};
///
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let (mut reader, mut writer) = simplex(64);
/// writer.write_all(b"one way").await?;
/// writer.shutdown().await?;
/// let mut text = String::new();
/// reader.read_to_string(&mut text).await?;
/// assert_eq!(text, "one way");
/// # std::io::Result::Ok(())
/// # }).unwrap();
/// ```
#[track_caller]
pub fn simplex(max_buf_size: usize) -> (ReadHalf<SimplexStream>, WriteHalf<SimplexStream>) {
    split(SimplexStream::new_unsplit(max_buf_size))
}

/// A one-way stream inside of the program: what is written to it can be read from it. See [`simplex`].
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::io::{AsyncReadExt, AsyncWriteExt, SimplexStream};
///
/// let mut stream = SimplexStream::new_unsplit(64);
/// stream.write_all(b"hello").await?;
/// let mut word = [0; 5];
/// stream.read_exact(&mut word).await?;
/// assert_eq!(&word, b"hello");
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
#[derive(Debug)]
pub struct SimplexStream {
    bytes: VecDeque<u8>,
    capacity: usize,
    /// Nothing more will be written, or nobody will read it.
    is_closed: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

/// Who is to be told of a change.
#[must_use]
pub(super) struct Waiting(Option<Waker>);

impl Waiting {
    /// To be called without the lock.
    pub(super) fn wake(self) {
        self.0.into_iter().for_each(Waker::wake);
    }
}

/// What came of an attempt: so many bytes were moved, or one has to wait.
pub(super) type Attempt = io::Result<Option<(usize, Waiting)>>;

/// How an attempt becomes an answer.
pub(super) struct Outcome;

impl Outcome {
    /// Makes an attempt, which takes the lock if there is one.
    pub(super) fn poll(
        cx: &mut Context<'_>,
        attempt: impl FnMut(&mut Arriving<'_>) -> Option<Attempt>,
    ) -> Poll<io::Result<usize>> {
        let unit = ready!(coop::take_unit(cx));
        let Some((length, other)) = leave(cx.waker(), attempt)? else {
            unit.refund();
            return Poll::Pending;
        };
        other.wake();
        Poll::Ready(Ok(length))
    }
}

impl SimplexStream {
    /// One that has not been [split](super::split) into its ends.
    ///
    /// # Panics
    /// If `max_buf_size` is 0: nothing would ever get through.
    #[track_caller]
    pub fn new_unsplit(max_buf_size: usize) -> SimplexStream {
        assert!(
            max_buf_size > 0,
            "nothing would ever get through a stream without room: `max_buf_size` must be greater than 0"
        );
        SimplexStream {
            bytes: VecDeque::new(),
            capacity: max_buf_size,
            is_closed: false,
            reader: None,
            writer: None,
        }
    }

    /// Nothing more will be written.
    pub(super) fn close(&mut self) -> Waiting {
        self.is_closed = true;
        Waiting(self.reader.take())
    }

    /// Nobody will read any more.
    pub(super) fn abandon(&mut self) -> Waiting {
        self.is_closed = true;
        self.bytes = VecDeque::new();
        Waiting(self.writer.take())
    }

    /// `None`: see [`leave`].
    pub(super) fn read(
        &mut self,
        waker: &mut Arriving<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Option<Attempt> {
        if self.bytes.is_empty() && !self.is_closed && buf.remaining() > 0 {
            return waker.at(&mut self.reader).map(|()| Ok(None));
        }
        // A ring is in up to two pieces.
        let (first, second) = self.bytes.as_slices();
        let length = copy(first, buf) + copy(second, buf);
        self.bytes.drain(..length);
        let writer = (length > 0).then(|| self.writer.take()).flatten();
        Some(Ok(Some((length, Waiting(writer)))))
    }

    /// `None`: see [`leave`].
    pub(super) fn write(
        &mut self,
        waker: &mut Arriving<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Option<Attempt> {
        if self.is_closed {
            return Some(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let room = self.capacity - self.bytes.len();
        if room == 0 && bufs.iter().any(|bytes| !bytes.is_empty()) {
            return waker.at(&mut self.writer).map(|()| Ok(None));
        }
        let mut left = room;
        for bytes in bufs {
            let length = left.min(bytes.len());
            self.bytes.extend(&bytes[..length]);
            left -= length;
        }
        let length = room - left;
        let reader = (length > 0).then(|| self.reader.take()).flatten();
        Some(Ok(Some((length, Waiting(reader)))))
    }
}

/// Copies what there is room for.
fn copy(bytes: &[u8], buf: &mut ReadBuf<'_>) -> usize {
    let length = bytes.len().min(buf.remaining());
    buf.put_slice(&bytes[..length]);
    length
}

impl AsyncRead for SimplexStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Outcome::poll(cx, |waker| self.read(waker, buf)).map_ok(drop)
    }
}

impl AsyncWrite for SimplexStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(buf)])
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Outcome::poll(cx, |waker| self.write(waker, bufs))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.close().wake();
        Poll::Ready(Ok(()))
    }
}
