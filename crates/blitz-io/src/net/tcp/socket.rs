//! A TCP socket before it is a stream or a listener: the time to set options.

use super::{TcpListener, TcpStream};
use crate::net::datagram::internet_address;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

/// A TCP socket that is neither connected nor listening yet.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::net::TcpSocket;
///
/// let socket = TcpSocket::new_v4()?;
/// socket.set_reuseaddr(true)?;
/// socket.bind("127.0.0.1:0".parse().unwrap())?;
/// let listener = socket.listen(16)?; // 16 connections may wait
///
/// let socket = TcpSocket::new_v4()?;
/// socket.set_nodelay(true)?;
/// let stream = socket.connect(listener.local_addr()?).await?;
/// assert!(stream.nodelay()?);
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
///
/// # Options
/// ```
/// use blitz_io::net::TcpSocket;
///
/// let socket = TcpSocket::new_v4()?;
/// socket.set_reuseaddr(true)?; // a server that starts again
/// socket.set_keepalive(true)?; // finds out that a silent peer is gone
/// socket.set_nodelay(true)?; // small answers at once
/// assert!(socket.reuseaddr()? && socket.keepalive()? && socket.nodelay()?);
/// # #[cfg(all(unix, not(any(target_os = "solaris", target_os = "illumos"))))] {
/// socket.set_reuseport(true)?; // several listeners share the connections
/// assert!(socket.reuseport()?);
/// # }
/// # #[cfg(target_os = "linux")] {
/// socket.set_tos_v4(0x10)?; // low delay
/// assert_eq!(socket.tos_v4()?, 0x10);
/// socket.bind_device(None)?; // `Some(b"eth0")` needs rights
/// assert_eq!(socket.device()?, None);
/// if let Ok(socket) = TcpSocket::new_v6() {
///     socket.set_tclass_v6(0x10)?;
///     assert_eq!(socket.tclass_v6()?, 0x10);
/// }
/// # }
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug)]
pub struct TcpSocket {
    socket: Socket,
}

/// Pairs of methods that ask for and set an option of the socket.
macro_rules! options {
    ($($(#[$condition:meta])* $what:literal $get:ident $set:ident $raw_get:ident $raw_set:ident $type:ty;)*) => {
        $(
            #[doc = concat!("Asks ", $what, ".")]
            ///
            /// # Errors
            /// If the system does not say.
            $(#[$condition])*
            pub fn $get(&self) -> io::Result<$type> {
                self.socket.$raw_get()
            }

            #[doc = concat!("Sets ", $what, ".")]
            ///
            /// # Errors
            /// If the system does not agree.
            $(#[$condition])*
            pub fn $set(&self, value: $type) -> io::Result<()> {
                self.socket.$raw_set(value)
            }
        )*
    };
}

impl TcpSocket {
    /// A socket for IPv4.
    ///
    /// # Errors
    /// If the system has none left.
    ///
    /// ```
    /// let socket = blitz_io::net::TcpSocket::new_v4()?;
    /// socket.bind("127.0.0.1:0".parse().unwrap())?;
    /// # std::io::Result::Ok(())
    /// ```
    pub fn new_v4() -> io::Result<Self> {
        Self::new(Domain::IPV4)
    }

    /// A socket for IPv6.
    ///
    /// # Errors
    /// If the system has none left.
    ///
    /// ```
    /// use blitz_io::net::TcpSocket;
    ///
    /// // A machine may have no IPv6.
    /// match TcpSocket::new_v6() {
    ///     Ok(socket) => println!("{:?}", socket.bind("[::1]:0".parse().unwrap())),
    ///     Err(error) => println!("no IPv6: {error}"),
    /// }
    /// ```
    pub fn new_v6() -> io::Result<Self> {
        Self::new(Domain::IPV6)
    }

    fn new(domain: Domain) -> io::Result<Self> {
        let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket })
    }

    options! {
        "whether the address may still be in use by connections that are closing" reuseaddr set_reuseaddr reuse_address set_reuse_address bool;
        #[cfg(all(unix, not(any(target_os = "solaris", target_os = "illumos"))))] "whether several sockets may listen at the same port" reuseport set_reuseport reuse_port set_reuse_port bool;
        "whether a connection that is silent is probed" keepalive set_keepalive keepalive set_keepalive bool;
        "whether small pieces are sent at once (Nagle's algorithm is off)" nodelay set_nodelay tcp_nodelay set_tcp_nodelay bool;
        #[cfg(any(target_os = "android", target_os = "dragonfly", target_os = "freebsd", target_os = "illumos", target_os = "linux", target_os = "macos", target_os = "netbsd", target_os = "openbsd"))] "the traffic class of IPv6" tclass_v6 set_tclass_v6 tclass_v6 set_tclass_v6 u32;
        "the type of service of IPv4" tos_v4 set_tos_v4 tos_v4 set_tos_v4 u32;
        #[doc(hidden)] #[deprecated(note = "it is called `tos_v4`")]
        "the type of service of IPv4" tos set_tos tos_v4 set_tos_v4 u32;
    }

    /// Asks the size of the buffer of what is to be sent.
    ///
    /// # Errors
    /// If the system does not say.
    ///
    /// ```
    /// let socket = blitz_io::net::TcpSocket::new_v4()?;
    /// socket.set_send_buffer_size(64 << 10)?;
    /// assert!(socket.send_buffer_size()? >= 64 << 10); // Linux doubles it
    /// # std::io::Result::Ok(())
    /// ```
    pub fn send_buffer_size(&self) -> io::Result<u32> {
        self.socket.send_buffer_size().map(|size| size as u32)
    }

    /// Sets the size of the buffer of what is to be sent. The system may choose another one.
    ///
    /// # Errors
    /// If the system does not agree.
    pub fn set_send_buffer_size(&self, size: u32) -> io::Result<()> {
        self.socket.set_send_buffer_size(size as usize)
    }

    /// Asks the size of the buffer of what has been received.
    ///
    /// # Errors
    /// If the system does not say.
    ///
    /// ```
    /// let socket = blitz_io::net::TcpSocket::new_v4()?;
    /// socket.set_recv_buffer_size(64 << 10)?;
    /// assert!(socket.recv_buffer_size()? >= 64 << 10); // Linux doubles it
    /// # std::io::Result::Ok(())
    /// ```
    pub fn recv_buffer_size(&self) -> io::Result<u32> {
        self.socket.recv_buffer_size().map(|size| size as u32)
    }

    /// Sets the size of the buffer of what has been received. The system may choose another one.
    ///
    /// # Errors
    /// If the system does not agree.
    pub fn set_recv_buffer_size(&self, size: u32) -> io::Result<()> {
        self.socket.set_recv_buffer_size(size as usize)
    }

    /// Asks how long closing waits for data that is still to be sent.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn linger(&self) -> io::Result<Option<Duration>> {
        self.socket.linger()
    }

    /// Sets how long closing waits for data that is still to be sent.
    ///
    /// # Errors
    /// If the system does not agree.
    #[deprecated(
        note = "closing a socket that lingers blocks its thread; use `set_zero_linger`, or `shutdown` before it is dropped"
    )]
    pub fn set_linger(&self, dur: Option<Duration>) -> io::Result<()> {
        self.socket.set_linger(dur)
    }

    /// Has the connection reset when it is dropped: what has not been sent by then is thrown away.
    ///
    /// # Errors
    /// If the system does not agree.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let socket = blitz_io::net::TcpSocket::new_v4()?;
    /// assert_eq!(socket.linger()?, None); // closing does not wait
    /// socket.set_zero_linger()?;
    /// assert_eq!(socket.linger()?, Some(Duration::ZERO));
    /// # std::io::Result::Ok(())
    /// ```
    pub fn set_zero_linger(&self) -> io::Result<()> {
        self.socket.set_linger(Some(Duration::ZERO))
    }

    /// The network interface that it is bound to, if any.
    ///
    /// # Errors
    /// If the system does not say.
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "fuchsia"))]
    pub fn device(&self) -> io::Result<Option<Vec<u8>>> {
        self.socket.device()
    }

    /// Binds it to a network interface, or to none.
    ///
    /// # Errors
    /// If there is no such interface, or that is not allowed.
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "fuchsia"))]
    pub fn bind_device(&self, interface: Option<&[u8]>) -> io::Result<()> {
        self.socket.bind_device(interface)
    }

    /// Takes over a socket of the standard library, which is not connected yet in spite of its name, and should be non-blocking.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::net::TcpSocket;
    ///
    /// // An option that `TcpSocket` does not know.
    /// let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None)?;
    /// socket.set_nonblocking(true)?;
    /// socket.set_out_of_band_inline(true)?;
    /// let socket = TcpSocket::from_std_stream(socket.into());
    /// socket.bind("127.0.0.1:0".parse().unwrap())?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn from_std_stream(std_stream: std::net::TcpStream) -> TcpSocket {
        Self {
            socket: std_stream.into(),
        }
    }

    /// Gives it an address on this side.
    ///
    /// # Errors
    /// If that is in use, or not of this machine.
    ///
    /// ```
    /// let socket = blitz_io::net::TcpSocket::new_v4()?;
    /// socket.bind("127.0.0.1:0".parse().unwrap())?;
    /// assert_ne!(socket.local_addr()?.port(), 0);
    /// # std::io::Result::Ok(())
    /// ```
    pub fn bind(&self, addr: SocketAddr) -> io::Result<()> {
        self.socket.bind(&addr.into())
    }

    /// The address on this side.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        internet_address(&self.socket.local_addr()?)
    }

    /// The error that the socket has kept for the next one to ask, if any.
    ///
    /// # Errors
    /// If it cannot be asked.
    ///
    /// ```
    /// let socket = blitz_io::net::TcpSocket::new_v4()?;
    /// assert!(socket.take_error()?.is_none());
    /// # std::io::Result::Ok(())
    /// ```
    pub fn take_error(&self) -> io::Result<Option<io::Error>> {
        self.socket.take_error()
    }

    /// Connects it. If the future is dropped, the attempt is given up.
    ///
    /// # Errors
    /// If the other side does not answer, or does not want to.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::net::{TcpListener, TcpSocket};
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let address = listener.local_addr()?;
    /// let stream = TcpSocket::new_v4()?.connect(address).await?;
    /// assert_eq!(stream.peer_addr()?, address);
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn connect(self, addr: SocketAddr) -> io::Result<TcpStream> {
        match self.socket.connect(&addr.into()) {
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
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let socket = blitz_io::net::TcpSocket::new_v4()?;
    /// socket.bind("127.0.0.1:0".parse().unwrap())?;
    /// let listener = socket.listen(1024)?;
    /// assert!(listener.local_addr()?.ip().is_loopback());
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    #[track_caller]
    pub fn listen(self, backlog: u32) -> io::Result<TcpListener> {
        self.socket
            .listen(i32::try_from(backlog).unwrap_or(i32::MAX))?;
        TcpListener::from_mio(mio::net::TcpListener::from_std(self.socket.into()))
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

#[cfg(unix)]
impl std::os::fd::AsRawFd for TcpSocket {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        std::os::fd::AsRawFd::as_raw_fd(&self.socket)
    }
}

#[cfg(unix)]
impl std::os::fd::FromRawFd for TcpSocket {
    unsafe fn from_raw_fd(descriptor: std::os::fd::RawFd) -> Self {
        // SAFETY: the caller promises that it is open and nobody else's.
        let socket = unsafe { std::os::fd::FromRawFd::from_raw_fd(descriptor) };
        Self { socket }
    }
}

#[cfg(unix)]
impl std::os::fd::IntoRawFd for TcpSocket {
    fn into_raw_fd(self) -> std::os::fd::RawFd {
        std::os::fd::IntoRawFd::into_raw_fd(self.socket)
    }
}

#[cfg(windows)]
impl std::os::windows::io::AsSocket for TcpSocket {
    fn as_socket(&self) -> std::os::windows::io::BorrowedSocket<'_> {
        std::os::windows::io::AsSocket::as_socket(&self.socket)
    }
}

#[cfg(windows)]
impl std::os::windows::io::AsRawSocket for TcpSocket {
    fn as_raw_socket(&self) -> std::os::windows::io::RawSocket {
        std::os::windows::io::AsRawSocket::as_raw_socket(&self.socket)
    }
}

#[cfg(windows)]
impl std::os::windows::io::FromRawSocket for TcpSocket {
    unsafe fn from_raw_socket(socket: std::os::windows::io::RawSocket) -> Self {
        // SAFETY: the caller promises that it is open and nobody else's.
        let socket = unsafe { std::os::windows::io::FromRawSocket::from_raw_socket(socket) };
        Self { socket }
    }
}

#[cfg(windows)]
impl std::os::windows::io::IntoRawSocket for TcpSocket {
    fn into_raw_socket(self) -> std::os::windows::io::RawSocket {
        std::os::windows::io::IntoRawSocket::into_raw_socket(self.socket)
    }
}
