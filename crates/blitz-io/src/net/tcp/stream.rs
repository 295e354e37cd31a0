//! A TCP connection.

use super::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, WriteHalf, split};
use crate::driver::{Registered, Way};
use crate::io::{ReadBuf, Ready};
use crate::net::ToSocketAddrs;
use crate::net::datagram::poll_receive;
use crate::net::resolve::first_that_works;
use socket2::SockRef;
use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};
use std::time::Duration;

/// A TCP connection.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
/// use blitz_io::net::{TcpListener, TcpStream};
///
/// let listener = TcpListener::bind("127.0.0.1:0").await?;
/// let mut client = TcpStream::connect(listener.local_addr()?).await?;
/// let (mut server, _) = listener.accept().await?;
/// client.write_all(b"hello").await?;
/// let mut greeting = [0; 5];
/// server.read_exact(&mut greeting).await?;
/// assert_eq!(&greeting, b"hello");
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
///
/// # Without waiting
/// For programs that decide themselves when to read and to write. What is known of a stream may be out of date: try, and wait again.
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # let listener = blitz_io::net::TcpListener::bind("127.0.0.1:0").await?;
/// # let mut stream = blitz_io::net::TcpStream::connect(listener.local_addr()?).await?;
/// # let (mut peer, _) = listener.accept().await?;
/// use blitz_io::io::AsyncWriteExt;
/// use std::io::{ErrorKind, IoSlice, IoSliceMut};
///
/// stream.writable().await?;
/// assert_eq!(stream.try_write(b"hello, ")?, 7);
/// assert_eq!(stream.try_write_vectored(&[IoSlice::new(b"wor"), IoSlice::new(b"ld")])?, 5);
///
/// peer.write_all(b"hi").await?;
/// let mut buffer = [0; 16];
/// let length = loop {
///     stream.readable().await?;
///     match stream.try_read(&mut buffer) {
///         Err(error) if error.kind() == ErrorKind::WouldBlock => {} // it was not: wait again
///         result => break result?,
///     }
/// };
/// assert_eq!(&buffer[..length], b"hi");
/// // Nothing more has come.
/// assert!(stream.try_read_buf(&mut Vec::new()).is_err());
/// assert!(stream.try_read_vectored(&mut [IoSliceMut::new(&mut buffer)]).is_err());
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
///
/// # System calls of one's own
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # let listener = blitz_io::net::TcpListener::bind("127.0.0.1:0").await?;
/// # let mut stream = blitz_io::net::TcpStream::connect(listener.local_addr()?).await?;
/// # let (mut peer, _) = listener.accept().await?;
/// use blitz_io::io::{AsyncWriteExt, Interest};
/// use std::future::poll_fn;
/// use std::io::Read;
///
/// peer.write_all(b"hello").await?;
/// let mut buffer = [0; 5];
/// // What `f` does is tried whenever it is worth that, until it does not say `WouldBlock`.
/// let length = stream.async_io(Interest::READABLE, || (&*socket2::SockRef::from(&stream)).read(&mut buffer)).await?;
/// assert_eq!(&buffer[..length], b"hello");
///
/// assert!(stream.ready(Interest::WRITABLE).await?.is_writable());
/// poll_fn(|cx| stream.poll_write_ready(cx)).await?;
/// let sent = stream.try_io(Interest::WRITABLE, || socket2::SockRef::from(&stream).send(b"hello"))?;
/// assert_eq!(sent, 5);
/// peer.write_all(b"!").await?;
/// poll_fn(|cx| stream.poll_read_ready(cx)).await?;
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
///
/// # From the standard library, and back
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # let listener = blitz_io::net::TcpListener::bind("127.0.0.1:0").await?;
/// # let mut stream = blitz_io::net::TcpStream::connect(listener.local_addr()?).await?;
/// # let (mut peer, _) = listener.accept().await?;
/// use blitz_io::net::TcpStream;
///
/// let stream: std::net::TcpStream = stream.into_std()?; // still non-blocking
/// let stream = TcpStream::from_std(stream)?;
/// assert!(stream.take_error()?.is_none());
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
pub struct TcpStream {
    pub(super) io: Registered<mio::net::TcpStream>,
}

impl TcpStream {
    /// Connects to an address; if there are several, to the first that answers. If the future is dropped, the attempt is given up.
    ///
    /// # Errors
    /// If none does.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::net::{TcpListener, TcpStream};
    ///
    /// let listener = TcpListener::bind("127.0.0.1:0").await?;
    /// let address = listener.local_addr()?;
    /// assert!(TcpStream::connect(address).await.is_ok());
    /// drop(listener);
    /// assert!(TcpStream::connect(address).await.is_err()); // nobody is there
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn connect<A: ToSocketAddrs>(addr: A) -> io::Result<TcpStream> {
        first_that_works(addr, async |address| {
            Self::connected(mio::net::TcpStream::connect(address)?).await
        })
        .await
    }

    /// One that has just been accepted: there is room to write, and as a rule the peer has sent something by then.
    pub(super) fn accepted(socket: mio::net::TcpStream) -> io::Result<Self> {
        Self::assuming(socket, Ready::READABLE | Ready::WRITABLE)
    }

    /// Waits until a connection that has been begun stands.
    pub(super) async fn connected(socket: mio::net::TcpStream) -> io::Result<Self> {
        let stream = Self::from_mio(socket)?;
        // There is room to write as soon as it stands, and an error if it never will.
        stream.writable().await?;
        match stream.take_error()? {
            None => Ok(stream),
            Some(error) => Err(error),
        }
    }

    /// The address of this side.
    ///
    /// # Errors
    /// If the system does not say.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let listener = blitz_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let mut stream = blitz_io::net::TcpStream::connect(listener.local_addr()?).await?;
    /// # let (mut peer, _) = listener.accept().await?;
    /// assert_eq!(stream.local_addr()?, peer.peer_addr()?);
    /// assert_eq!(stream.peer_addr()?, peer.local_addr()?);
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    /// The address of the other side.
    ///
    /// # Errors
    /// If it is gone.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let listener = blitz_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let mut stream = blitz_io::net::TcpStream::connect(listener.local_addr()?).await?;
    /// # let (mut peer, _) = listener.accept().await?;
    /// assert!(stream.peer_addr()?.ip().is_loopback());
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.peer_addr()
    }

    /// Waits for something to read and copies it, without taking it: the next read sees it, too. Cancel-safe.
    ///
    /// # Errors
    /// Those of the connection.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let listener = blitz_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let mut stream = blitz_io::net::TcpStream::connect(listener.local_addr()?).await?;
    /// # let (mut peer, _) = listener.accept().await?;
    /// use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
    ///
    /// peer.write_all(b"GET /").await?;
    /// let mut method = [0; 3];
    /// stream.peek(&mut method).await?;
    /// assert_eq!(&method, b"GET"); // so it is HTTP, and all of it is still there
    /// let mut request = [0; 5];
    /// stream.read_exact(&mut request).await?;
    /// assert_eq!(&request, b"GET /");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn peek(&self, buf: &mut [u8]) -> io::Result<usize> {
        self.io.io(Way::Read, |socket| socket.peek(buf)).await
    }

    /// As [`peek`](Self::peek); of several tasks only the last one that reads with a `poll` method is woken.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let listener = blitz_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let mut stream = blitz_io::net::TcpStream::connect(listener.local_addr()?).await?;
    /// # let (mut peer, _) = listener.accept().await?;
    /// use blitz_io::io::{AsyncWriteExt, ReadBuf};
    /// use std::future::poll_fn;
    ///
    /// peer.write_all(b"hello").await?;
    /// let mut memory = [0; 1];
    /// let mut buffer = ReadBuf::new(&mut memory);
    /// poll_fn(|cx| stream.poll_peek(cx, &mut buffer)).await?;
    /// assert_eq!(buffer.filled(), b"h");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn poll_peek(
        &self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<usize>> {
        poll_receive(&self.io, cx, buf, |socket, room| {
            let length = socket.try_io(|| SockRef::from(socket).peek(room))?;
            Ok((length, length))
        })
    }

    /// Whether small pieces are sent at once (Nagle's algorithm is off).
    ///
    /// # Errors
    /// If the system does not say.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let listener = blitz_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let mut stream = blitz_io::net::TcpStream::connect(listener.local_addr()?).await?;
    /// # let (mut peer, _) = listener.accept().await?;
    /// stream.set_nodelay(true)?;
    /// assert!(stream.nodelay()?);
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn nodelay(&self) -> io::Result<bool> {
        self.io.nodelay()
    }

    /// Sets whether small pieces are sent at once (Nagle's algorithm is off).
    ///
    /// # Errors
    /// If the system does not agree.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let listener = blitz_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let mut stream = blitz_io::net::TcpStream::connect(listener.local_addr()?).await?;
    /// # let (mut peer, _) = listener.accept().await?;
    /// stream.set_nodelay(true)?; // for answers of a few bytes that somebody waits for
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn set_nodelay(&self, nodelay: bool) -> io::Result<()> {
        self.io.set_nodelay(nodelay)
    }

    /// How many hops a packet may take.
    ///
    /// # Errors
    /// If the system does not say.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let listener = blitz_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let mut stream = blitz_io::net::TcpStream::connect(listener.local_addr()?).await?;
    /// # let (mut peer, _) = listener.accept().await?;
    /// stream.set_ttl(8)?;
    /// assert_eq!(stream.ttl()?, 8);
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
    /// # let listener = blitz_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let mut stream = blitz_io::net::TcpStream::connect(listener.local_addr()?).await?;
    /// # let (mut peer, _) = listener.accept().await?;
    /// stream.set_ttl(1)?; // not through a router
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn set_ttl(&self, ttl: u32) -> io::Result<()> {
        self.io.set_ttl(ttl)
    }

    /// How long closing waits for data that is still to be sent.
    ///
    /// # Errors
    /// If the system does not say.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let listener = blitz_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let mut stream = blitz_io::net::TcpStream::connect(listener.local_addr()?).await?;
    /// # let (mut peer, _) = listener.accept().await?;
    /// assert_eq!(stream.linger()?, None); // closing does not wait
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn linger(&self) -> io::Result<Option<Duration>> {
        SockRef::from(self).linger()
    }

    /// Sets how long closing waits for data that is still to be sent; zero resets the connection.
    ///
    /// # Errors
    /// If the system does not agree.
    #[deprecated(
        note = "closing a socket that lingers blocks its thread; use `set_zero_linger`, or `shutdown` before it is dropped"
    )]
    pub fn set_linger(&self, dur: Option<Duration>) -> io::Result<()> {
        SockRef::from(self).set_linger(dur)
    }

    /// Has the connection reset when it is dropped: what has not been sent by then is thrown away.
    ///
    /// # Errors
    /// If the system does not agree.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let listener = blitz_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let mut stream = blitz_io::net::TcpStream::connect(listener.local_addr()?).await?;
    /// # let (mut peer, _) = listener.accept().await?;
    /// use blitz_io::io::AsyncReadExt;
    ///
    /// stream.set_zero_linger()?;
    /// drop(stream);
    /// assert!(peer.read_u8().await.is_err()); // reset
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn set_zero_linger(&self) -> io::Result<()> {
        SockRef::from(self).set_linger(Some(Duration::ZERO))
    }

    /// Whether what arrives is acknowledged at once.
    ///
    /// # Errors
    /// If the system does not say.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let listener = blitz_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let mut stream = blitz_io::net::TcpStream::connect(listener.local_addr()?).await?;
    /// # let (mut peer, _) = listener.accept().await?;
    /// stream.set_quickack(true)?;
    /// println!("{}", stream.quickack()?);
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "fuchsia"))]
    pub fn quickack(&self) -> io::Result<bool> {
        SockRef::from(self).tcp_quickack()
    }

    /// Sets whether what arrives is acknowledged at once. The system may change it again.
    ///
    /// # Errors
    /// If the system does not agree.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let listener = blitz_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let mut stream = blitz_io::net::TcpStream::connect(listener.local_addr()?).await?;
    /// # let (mut peer, _) = listener.accept().await?;
    /// stream.set_quickack(true)?; // until the system thinks better of it
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "fuchsia"))]
    pub fn set_quickack(&self, quickack: bool) -> io::Result<()> {
        SockRef::from(self).set_tcp_quickack(quickack)
    }

    /// Lends out the two halves, for two futures of one task.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let listener = blitz_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let mut stream = blitz_io::net::TcpStream::connect(listener.local_addr()?).await?;
    /// # let (mut peer, _) = listener.accept().await?;
    /// use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
    ///
    /// let (mut reader, mut writer) = stream.split();
    /// let mut word = [0; 5];
    /// // At the same time, in one task.
    /// let (read, written) = blitz_io::join!(reader.read_exact(&mut word), async {
    ///     writer.write_all(b"hello").await?;
    ///     peer.read_exact(&mut [0; 5]).await?;
    ///     peer.write_all(b"world").await
    /// });
    /// read?;
    /// written?;
    /// assert_eq!(&word, b"world");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn split(&mut self) -> (ReadHalf<'_>, WriteHalf<'_>) {
        split::borrowed(self)
    }

    /// Takes it apart, for two tasks. One allocation.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let listener = blitz_io::net::TcpListener::bind("127.0.0.1:0").await?;
    /// # let mut stream = blitz_io::net::TcpStream::connect(listener.local_addr()?).await?;
    /// # let (mut peer, _) = listener.accept().await?;
    /// use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
    ///
    /// let (mut reader, mut writer) = stream.into_split();
    /// let writing = blitz_io::spawn(async move { writer.write_all(b"hello").await });
    /// peer.write_all(b"world").await?;
    /// let mut word = [0; 5];
    /// reader.read_exact(&mut word).await?;
    /// writing.await??;
    /// assert_eq!(&word, b"world");
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        split::owned(self)
    }
}

impl AsRef<Self> for TcpStream {
    fn as_ref(&self) -> &Self {
        self
    }
}

standard_socket!(TcpStream, mio::net::TcpStream, std::net::TcpStream);
pending_error!(TcpStream);
readiness_methods!(TcpStream, poll_read_ready, poll_write_ready);
try_read_methods!([] TcpStream, this => this.io);
try_write_methods!([] TcpStream, this => this.io);
readable_stream!([] TcpStream, this => this.io);
writable_stream!([] TcpStream, this => this.io);
