//! Datagrams within the machine.

use super::SocketAddr;
use crate::driver::{Registered, Way};
use crate::io::{Interest, Ready};
use crate::net::datagram::RawDatagrams;
use crate::time::{Duration, sleep};
use std::io;
use std::path::Path;
use std::task::{Context, Poll};

/// How long to wait for a receiver that has no room, at first and at most.
const SHORTEST_PAUSE: Duration = Duration::from_micros(100);
const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// A Unix datagram socket. Any number of tasks may send and receive at once.
///
/// ```no_run
/// use blitz_io::net::UnixDatagram;
///
/// # async fn example() -> std::io::Result<()> {
/// let (here, there) = UnixDatagram::pair()?;
/// here.send(b"hello").await?;
/// let mut greeting = [0; 16];
/// assert_eq!(there.recv(&mut greeting).await?, 5);
/// # Ok(()) }
/// ```
pub struct UnixDatagram {
    io: Registered<mio::net::UnixDatagram>,
}

impl UnixDatagram {
    /// A socket at a path, where there must not be anything yet.
    ///
    /// # Errors
    /// If the path is taken or cannot be created.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    #[track_caller]
    pub fn bind<P>(path: P) -> io::Result<UnixDatagram>
    where
        P: AsRef<Path>,
    {
        Self::from_mio(mio::net::UnixDatagram::bind(path)?)
    }

    /// A socket that can send but has no address to be answered at.
    ///
    /// # Errors
    /// If the system has none left.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    #[track_caller]
    pub fn unbound() -> io::Result<Self> {
        Self::from_mio(mio::net::UnixDatagram::unbound()?)
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
        let (left, right) = mio::net::UnixDatagram::pair()?;
        let writable = Ready::WRITABLE;
        Ok((
            Self::assuming(left, writable)?,
            Self::assuming(right, writable)?,
        ))
    }

    /// Sends to this path, and receives from it only, from now on.
    ///
    /// # Errors
    /// If there is no socket.
    pub fn connect<P: AsRef<Path>>(&self, path: P) -> io::Result<()> {
        self.io.connect(path)
    }

    /// Sends to the socket at a path.
    ///
    /// While the receiver has no room it is asked again every few milliseconds: no event tells this socket, which is not connected to that one, of its room. (The
    /// kernel reports instead, after each attempt, that this one could send; waiting for that would be a busy loop.)
    ///
    /// # Errors
    /// If there is none.
    pub async fn send_to<P>(&self, buf: &[u8], target: P) -> io::Result<usize>
    where
        P: AsRef<Path>,
    {
        let mut pause = SHORTEST_PAUSE;
        loop {
            let attempt =
                |socket: &mio::net::UnixDatagram| match socket.send_to(buf, target.as_ref()) {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
                    result => result.map(Some),
                };
            if let Some(length) = self.io.io(Way::Write, attempt).await? {
                return Ok(length);
            }
            sleep(pause).await;
            pause = (2 * pause).min(LONGEST_PAUSE);
        }
    }

    /// Sends without waiting.
    ///
    /// # Errors
    /// [`WouldBlock`](io::ErrorKind::WouldBlock) if there is no room, or if there is no such socket.
    pub fn try_send_to<P>(&self, buf: &[u8], target: P) -> io::Result<usize>
    where
        P: AsRef<Path>,
    {
        self.io.try_io(Interest::WRITABLE, |socket| {
            socket.send_to(buf, target.as_ref())
        })
    }

    /// As [`send_to`](Self::send_to); of several tasks only the last one that sends with a `poll` method is woken, and what wakes it is that this socket
    /// could send.
    pub fn poll_send_to<P>(
        &self,
        cx: &mut Context<'_>,
        buf: &[u8],
        target: P,
    ) -> Poll<io::Result<usize>>
    where
        P: AsRef<Path>,
    {
        self.io.poll_io(Way::Write, cx, |socket| {
            socket.send_to(buf, target.as_ref())
        })
    }

    /// Ends one way or both.
    ///
    /// # Errors
    /// If it is not connected.
    pub fn shutdown(&self, how: std::net::Shutdown) -> io::Result<()> {
        self.io.shutdown(how)
    }
}

datagram_methods!(UnixDatagram, SocketAddr);
standard_socket!(
    UnixDatagram,
    mio::net::UnixDatagram,
    std::os::unix::net::UnixDatagram
);
pending_error!(UnixDatagram);
readiness_methods!(UnixDatagram, poll_recv_ready, poll_send_ready);
