//! What can go wrong.

use crate::primitives::error;
use std::fmt;

/// There is no receiver. Here is the value. A type of its own: a program may convert from this one and from that of `broadcast`.
///
/// ```
/// use blitz_sync::watch;
///
/// let sender = watch::Sender::new(1);
/// assert_eq!(sender.send(2).unwrap_err().0, 2); // nobody looks
/// assert_eq!(sender.send_replace(2), 1); // nobody needs to
/// ```
#[derive(PartialEq, Eq, Clone, Copy)]
pub struct SendError<T>(pub T);

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendError").finish_non_exhaustive()
    }
}

error!(SendError<T>, _ => "channel closed");

/// All senders are gone: the value will not change any more.
///
/// ```
/// let (sender, receiver) = blitz_sync::watch::channel(1);
/// drop(sender);
/// println!("{}", receiver.has_changed().unwrap_err());
/// assert_eq!(*receiver.borrow(), 1); // the last value stays
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecvError(pub(super) ());

error!(RecvError, _ => "channel closed");
