//! What can go wrong.

use crate::primitives::error;
use std::fmt;

/// There is no receiver. Here is the message.
///
/// ```
/// use blitz_sync::broadcast::{Sender, error::SendError};
///
/// let sender = Sender::new(4);
/// assert_eq!(sender.send("hello").unwrap_err().0, "hello"); // nobody listens
/// # let _: Option<SendError<u32>> = None;
/// ```
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub struct SendError<T>(pub T);

error!(SendError<T: std::fmt::Debug>, _ => "channel closed");

/// There is no message for this receiver.
///
/// ```
/// use blitz_sync::broadcast::{channel, error::RecvError};
///
/// let (sender, mut receiver) = channel(1);
/// sender.send("one").unwrap();
/// sender.send("two").unwrap();
/// assert_eq!(receiver.blocking_recv(), Err(RecvError::Lagged(1))); // it has missed one
/// assert_eq!(receiver.blocking_recv(), Ok("two"));
/// drop(sender);
/// assert_eq!(receiver.blocking_recv(), Err(RecvError::Closed));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecvError {
    /// All senders are gone, and all messages read.
    Closed,
    /// So many messages came and went before the receiver read them. The next receive returns the oldest that is left.
    Lagged(u64),
}

impl fmt::Display for RecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RecvError::Closed => f.write_str("channel closed"),
            RecvError::Lagged(missed) => write!(f, "channel lagged by {missed}"),
        }
    }
}

impl std::error::Error for RecvError {}

/// There is no message for this receiver at the moment.
///
/// ```
/// use blitz_sync::broadcast::{channel, error::TryRecvError};
///
/// let (sender, mut receiver) = channel::<u32>(1);
/// assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
/// drop(sender);
/// assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TryRecvError {
    /// It has read all that was sent.
    Empty,
    /// All senders are gone, and all messages read.
    Closed,
    /// So many messages came and went before the receiver read them. The next receive returns the oldest that is left.
    Lagged(u64),
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TryRecvError::Empty => f.write_str("channel empty"),
            TryRecvError::Closed => f.write_str("channel closed"),
            TryRecvError::Lagged(missed) => write!(f, "channel lagged by {missed}"),
        }
    }
}

impl std::error::Error for TryRecvError {}
