//! The half that sees the value.

use super::error::RecvError;
use super::version::{Look, Seen};
use super::{Ref, Shared};
use crate::channel::core::add;
use crate::coop;
use crate::primitives::{Arc, Ordering};
use crate::waiters::{Node, State};
use std::fmt;
use std::future::Future;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The half that sees the value. A clone has seen what its original has.
///
/// ```
/// let (sender, mut receiver) = blitz_sync::watch::channel("first");
/// assert!(!receiver.has_changed().unwrap()); // it has seen the first value
/// sender.send("second").unwrap();
/// assert!(receiver.has_changed().unwrap());
/// receiver.mark_unchanged(); // never mind
/// assert!(!receiver.has_changed().unwrap());
/// receiver.mark_changed(); // once more
/// assert_eq!(*receiver.borrow_and_update(), "second");
/// assert!(receiver.same_channel(&receiver.clone()) && !receiver.is_closed());
/// drop(sender);
/// assert!(receiver.is_closed());
/// ```
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
    seen: Seen,
}

impl<T> Receiver<T> {
    pub(super) fn new_of(shared: &Arc<Shared<T>>, seen: Seen) -> Self {
        add(&shared.receivers);
        Receiver {
            shared: Arc::clone(shared),
            seen,
        }
    }

    /// The value, borrowed. It does not count as seen.
    #[inline]
    pub fn borrow(&self) -> Ref<'_, T> {
        let value = self.shared.read();
        let has_changed = self.shared.version.now() != self.seen;
        Ref { value, has_changed }
    }

    /// The value, borrowed, and seen.
    ///
    /// ```
    /// let (sender, mut receiver) = blitz_sync::watch::channel(1);
    /// sender.send(2).unwrap();
    /// assert_eq!(*receiver.borrow_and_update(), 2);
    /// assert!(!receiver.has_changed().unwrap(), "it has been seen");
    /// ```
    #[inline]
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        let value = self.shared.read();
        // Under the lock, hence the version of this value.
        let now = self.shared.version.now();
        let has_changed = now != self.seen;
        self.seen = now;
        Ref { value, has_changed }
    }

    /// Is there a value that it has not seen?
    ///
    /// # Errors
    /// If all senders are gone.
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        if self.shared.version.is_closed() {
            return Err(RecvError(()));
        }
        Ok(self.shared.version.now() != self.seen)
    }

    /// Are all senders gone?
    pub fn is_closed(&self) -> bool {
        self.shared.version.is_closed()
    }

    /// Takes the value of this moment for new.
    pub fn mark_changed(&mut self) {
        self.seen = self.shared.version.now().before();
    }

    /// Takes the value of this moment for seen.
    pub fn mark_unchanged(&mut self) {
        self.seen = self.shared.version.now();
    }

    /// Waits for a value that it has not seen; it counts as seen then. Cancel-safe.
    ///
    /// # Errors
    /// If all senders are gone and the last value has been seen.
    ///
    /// ```
    /// # blitz_sync::block_on(async {
    /// let (sender, mut receiver) = blitz_sync::watch::channel(1);
    /// sender.send(2).unwrap();
    /// receiver.changed().await.unwrap();
    /// assert_eq!(*receiver.borrow(), 2);
    /// drop(sender);
    /// assert!(receiver.changed().await.is_err(), "nobody sends any more");
    /// # });
    /// ```
    pub async fn changed(&mut self) -> Result<(), RecvError> {
        self.seen = Changed::new(&self.shared, self.seen).await?;
        Ok(())
    }

    /// Waits until `is_right` says so of the value, beginning with that of this moment, and returns it, seen. Cancel-safe.
    ///
    /// # Errors
    /// If all senders are gone and the last value was not right.
    ///
    /// ```
    /// # blitz_sync::block_on(async {
    /// let (sender, mut receiver) = blitz_sync::watch::channel(0);
    /// std::thread::spawn(move || {
    ///     for n in 1..10 {
    ///         sender.send(n).unwrap();
    ///     }
    /// });
    /// assert!(*receiver.wait_for(|n| *n >= 5).await.unwrap() >= 5);
    /// assert!(receiver.wait_for(|n| *n > 100).await.is_err());
    /// # });
    /// ```
    pub async fn wait_for(
        &mut self,
        mut is_right: impl FnMut(&T) -> bool,
    ) -> Result<Ref<'_, T>, RecvError> {
        // For a value that is right at once.
        coop::consume_budget().await;
        let Receiver { shared, seen } = self;
        loop {
            {
                let value = shared.read();
                // Under the lock, hence the version of this value.
                let now = shared.version.now();
                let has_changed = std::mem::replace(seen, now) != now;
                if is_right(&value) {
                    return Ok(Ref { value, has_changed });
                }
            }
            Changed::new(shared, *seen).await?;
        }
    }

    /// Do both belong to the same channel?
    pub fn same_channel(&self, other: &Self) -> bool {
        std::ptr::eq::<Shared<T>>(&*self.shared, &*other.shared)
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        Receiver::new_of(&self.shared, self.seen)
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if self.shared.receivers.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.shared
                .watchers
                .release_all(State::Dismissed, |()| true);
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("value", &*self.borrow())
            .finish()
    }
}

/// Waits for another version.
struct Changed<'a, T> {
    shared: &'a Shared<T>,
    seen: Seen,
    node: Node,
}

impl<'a, T> Changed<'a, T> {
    fn new(shared: &'a Shared<T>, seen: Seen) -> Self {
        Changed {
            shared,
            seen,
            node: Node::new(),
        }
    }

    fn node(self: Pin<&Self>) -> Pin<&Node> {
        // SAFETY: the node is pinned with the whole.
        unsafe { self.map_unchecked(|this| &this.node) }
    }

    fn leave(self: Pin<&Self>) {
        let shared = self.shared;
        shared.waiting.withdraw(self.node(), |guarded| {
            if guarded.line.is_empty() {
                shared.version.retract();
            }
        });
    }
}

impl<T> Future for Changed<'_, T> {
    type Output = Result<Seen, RecvError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let unit = ready!(coop::take_unit(cx));
        let this = self.as_ref();
        let (shared, node) = (this.shared, this.node());
        let mut look = shared.version.look(this.seen);
        if look == Look::Same {
            if node.state() == State::Waiting
                && shared.waiting.again(node, cx.waker()) == State::Waiting
            {
                unit.refund();
                return Poll::Pending;
            }
            this.leave();
            // SAFETY: one line, `&mut self`, and `drop` withdraws it.
            let arrived = unsafe {
                shared.waiting.arrive(node, cx.waker(), |_| {
                    match shared.version.announce(this.seen) {
                        Look::Same => ControlFlow::Continue(1),
                        look => ControlFlow::Break(look),
                    }
                })
            };
            match arrived {
                ControlFlow::Continue(()) => {
                    unit.refund();
                    return Poll::Pending;
                }
                ControlFlow::Break(found) => look = found,
            }
        }
        Poll::Ready(match look {
            Look::Changed(seen) => Ok(seen),
            Look::Closed | Look::Same => Err(RecvError(())),
        })
    }
}

impl<T> Drop for Changed<'_, T> {
    fn drop(&mut self) {
        // SAFETY: what is dropped does not move any more.
        unsafe { Pin::new_unchecked(&*self) }.leave();
    }
}
