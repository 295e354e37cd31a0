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
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::net::UnixDatagram;
///
/// let (here, there) = UnixDatagram::pair()?;
/// here.send(b"hello").await?;
/// let mut greeting = [0; 16];
/// assert_eq!(there.recv(&mut greeting).await?, 5);
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
///
/// # With paths
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # let folder = std::env::temp_dir().join(format!("blitz-io-datagram--nix-atagram-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// use blitz_io::net::UnixDatagram;
///
/// let server = UnixDatagram::bind(folder.join("server"))?;
/// let client = UnixDatagram::bind(folder.join("client"))?;
/// client.send_to(b"hello", folder.join("server")).await?;
/// let mut buffer = [0; 16];
/// let (length, from) = server.recv_from(&mut buffer).await?;
/// assert_eq!((&buffer[..length], from.as_pathname()), (&b"hello"[..], Some(&*folder.join("client"))));
///
/// server.connect(folder.join("client"))?; // from now on to and from that one
/// server.send(b"and hello to you").await?;
/// let mut answer = Vec::with_capacity(64);
/// client.recv_buf_from(&mut answer).await?;
/// assert_eq!(answer, b"and hello to you");
/// println!("{:?} to {:?}", server.local_addr()?, server.peer_addr()?);
/// # std::fs::remove_dir_all(&folder)?;
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
///
/// # Without waiting
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # let folder = std::env::temp_dir().join(format!("blitz-io-datagram--nix-atagram-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// use blitz_io::net::UnixDatagram;
/// use std::io::ErrorKind;
///
/// let (here, there) = UnixDatagram::pair()?;
/// here.writable().await?;
/// assert_eq!(here.try_send(b"one")?, 3);
/// let mut buffer = [0; 16];
/// let length = loop {
///     there.readable().await?;
///     match there.try_recv(&mut buffer) {
///         Err(error) if error.kind() == ErrorKind::WouldBlock => {} // it was not: wait again
///         result => break result?,
///     }
/// };
/// assert_eq!(&buffer[..length], b"one");
///
/// here.send(b"two").await?;
/// let mut datagram = Vec::with_capacity(16);
/// there.recv_buf(&mut datagram).await?;
/// assert_eq!(datagram, b"two");
///
/// // Nothing more has come.
/// assert!(there.try_recv_from(&mut buffer).is_err() && there.try_recv_buf(&mut Vec::new()).is_err());
/// assert!(there.try_recv_buf_from(&mut Vec::new()).is_err());
/// let nobody = UnixDatagram::unbound()?.try_send_to(b"hello", folder.join("nobody"));
/// assert!(nobody.is_err());
/// # std::fs::remove_dir_all(&folder)?;
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
///
/// # Futures of one's own
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # let folder = std::env::temp_dir().join(format!("blitz-io-datagram--nix-atagram-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// use blitz_io::io::{Interest, ReadBuf};
/// use blitz_io::net::UnixDatagram;
/// use std::future::poll_fn;
/// use std::io::Read;
///
/// let (here, there) = UnixDatagram::pair()?;
/// poll_fn(|cx| here.poll_send_ready(cx)).await?;
/// poll_fn(|cx| here.poll_send(cx, b"one")).await?;
/// poll_fn(|cx| there.poll_recv_ready(cx)).await?;
/// let mut memory = [0; 16];
/// let mut buffer = ReadBuf::new(&mut memory);
/// poll_fn(|cx| there.poll_recv(cx, &mut buffer)).await?;
/// assert_eq!(buffer.filled(), b"one");
///
/// let server = UnixDatagram::bind(folder.join("server"))?;
/// let client = UnixDatagram::unbound()?;
/// poll_fn(|cx| client.poll_send_to(cx, b"two", folder.join("server"))).await?;
/// buffer.clear();
/// let from = poll_fn(|cx| server.poll_recv_from(cx, &mut buffer)).await?;
/// assert!(buffer.filled() == b"two" && from.is_unnamed());
///
/// // With system calls of one's own.
/// here.send(b"three").await?;
/// let mut word = [0; 16];
/// let length = there.async_io(Interest::READABLE, || (&*socket2::SockRef::from(&there)).read(&mut word)).await?;
/// assert_eq!(&word[..length], b"three");
/// assert!(here.ready(Interest::WRITABLE).await?.is_writable());
/// here.try_io(Interest::WRITABLE, || socket2::SockRef::from(&here).send(b"four"))?;
/// # std::fs::remove_dir_all(&folder)?;
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
///
/// # From the standard library, and back
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::net::UnixDatagram;
///
/// let (socket, _other) = std::os::unix::net::UnixDatagram::pair()?;
/// socket.set_nonblocking(true)?;
/// let socket = UnixDatagram::from_std(socket)?;
/// assert!(socket.take_error()?.is_none());
/// let socket: std::os::unix::net::UnixDatagram = socket.into_std()?; // still non-blocking
/// # drop(socket);
/// # std::io::Result::Ok(()) }).unwrap();
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
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-datagram-bind-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::net::UnixDatagram;
    ///
    /// let socket = UnixDatagram::bind(folder.join("socket"))?;
    /// assert!(UnixDatagram::bind(folder.join("socket")).is_err()); // taken
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
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
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-datagram-unbound-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::net::UnixDatagram;
    ///
    /// let server = UnixDatagram::bind(folder.join("server"))?;
    /// UnixDatagram::unbound()?.send_to(b"hello", folder.join("server")).await?;
    /// let (_, from) = server.recv_from(&mut [0; 16]).await?;
    /// assert!(from.is_unnamed()); // nobody who could be answered
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
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
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let (here, there) = blitz_io::net::UnixDatagram::pair()?;
    /// here.send(b"hello").await?;
    /// assert_eq!(there.recv(&mut [0; 16]).await?, 5);
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
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
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-datagram-connect-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::net::UnixDatagram;
    ///
    /// let server = UnixDatagram::bind(folder.join("server"))?;
    /// let client = UnixDatagram::unbound()?;
    /// client.connect(folder.join("server"))?;
    /// client.send(b"hello").await?;
    /// assert_eq!(server.recv(&mut [0; 16]).await?, 5);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn connect<P: AsRef<Path>>(&self, path: P) -> io::Result<()> {
        self.io.connect(path)
    }

    /// Sends to the socket at a path. Cancel-safe.
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
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::net::UnixDatagram;
    /// use std::net::Shutdown;
    ///
    /// let (here, _there) = UnixDatagram::pair()?;
    /// here.shutdown(Shutdown::Write)?;
    /// assert!(here.send(b"hello").await.is_err());
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
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
