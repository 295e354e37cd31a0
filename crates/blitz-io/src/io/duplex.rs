//! A connection inside of the program: for tests, and between tasks that speak a protocol.
//!
//! Two pipes, one each way. A pipe is a ring of bytes with a limit, and at most one waker of each side, under a lock that is held for a copy and
//! never while a waker runs.

use super::{AsyncRead, AsyncWrite, ReadBuf};
use crate::coop;
use crate::waker_place::leave;
use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

/// Two ends of a connection, each of which reads what the other writes. Up to `capacity` bytes can be on their way in each direction; a
/// writer waits when that much is.
///
/// Closing or dropping one end is the end of the stream for the other; writing to an end that has been dropped is an error of kind
/// [`BrokenPipe`](io::ErrorKind::BrokenPipe).
///
/// # Panics
/// If `capacity` is 0: nothing would ever get through.
///
/// ```
/// use blitz_io::io::{AsyncReadExt, AsyncWriteExt, duplex};
///
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let (mut here, mut there) = duplex(64);
/// here.write_all(b"ping").await?;
/// let mut bytes = [0; 4];
/// there.read_exact(&mut bytes).await?;
/// assert_eq!(&bytes, b"ping");
/// # std::io::Result::Ok(())
/// # }).unwrap();
/// ```
#[track_caller]
pub fn duplex(capacity: usize) -> (DuplexStream, DuplexStream) {
    assert!(
        capacity > 0,
        "duplex: nothing would ever get through a connection without room"
    );
    let pipes = [(); 2].map(|()| Arc::new(Pipe::new(capacity)));
    let end = |incoming: usize| DuplexStream {
        incoming: Arc::clone(&pipes[incoming]),
        outgoing: Arc::clone(&pipes[1 - incoming]),
    };
    (end(0), end(1))
}

/// One end of a connection inside of the program. See [`duplex`].
#[derive(Debug)]
pub struct DuplexStream {
    incoming: Arc<Pipe>,
    outgoing: Arc<Pipe>,
}

#[derive(Debug)]
struct Pipe(Mutex<State>);

#[derive(Debug)]
struct State {
    bytes: VecDeque<u8>,
    capacity: usize,
    /// Nothing more will be written.
    is_closed: bool,
    /// Nothing more will be read.
    is_abandoned: bool,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Pipe {
    fn new(capacity: usize) -> Self {
        Self(Mutex::new(State {
            bytes: VecDeque::new(),
            capacity,
            is_closed: false,
            is_abandoned: false,
            reader: None,
            writer: None,
        }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and then wakes whoever that concerns.
    fn end(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.lock();
        change(&mut state);
        let waiting = [state.reader.take(), state.writer.take()];
        drop(state);
        waiting.into_iter().flatten().for_each(Waker::wake);
    }
}

impl AsyncRead for DuplexStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let unit = ready!(coop::take_unit(cx));
        let read = leave(cx.waker(), |waker| {
            let mut state = self.incoming.lock();
            if state.bytes.is_empty() && !state.is_closed && buf.remaining() > 0 {
                return waker.at(&mut state.reader).map(|()| None);
            }
            // A ring is in up to two pieces, and a read takes from the first.
            let (first, second) = state.bytes.as_slices();
            let length = copy(first, buf) + copy(second, buf);
            state.bytes.drain(..length);
            let writer = (length > 0).then(|| state.writer.take()).flatten();
            Some(Some((length, writer)))
        });
        done(read, unit).map_ok(drop)
    }
}

/// Copies what there is room for.
fn copy(bytes: &[u8], buf: &mut ReadBuf<'_>) -> usize {
    let length = bytes.len().min(buf.remaining());
    buf.put_slice(&bytes[..length]);
    length
}

/// What comes of moving so many bytes, or of waiting: the other side is woken, without the lock.
fn done(moved: Option<(usize, Option<Waker>)>, unit: coop::Unit) -> Poll<io::Result<usize>> {
    let Some((length, other)) = moved else {
        unit.refund();
        return Poll::Pending;
    };
    other.into_iter().for_each(Waker::wake);
    Poll::Ready(Ok(length))
}

impl AsyncWrite for DuplexStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let unit = ready!(coop::take_unit(cx));
        let written = leave(cx.waker(), |waker| {
            let mut state = self.outgoing.lock();
            if state.is_closed || state.is_abandoned {
                return Some(Err(io::ErrorKind::BrokenPipe));
            }
            let room = state.capacity - state.bytes.len();
            if room == 0 && !bytes.is_empty() {
                return waker.at(&mut state.writer).map(|()| Ok(None));
            }
            let length = room.min(bytes.len());
            state.bytes.extend(&bytes[..length]);
            let reader = (length > 0).then(|| state.reader.take()).flatten();
            Some(Ok(Some((length, reader))))
        });
        done(written?, unit)
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.outgoing.end(|state| state.is_closed = true);
        Poll::Ready(Ok(()))
    }
}

impl Drop for DuplexStream {
    fn drop(&mut self) {
        self.outgoing.end(|state| state.is_closed = true);
        self.incoming.end(|state| {
            state.is_abandoned = true;
            // Nobody will read it.
            state.bytes = VecDeque::new();
        });
    }
}
