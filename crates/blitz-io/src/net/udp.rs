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
/// ```no_run
/// use blitz_io::net::UdpSocket;
///
/// # async fn example() -> std::io::Result<()> {
/// let socket = UdpSocket::bind("127.0.0.1:8080").await?;
/// let mut buffer = [0; 1500];
/// loop {
///     let (length, from) = socket.recv_from(&mut buffer).await?;
///     socket.send_to(&buffer[..length], from).await?;
/// }
/// # }
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
    pub async fn connect<A: ToSocketAddrs>(&self, addr: A) -> io::Result<()> {
        first_that_works(addr, async |address| self.io.connect(address)).await
    }

    /// Sends to an address; to the first if there are several.
    ///
    /// # Errors
    /// If it cannot be sent there.
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
    /// Receives a datagram without taking it: the next to receive sees it, too.
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

    /// As [`peek`](Self::peek), and says who sent it.
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

    /// Who has sent the next datagram, which is not taken.
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
