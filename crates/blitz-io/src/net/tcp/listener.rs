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
/// ```
/// # blitz_io::Runtime::new().unwrap().block_on(async {
/// use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
/// use blitz_io::net::{TcpListener, TcpStream};
///
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let address = listener.local_addr()?;
/// blitz_io::spawn(async move {
///     while let Ok((mut stream, _from)) = listener.accept().await {
///         blitz_io::spawn(async move { stream.write_all(b"hello").await });
///     }
/// });
/// let mut greeting = String::new();
/// TcpStream::connect(address).await?.read_to_string(&mut greeting).await?;
/// assert_eq!(greeting, "hello");
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
///
/// # From the standard library, and back
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::net::TcpListener;
///
/// let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
/// listener.set_nonblocking(true)?;
/// let listener = TcpListener::from_std(listener)?;
/// let listener: std::net::TcpListener = listener.into_std()?; // still non-blocking
/// # drop(listener);
/// # std::io::Result::Ok(()) }).unwrap();
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
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::net::TcpListener;
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let taken = TcpListener::bind(listener.local_addr()?).await;
    /// assert!(taken.is_err());
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
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
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::net::{TcpListener, TcpStream};
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let client = TcpStream::connect(listener.local_addr()?).await?;
    /// let (_stream, from) = listener.accept().await?;
    /// assert_eq!(from, client.local_addr()?);
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let (stream, address) = self.io.io(Way::Read, |listener| listener.accept()).await?;
        Ok((TcpStream::accepted(stream)?, address))
    }

    /// As [`accept`](Self::accept); of several tasks only the last one that called this is woken.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::net::{TcpListener, TcpStream};
    /// use std::future::poll_fn;
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let client = TcpStream::connect(listener.local_addr()?).await?;
    /// let (_stream, from) = poll_fn(|cx| listener.poll_accept(cx)).await?;
    /// assert_eq!(from, client.local_addr()?);
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(TcpStream, SocketAddr)>> {
        let accepted = self.io.poll_io(Way::Read, cx, |listener| listener.accept());
        let (stream, address) = ready!(accepted)?;
        Poll::Ready(TcpStream::accepted(stream).map(|stream| (stream, address)))
    }

    /// Where it listens.
    ///
    /// # Errors
    /// If the system does not say.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let listener = blitz_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// assert_ne!(listener.local_addr()?.port(), 0); // what the system has chosen
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    /// How many hops a packet may take.
    ///
    /// # Errors
    /// If the system does not say.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let listener = blitz_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// listener.set_ttl(8)?;
    /// assert_eq!(listener.ttl()?, 8);
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn ttl(&self) -> io::Result<u32> {
        self.io.ttl()
    }

    /// Sets how many hops a packet may take.
    ///
    /// # Errors
    /// If the system does not agree.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let listener = blitz_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// listener.set_ttl(1)?; // nobody behind a router gets an answer
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.io.set_ttl(ttl)
    }
}

standard_socket!(TcpListener, mio::net::TcpListener, std::net::TcpListener);
