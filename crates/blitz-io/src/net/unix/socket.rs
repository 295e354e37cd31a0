//! A Unix socket before it is a stream, a listener or one for datagrams: the time to give it an address.

use super::{UnixDatagram, UnixListener, UnixStream};
use socket2::{Domain, SockAddr, Socket, Type};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, RawFd};
use std::path::Path;

/// A Unix socket that is neither connected nor listening yet.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # let folder = std::env::temp_dir().join(format!("blitz-io-socket--nix-ocket-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// use blitz_io::net::UnixSocket;
///
/// let socket = UnixSocket::new_stream()?;
/// socket.bind(folder.join("socket"))?;
/// let listener = socket.listen(16)?; // 16 connections may wait
///
/// let client = UnixSocket::new_stream()?.connect(folder.join("socket")).await?;
/// # drop((client, listener));
/// # std::fs::remove_dir_all(&folder)?;
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
#[derive(Debug)]
pub struct UnixSocket {
    socket: Socket,
}

impl UnixSocket {
    /// For datagrams.
    ///
    /// # Errors
    /// If the system has none left.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-socket-new-datagram-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::net::UnixSocket;
    ///
    /// let socket = UnixSocket::new_datagram()?;
    /// socket.bind(folder.join("socket"))?;
    /// let socket = socket.datagram()?;
    /// assert!(socket.local_addr()?.as_pathname().is_some());
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn new_datagram() -> io::Result<UnixSocket> {
        Self::new(Type::DGRAM)
    }

    /// For a stream or a listener.
    ///
    /// # Errors
    /// If the system has none left.
    pub fn new_stream() -> io::Result<UnixSocket> {
        Self::new(Type::STREAM)
    }

    fn new(kind: Type) -> io::Result<Self> {
        let socket = Socket::new(Domain::UNIX, kind, None)?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket })
    }

    /// Refuses what a socket of the other kind is for.
    fn expect(&self, kind: Type, what: &str) -> io::Result<()> {
        if self.socket.r#type()? == kind {
            return Ok(());
        }
        let other = if kind == Type::DGRAM {
            "a stream socket"
        } else {
            "a datagram socket"
        };
        Err(io::Error::other(format!(
            "{what} cannot be called on {other}"
        )))
    }

    /// Gives it a path, where there must not be anything yet.
    ///
    /// # Errors
    /// If the path is taken or cannot be created.
    pub fn bind(&self, path: impl AsRef<Path>) -> io::Result<()> {
        self.socket.bind(&SockAddr::unix(path)?)
    }

    /// Listens with it; up to `backlog` connections may wait to be accepted.
    ///
    /// # Errors
    /// If it is one for datagrams, or has no path.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    #[track_caller]
    pub fn listen(self, backlog: u32) -> io::Result<UnixListener> {
        self.expect(Type::STREAM, "listen")?;
        self.socket
            .listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
        UnixListener::from_mio(mio::net::UnixListener::from_std(self.socket.into()))
    }

    /// Connects it to the listener at a path. If the future is dropped, the attempt is given up.
    ///
    /// # Errors
    /// If it is one for datagrams, or there is no listener that takes the connection.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-socket-connect-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::net::{UnixListener, UnixSocket};
    ///
    /// let listener = UnixListener::bind(folder.join("socket"))?;
    /// let stream = UnixSocket::new_stream()?.connect(folder.join("socket")).await?;
    /// # drop((listener, stream));
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn connect(self, path: impl AsRef<Path>) -> io::Result<UnixStream> {
        self.expect(Type::STREAM, "connect")?;
        match self.socket.connect(&SockAddr::unix(path)?) {
            Err(error) if error.raw_os_error() != Some(libc::EINPROGRESS) => return Err(error),
            _ => {}
        }
        UnixStream::connected(mio::net::UnixStream::from_std(self.socket.into())).await
    }

    /// Sends and receives datagrams with it.
    ///
    /// # Errors
    /// If it is one for streams.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    #[track_caller]
    pub fn datagram(self) -> io::Result<UnixDatagram> {
        self.expect(Type::DGRAM, "datagram")?;
        UnixDatagram::from_mio(mio::net::UnixDatagram::from_std(self.socket.into()))
    }
}

impl AsFd for UnixSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl AsRawFd for UnixSocket {
    fn as_raw_fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }
}

impl FromRawFd for UnixSocket {
    unsafe fn from_raw_fd(descriptor: RawFd) -> Self {
        // SAFETY: the caller promises that it is open and nobody else's.
        let socket = unsafe { Socket::from_raw_fd(descriptor) };
        Self { socket }
    }
}

impl IntoRawFd for UnixSocket {
    fn into_raw_fd(self) -> RawFd {
        self.socket.into_raw_fd()
    }
}
