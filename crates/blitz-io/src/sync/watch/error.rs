//! What can go wrong.

pub use crate::sync::broadcast::error::SendError;
use std::fmt;

/// All senders are gone: the value will not change any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecvError(pub(super) ());

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("channel closed")
    }
}

impl std::error::Error for RecvError {}
