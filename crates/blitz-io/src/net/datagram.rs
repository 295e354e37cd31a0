//! What datagram sockets have in common: messages, which arrive whole or not at all.

use crate::driver::{Registered, Way};
use crate::io::ReadBuf;
use std::io;
use std::mem::MaybeUninit;
use std::task::{Context, Poll};

/// What `mio` does not have: receiving into memory that need not be initialised.
pub(super) trait RawDatagrams: mio::event::Source {
    /// Who sends.
    type Address;

    /// Receives a datagram.
    fn receive(&self, room: &mut [MaybeUninit<u8>]) -> io::Result<usize>;

    /// Receives a datagram and says who sent it.
    fn receive_from(&self, room: &mut [MaybeUninit<u8>]) -> io::Result<(usize, Self::Address)>;
}

/// Receives into the part of a buffer that is not filled. The place is for one task.
pub(super) fn poll_receive<S: mio::event::Source, T>(
    io: &Registered<S>,
    cx: &mut Context<'_>,
    buf: &mut ReadBuf<'_>,
    mut receive: impl FnMut(&S, &mut [MaybeUninit<u8>]) -> io::Result<(usize, T)>,
) -> Poll<io::Result<T>> {
    // SAFETY: as many bytes have been received, and receiving does not make any uninitialised.
    unsafe { buf.poll_with(|room| io.poll_io(Way::Read, cx, |socket| receive(socket, room))) }
}

impl RawDatagrams for mio::net::UdpSocket {
    type Address = std::net::SocketAddr;

    fn receive(&self, room: &mut [MaybeUninit<u8>]) -> io::Result<usize> {
        self.try_io(|| socket2::SockRef::from(self).recv(room))
    }

    fn receive_from(&self, room: &mut [MaybeUninit<u8>]) -> io::Result<(usize, Self::Address)> {
        let (length, from) = self.try_io(|| socket2::SockRef::from(self).recv_from(room))?;
        Ok((length, internet_address(&from)?))
    }
}

/// The address of a socket of the internet.
pub(super) fn internet_address(address: &socket2::SockAddr) -> io::Result<std::net::SocketAddr> {
    let address = address.as_socket();
    address.ok_or_else(|| io::Error::other("a socket without an address of the internet"))
}

#[cfg(unix)]
impl RawDatagrams for mio::net::UnixDatagram {
    type Address = super::unix::SocketAddr;

    fn receive(&self, room: &mut [MaybeUninit<u8>]) -> io::Result<usize> {
        self.try_io(|| socket2::SockRef::from(self).recv(room))
    }

    fn receive_from(&self, room: &mut [MaybeUninit<u8>]) -> io::Result<(usize, Self::Address)> {
        // Only the standard library knows how to tell such addresses apart, and it wants bytes.
        room.fill(MaybeUninit::new(0));
        // SAFETY: all of them have just been initialised.
        let bytes = unsafe { &mut *(&raw mut *room as *mut [u8]) };
        let (length, from) = self.recv_from(bytes)?;
        Ok((length, from.into()))
    }
}
