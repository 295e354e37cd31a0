//! A connection within the machine.

use super::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, SocketAddr, WriteHalf};
use crate::driver::Registered;
use crate::net::split;
use crate::net::stream::Interior;
use crate::time::sleep;
use std::io;
use std::path::Path;
use std::time::Duration;

/// A Unix stream.
///
/// ```no_run
/// use blitz_io::io::{AsyncReadExt, AsyncWriteExt};
/// use blitz_io::net::UnixStream;
///
/// # async fn example() -> std::io::Result<()> {
/// let (mut here, mut there) = UnixStream::pair()?;
/// here.write_all(b"hello").await?;
/// let mut greeting = [0; 5];
/// there.read_exact(&mut greeting).await?;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct UnixStream {
    io: Registered<mio::net::UnixStream>,
}

impl UnixStream {
    /// Connects to the listener at a path. Waits while as many connections as the listener has room for wait to be accepted.
    ///
    /// # Errors
    /// If there is none, or it does not take the connection.
    ///
    /// # Panics
    /// If the thread is in no runtime.
    pub async fn connect(path: impl AsRef<Path>) -> io::Result<Self> {
        // Linux refuses a connection that would have to wait, and has nothing that tells when it would not.
        let mut pause = Duration::from_millis(1);
        let connected = loop {
            match mio::net::UnixStream::connect(&path) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => sleep(pause).await,
                connected => break connected?,
            }
            pause = (pause * 2).min(Duration::from_millis(50));
        };
        let stream = Self::from_mio(connected)?;
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
    #[track_caller]
    pub fn pair() -> io::Result<(Self, Self)> {
        let (left, right) = mio::net::UnixStream::pair()?;
        Ok((Self::from_mio(left)?, Self::from_mio(right)?))
    }

    /// The address of this side.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    /// The address of the other side.
    ///
    /// # Errors
    /// If it is gone.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.io.peer_addr()
    }

    /// Who was on the other side when the connection was made.
    ///
    /// # Errors
    /// If the system does not say.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub fn peer_cred(&self) -> io::Result<UCred> {
        use std::os::fd::AsRawFd;
        let mut cred = libc::ucred {
            pid: 0,
            uid: 0,
            gid: 0,
        };
        let mut length = size_of::<libc::ucred>() as libc::socklen_t;
        // SAFETY: the descriptor is open, and the kernel writes at most `length` bytes of plain numbers.
        let result = unsafe {
            libc::getsockopt(
                self.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_PEERCRED,
                (&raw mut cred).cast(),
                &mut length,
            )
        };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(UCred {
            pid: (cred.pid != 0).then_some(cred.pid),
            uid: cred.uid,
            gid: cred.gid,
        })
    }

    /// Lends out the two halves, for two futures of one task.
    pub fn split(&mut self) -> (ReadHalf<'_>, WriteHalf<'_>) {
        split::borrowed(self)
    }

    /// Takes it apart, for two tasks. One allocation.
    pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        split::owned(self)
    }
}

/// The process at the other end of a [`UnixStream`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct UCred {
    pid: Option<libc::pid_t>,
    uid: libc::uid_t,
    gid: libc::gid_t,
}

impl UCred {
    /// The process, if it is visible from here.
    pub fn pid(&self) -> Option<libc::pid_t> {
        self.pid
    }

    /// Its user.
    pub fn uid(&self) -> libc::uid_t {
        self.uid
    }

    /// Its group.
    pub fn gid(&self) -> libc::gid_t {
        self.gid
    }
}

impl Interior for UnixStream {
    type Socket = Registered<mio::net::UnixStream>;

    fn socket(&self) -> &Self::Socket {
        &self.io
    }
}

standard_socket!(
    UnixStream,
    mio::net::UnixStream,
    std::os::unix::net::UnixStream
);
readiness_methods!(UnixStream);
try_stream_methods!(UnixStream);
readable_stream!([] UnixStream, this => this.io);
writable_stream!([] UnixStream, this => this.io);
