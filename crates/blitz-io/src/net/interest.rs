//! What somebody wants to do with a socket.

use crate::driver::Ready;
use std::ops::BitOr;

/// What to wait for: that a socket can be read, written, or either.
///
/// ```
/// use blitz_io::net::Interest;
///
/// let both = Interest::READABLE | Interest::WRITABLE;
/// assert!(both.is_readable() && both.is_writable());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interest(Ready);

impl Interest {
    /// Something to read, the end of the stream, or an error.
    pub const READABLE: Interest = Interest(Ready::FOR_READ);
    /// Room to write, or an error.
    pub const WRITABLE: Interest = Interest(Ready::FOR_WRITE);

    /// Whether it includes reading.
    pub fn is_readable(self) -> bool {
        self.0.intersects(Ready::READABLE)
    }

    /// Whether it includes writing.
    pub fn is_writable(self) -> bool {
        self.0.intersects(Ready::WRITABLE)
    }

    pub(super) fn wanted(self) -> Ready {
        self.0
    }
}

impl BitOr for Interest {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
