//! Sockets: TCP, UDP, and those of Unix; named pipes on Windows.
//!
//! They have the names and the manners of tokio's: streams are read and written with the methods of
//! [`AsyncReadExt`](crate::io::AsyncReadExt) and [`AsyncWriteExt`](crate::io::AsyncWriteExt). They also implement the traits of `futures-io` with
//! the feature of that name, the real tokio's with the feature `tokio-io`, and hyper's with the feature `hyper`.
//!
//! A socket belongs to the runtime in which it was made. What goes wrong with one, a reset connection or too many open files, is an error
//! of the operation that ran into it and of nothing else.

#[macro_use]
pub(crate) mod macros;
#[macro_use]
mod split;
mod datagram;
mod resolve;
pub(crate) mod stream;
pub mod tcp;
mod udp;
#[cfg(unix)]
pub mod unix;
#[cfg(windows)]
pub mod windows;

pub use self::resolve::{ToSocketAddrs, lookup_host};
pub use self::tcp::listener::TcpListener;
pub use self::tcp::socket::TcpSocket;
pub use self::tcp::stream::TcpStream;
pub use self::udp::UdpSocket;
#[cfg(unix)]
pub use self::unix::{
    datagram::UnixDatagram, listener::UnixListener, socket::UnixSocket, stream::UnixStream,
};
