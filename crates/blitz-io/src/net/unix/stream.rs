//! A connection within the machine.

use super::UCred;
use super::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, SocketAddr, WriteHalf, address_of, split};
use crate::driver::Registered;
use crate::io::Ready;
use crate::time::sleep;
use std::io;
use std::path::Path;
use std::time::Duration;

/// A Unix stream.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
/// use blitz_io::net::UnixStream;
///
/// let (mut here, mut there) = UnixStream::pair()?;
/// here.write_all(b"hello").await?;
/// let mut greeting = [0; 5];
/// there.read_exact(&mut greeting).await?;
/// assert_eq!(&greeting, b"hello");
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
///
/// # Without waiting
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::io::AsyncWriteExt;
/// use blitz_io::net::UnixStream;
/// use std::io::{ErrorKind, IoSlice, IoSliceMut};
///
/// let (here, mut there) = UnixStream::pair()?;
/// here.writable().await?;
/// assert_eq!(here.try_write(b"hello, ")?, 7);
/// assert_eq!(here.try_write_vectored(&[IoSlice::new(b"wor"), IoSlice::new(b"ld")])?, 5);
///
/// there.write_all(b"hi").await?;
/// let mut buffer = [0; 16];
/// let length = loop {
///     here.readable().await?;
///     match here.try_read(&mut buffer) {
///         Err(error) if error.kind() == ErrorKind::WouldBlock => {} // it was not: wait again
///         result => break result?,
///     }
/// };
/// assert_eq!(&buffer[..length], b"hi");
/// // Nothing more has come.
/// assert!(here.try_read_buf(&mut Vec::new()).is_err());
/// assert!(here.try_read_vectored(&mut [IoSliceMut::new(&mut buffer)]).is_err());
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
///
/// # System calls of one's own
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::io::{AsyncWriteExt, Interest};
/// use blitz_io::net::UnixStream;
/// use std::future::poll_fn;
/// use std::io::Read;
///
/// let (here, mut there) = UnixStream::pair()?;
/// there.write_all(b"hello").await?;
/// let mut buffer = [0; 5];
/// // What `f` does is tried whenever it is worth that, until it does not say `WouldBlock`.
/// let length = here.async_io(Interest::READABLE, || (&*socket2::SockRef::from(&here)).read(&mut buffer)).await?;
/// assert_eq!(&buffer[..length], b"hello");
///
/// assert!(here.ready(Interest::WRITABLE).await?.is_writable());
/// poll_fn(|cx| here.poll_write_ready(cx)).await?;
/// let sent = here.try_io(Interest::WRITABLE, || socket2::SockRef::from(&here).send(b"hello"))?;
/// assert_eq!(sent, 5);
/// there.write_all(b"!").await?;
/// poll_fn(|cx| here.poll_read_ready(cx)).await?;
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
///
/// # From the standard library, and back
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::net::UnixStream;
///
/// let (stream, _other) = std::os::unix::net::UnixStream::pair()?;
/// stream.set_nonblocking(true)?;
/// let stream = UnixStream::from_std(stream)?;
/// assert!(stream.take_error()?.is_none());
/// let stream: std::os::unix::net::UnixStream = stream.into_std()?; // still non-blocking
/// # drop(stream);
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
pub struct UnixStream {
    pub(super) io: Registered<mio::net::UnixStream>,
}

impl UnixStream {
    /// Connects to the listener at a path. Waits while as many connections as the listener has room for wait to be accepted.
    /// If the future is dropped, the attempt is given up.
    ///
    /// # Errors
    /// If there is none, or it does not take the connection.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-stream-connect-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::net::{UnixListener, UnixStream};
    ///
    /// assert!(UnixStream::connect(folder.join("socket")).await.is_err()); // nobody is there
    /// let listener = UnixListener::bind(folder.join("socket"))?;
    /// let client = UnixStream::connect(folder.join("socket")).await?;
    /// assert_eq!(client.peer_addr()?.as_pathname(), Some(&*folder.join("socket")));
    /// # drop(listener);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn connect<P>(path: P) -> io::Result<UnixStream>
    where
        P: AsRef<Path>,
    {
        Self::connect_addr(&address_of(path.as_ref())?.into()).await
    }

    /// As [`connect`](Self::connect), to an address, which may be an abstract name.
    ///
    /// # Errors
    /// If there is no listener, or it does not take the connection.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-stream-connect-addr-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::net::{UnixListener, UnixStream};
    ///
    /// let listener = UnixListener::bind(folder.join("socket"))?;
    /// let client = UnixStream::connect_addr(&listener.local_addr()?).await?;
    /// # drop(client);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub async fn connect_addr(socket_addr: &SocketAddr) -> io::Result<UnixStream> {
        // Linux refuses a connection that would have to wait, and has nothing that tells when it would not.
        let mut pause = Duration::from_millis(1);
        let connected = loop {
            match mio::net::UnixStream::connect_addr(&socket_addr.0) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => sleep(pause).await,
                connected => break connected?,
            }
            pause = (pause * 2).min(Duration::from_millis(50));
        };
        Self::connected(connected).await
    }

    /// One that has just been accepted: there is room to write, and as a rule the peer has sent something by then.
    pub(super) fn accepted(socket: mio::net::UnixStream) -> io::Result<Self> {
        Self::assuming(socket, Ready::READABLE | Ready::WRITABLE)
    }

    /// Waits until a connection that has been begun stands.
    pub(super) async fn connected(socket: mio::net::UnixStream) -> io::Result<Self> {
        let stream = Self::from_mio(socket)?;
        stream.writable().await?;
        match stream.take_error()? {
            None => Ok(stream),
            Some(error) => Err(error),
        }
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
    /// let (here, there) = blitz_io::net::UnixStream::pair()?;
    /// # drop((here, there));
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    #[track_caller]
    pub fn pair() -> io::Result<(Self, Self)> {
        let (left, right) = mio::net::UnixStream::pair()?;
        let writable = Ready::WRITABLE;
        Ok((
            Self::assuming(left, writable)?,
            Self::assuming(right, writable)?,
        ))
    }

    /// The address of this side.
    ///
    /// # Errors
    /// If the system does not say.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let (here, _there) = blitz_io::net::UnixStream::pair()?;
    /// assert!(here.local_addr()?.is_unnamed());
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr().map(SocketAddr)
    }

    /// The address of the other side.
    ///
    /// # Errors
    /// If it is gone.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let (here, _there) = blitz_io::net::UnixStream::pair()?;
    /// assert!(here.peer_addr()?.is_unnamed());
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.peer_addr().map(SocketAddr)
    }

    /// Who was on the other side when the connection was made.
    ///
    /// # Errors
    /// If the system does not say.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let (here, _there) = blitz_io::net::UnixStream::pair()?;
    /// let peer = here.peer_cred()?;
    /// println!("user {}, group {}, process {:?}", peer.uid(), peer.gid(), peer.pid());
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn peer_cred(&self) -> io::Result<UCred> {
        UCred::of_peer(self)
    }

    /// Lends out the two halves, for two futures of one task.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
    /// use blitz_io::net::UnixStream;
    ///
    /// let (mut here, mut there) = UnixStream::pair()?;
    /// let (mut reader, mut writer) = here.split();
    /// writer.write_all(b"hello").await?;
    /// there.write_all(b"world").await?;
    /// let mut word = [0; 5];
    /// reader.read_exact(&mut word).await?;
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
    /// use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
    /// use blitz_io::net::UnixStream;
    ///
    /// let (here, mut there) = UnixStream::pair()?;
    /// let (mut reader, mut writer) = here.into_split();
    /// let writing = blitz_io::spawn(async move { writer.write_all(b"hello").await });
    /// there.write_all(b"world").await?;
    /// let mut word = [0; 5];
    /// reader.read_exact(&mut word).await?;
    /// writing.await??;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        split::owned(self)
    }
}

impl AsRef<Self> for UnixStream {
    fn as_ref(&self) -> &Self {
        self
    }
}

standard_socket!(
    UnixStream,
    mio::net::UnixStream,
    std::os::unix::net::UnixStream
);
pending_error!(UnixStream);
readiness_methods!(UnixStream, poll_read_ready, poll_write_ready);
try_read_methods!([] UnixStream, this => this.io);
try_write_methods!([] UnixStream, this => this.io);
readable_stream!([] UnixStream, this => this.io);
writable_stream!([] UnixStream, this => this.io);
