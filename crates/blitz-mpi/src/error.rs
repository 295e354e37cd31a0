//! What can go wrong, in words that name the ranks.

use mpi::ffi;
use std::fmt;
use std::os::raw::{c_char, c_int};

/// What an operation can come back with.
///
/// Errors of collective operations ([`Error::Mismatch`]) come back on every rank alike, and before any data has moved: the cluster can be used
/// as before.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The cluster has ended: its [`Session`](crate::Session) is closed. So a handle that somebody has kept is of no use any more.
    Closed,
    /// MPI was there before, or has been there: it can be started once in a process.
    Initialised,
    /// The runtime or its threads could not be started.
    Runtime(String),
    /// The ranks' calls do not belong together: other operations, other lengths, elements of another size, another root. Both calls in words.
    Mismatch(String),
    /// A message's elements have another size than those that the receiver asked for. The message is gone.
    ElementSize {
        /// Who sent it.
        from: usize,
        /// The size of the sender's elements, in bytes (197: that or more).
        sent: usize,
        /// The size of the receiver's.
        expected: usize,
    },
    /// There is no such rank.
    NoSuchRank {
        /// The one that was asked for.
        rank: usize,
        /// How many there are.
        size: usize,
    },
    /// A tag beyond [`MAX_TAG`](crate::MAX_TAG).
    NoSuchTag(u16),
    /// More elements for one rank than MPI can count (2^31 - 1).
    TooLong(usize),
    /// What arrived cannot be read as what was expected: ranks run different programs.
    Garbled(&'static str),
    /// Messages that this rank was sent and has never received, found when the cluster was closed.
    Unreceived(usize),
    /// A file could not be read or written.
    File(String),
    /// What MPI itself said.
    Mpi(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Closed => write!(f, "the cluster is closed"),
            Error::Initialised => write!(f, "MPI can be started only once in a process"),
            Error::Runtime(why) => write!(f, "the runtime could not be started: {why}"),
            Error::Mismatch(calls) => write!(f, "the ranks' calls do not belong together: {calls}"),
            Error::ElementSize {
                from,
                sent,
                expected,
            } => write!(
                f,
                "a message from rank {from} has elements of {sent} bytes, and elements of {expected} bytes were asked for"
            ),
            Error::NoSuchRank { rank, size } => {
                write!(f, "there is no rank {rank}: the cluster has {size}")
            }
            Error::NoSuchTag(tag) => {
                write!(f, "there is no tag {tag}: they end at {}", crate::MAX_TAG)
            }
            Error::TooLong(length) => {
                write!(
                    f,
                    "{length} elements for one rank: MPI counts up to {}",
                    i32::MAX
                )
            }
            Error::Garbled(what) => write!(f, "what arrived cannot be read as {what}"),
            Error::Unreceived(count) => {
                write!(f, "{count} messages to this rank were never received")
            }
            Error::File(why) => write!(f, "{why}"),
            Error::Mpi(text) => write!(f, "MPI: {text}"),
        }
    }
}

impl std::error::Error for Error {}

/// The result of whatever talks to other ranks.
pub type Result<T> = std::result::Result<T, Error>;

/// An MPI function's code as a result.
///
/// Called by whoever is in MPI at the moment: the text is MPI's own.
pub(crate) fn check(code: c_int) -> Result<()> {
    if code == ffi::MPI_SUCCESS as c_int {
        return Ok(());
    }
    let mut text = [0 as c_char; ffi::MPI_MAX_ERROR_STRING as usize + 1];
    let mut length = 0;
    // SAFETY: the buffer is as long as MPI asks for, and MPI has been initialised: it has just returned a code.
    unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr(), &mut length) };
    let bytes = text[..length.max(0) as usize]
        .iter()
        .map(|&byte| byte as u8)
        .collect::<Vec<_>>();
    Err(Error::Mpi(String::from_utf8_lossy(&bytes).into_owned()))
}
