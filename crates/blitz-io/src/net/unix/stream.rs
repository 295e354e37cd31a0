//! A connection within the machine.

use super::UCred;
use super::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, SocketAddr, WriteHalf, address_of, split};
use crate::driver::Registered;
use crate::io::Ready;
use crate::time::sleep;
use std::io;
use std::path::Path;
use std::time::Duration;

/// A Unix stream.
///
/// ```no_run
/// use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
/// use blitz_io::net::UnixStream;
///
/// # async fn example() -> std::io::Result<()> {
/// let (mut here, mut there) = UnixStream::pair()?;
/// here.write_all(b"hello").await?;
/// let mut greeting = [0; 5];
/// there.read_exact(&mut greeting).await?;
/// # Ok(()) }
/// ```
pub struct UnixStream {
    pub(super) io: Registered<mio::net::UnixStream>,
}

impl UnixStream {
    /// Connects to the listener at a path. Waits while as many connections as the listener has room for wait to be accepted.
    ///
    /// # Errors
    /// If there is none, or it does not take the connection.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    pub async fn connect<P>(path: P) -> io::Result<UnixStream>
    where
        P: AsRef<Path>,
    {
        Self::connect_addr(&address_of(path.as_ref())?.into()).await
    }

    /// As [`connect`](Self::connect), to an address, which may be an abstract name.
    ///
    /// # Errors
    /// If there is no listener, or it does not take the connection.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    pub async fn connect_addr(socket_addr: &SocketAddr) -> io::Result<UnixStream> {
        // Linux refuses a connection that would have to wait, and has nothing that tells when it would not.
        let mut pause = Duration::from_millis(1);
        let connected = loop {
            match mio::net::UnixStream::connect_addr(&socket_addr.0) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => sleep(pause).await,
                connected => break connected?,
            }
            pause = (pause * 2).min(Duration::from_millis(50));
        };
        Self::connected(connected).await
    }

    /// One that has just been accepted: there is room to write, and as a rule the peer has sent something by then.
    pub(super) fn accepted(socket: mio::net::UnixStream) -> io::Result<Self> {
        Self::assuming(socket, Ready::READABLE | Ready::WRITABLE)
    }

    /// Waits until a connection that has been begun stands.
    pub(super) async fn connected(socket: mio::net::UnixStream) -> io::Result<Self> {
        let stream = Self::from_mio(socket)?;
        stream.writable().await?;
        match stream.take_error()? {
            None => Ok(stream),
            Some(error) => Err(error),
        }
    }

    /// Two that are connected to each other.
    ///
    /// # Errors
    /// If the system has none left.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    #[track_caller]
    pub fn pair() -> io::Result<(Self, Self)> {
        let (left, right) = mio::net::UnixStream::pair()?;
        let writable = Ready::WRITABLE;
        Ok((
            Self::assuming(left, writable)?,
            Self::assuming(right, writable)?,
        ))
    }

    /// The address of this side.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr().map(SocketAddr)
    }

    /// The address of the other side.
    ///
    /// # Errors
    /// If it is gone.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.peer_addr().map(SocketAddr)
    }

    /// Who was on the other side when the connection was made.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn peer_cred(&self) -> io::Result<UCred> {
        UCred::of_peer(self)
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

impl AsRef<Self> for UnixStream {
    fn as_ref(&self) -> &Self {
        self
    }
}

standard_socket!(
    UnixStream,
    mio::net::UnixStream,
    std::os::unix::net::UnixStream
);
pending_error!(UnixStream);
readiness_methods!(UnixStream, poll_read_ready, poll_write_ready);
try_read_methods!([] UnixStream, this => this.io);
try_write_methods!([] UnixStream, this => this.io);
readable_stream!([] UnixStream, this => this.io);
writable_stream!([] UnixStream, this => this.io);
