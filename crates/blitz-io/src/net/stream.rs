//! What streams have in common: bytes in order. Sockets have both ways, the pipes of child processes one of them, and files have
//! an implementation of their own.

use crate::driver::{Registered, Way};
use bytes::BufMut;
use std::io::{self, IoSlice, Write};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::ops::Deref;
use std::task::{Context, Poll};

/// Reading, by the one task that has the right to it.
pub trait Incoming {
    /// Reads into memory that need not be initialised; as much of it is afterwards as the result says.
    fn poll_read(
        &self,
        cx: &mut Context<'_>,
        room: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<usize>>;
}

/// Writing, by the one task that has the right to it.
pub trait Outgoing {
    /// Writes.
    fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>>;

    /// Writes from several buffers.
    fn poll_write_vectored(
        &self,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>>;

    /// Waits until the system has what was written.
    fn poll_flush(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;

    /// This was all.
    fn poll_close(&self, cx: &mut Context<'_>) -> Poll<io::Result<()>>;
}

/// Whether a short write shows that there is no more room: so with `epoll` and `kqueue`.
const SHORT_WRITE_FILLS: bool = cfg!(unix);

/// Whether a short read shows that there was no more, where nothing says otherwise: `epoll` tells of urgent data, which ends a read early.
const SHORT_READ_EMPTIES: bool = cfg!(any(target_os = "linux", target_os = "android"));

/// How many buffers the system takes in one call. Of more than these it leaves some out, and then a short count shows nothing.
/// POSIX promises 16.
const MOST_BUFFERS: usize = if cfg!(any(
    target_os = "linux",
    target_os = "android",
    target_vendor = "apple"
)) {
    1024
} else {
    16
};

/// How much may be moved with these buffers, and whether less than that is all there is; it is with one of them, if `short_is_all`.
fn asked_of<B: Deref<Target = [u8]>>(buffers: &[B], short_is_all: bool) -> (usize, bool) {
    let lengths = buffers.iter().map(|buffer| buffer.len());
    let all = lengths.fold(0, usize::saturating_add);
    (all, short_is_all && buffers.len() <= MOST_BUFFERS)
}

/// What `mio` does not have a common name for: reading.
pub trait RawIncoming: mio::event::Source {
    /// Whether what ends a read early, although there is more, is known to the driver.
    const READS_TO_THE_END: bool;

    /// Receives into memory that need not be initialised.
    fn receive(&self, buffer: &mut [MaybeUninit<u8>]) -> io::Result<usize>;
}

/// What `mio` does not have a common name for: writing.
pub trait RawOutgoing: mio::event::Source {
    /// Tells the other side that this was all, if there is a way to do that.
    fn end(&self) -> io::Result<()>;
}

macro_rules! raw_stream {
    ($socket:ty, reads to the end: $reads_to_the_end:literal) => {
        impl RawIncoming for $socket {
            const READS_TO_THE_END: bool = $reads_to_the_end;

            fn receive(&self, buffer: &mut [MaybeUninit<u8>]) -> io::Result<usize> {
                self.try_io(|| socket2::SockRef::from(self).recv(buffer))
            }
        }

        impl RawOutgoing for $socket {
            fn end(&self) -> io::Result<()> {
                unless_over(self.shutdown(Shutdown::Write))
            }
        }
    };
}

raw_stream!(mio::net::TcpStream, reads to the end: true);
// A read ends behind a message that came with descriptors, or where the sender changes if it asks for that.
#[cfg(unix)]
raw_stream!(mio::net::UnixStream, reads to the end: false);

fn unless_over(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
        result => result,
    }
}

/// Whether a short read of such a stream shows that there was no more.
const fn short_is_all<S: RawIncoming>() -> bool {
    SHORT_READ_EMPTIES && S::READS_TO_THE_END
}

impl<S: RawIncoming> Incoming for Registered<S> {
    fn poll_read(
        &self,
        cx: &mut Context<'_>,
        room: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<usize>> {
        let asked = (room.len(), short_is_all::<S>());
        self.poll_stream(Way::Read, cx, asked, |socket| socket.receive(room))
    }
}

impl<S: RawOutgoing> Outgoing for Registered<S>
where
    for<'a> &'a S: Write,
{
    fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let asked = (bytes.len(), SHORT_WRITE_FILLS);
        self.poll_stream(Way::Write, cx, asked, |mut socket| socket.write(bytes))
    }

    fn poll_write_vectored(
        &self,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let asked = asked_of(buffers, SHORT_WRITE_FILLS);
        self.poll_stream(Way::Write, cx, asked, |mut socket| {
            socket.write_vectored(buffers)
        })
    }

    fn poll_flush(&self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(&self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.end())
    }
}

/// Receives into something that has room, and advances it by as much; `receive` says how much, and what to return.
pub(crate) fn receive_into<B: BufMut, T>(
    buf: &mut B,
    receive: impl FnOnce(&mut [MaybeUninit<u8>]) -> io::Result<(usize, T)>,
) -> io::Result<T> {
    // SAFETY: receiving initialises bytes, and makes none uninitialised.
    let room = unsafe { buf.chunk_mut().as_uninit_slice_mut() };
    let (length, result) = receive(room)?;
    // SAFETY: that much has been received.
    unsafe { buf.advance_mut(length) };
    Ok(result)
}

/// A socket that blocks would block a worker: better to say so at once, if anybody looks for mistakes.
#[cfg(unix)]
#[track_caller]
pub(super) fn expect_nonblocking(socket: &impl std::os::fd::AsFd) -> io::Result<()> {
    if cfg!(debug_assertions) {
        let is_nonblocking = socket2::SockRef::from(socket).nonblocking()?;
        assert!(
            is_nonblocking,
            "the socket blocks: call set_nonblocking(true) before it is handed to the runtime"
        );
    }
    Ok(())
}
