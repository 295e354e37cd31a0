//! TCP.

mod listener;
mod socket;
mod stream;

pub use self::listener::TcpListener;
pub use self::socket::TcpSocket;
pub use self::stream::TcpStream;

/// The half of a [`TcpStream`] that reads, borrowed.
pub type ReadHalf<'a> = super::split::ReadHalf<'a, TcpStream>;
/// The half of a [`TcpStream`] that writes, borrowed.
pub type WriteHalf<'a> = super::split::WriteHalf<'a, TcpStream>;
/// The half of a [`TcpStream`] that reads.
pub type OwnedReadHalf = super::split::OwnedReadHalf<TcpStream>;
/// The half of a [`TcpStream`] that writes.
pub type OwnedWriteHalf = super::split::OwnedWriteHalf<TcpStream>;
/// Two halves that do not belong together.
pub type ReuniteError = super::split::ReuniteError<TcpStream>;
