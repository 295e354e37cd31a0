//! What can go wrong; the errors give the message back.

use crate::primitives::error;
use std::fmt;

/// The channel is closed. Here is the message.
///
/// ```
/// let (sender, receiver) = blitz_sync::mpmc::unbounded();
/// drop(receiver);
/// assert_eq!(sender.try_send("hello").unwrap_err().into_inner(), "hello");
/// let error = sender.send_blocking("hello").unwrap_err();
/// println!("{error}");
/// assert_eq!(error.into_inner(), "hello"); // it comes back
/// ```
#[derive(PartialEq, Eq, Clone, Copy)]
pub struct SendError<T>(pub T);

/// A message was not sent. Here it is.
///
/// ```
/// let (sender, receiver) = blitz_sync::mpmc::bounded(1);
/// sender.try_send(1).unwrap();
/// let error = sender.try_send(2).unwrap_err();
/// assert!(error.is_full() && !error.is_closed());
/// assert_eq!(error.into_inner(), 2); // it comes back
/// # drop(receiver);
/// ```
#[derive(PartialEq, Eq, Clone, Copy)]
pub enum TrySendError<T> {
    /// There is no room, or others wait for it.
    Full(T),
    /// The channel is closed.
    Closed(T),
}

/// The channel is closed, and all messages have been received.
///
/// ```
/// let (sender, receiver) = blitz_sync::mpmc::unbounded::<u32>();
/// drop(sender);
/// println!("{}", receiver.recv_blocking().unwrap_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecvError;

/// There is no message.
///
/// ```
/// let (sender, receiver) = blitz_sync::mpmc::unbounded::<u32>();
/// assert!(receiver.try_recv().unwrap_err().is_empty());
/// drop(sender);
/// assert!(receiver.try_recv().unwrap_err().is_closed());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TryRecvError {
    /// Not at the moment.
    Empty,
    /// And none will come any more.
    Closed,
}

impl<T> SendError<T> {
    /// The message.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> TrySendError<T> {
    /// The message.
    pub fn into_inner(self) -> T {
        match self {
            TrySendError::Full(message) | TrySendError::Closed(message) => message,
        }
    }

    /// Was there no room?
    pub fn is_full(&self) -> bool {
        matches!(self, TrySendError::Full(_))
    }

    /// Is the channel closed?
    pub fn is_closed(&self) -> bool {
        matches!(self, TrySendError::Closed(_))
    }
}

impl TryRecvError {
    /// May a message still come?
    pub fn is_empty(&self) -> bool {
        matches!(self, TryRecvError::Empty)
    }

    /// Is the channel closed?
    pub fn is_closed(&self) -> bool {
        matches!(self, TryRecvError::Closed)
    }
}

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SendError(..)")
    }
}

error!(SendError<T>, _ => "sending into a closed channel");

impl<T> fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_full() {
            "Full(..)"
        } else {
            "Closed(..)"
        })
    }
}

error!(TrySendError<T>,
    Self::Full(_) => "sending into a full channel",
    Self::Closed(_) => "sending into a closed channel");

error!(RecvError, _ => "receiving from an empty and closed channel");

error!(TryRecvError,
    Self::Empty => "receiving from an empty channel",
    Self::Closed => "receiving from an empty and closed channel");
