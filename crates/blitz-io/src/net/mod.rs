//! Sockets: TCP, UDP, and those of Unix; named pipes on Windows.
//!
//! They have the names and the behaviour of tokio's: streams are read and written with the methods of
//! [`AsyncReadExt`](crate::io::AsyncReadExt) and [`AsyncWriteExt`](crate::io::AsyncWriteExt). With the features `futures-io`, `tokio-io` and `hyper` they also
//! implement the traits of `futures-io`, of the real tokio and of hyper.
//!
//! A socket belongs to the runtime in which it was made. If something goes wrong with it, such as a reset connection or too many open files, this is an error
//! only of the operation that meets it.

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
