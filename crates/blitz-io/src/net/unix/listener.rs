//! Where connections from the same machine arrive.

use super::{SocketAddr, UnixStream, address_of};
use crate::driver::{Registered, Way};
use std::io;
use std::path::Path;
use std::task::{Context, Poll, ready};

/// A Unix socket that accepts connections.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # let folder = std::env::temp_dir().join(format!("blitz-io-listener--nix-istener-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
/// use blitz_io::net::{UnixListener, UnixStream};
///
/// let listener = UnixListener::bind(folder.join("socket"))?;
/// let mut client = UnixStream::connect(folder.join("socket")).await?;
/// let (mut server, _from) = listener.accept().await?;
/// server.write_all(b"hello").await?;
/// drop(server);
/// let mut greeting = String::new();
/// client.read_to_string(&mut greeting).await?;
/// assert_eq!(greeting, "hello");
/// # std::fs::remove_dir_all(&folder)?;
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
///
/// # From the standard library, and back
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// # let folder = std::env::temp_dir().join(format!("blitz-io-listener--nix-istener-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// use blitz_io::net::UnixListener;
///
/// let listener = std::os::unix::net::UnixListener::bind(folder.join("socket"))?;
/// listener.set_nonblocking(true)?;
/// let listener = UnixListener::from_std(listener)?;
/// assert!(listener.take_error()?.is_none());
/// let listener: std::os::unix::net::UnixListener = listener.into_std()?; // still non-blocking
/// # drop(listener);
/// # std::fs::remove_dir_all(&folder)?;
/// # std::io::Result::Ok(()) }).unwrap();
/// ```
pub struct UnixListener {
    io: Registered<mio::net::UnixListener>,
}

impl UnixListener {
    /// Listens at a path, where there must not be anything yet: whatever is there is left alone. Nor is the socket file
    /// removed when the listener is dropped.
    ///
    /// # Errors
    /// If the path is taken or cannot be created.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    #[track_caller]
    pub fn bind<P>(path: P) -> io::Result<UnixListener>
    where
        P: AsRef<Path>,
    {
        Self::bind_addr(&address_of(path.as_ref())?.into())
    }

    /// Listens at an address, which may be an abstract name.
    ///
    /// # Errors
    /// If it is taken or cannot be created.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-listener-bind-addr-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::net::UnixListener;
    ///
    /// let address = std::os::unix::net::SocketAddr::from_pathname(folder.join("socket"))?;
    /// let listener = UnixListener::bind_addr(&address.into())?;
    /// assert_eq!(listener.local_addr()?.as_pathname(), Some(&*folder.join("socket")));
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    #[track_caller]
    pub fn bind_addr(socket_addr: &SocketAddr) -> io::Result<UnixListener> {
        Self::from_mio(mio::net::UnixListener::bind_addr(&socket_addr.0)?)
    }

    /// Waits for a connection. Any number of tasks may do that at once; no connection is lost if one of them is
    /// cancelled.
    ///
    /// # Errors
    /// Those of this connection, or of the process, such as too many open files: the listener can be used as before.
    pub async fn accept(&self) -> io::Result<(UnixStream, SocketAddr)> {
        let (stream, address) = self.io.io(Way::Read, |listener| listener.accept()).await?;
        Ok((UnixStream::accepted(stream)?, address.into()))
    }

    /// As [`accept`](Self::accept); of several tasks only the last one that called this is woken.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # let folder = std::env::temp_dir().join(format!("blitz-io-listener-poll-accept-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// use blitz_io::net::{UnixListener, UnixStream};
    /// use std::future::poll_fn;
    ///
    /// let listener = UnixListener::bind(folder.join("socket"))?;
    /// let client = UnixStream::connect(folder.join("socket")).await?;
    /// let (server, _from) = poll_fn(|cx| listener.poll_accept(cx)).await?;
    /// # drop((client, server));
    /// # std::fs::remove_dir_all(&folder)?;
    /// # std::io::Result::Ok(()) }).unwrap();
    /// ```
    pub fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(UnixStream, SocketAddr)>> {
        let accepted = self.io.poll_io(Way::Read, cx, |listener| listener.accept());
        let (stream, address) = ready!(accepted)?;
        Poll::Ready(UnixStream::accepted(stream).map(|stream| (stream, address.into())))
    }

    /// Where it listens.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr().map(SocketAddr)
    }
}

pending_error!(UnixListener);
standard_socket!(
    UnixListener,
    mio::net::UnixListener,
    std::os::unix::net::UnixListener
);
