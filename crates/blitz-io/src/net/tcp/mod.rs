//! TCP: connections, and their halves.

pub(super) mod listener;
pub(super) mod socket;
mod split;
pub(super) mod stream;

pub use self::split::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf};

use self::listener::TcpListener;
use self::stream::TcpStream;
