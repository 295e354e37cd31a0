//! A connection inside the program: for tests, and between tasks that use a protocol.
//!
//! Two [one-way streams](super::SimplexStream), one for each way, each under a lock that is held for a copy and never while a waker runs.

use super::simplex::{Outcome, SimplexStream};
use super::{AsyncRead, AsyncWrite, ReadBuf};
use crate::primitives::ignore_poison;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};

/// Two ends of a connection, each of which reads what the other writes. Up to `max_buf_size` bytes can be on their way in each direction; a
/// writer waits when that much is.
///
/// Closing or dropping one end is the end of the stream for the other; writing to an end that has been dropped is an error of kind
/// [`BrokenPipe`](io::ErrorKind::BrokenPipe).
///
/// # Panics
/// If `max_buf_size` is 0: nothing would ever get through.
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
pub fn duplex(max_buf_size: usize) -> (DuplexStream, DuplexStream) {
    let pipes = [
        SimplexStream::new_unsplit(max_buf_size),
        SimplexStream::new_unsplit(max_buf_size),
    ];
    let pipes = pipes.map(|pipe| Arc::new(Mutex::new(pipe)));
    let end = |incoming: usize| DuplexStream {
        incoming: Arc::clone(&pipes[incoming]),
        outgoing: Arc::clone(&pipes[1 - incoming]),
    };
    (end(0), end(1))
}

/// One end of a connection inside of the program. See [`duplex`].
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::io::{self, AsyncReadExt, AsyncWriteExt};
///
/// let (mut here, mut there) = io::duplex(64);
/// here.write_all(b"question").await?;
/// there.write_all(b"answer").await?;
/// drop((here.shutdown().await?, there.shutdown().await?));
/// let (mut question, mut answer) = (String::new(), String::new());
/// there.read_to_string(&mut question).await?;
/// here.read_to_string(&mut answer).await?;
/// assert_eq!((&question[..], &answer[..]), ("question", "answer"));
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
#[derive(Debug)]
pub struct DuplexStream {
    incoming: Arc<Mutex<SimplexStream>>,
    outgoing: Arc<Mutex<SimplexStream>>,
}

fn lock(pipe: &Mutex<SimplexStream>) -> MutexGuard<'_, SimplexStream> {
    ignore_poison(pipe.lock())
}

impl AsyncRead for DuplexStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Outcome::poll(cx, |waker| lock(&self.incoming).read(waker, buf)).map_ok(drop)
    }
}

impl AsyncWrite for DuplexStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(buf)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Outcome::poll(cx, |waker| lock(&self.outgoing).write(waker, bufs))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let waiting = lock(&self.outgoing).close();
        waiting.wake();
        Poll::Ready(Ok(()))
    }
}

impl Drop for DuplexStream {
    fn drop(&mut self) {
        let reader = lock(&self.outgoing).close();
        let writer = lock(&self.incoming).abandon();
        reader.wake();
        writer.wake();
    }
}
