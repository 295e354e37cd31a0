//! Where connections arrive.

use super::TcpStream;
use crate::driver::{Registered, Way};
use crate::net::ToSocketAddrs;
use crate::net::resolve::first_that_works;
use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll, ready};

/// How many connections may wait to be accepted.
#[cfg(unix)]
const BACKLOG: i32 = 1024;

/// A socket that accepts connections.
///
/// ```no_run
/// use blitz_io::io::AsyncWriteExt;
/// use blitz_io::net::TcpListener;
///
/// # async fn example() -> std::io::Result<()> {
/// let listener = TcpListener::bind("127.0.0.1:8080").await?;
/// loop {
///     let (mut stream, _) = listener.accept().await?;
///     stream.write_all(b"hello\n").await?;
/// }
/// # }
/// ```
pub struct TcpListener {
    io: Registered<mio::net::TcpListener>,
}

impl TcpListener {
    /// Listens at an address; at the first that works if there are several. Port 0 lets the system choose.
    ///
    /// Up to 1024 connections may wait to be accepted, or as many as the system allows; for another number see
    /// [`TcpSocket::listen`](crate::net::TcpSocket::listen).
    ///
    /// # Errors
    /// If none works: in use, not allowed, not known …
    ///
    /// # Panics
    /// If the thread is in no runtime.
    pub async fn bind<A: ToSocketAddrs>(addr: A) -> io::Result<TcpListener> {
        first_that_works(addr, async |address| {
            let listener = mio::net::TcpListener::bind(address)?;
            // It listens already, with room for 128: the peers of a burst of connections would wait for a second and try again.
            #[cfg(unix)]
            socket2::SockRef::from(&listener).listen(BACKLOG)?;
            Self::from_mio(listener)
        })
        .await
    }

    /// Waits for a connection. Any number of tasks may do that at once; no connection is lost if one of them is
    /// cancelled.
    ///
    /// # Errors
    /// Those of this connection, or of the process, such as too many open files: the listener can be used as before. It
    /// is wise to wait a little then.
    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let (stream, address) = self.io.io(Way::Read, |listener| listener.accept()).await?;
        Ok((TcpStream::accepted(stream)?, address))
    }

    /// As [`accept`](Self::accept); of several tasks only the last one that called this is woken.
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        let accepted = self.io.poll_io(Way::Read, cx, |listener| listener.accept());
        let (stream, address) = ready!(accepted)?;
        Poll::Ready(TcpStream::accepted(stream).map(|stream| (stream, address)))
    }

    /// Where it listens.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
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
}

standard_socket!(TcpListener, mio::net::TcpListener, std::net::TcpListener);
