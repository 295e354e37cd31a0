//! What streams have in common: bytes in order. Sockets have both ways, the pipes of child processes one of them, and files have
//! an implementation of their own.

use crate::driver::{Registered, Way};
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::net::Shutdown;
use std::task::{Context, Poll};

/// A stream socket: [`TcpStream`](super::TcpStream) or `UnixStream`. What the [halves](super::split) of one are generic over.
///
/// It cannot be implemented elsewhere.
pub trait Stream: Interior {}

impl<S: Interior> Stream for S {}

/// The interior of a stream.
pub trait Interior: std::fmt::Debug {
    /// The registered socket.
    type Socket: Bytes;

    /// The registered socket.
    fn socket(&self) -> &Self::Socket;
}

/// Reading, by the one task that has the right to it.
pub trait Incoming {
    /// Reads into a buffer.
    fn poll_read(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>>;

    /// Reads into memory that need not be initialised; as much of it is afterwards as the result says.
    fn poll_read_uninit(
        &self,
        cx: &mut Context<'_>,
        buffer: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<usize>>;

    /// Reads into several buffers.
    fn poll_read_vectored(
        &self,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
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

/// Both.
pub trait Bytes: Incoming + Outgoing {
    /// Ends one way or both. Nothing happens if the connection is over anyway.
    fn shut(&self, how: Shutdown) -> io::Result<()>;
}

/// What `mio` does not have a common name for: reading.
pub trait RawIncoming: mio::event::Source {
    /// Receives into memory that need not be initialised.
    fn receive(&self, buffer: &mut [MaybeUninit<u8>]) -> io::Result<usize>;
}

/// What `mio` does not have a common name for: writing.
pub trait RawOutgoing: mio::event::Source {
    /// Tells the other side that this was all, if there is a way to do that.
    fn end(&self) -> io::Result<()>;
}

macro_rules! raw_stream {
    ($socket:ty) => {
        impl RawIncoming for $socket {
            fn receive(&self, buffer: &mut [MaybeUninit<u8>]) -> io::Result<usize> {
                self.try_io(|| socket2::SockRef::from(self).recv(buffer))
            }
        }

        impl RawOutgoing for $socket {
            fn end(&self) -> io::Result<()> {
                unless_over(self.shutdown(Shutdown::Write))
            }
        }

        impl Bytes for Registered<$socket> {
            fn shut(&self, how: Shutdown) -> io::Result<()> {
                unless_over(self.shutdown(how))
            }
        }
    };
}

raw_stream!(mio::net::TcpStream);
#[cfg(unix)]
raw_stream!(mio::net::UnixStream);

fn unless_over(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotConnected => Ok(()),
        result => result,
    }
}

impl<S: RawIncoming> Incoming for Registered<S>
where
    for<'a> &'a S: Read,
{
    fn poll_read(&self, cx: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        self.poll_stream(Way::Read, cx, buffer.len(), |mut socket| {
            socket.read(buffer)
        })
    }

    fn poll_read_uninit(
        &self,
        cx: &mut Context<'_>,
        buffer: &mut [MaybeUninit<u8>],
    ) -> Poll<io::Result<usize>> {
        self.poll_stream(Way::Read, cx, buffer.len(), |socket| socket.receive(buffer))
    }

    fn poll_read_vectored(
        &self,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
    ) -> Poll<io::Result<usize>> {
        let room = buffers.iter().map(|buffer| buffer.len()).sum();
        self.poll_stream(Way::Read, cx, room, |mut socket| {
            socket.read_vectored(buffers)
        })
    }
}

impl<S: RawOutgoing> Outgoing for Registered<S>
where
    for<'a> &'a S: Write,
{
    fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_stream(Way::Write, cx, bytes.len(), |mut socket| {
            socket.write(bytes)
        })
    }

    fn poll_write_vectored(
        &self,
        cx: &mut Context<'_>,
        buffers: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let length = buffers.iter().map(|buffer| buffer.len()).sum();
        self.poll_stream(Way::Write, cx, length, |mut socket| {
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
