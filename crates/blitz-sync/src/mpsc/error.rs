//! What can go wrong; the errors give the message back.

use crate::primitives::error;
use std::fmt;

/// The receiver is gone, or has been closed. Here is the message.
///
/// ```
/// use blitz_sync::mpsc::{error::SendError, unbounded_channel};
///
/// let (sender, receiver) = unbounded_channel();
/// drop(receiver);
/// let SendError(message) = sender.send("hello").unwrap_err();
/// assert_eq!(message, "hello"); // it comes back
/// ```
#[derive(PartialEq, Eq, Clone, Copy)]
pub struct SendError<T>(pub T);

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendError").finish_non_exhaustive()
    }
}

error!(SendError<T>, _ => "channel closed");

/// A message was not sent. Here it is.
///
/// ```
/// use blitz_sync::mpsc::{channel, error::TrySendError};
///
/// let (sender, receiver) = channel(1);
/// sender.try_send(1).unwrap();
/// assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
/// drop(receiver);
/// assert_eq!(sender.try_send(2).unwrap_err().into_inner(), 2);
/// ```
#[derive(PartialEq, Eq, Clone, Copy)]
pub enum TrySendError<T> {
    /// There is no room, or others wait for it.
    Full(T),
    /// The receiver is gone, or has been closed.
    Closed(T),
}

impl<T> TrySendError<T> {
    /// The message.
    pub fn into_inner(self) -> T {
        match self {
            TrySendError::Full(message) | TrySendError::Closed(message) => message,
        }
    }
}

impl<T> fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // With its quotation marks, as tokio has it.
        let text = match self {
            TrySendError::Full(_) => "Full(..)",
            TrySendError::Closed(_) => "Closed(..)",
        };
        fmt::Debug::fmt(text, f)
    }
}

error!(TrySendError<T>,
    Self::Full(_) => "no available capacity",
    Self::Closed(_) => "channel closed");

impl<T> From<SendError<T>> for TrySendError<T> {
    fn from(error: SendError<T>) -> Self {
        TrySendError::Closed(error.0)
    }
}

/// A message was not sent. Here it is.
///
/// ```
/// use blitz_sync::mpsc::error::SendTimeoutError;
///
/// let error = SendTimeoutError::Timeout("message");
/// println!("{error}");
/// assert_eq!(error.into_inner(), "message");
/// ```
#[derive(PartialEq, Eq, Clone, Copy)]
pub enum SendTimeoutError<T> {
    /// There was no room in time.
    Timeout(T),
    /// The receiver is gone, or has been closed.
    Closed(T),
}

impl<T> SendTimeoutError<T> {
    /// The message.
    pub fn into_inner(self) -> T {
        match self {
            SendTimeoutError::Timeout(message) | SendTimeoutError::Closed(message) => message,
        }
    }
}

impl<T> fmt::Debug for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // As above.
        let text = match self {
            SendTimeoutError::Timeout(_) => "Timeout(..)",
            SendTimeoutError::Closed(_) => "Closed(..)",
        };
        fmt::Debug::fmt(text, f)
    }
}

error!(SendTimeoutError<T>,
    Self::Timeout(_) => "timed out waiting on send operation",
    Self::Closed(_) => "channel closed");

/// There is no message.
///
/// ```
/// use blitz_sync::mpsc::{channel, error::TryRecvError};
///
/// let (sender, mut receiver) = channel::<u32>(1);
/// assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
/// drop(sender);
/// assert_eq!(receiver.try_recv(), Err(TryRecvError::Disconnected));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TryRecvError {
    /// Not at the moment.
    Empty,
    /// And none will come any more.
    Disconnected,
}

impl fmt::Display for TryRecvError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            TryRecvError::Empty => "receiving on an empty channel",
            TryRecvError::Disconnected => "receiving on a closed channel",
        })
    }
}

impl std::error::Error for TryRecvError {}
