//! What somebody wants to do with a socket.

use super::Ready;
use std::fmt;
use std::ops::{BitOr, BitOrAssign};

/// What to wait for: that a socket can be read, written, or has something else to tell.
///
/// ```
/// use blitz_io::io::Interest;
///
/// let both = Interest::READABLE | Interest::WRITABLE;
/// assert!(both.is_readable() && both.is_writable());
/// assert_eq!(both.remove(Interest::READABLE), Some(Interest::WRITABLE));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Interest(u8);

impl Interest {
    /// Something to read, or the end of the stream.
    pub const READABLE: Interest = Interest(1);
    /// Room to write, or nobody who takes more.
    pub const WRITABLE: Interest = Interest(2);
    /// Urgent data, or the end of the stream.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub const PRIORITY: Interest = Interest(16);
    /// An error.
    pub const ERROR: Interest = Interest(32);

    /// Whether it includes reading.
    pub const fn is_readable(self) -> bool {
        self.0 & Self::READABLE.0 != 0
    }

    /// Whether it includes writing.
    pub const fn is_writable(self) -> bool {
        self.0 & Self::WRITABLE.0 != 0
    }

    /// Whether it includes errors.
    ///
    /// ```
    /// use blitz_io::io::Interest;
    ///
    /// let errors_only = Interest::ERROR;
    /// assert!(errors_only.is_error() && !errors_only.is_readable());
    /// ```
    pub const fn is_error(self) -> bool {
        self.0 & Self::ERROR.0 != 0
    }

    /// Whether it includes urgent data.
    ///
    /// ```
    /// use blitz_io::io::Interest;
    ///
    /// assert!(Interest::PRIORITY.is_priority() && !Interest::READABLE.is_priority());
    /// ```
    #[cfg(any(target_os = "linux", target_os = "android"))]
    pub const fn is_priority(self) -> bool {
        self.0 & Self::PRIORITY.0 != 0
    }

    /// Both.
    ///
    /// ```
    /// use blitz_io::io::Interest;
    ///
    /// const BOTH: Interest = Interest::READABLE.add(Interest::WRITABLE); // `|` is not for constants
    /// assert!(BOTH.is_readable() && BOTH.is_writable());
    /// ```
    #[must_use = "it returns the sum and leaves this one as it is"]
    pub const fn add(self, other: Interest) -> Interest {
        Interest(self.0 | other.0)
    }

    /// This without the other, or nothing if that is all of it.
    #[must_use = "it returns the difference and leaves this one as it is"]
    pub fn remove(self, other: Interest) -> Option<Interest> {
        match self.0 & !other.0 {
            0 => None,
            rest => Some(Interest(rest)),
        }
    }

    /// The parts of it, with names.
    fn parts(self) -> impl Iterator<Item = (&'static str, Ready, mio::Interest)> {
        let parts = [
            (
                Self::READABLE,
                "READABLE",
                Ready::READABLE | Ready::READ_CLOSED,
                mio::Interest::READABLE,
            ),
            (
                Self::WRITABLE,
                "WRITABLE",
                Ready::WRITABLE | Ready::WRITE_CLOSED,
                mio::Interest::WRITABLE,
            ),
            #[cfg(any(target_os = "linux", target_os = "android"))]
            (
                Self::PRIORITY,
                "PRIORITY",
                Ready::PRIORITY | Ready::READ_CLOSED,
                mio::Interest::PRIORITY,
            ),
            // Errors are told of in any case.
            (Self::ERROR, "ERROR", Ready::ERROR, mio::Interest::READABLE),
        ];
        let has = move |part: Interest| self.0 & part.0 != 0;
        let parts = parts.into_iter().filter(move |&(part, ..)| has(part));
        parts.map(|(_, name, ready, mio)| (name, ready, mio))
    }

    /// What has to be known so that somebody with this interest need not wait.
    pub(crate) fn wanted(self) -> Ready {
        self.parts()
            .fold(Ready::EMPTY, |sum, (_, ready, _)| sum | ready)
    }

    #[cfg(unix)]
    pub(crate) fn to_mio(self) -> mio::Interest {
        let parts = self.parts().map(|(_, _, mio)| mio);
        parts
            .reduce(|sum, part| sum | part)
            .unwrap_or(mio::Interest::READABLE)
    }
}

impl BitOr for Interest {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.add(other)
    }
}

impl BitOrAssign for Interest {
    fn bitor_assign(&mut self, other: Self) {
        *self = self.add(other);
    }
}

impl fmt::Debug for Interest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, ..)) in self.parts().enumerate() {
            if index > 0 {
                f.write_str(" | ")?;
            }
            f.write_str(name)?;
        }
        Ok(())
    }
}
