//! Unix domain sockets.

mod datagram;
mod listener;
mod stream;

pub use self::datagram::UnixDatagram;
pub use self::listener::UnixListener;
pub use self::stream::{UCred, UnixStream};
pub use std::os::unix::net::SocketAddr;

/// The half of a [`UnixStream`] that reads, borrowed.
pub type ReadHalf<'a> = super::split::ReadHalf<'a, UnixStream>;
/// The half of a [`UnixStream`] that writes, borrowed.
pub type WriteHalf<'a> = super::split::WriteHalf<'a, UnixStream>;
/// The half of a [`UnixStream`] that reads.
pub type OwnedReadHalf = super::split::OwnedReadHalf<UnixStream>;
/// The half of a [`UnixStream`] that writes.
pub type OwnedWriteHalf = super::split::OwnedWriteHalf<UnixStream>;
/// Two halves that do not belong together.
pub type ReuniteError = super::split::ReuniteError<UnixStream>;
