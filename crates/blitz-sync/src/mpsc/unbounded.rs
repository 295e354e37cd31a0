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
///
/// ```
/// let (sender, mut receiver) = blitz_sync::mpsc::unbounded_channel();
/// assert!(sender.same_channel(&sender.clone()));
/// let weak = sender.downgrade(); // does not keep the channel open
/// assert_eq!((sender.strong_count(), sender.weak_count()), (1, 1));
/// weak.upgrade().unwrap().send(7).unwrap();
/// receiver.close();
/// assert!(sender.is_closed());
/// assert_eq!(receiver.try_recv(), Ok(7));
/// ```
pub struct UnboundedSender<T>(Tx<T, Single<T>>);

receiver! {
    /// The half that receives. Also a `Stream`.
    ///
    /// ```
    /// # fn block_on<F: Future>(f: F) -> F::Output { let mut f = std::pin::pin!(f); loop { if let std::task::Poll::Ready(x) = f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) { return x } std::thread::yield_now() } }
    /// # block_on(async {
    /// use std::future::poll_fn;
    ///
    /// let (sender, mut receiver) = blitz_sync::mpsc::unbounded_channel();
    /// (0..6).for_each(|number| sender.send(number).unwrap());
    /// assert_eq!(receiver.len(), 6);
    /// assert_eq!((receiver.sender_strong_count(), receiver.sender_weak_count()), (1, 0));
    /// // One at a time, or several.
    /// assert_eq!(poll_fn(|cx| receiver.poll_recv(cx)).await, Some(0));
    /// let mut several = vec![];
    /// assert_eq!(receiver.recv_many(&mut several, 2).await, 2);
    /// assert_eq!(poll_fn(|cx| receiver.poll_recv_many(cx, &mut several, 2)).await, 2);
    /// receiver.close(); // what is there can still be received
    /// assert!(receiver.is_closed() && !receiver.is_empty());
    /// assert_eq!(receiver.blocking_recv_many(&mut several, 10), 1);
    /// assert_eq!(several, [1, 2, 3, 4, 5]);
    /// # });
    /// ```
    UnboundedReceiver, Single, |_| {}, "blitz_sync::mpsc::unbounded_channel()"
}

senders! {
    UnboundedSender,
    /// A sender that does not keep the channel open.
    ///
    /// ```
    /// let (sender, mut receiver) = blitz_sync::mpsc::unbounded_channel();
    /// let weak = sender.downgrade();
    /// weak.upgrade().unwrap().send(7).unwrap();
    /// assert_eq!((weak.strong_count(), weak.weak_count()), (1, 1));
    /// drop(sender);
    /// assert!(weak.upgrade().is_none()); // the channel is closed
    /// assert_eq!(receiver.try_recv(), Ok(7));
    /// ```
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
