//! The half that changes the value.

use super::error::SendError;
use super::{Receiver, Ref, Shared, channel};
use crate::channel::core::add;
use crate::channel::handles::read;
use crate::primitives::{Arc, Ordering};
use crate::until::Until;
use std::fmt;

/// The half that changes the value: clone it for more of them.
///
/// ```
/// # fn block_on<F: Future>(f: F) -> F::Output { let mut f = std::pin::pin!(f); loop { if let std::task::Poll::Ready(x) = f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) { return x } std::thread::yield_now() } }
/// # block_on(async {
/// let (sender, receiver) = blitz_sync::watch::channel(1);
/// let other = sender.clone();
/// assert!(sender.same_channel(&other));
/// assert_eq!((sender.sender_count(), sender.receiver_count()), (2, 1));
/// other.send(2).unwrap();
/// assert_eq!((*sender.borrow(), *receiver.borrow()), (2, 2));
/// drop(receiver);
/// assert!(sender.is_closed());
/// sender.closed().await; // nobody looks any more
/// # });
/// ```
pub struct Sender<T> {
    shared: Arc<Shared<T>>,
}

impl<T> Sender<T> {
    pub(super) fn new_of(shared: Arc<Shared<T>>) -> Self {
        Sender { shared }
    }

    /// A sender of a channel that has no receivers yet.
    #[must_use]
    pub fn new(first: T) -> Self {
        channel(first).0
    }

    /// Replaces the value and wakes the receivers that wait. Waits (on the thread) while the value is borrowed.
    ///
    /// # Errors
    /// The value, if there is no receiver; nothing has changed then. See [`send_replace`](Self::send_replace).
    ///
    /// ```
    /// let (sender, receiver) = blitz_sync::watch::channel(1);
    /// sender.send(2).unwrap();
    /// assert_eq!(*receiver.borrow(), 2);
    /// ```
    #[inline]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        if self.receiver_count() == 0 {
            return Err(SendError(value));
        }
        self.send_replace(value);
        Ok(())
    }

    /// Replaces the value, also if there is no receiver, and returns the old one.
    ///
    /// ```
    /// let sender = blitz_sync::watch::Sender::new(1);
    /// assert_eq!(sender.send_replace(2), 1);
    /// assert_eq!(*sender.borrow(), 2);
    /// ```
    #[inline]
    pub fn send_replace(&self, value: T) -> T {
        let mut lock = self.shared.write();
        let old = std::mem::replace(&mut *lock, value);
        let waited = self.shared.version.raise();
        drop(lock);
        if waited {
            self.shared.release_waiting();
        }
        old
    }

    /// Changes the value in place, also if there is no receiver.
    ///
    /// If `change` panics, receivers are not told; the value stays as it left it.
    ///
    /// ```
    /// let (sender, receiver) = blitz_sync::watch::channel(vec![1]);
    /// sender.send_modify(|numbers| numbers.push(2));
    /// assert_eq!(*receiver.borrow(), [1, 2]);
    /// ```
    pub fn send_modify<F>(&self, change: F)
    where
        F: FnOnce(&mut T),
    {
        self.send_if_modified(|value| {
            change(value);
            true
        });
    }

    /// Changes the value in place, and tells the receivers if `change` says that it has changed. Returns what it says.
    ///
    /// ```
    /// let (sender, receiver) = blitz_sync::watch::channel(1);
    /// assert!(!sender.send_if_modified(|_| false));
    /// assert!(!receiver.has_changed().unwrap());
    /// sender.send_modify(|value| *value += 1);
    /// assert!(receiver.has_changed().unwrap());
    /// ```
    pub fn send_if_modified<F>(&self, change: F) -> bool
    where
        F: FnOnce(&mut T) -> bool,
    {
        let mut lock = self.shared.write();
        let changed = change(&mut lock);
        let waited = changed && self.shared.version.raise();
        drop(lock);
        if waited {
            self.shared.release_waiting();
        }
        changed
    }

    /// The value, borrowed.
    pub fn borrow(&self) -> Ref<'_, T> {
        Ref {
            value: self.shared.read(),
            has_changed: false,
        }
    }

    /// Are there no receivers?
    pub fn is_closed(&self) -> bool {
        self.receiver_count() == 0
    }

    /// Waits until there is no receiver any more. Cancel-safe.
    pub async fn closed(&self) {
        let shared = &*self.shared;
        loop {
            Until::new(&shared.watchers, || read(&shared.receivers) == 0).await;
            // One that came meanwhile counts.
            if self.is_closed() {
                return;
            }
        }
    }

    /// A receiver that has seen the value of this moment.
    ///
    /// ```
    /// let (sender, first) = blitz_sync::watch::channel(1);
    /// let second = sender.subscribe();
    /// sender.send(2).unwrap();
    /// assert_eq!((*first.borrow(), *second.borrow()), (2, 2));
    /// ```
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver::new_of(&self.shared, self.shared.version.now())
    }

    /// How many receivers there are.
    pub fn receiver_count(&self) -> usize {
        read(&self.shared.receivers)
    }

    /// How many senders there are.
    pub fn sender_count(&self) -> usize {
        read(&self.shared.senders)
    }

    /// Do both belong to the same channel?
    pub fn same_channel(&self, other: &Self) -> bool {
        std::ptr::eq::<Shared<T>>(&*self.shared, &*other.shared)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        add(&self.shared.senders);
        Sender {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<T: Default> Default for Sender<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let last = self.shared.senders.fetch_sub(1, Ordering::AcqRel) == 1;
        if last && self.shared.version.close() {
            self.shared.release_waiting();
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("value", &*self.borrow())
            .field("receiver_count", &self.receiver_count())
            .finish()
    }
}
