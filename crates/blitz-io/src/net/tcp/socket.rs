//! A TCP socket before it is a stream or a listener: the time to set options.

use super::{TcpListener, TcpStream};
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// A TCP socket that is neither connected nor listening yet.
///
/// ```no_run
/// use blitz_io::net::TcpSocket;
///
/// # async fn example() -> std::io::Result<()> {
/// let socket = TcpSocket::new_v4()?;
/// socket.set_reuseaddr(true)?;
/// socket.bind("127.0.0.1:8080".parse().unwrap())?;
/// let listener = socket.listen(1024)?;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct TcpSocket {
    socket: Socket,
}

/// Pairs of methods that ask for and set an option of the socket.
macro_rules! options {
    ($($(#[$condition:meta])? $what:literal $get:ident $set:ident $raw_get:ident $raw_set:ident $type:ty => $argument:ty;)*) => {
        $(
            #[doc = concat!("Asks ", $what, ".")]
            ///
            /// # Errors
            /// If the system does not say.
            $(#[$condition])?
            pub fn $get(&self) -> io::Result<$type> {
                #[allow(clippy::useless_conversion)]
                self.socket.$raw_get().map(|value| value.try_into().unwrap_or_default())
            }

            #[doc = concat!("Sets ", $what, ".")]
            ///
            /// # Errors
            /// If the system does not agree.
            $(#[$condition])?
            pub fn $set(&self, value: $argument) -> io::Result<()> {
                #[allow(clippy::useless_conversion)]
                self.socket.$raw_set(value.try_into().unwrap_or_default())
            }
        )*
    };
}

impl TcpSocket {
    /// A socket for IPv4.
    ///
    /// # Errors
    /// If the system has none left.
    pub fn new_v4() -> io::Result<Self> {
        Self::new(Domain::IPV4)
    }

    /// A socket for IPv6.
    ///
    /// # Errors
    /// If the system has none left.
    pub fn new_v6() -> io::Result<Self> {
        Self::new(Domain::IPV6)
    }

    fn new(domain: Domain) -> io::Result<Self> {
        let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket })
    }

    options! {
        "whether the address may still be in use by connections that are closing" reuseaddr set_reuseaddr reuse_address set_reuse_address bool => bool;
        #[cfg(unix)] "whether several sockets may listen at the same port" reuseport set_reuseport reuse_port set_reuse_port bool => bool;
        "whether a connection that is silent is probed" keepalive set_keepalive keepalive set_keepalive bool => bool;
        "whether small pieces are sent at once (Nagle's algorithm is off)" nodelay set_nodelay tcp_nodelay set_tcp_nodelay bool => bool;
        "how long closing waits for data that is still to be sent" linger set_linger linger set_linger Option<Duration> => Option<Duration>;
        "the size of the buffer of what is to be sent" send_buffer_size set_send_buffer_size send_buffer_size set_send_buffer_size u32 => u32;
        "the size of the buffer of what has been received" recv_buffer_size set_recv_buffer_size recv_buffer_size set_recv_buffer_size u32 => u32;
    }

    /// Gives it an address on this side.
    ///
    /// # Errors
    /// If that is in use, or not of this machine.
    pub fn bind(&self, address: SocketAddr) -> io::Result<()> {
        self.socket.bind(&address.into())
    }

    /// The address on this side.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        let address = self.socket.local_addr()?.as_socket();
        address.ok_or_else(|| io::Error::other("a TCP socket without an address of the internet"))
    }

    /// The error that the socket has kept for the next one to ask, if any.
    ///
    /// # Errors
    /// If it cannot be asked.
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.socket.take_error()
    }

    /// Connects it.
    ///
    /// # Errors
    /// If the other side does not answer, or does not want to.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    pub async fn connect(self, address: SocketAddr) -> io::Result<TcpStream> {
        match self.socket.connect(&address.into()) {
            Err(error) if !is_in_progress(&error) => return Err(error),
            _ => {}
        }
        let socket = std::net::TcpStream::from(self.socket);
        TcpStream::connected(mio::net::TcpStream::from_std(socket)).await
    }

    /// Listens with it; up to `backlog` connections may wait to be accepted.
    ///
    /// # Errors
    /// If the address is in use.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    #[track_caller]
    pub fn listen(self, backlog: u32) -> io::Result<TcpListener> {
        self.socket
            .listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
        TcpListener::from_std(self.socket.into())
    }
}

/// Whether a connection is on its way.
fn is_in_progress(error: &io::Error) -> bool {
    #[cfg(unix)]
    if error.raw_os_error() == Some(libc::EINPROGRESS) {
        return true;
    }
    error.kind() == io::ErrorKind::WouldBlock
}

#[cfg(unix)]
impl std::os::fd::AsFd for TcpSocket {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        std::os::fd::AsFd::as_fd(&self.socket)
    }
}
