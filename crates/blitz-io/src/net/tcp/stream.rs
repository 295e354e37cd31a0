//! A TCP connection.

use super::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, WriteHalf, split};
use crate::driver::{Registered, Way};
use crate::io::{ReadBuf, Ready};
use crate::net::ToSocketAddrs;
use crate::net::datagram::poll_receive;
use crate::net::resolve::first_that_works;
use socket2::SockRef;
use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};
use std::time::Duration;

/// A TCP connection.
///
/// ```no_run
/// use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
/// use blitz_io::net::TcpStream;
///
/// # async fn example() -> std::io::Result<()> {
/// let mut stream = TcpStream::connect("127.0.0.1:8080").await?;
/// stream.write_all(b"hello").await?;
/// let mut answer = [0; 5];
/// stream.read_exact(&mut answer).await?;
/// # Ok(()) }
/// ```
pub struct TcpStream {
    pub(super) io: Registered<mio::net::TcpStream>,
}

impl TcpStream {
    /// Connects to an address; if there are several, to the first that answers.
    ///
    /// # Errors
    /// If none does.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    pub async fn connect<A: ToSocketAddrs>(addr: A) -> io::Result<TcpStream> {
        first_that_works(addr, async |address| {
            Self::connected(mio::net::TcpStream::connect(address)?).await
        })
        .await
    }

    /// One that has just been accepted: there is room to write, and as a rule the peer has sent something by then.
    pub(super) fn accepted(socket: mio::net::TcpStream) -> io::Result<Self> {
        Self::assuming(socket, Ready::READABLE | Ready::WRITABLE)
    }

    /// Waits until a connection that has been begun stands.
    pub(super) async fn connected(socket: mio::net::TcpStream) -> io::Result<Self> {
        let stream = Self::from_mio(socket)?;
        // There is room to write as soon as it stands, and an error if it never will.
        stream.writable().await?;
        match stream.take_error()? {
            None => Ok(stream),
            Some(error) => Err(error),
        }
    }

    /// The address of this side.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    /// The address of the other side.
    ///
    /// # Errors
    /// If it is gone.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.peer_addr()
    }

    /// Waits for something to read and copies it, without taking it: the next read sees it, too.
    ///
    /// # Errors
    /// Those of the connection.
    pub async fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.io.io(Way::Read, |socket| socket.peek(buf)).await
    }

    /// As [`peek`](Self::peek); of several tasks only the last one that reads with a `poll` method is woken.
    pub fn poll_peek(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<usize>> {
        poll_receive(&self.io, cx, buf, |socket, room| {
            let length = socket.try_io(|| SockRef::from(socket).peek(room))?;
            Ok((length, length))
        })
    }

    /// Whether small pieces are sent at once (Nagle's algorithm is off).
    ///
    /// # Errors
    /// If the system does not say.
    pub fn nodelay(&self) -> io::Result<bool> {
        self.io.nodelay()
    }

    /// Sets whether small pieces are sent at once (Nagle's algorithm is off).
    ///
    /// # Errors
    /// If the system does not agree.
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.io.set_nodelay(nodelay)
    }

    /// How many hops a packet may take.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn ttl(&self) -> io::Result<u32> {
        self.io.ttl()
    }

    /// Sets how many hops a packet may take.
    ///
    /// # Errors
    /// If the system does not agree.
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.io.set_ttl(ttl)
    }

    /// How long closing waits for data that is still to be sent.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn linger(&self) -> io::Result<Option<Duration>> {
        SockRef::from(self).linger()
    }

    /// Sets how long closing waits for data that is still to be sent; zero resets the connection.
    ///
    /// # Errors
    /// If the system does not agree.
    #[deprecated(
        note = "closing a socket that lingers blocks its thread; use `set_zero_linger`, or `shutdown` before it is dropped"
    )]
    pub fn set_linger(&self, dur: Option<Duration>) -> io::Result<()> {
        SockRef::from(self).set_linger(dur)
    }

    /// Has the connection reset when it is dropped: what has not been sent by then is thrown away.
    ///
    /// # Errors
    /// If the system does not agree.
    pub fn set_zero_linger(&self) -> io::Result<()> {
        SockRef::from(self).set_linger(Some(Duration::ZERO))
    }

    /// Whether what arrives is acknowledged at once.
    ///
    /// # Errors
    /// If the system does not say.
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "fuchsia"))]
    pub fn quickack(&self) -> io::Result<bool> {
        SockRef::from(self).tcp_quickack()
    }

    /// Sets whether what arrives is acknowledged at once. The system may change it again.
    ///
    /// # Errors
    /// If the system does not agree.
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "fuchsia"))]
    pub fn set_quickack(&self, quickack: bool) -> io::Result<()> {
        SockRef::from(self).set_tcp_quickack(quickack)
    }

    /// Lends out the two halves, for two futures of one task.
    pub fn split(&mut self) -> (ReadHalf<'_>, WriteHalf<'_>) {
        split::borrowed(self)
    }

    /// Takes it apart, for two tasks. One allocation.
    pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        split::owned(self)
    }
}

impl AsRef<Self> for TcpStream {
    fn as_ref(&self) -> &Self {
        self
    }
}

standard_socket!(TcpStream, mio::net::TcpStream, std::net::TcpStream);
pending_error!(TcpStream);
readiness_methods!(TcpStream, poll_read_ready, poll_write_ready);
try_read_methods!([] TcpStream, this => this.io);
try_write_methods!([] TcpStream, this => this.io);
readable_stream!([] TcpStream, this => this.io);
writable_stream!([] TcpStream, this => this.io);
