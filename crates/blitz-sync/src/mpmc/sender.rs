//! The half that sends.

use super::about_the_channel;
use super::error::{SendError, TrySendError};
use super::flow::Flow;
use crate::channel::handles::{Tx, WeakTx, read};
use crate::channel::queue::{Limited, Queue, Refused};
use std::fmt;

/// The half that sends: clone it for more of them. The last one that is dropped closes the channel.
///
/// ```
/// let (sender, receiver) = blitz_sync::mpmc::bounded(1);
/// let other = sender.clone();
/// assert!(sender.same_channel(&other));
/// other.try_send("hello").unwrap();
/// assert_eq!((sender.len(), sender.capacity()), (1, Some(1)));
/// assert!(sender.is_full() && !sender.is_empty());
/// assert_eq!((sender.sender_count(), sender.receiver_count()), (2, 1));
/// assert!(sender.close() && sender.is_closed());
/// assert_eq!(receiver.try_recv(), Ok("hello"));
/// ```
pub struct Sender<T>(pub(super) Tx<T, Flow<T>>);

about_the_channel!(Sender, |this| this.0);

impl<T> Sender<T> {
    /// Sends a message, and waits for room if there is none.
    ///
    /// Cancel-safe: dropped before it is ready, it has sent nothing, and the message is dropped with it. Who waits keeps its place
    /// in line.
    ///
    /// # Errors
    /// The message, if the channel is closed.
    ///
    /// ```
    /// # blitz_sync::block_on(async {
    /// let (sender, receiver) = blitz_sync::mpmc::bounded(1);
    /// sender.send(1).await.unwrap();
    /// assert_eq!(receiver.recv().await, Ok(1));
    /// # });
    /// ```
    pub async fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.0.send(message).await.map_err(SendError)
    }

    /// Sends a message if there is room.
    ///
    /// # Errors
    /// The message, if there is no room (or others wait for it), or if the channel is closed.
    ///
    /// ```
    /// let (sender, _receiver) = blitz_sync::mpmc::bounded(1);
    /// assert!(sender.try_send(1).is_ok());
    /// assert!(sender.try_send(2).is_err(), "there is no room");
    /// ```
    #[inline]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.0.try_send(message).map_err(|refused| match refused {
            Refused::Full(message) => TrySendError::Full(message),
            Refused::Closed(message) => TrySendError::Closed(message),
        })
    }

    /// As [`send`](Self::send), on a thread that may block.
    ///
    /// # Errors
    /// The message, if the channel is closed.
    ///
    /// # Panics
    /// Inside of a current-thread runtime, whose thread would wait for itself.
    ///
    /// ```
    /// let (sender, receiver) = blitz_sync::mpmc::bounded(1);
    /// let thread = std::thread::spawn(move || sender.send_blocking(1));
    /// assert_eq!(receiver.recv_blocking(), Ok(1));
    /// # thread.join().unwrap().unwrap();
    /// ```
    #[cfg(not(loom))]
    #[track_caller]
    pub fn send_blocking(&self, message: T) -> Result<(), SendError<T>> {
        crate::parking::wait("send_blocking", self.send(message))
    }

    /// Waits until the channel is closed. Cancel-safe.
    ///
    /// ```
    /// # fn block_on<F: Future>(f: F) -> F::Output { let mut f = std::pin::pin!(f); loop { if let std::task::Poll::Ready(x) = f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) { return x } std::thread::yield_now() } }
    /// # block_on(async {
    /// let (sender, receiver) = blitz_sync::mpmc::unbounded::<u32>();
    /// drop(receiver);
    /// sender.closed().await; // nobody would receive anything
    /// # });
    /// ```
    pub async fn closed(&self) {
        self.0.closed().await;
    }

    /// Do both belong to the same channel?
    pub fn same_channel(&self, other: &Self) -> bool {
        self.0.same_channel(&other.0)
    }

    /// A handle that does not keep the channel open.
    ///
    /// ```
    /// let (sender, _receiver) = blitz_sync::mpmc::unbounded::<u32>();
    /// let weak = sender.downgrade();
    /// assert!(weak.upgrade().unwrap().same_channel(&sender));
    /// ```
    #[must_use]
    pub fn downgrade(&self) -> WeakSender<T> {
        WeakSender(self.0.downgrade())
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Sender(self.0.clone())
    }
}

/// A sender that does not keep the channel open.
///
/// ```
/// let (sender, receiver) = blitz_sync::mpmc::unbounded::<u32>();
/// let weak = sender.downgrade(); // does not keep the channel open
/// weak.upgrade().unwrap().try_send(7).unwrap();
/// drop(sender);
/// assert!(weak.upgrade().is_none());
/// assert_eq!(receiver.try_recv(), Ok(7));
/// ```
pub struct WeakSender<T>(WeakTx<T, Flow<T>>);

impl<T> WeakSender<T> {
    /// A sender, unless all senders are gone.
    #[must_use]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        self.0.upgrade().map(Sender)
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> Self {
        WeakSender(self.0.clone())
    }
}

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakSender")
            .field("sender_count", &self.0.strong_count())
            .finish()
    }
}
