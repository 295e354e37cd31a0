//! UDP.

use super::ToSocketAddrs;
use super::datagram::{RawDatagrams, internet_address, poll_receive};
use super::resolve::{first_that_works, resolve};
use crate::driver::{Registered, Way};
use crate::io::{Interest, ReadBuf};
use socket2::SockRef;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::task::{Context, Poll};

/// A UDP socket. Any number of tasks may send and receive at once.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::net::UdpSocket;
///
/// let server = UdpSocket::bind("127.0.0.1:0").await?;
/// let client = UdpSocket::bind("127.0.0.1:0").await?;
/// client.send_to(b"hello", server.local_addr()?).await?;
///
/// let mut buffer = [0; 1500];
/// let (length, from) = server.recv_from(&mut buffer).await?;
/// assert_eq!(&buffer[..length], b"hello");
/// server.send_to(b"and hello to you", from).await?;
///
/// let mut answer = Vec::with_capacity(1500);
/// client.recv_buf_from(&mut answer).await?;
/// assert_eq!(answer, b"and hello to you");
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
///
/// # Connected
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # let here = blitz_io::net::UdpSocket::bind("127.0.0.1:0").await?;
/// # let there = blitz_io::net::UdpSocket::bind("127.0.0.1:0").await?;
/// here.connect(there.local_addr()?).await?;
/// there.connect(here.local_addr()?).await?;
/// here.send(b"one").await?;
/// here.send(b"two").await?;
/// let mut buffer = [0; 1500];
/// assert_eq!(there.recv(&mut buffer).await?, 3);
/// let mut datagram = Vec::with_capacity(1500);
/// there.recv_buf(&mut datagram).await?;
/// assert_eq!(datagram, b"two");
/// assert_eq!(there.peer_addr()?, here.local_addr()?);
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
///
/// # Without waiting
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # let here = blitz_io::net::UdpSocket::bind("127.0.0.1:0").await?;
/// # let there = blitz_io::net::UdpSocket::bind("127.0.0.1:0").await?;
/// use std::io::ErrorKind;
///
/// here.writable().await?;
/// here.try_send_to(b"one", there.local_addr()?)?;
/// let mut buffer = [0; 1500];
/// let (length, from) = loop {
///     there.readable().await?;
///     match there.try_recv_from(&mut buffer) {
///         Err(error) if error.kind() == ErrorKind::WouldBlock => {} // it was not: wait again
///         result => break result?,
///     }
/// };
/// assert_eq!((&buffer[..length], from), (&b"one"[..], here.local_addr()?));
///
/// // Nothing more has come.
/// assert!(there.try_recv_buf_from(&mut Vec::new()).is_err());
/// assert!(there.try_recv(&mut buffer).is_err() && there.try_recv_buf(&mut Vec::new()).is_err());
/// there.connect(from).await?;
/// assert_eq!(there.try_send(b"thanks")?, 6);
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
///
/// # Looking without taking
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # let here = blitz_io::net::UdpSocket::bind("127.0.0.1:0").await?;
/// # let there = blitz_io::net::UdpSocket::bind("127.0.0.1:0").await?;
/// here.send_to(b"hello", there.local_addr()?).await?;
/// let (mut first, from) = ([0; 1], here.local_addr()?);
/// # #[cfg(not(windows))] {
/// assert_eq!(there.peek_sender().await?, from);
/// assert_eq!(there.peek_from(&mut first).await?, (1, from));
/// assert_eq!(there.peek(&mut first).await?, 1);
/// assert_eq!(there.try_peek(&mut first)?, 1);
/// assert_eq!(there.try_peek_from(&mut first)?, (1, from));
/// assert_eq!(there.try_peek_sender()?, from);
/// # }
/// assert_eq!(there.recv_from(&mut [0; 1500]).await?, (5, from));
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
///
/// # Futures of one's own
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # let here = blitz_io::net::UdpSocket::bind("127.0.0.1:0").await?;
/// # let there = blitz_io::net::UdpSocket::bind("127.0.0.1:0").await?;
/// use blitz_io::io::{Interest, ReadBuf};
/// use std::future::poll_fn;
/// use std::io::Read;
///
/// poll_fn(|cx| here.poll_send_to(cx, b"one", there.local_addr()?)).await?;
/// let mut memory = [0; 1500];
/// let mut buffer = ReadBuf::new(&mut memory);
/// # #[cfg(not(windows))] {
/// poll_fn(|cx| there.poll_peek(cx, &mut buffer)).await?;
/// buffer.clear();
/// poll_fn(|cx| there.poll_peek_from(cx, &mut buffer)).await?;
/// buffer.clear();
/// poll_fn(|cx| there.poll_peek_sender(cx)).await?;
/// # }
/// let from = poll_fn(|cx| there.poll_recv_from(cx, &mut buffer)).await?;
/// assert_eq!((buffer.filled(), from), (&b"one"[..], here.local_addr()?));
///
/// there.connect(from).await?;
/// here.connect(there.local_addr()?).await?;
/// poll_fn(|cx| there.poll_send_ready(cx)).await?;
/// poll_fn(|cx| there.poll_send(cx, b"two")).await?;
/// poll_fn(|cx| here.poll_recv_ready(cx)).await?;
/// buffer.clear();
/// poll_fn(|cx| here.poll_recv(cx, &mut buffer)).await?;
/// assert_eq!(buffer.filled(), b"two");
///
/// // With system calls of one's own.
/// there.send(b"three").await?;
/// let mut word = [0; 16];
/// let length = here.async_io(Interest::READABLE, || (&*socket2::SockRef::from(&here)).read(&mut word)).await?;
/// assert_eq!(&word[..length], b"three");
/// assert!(here.ready(Interest::WRITABLE).await?.is_writable());
/// here.try_io(Interest::WRITABLE, || socket2::SockRef::from(&here).send(b"four"))?;
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
///
/// # Options
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::net::UdpSocket;
/// use std::net::{Ipv4Addr, Ipv6Addr};
///
/// let socket = UdpSocket::bind("0.0.0.0:0").await?;
/// socket.set_broadcast(true)?; // to everybody in this network
/// socket.set_ttl(1)?; // not through a router
/// assert!(socket.broadcast()? && socket.ttl()? == 1);
/// socket.set_multicast_loop_v4(false)?; // not to this machine
/// socket.set_multicast_ttl_v4(1)?;
/// assert!(!socket.multicast_loop_v4()? && socket.multicast_ttl_v4()? == 1);
/// let group = Ipv4Addr::new(224, 0, 0, 123);
/// if socket.join_multicast_v4(group, Ipv4Addr::UNSPECIFIED).is_ok() {
///     // What is sent to the group arrives here.
///     socket.leave_multicast_v4(group, Ipv4Addr::UNSPECIFIED)?;
/// }
/// # #[cfg(target_os = "linux")] {
/// socket.set_tos_v4(0x10)?; // low delay
/// assert_eq!(socket.tos_v4()?, 0x10);
/// socket.bind_device(None)?; // `Some(b"eth0")` needs rights
/// assert_eq!(socket.device()?, None);
/// if let Ok(socket) = UdpSocket::bind("[::]:0").await {
///     socket.set_tclass_v6(0x10)?;
///     socket.set_multicast_loop_v6(false)?;
///     assert!(socket.tclass_v6()? == 0x10 && !socket.multicast_loop_v6()?);
///     let group = Ipv6Addr::new(0xff01, 0, 0, 0, 0, 0, 0, 0x123);
///     if socket.join_multicast_v6(&group, 0).is_ok() {
///         socket.leave_multicast_v6(&group, 0)?;
///     }
/// }
/// # }
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
///
/// # From the standard library, and back
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::net::UdpSocket;
///
/// let socket = std::net::UdpSocket::bind("127.0.0.1:0")?;
/// socket.set_nonblocking(true)?;
/// let socket = UdpSocket::from_std(socket)?;
/// assert!(socket.take_error()?.is_none());
/// let socket: std::net::UdpSocket = socket.into_std()?; // still non-blocking
/// # drop(socket);
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
pub struct UdpSocket {
    io: Registered<mio::net::UdpSocket>,
}

impl UdpSocket {
    /// A socket at an address of this machine; the first that works if there are several.
    ///
    /// # Errors
    /// If none works.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let socket = blitz_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// assert_ne!(socket.local_addr()?.port(), 0); // what the system has chosen
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn bind<A: ToSocketAddrs>(addr: A) -> io::Result<UdpSocket> {
        first_that_works(addr, async |address| {
            Self::from_mio(mio::net::UdpSocket::bind(address)?)
        })
        .await
    }

    /// Sends to this address, and receives from it only, from now on.
    ///
    /// # Errors
    /// If there is no such address.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let here = blitz_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// # let there = blitz_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// here.connect(there.local_addr()?).await?;
    /// assert_eq!(here.peer_addr()?, there.local_addr()?);
    /// here.send(b"hello").await?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn connect<A: ToSocketAddrs>(&self, addr: A) -> io::Result<()> {
        first_that_works(addr, async |address| self.io.connect(address)).await
    }

    /// Sends to an address; to the first if there are several. Cancel-safe.
    ///
    /// # Errors
    /// If it cannot be sent there.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let here = blitz_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// # let there = blitz_io::net::UdpSocket::bind("127.0.0.1:0").await?;
    /// let sent = here.send_to(b"hello", there.local_addr()?).await?;
    /// assert_eq!(sent, 5);
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn send_to<A: ToSocketAddrs>(&self, buf: &[u8], addr: A) -> io::Result<usize> {
        let addresses = resolve(addr).await?;
        let &target = addresses.first().ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                "there is no address to send to",
            )
        })?;
        self.io
            .io(Way::Write, |socket| socket.send_to(buf, target))
            .await
    }

    /// Sends without waiting.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is no room, or if it cannot be sent there.
    pub fn try_send_to(&self, buf: &[u8], target: SocketAddr) -> io::Result<usize> {
        self.io
            .try_io(Interest::WRITABLE, |socket| socket.send_to(buf, target))
    }

    /// As [`send_to`](Self::send_to); of several tasks only the last one that sends with a `poll` method is woken.
    pub fn poll_send_to(
        &self,
        cx: &mut Context<'_>,
        buf: &[u8],
        target: SocketAddr,
    ) -> Poll<io::Result<usize>> {
        self.io
            .poll_io(Way::Write, cx, |socket| socket.send_to(buf, target))
    }
}

datagram_methods!(UdpSocket, SocketAddr);

impl UdpSocket {
    /// Receives a datagram without taking it: the next to receive sees it, too. Cancel-safe.
    ///
    /// # Errors
    /// Those of the socket.
    pub async fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.io.io(Way::Read, |socket| socket.peek(buf)).await
    }

    /// As [`peek`](Self::peek); of several tasks only the last one that receives with a `poll` method is woken.
    pub fn poll_peek(&self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        poll_receive(&self.io, cx, buf, |socket, room| {
            let length = socket.try_io(|| SockRef::from(socket).peek(room))?;
            Ok((length, ()))
        })
    }

    /// As [`peek`](Self::peek), without waiting.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is none, and those of the socket.
    pub fn try_peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.io
            .try_io(Interest::READABLE, |socket| socket.peek(buf))
    }

    /// As [`peek`](Self::peek), and says who sent it. Cancel-safe.
    ///
    /// # Errors
    /// Those of the socket.
    pub async fn peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.io.io(Way::Read, |socket| socket.peek_from(buf)).await
    }

    /// As [`peek_from`](Self::peek_from); of several tasks only the last one that receives with a `poll` method is woken.
    pub fn poll_peek_from(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<SocketAddr>> {
        poll_receive(&self.io, cx, buf, |socket, room| {
            let (length, from) = socket.try_io(|| SockRef::from(socket).peek_from(room))?;
            Ok((length, internet_address(&from)?))
        })
    }

    /// As [`peek_from`](Self::peek_from), without waiting.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is none, and those of the socket.
    pub fn try_peek_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.io
            .try_io(Interest::READABLE, |socket| socket.peek_from(buf))
    }

    /// Who has sent the next datagram, which is not taken. Cancel-safe.
    ///
    /// # Errors
    /// Those of the socket.
    pub async fn peek_sender(&self) -> io::Result<SocketAddr> {
        self.io.io(Way::Read, sender_of_next).await
    }

    /// As [`peek_sender`](Self::peek_sender); of several tasks only the last one that receives with a `poll` method is woken.
    pub fn poll_peek_sender(&self, cx: &mut Context<'_>) -> Poll<io::Result<SocketAddr>> {
        self.io.poll_io(Way::Read, cx, sender_of_next)
    }

    /// As [`peek_sender`](Self::peek_sender), without waiting.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is none, and those of the socket.
    pub fn try_peek_sender(&self) -> io::Result<SocketAddr> {
        self.io.try_io(Interest::READABLE, sender_of_next)
    }
}

fn sender_of_next(socket: &mio::net::UdpSocket) -> io::Result<SocketAddr> {
    internet_address(&socket.try_io(|| SockRef::from(socket).peek_sender())?)
}

/// Methods that only hand an option through.
macro_rules! options {
    ($($what:literal $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        /// # Options
        impl UdpSocket {
            $(
                #[doc = concat!($what, ".")]
                ///
                /// # Errors
                /// If the system does not agree.
                pub fn $name(&self, $($argument: $type),*) -> io::Result<$result> {
                    self.io.$name($($argument),*)
                }
            )*
        }
    };
}

options! {
    "Whether it may send to everybody" broadcast() -> bool;
    "Sets whether it may send to everybody" set_broadcast(on: bool) -> ();
    "How many hops a packet may take" ttl() -> u32;
    "Sets how many hops a packet may take" set_ttl(ttl: u32) -> ();
    "Whether multicasts come back to this machine, IPv4" multicast_loop_v4() -> bool;
    "Sets whether multicasts come back to this machine, IPv4" set_multicast_loop_v4(on: bool) -> ();
    "Whether multicasts come back to this machine, IPv6" multicast_loop_v6() -> bool;
    "Sets whether multicasts come back to this machine, IPv6" set_multicast_loop_v6(on: bool) -> ();
    "How many hops a multicast may take" multicast_ttl_v4() -> u32;
    "Sets how many hops a multicast may take" set_multicast_ttl_v4(ttl: u32) -> ();
    "Joins a group" join_multicast_v6(group: &Ipv6Addr, interface: u32) -> ();
    "Leaves a group" leave_multicast_v6(group: &Ipv6Addr, interface: u32) -> ();
}

impl UdpSocket {
    /// Joins a group.
    ///
    /// # Errors
    /// If the system does not agree.
    pub fn join_multicast_v4(&self, multiaddr: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
        self.io.join_multicast_v4(&multiaddr, &interface)
    }

    /// Leaves a group.
    ///
    /// # Errors
    /// If the system does not agree.
    pub fn leave_multicast_v4(&self, multiaddr: Ipv4Addr, interface: Ipv4Addr) -> io::Result<()> {
        self.io.leave_multicast_v4(&multiaddr, &interface)
    }
}

/// Methods that only hand an option through to `socket2`.
macro_rules! more_options {
    ($($(#[$condition:meta])* $what:literal $name:ident = $raw:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        /// # More options
        impl UdpSocket {
            $(
                #[doc = concat!($what, ".")]
                ///
                /// # Errors
                /// If the system does not agree.
                $(#[$condition])*
                pub fn $name(&self, $($argument: $type),*) -> io::Result<$result> {
                    SockRef::from(self).$raw($($argument),*)
                }
            )*
        }
    };
}

more_options! {
    #[cfg(any(target_os = "android", target_os = "dragonfly", target_os = "freebsd", target_os = "illumos", target_os = "linux", target_os = "macos", target_os = "netbsd", target_os = "openbsd"))] "The traffic class of IPv6" tclass_v6 = tclass_v6() -> u32;
    #[cfg(any(target_os = "android", target_os = "dragonfly", target_os = "freebsd", target_os = "illumos", target_os = "linux", target_os = "macos", target_os = "netbsd", target_os = "openbsd"))] "Sets the traffic class of IPv6" set_tclass_v6 = set_tclass_v6(tclass: u32) -> ();
    "The type of service of IPv4" tos_v4 = tos_v4() -> u32;
    "Sets the type of service of IPv4" set_tos_v4 = set_tos_v4(tos: u32) -> ();
    #[doc(hidden)] #[deprecated(note = "it is called `tos_v4`")]
    "The type of service of IPv4" tos = tos_v4() -> u32;
    #[doc(hidden)] #[deprecated(note = "it is called `set_tos_v4`")]
    "Sets the type of service of IPv4" set_tos = set_tos_v4(tos: u32) -> ();
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "fuchsia"))]
    "The network interface that it is bound to, if any" device = device() -> Option<Vec<u8>>;
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "fuchsia"))]
    "Binds it to a network interface, or to none" bind_device = bind_device(interface: Option<&[u8]>) -> ();
}

pending_error!(UdpSocket);
standard_socket!(UdpSocket, mio::net::UdpSocket, std::net::UdpSocket);
readiness_methods!(UdpSocket, poll_recv_ready, poll_send_ready);
