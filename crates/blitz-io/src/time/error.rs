//! What can go wrong with time.

use std::fmt;
use std::io;

/// A future was not ready in time.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
/// use blitz_io::time::{Duration, timeout};
///
/// let error = timeout(Duration::from_secs(1), std::future::pending::<()>()).await.unwrap_err();
/// assert_eq!(std::io::Error::from(error).kind(), std::io::ErrorKind::TimedOut);
/// # });
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Elapsed(());

impl Elapsed {
    pub(crate) fn new() -> Self {
        Elapsed(())
    }
}

impl fmt::Display for Elapsed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("deadline has elapsed")
    }
}

impl std::error::Error for Elapsed {}

impl From<Elapsed> for io::Error {
    fn from(_: Elapsed) -> Self {
        io::ErrorKind::TimedOut.into()
    }
}

/// Why a timer cannot be had. No function of this crate returns it: it is for those that pass on what others say.
///
/// ```
/// use blitz_io::time::error::Error;
///
/// assert!(Error::shutdown().is_shutdown());
/// assert!(Error::at_capacity().is_at_capacity());
/// assert!(Error::invalid().is_invalid());
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Error(Kind);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Shutdown,
    AtCapacity,
    Invalid,
}

impl Error {
    /// The runtime has ended.
    pub fn shutdown() -> Error {
        Error(Kind::Shutdown)
    }

    /// Has the runtime ended?
    pub fn is_shutdown(&self) -> bool {
        self.0 == Kind::Shutdown
    }

    /// There are too many timers.
    pub fn at_capacity() -> Error {
        Error(Kind::AtCapacity)
    }

    /// Are there too many timers?
    pub fn is_at_capacity(&self) -> bool {
        self.0 == Kind::AtCapacity
    }

    /// The time is too long.
    pub fn invalid() -> Error {
        Error(Kind::Invalid)
    }

    /// Is the time too long?
    pub fn is_invalid(&self) -> bool {
        self.0 == Kind::Invalid
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Shutdown => "the timer's runtime has ended",
            Kind::AtCapacity => "there are too many timers",
            Kind::Invalid => "the time is longer than a timer can wait",
        })
    }
}

impl std::error::Error for Error {}
