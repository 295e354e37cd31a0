//! A channel that takes all that comes.

use super::error::{SendError, TryRecvError};
use super::receiver::{receiver, senders};
use crate::channel::core::Core;
use crate::channel::handles::{Tx, WeakTx, read};
use crate::channel::queue::list::Single;
use crate::channel::queue::{Queue, Refused};
use crate::primitives::Arc;
use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll, ready};

/// Makes a channel without a limit: sending never waits, and a receiver that is too slow fills the memory.
///
/// ```
/// let (sender, mut receiver) = blitz_sync::mpsc::unbounded_channel();
/// for n in 0..1000 {
///     sender.send(n).unwrap();
/// }
/// drop(sender);
/// let received: Vec<i32> = std::iter::from_fn(|| receiver.try_recv().ok()).collect();
/// assert!(received.into_iter().eq(0..1000));
/// ```
pub fn unbounded_channel<T>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    halves(Core::new(Single::new()))
}

pub(super) fn halves<T>(
    core: Arc<Core<T, Single<T>>>,
) -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    (
        UnboundedSender(Tx::new(Arc::clone(&core))),
        UnboundedReceiver(core),
    )
}

/// The half that sends: clone it for more of them. The channel is closed when the last one is dropped.
pub struct UnboundedSender<T>(Tx<T, Single<T>>);

receiver! {
    /// The half that receives. Also a `Stream`.
    UnboundedReceiver, Single, |_| {}, "blitz_sync::mpsc::unbounded_channel()"
}

senders! {
    UnboundedSender,
    /// A sender that does not keep the channel open.
    WeakUnboundedSender, Single
}

impl<T> UnboundedSender<T> {
    /// Sends a message, and never waits.
    ///
    /// # Errors
    /// The message, if the receiver is gone or has been closed.
    ///
    /// ```
    /// use blitz_sync::mpsc;
    /// # blitz_sync::block_on(async {
    /// let (sender, mut receiver) = mpsc::unbounded_channel();
    /// sender.send(1).unwrap();
    /// sender.send(2).unwrap();
    /// assert_eq!((receiver.recv().await, receiver.recv().await), (Some(1), Some(2)));
    /// # });
    /// ```
    #[inline]
    pub fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.0.try_send(message).map_err(|refused| match refused {
            Refused::Closed(message) | Refused::Full(message) => SendError(message),
        })
    }
}
