//! UDP.

use super::resolve::{first_that_works, resolve};
use super::{Interest, ToSocketAddrs};
use crate::driver::{Registered, Way};
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
#[derive(Debug)]
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
    pub async fn bind(address: impl ToSocketAddrs) -> io::Result<Self> {
        first_that_works(address, async |address| {
            Self::from_mio(mio::net::UdpSocket::bind(address)?)
        })
        .await
    }

    /// Sends to this address, and receives from it only, from now on.
    ///
    /// # Errors
    /// If there is no such address.
    pub async fn connect(&self, address: impl ToSocketAddrs) -> io::Result<()> {
        first_that_works(address, async |address| self.io.connect(address)).await
    }

    /// Sends to an address; to the first if there are several.
    ///
    /// # Errors
    /// If it cannot be sent there.
    pub async fn send_to(&self, bytes: &[u8], target: impl ToSocketAddrs) -> io::Result<usize> {
        let addresses = resolve(target).await?;
        let &target = addresses.first().ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                "there is no address to send to",
            )
        })?;
        self.io
            .io(Way::Write, |socket| socket.send_to(bytes, target))
            .await
    }

    /// Sends without waiting.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is no room, or if it cannot be sent there.
    pub fn try_send_to(&self, bytes: &[u8], target: SocketAddr) -> io::Result<usize> {
        self.io.try_io(Interest::WRITABLE.wanted(), |socket| {
            socket.send_to(bytes, target)
        })
    }

    /// As [`send_to`](Self::send_to); of several tasks only the last one that sends with a `poll` method is woken.
    pub fn poll_send_to(
        &self,
        cx: &mut Context<'_>,
        bytes: &[u8],
        target: SocketAddr,
    ) -> Poll<io::Result<usize>> {
        self.io
            .poll_io(Way::Write, cx, |socket| socket.send_to(bytes, target))
    }
}

datagram_methods!(UdpSocket, SocketAddr);

impl UdpSocket {
    /// Receives a datagram without taking it: the next to receive sees it, too.
    ///
    /// # Errors
    /// Those of the socket.
    pub async fn peek(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.io.io(Way::Read, |socket| socket.peek(buffer)).await
    }

    /// As [`peek`](Self::peek), and says who sent it.
    ///
    /// # Errors
    /// Those of the socket.
    pub async fn peek_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.io
            .io(Way::Read, |socket| socket.peek_from(buffer))
            .await
    }

    /// As [`peek_from`](Self::peek_from), without waiting.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is none, and those of the socket.
    pub fn try_peek_from(&self, buffer: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.io.try_io(Interest::READABLE.wanted(), |socket| {
            socket.peek_from(buffer)
        })
    }
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
    "Joins a group" join_multicast_v4(group: &Ipv4Addr, interface: &Ipv4Addr) -> ();
    "Leaves a group" leave_multicast_v4(group: &Ipv4Addr, interface: &Ipv4Addr) -> ();
    "Joins a group" join_multicast_v6(group: &Ipv6Addr, interface: u32) -> ();
    "Leaves a group" leave_multicast_v6(group: &Ipv6Addr, interface: u32) -> ();
}

standard_socket!(UdpSocket, mio::net::UdpSocket, std::net::UdpSocket);
readiness_methods!(UdpSocket);
