//! The half that receives.

use super::error::{RecvError, TryRecvError};
use super::slot::{Absent, Flaw, Loan, Taken};
use super::{End, Shared};
use crate::coop;
use crate::primitives::Arc;
#[cfg(not(loom))]
use crate::until::Until;
use crate::waiters::{Node, State};
use std::fmt;
use std::future::Future;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

/// A receiver of all that is sent while it exists. Dropping it unsubscribes.
///
/// ```
/// let (sender, mut receiver) = blitz_sync::broadcast::channel(8);
/// sender.send("one").unwrap();
/// let mut late = receiver.resubscribe(); // sees what is sent from now on
/// sender.send("two").unwrap();
/// assert_eq!((receiver.len(), late.len()), (2, 1));
/// assert!(receiver.same_channel(&late));
/// assert_eq!((receiver.sender_strong_count(), receiver.sender_weak_count()), (1, 0));
/// assert_eq!((receiver.try_recv(), receiver.blocking_recv()), (Ok("one"), Ok("two")));
/// drop(sender);
/// assert!(receiver.is_empty() && late.is_closed());
/// assert_eq!(late.try_recv(), Ok("two"));
/// ```
pub struct Receiver<T> {
    shared: Arc<Shared<T>>,
    /// The message that it reads next.
    next: u64,
}

/// What a receiver finds under the lock.
enum Look {
    /// The message is there.
    Filled,
    Empty,
    Closed,
    /// It is gone; this is the oldest that is there.
    Lagged(u64),
}

impl<T> Receiver<T> {
    pub(super) fn new(shared: &Arc<Shared<T>>) -> Self {
        let next = shared.end.locked(|guarded| {
            guarded.state.receivers += 1;
            guarded.state.position
        });
        Receiver {
            shared: Arc::clone(shared),
            next,
        }
    }

    fn look(&self, end: &End) -> Look {
        let ahead = end.position.wrapping_sub(self.next);
        if ahead == 0 {
            if end.closed {
                Look::Closed
            } else {
                Look::Empty
            }
        } else if ahead > self.shared.capacity() {
            Look::Lagged(end.position.wrapping_sub(self.shared.capacity()))
        } else {
            Look::Filled
        }
    }

    /// How many messages it has not read. More than the capacity: it lags.
    pub fn len(&self) -> usize {
        let end = self.shared.end.locked(|guarded| guarded.state.position);
        end.wrapping_sub(self.next) as usize
    }

    /// Has it read all messages?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Are all senders gone?
    pub fn is_closed(&self) -> bool {
        self.shared.end.locked(|guarded| guarded.state.closed)
    }

    /// A second receiver, of all that is sent from now on.
    #[must_use]
    pub fn resubscribe(&self) -> Self {
        Receiver::new(&self.shared)
    }

    /// Do both belong to the same channel?
    pub fn same_channel(&self, other: &Self) -> bool {
        std::ptr::eq::<Shared<T>>(&*self.shared, &*other.shared)
    }

    /// How many senders there are.
    pub fn sender_strong_count(&self) -> usize {
        super::read(&self.shared.senders)
    }

    /// How many weak senders there are.
    pub fn sender_weak_count(&self) -> usize {
        super::read(&self.shared.weak_senders)
    }

    /// One receiver less has to read this message; the last one gets it out of the slot.
    fn has_read(taken: &mut Taken<'_, T>) -> Option<T> {
        taken.content(|content| {
            content.remaining = content.remaining.saturating_sub(1);
            if content.remaining == 0 {
                content.message.take()
            } else {
                None
            }
        })
    }
}

impl<T: Clone> Receiver<T> {
    /// Waits for the next message.
    ///
    /// Cancel-safe: dropped before it is ready, it has read nothing.
    ///
    /// # Errors
    /// [`RecvError::Closed`] if all senders are gone; [`RecvError::Lagged`] if messages came and went before they were read.
    ///
    /// ```
    /// use blitz_sync::broadcast::{self, error::RecvError};
    ///
    /// # blitz_sync::block_on(async {
    /// let (sender, mut receiver) = broadcast::channel(2);
    /// for n in 0..5 {
    ///     sender.send(n).unwrap();
    /// }
    /// assert_eq!(receiver.recv().await, Err(RecvError::Lagged(3)));
    /// assert_eq!(receiver.recv().await, Ok(3));
    /// assert_eq!(receiver.recv().await, Ok(4));
    /// # });
    /// ```
    #[inline]
    pub fn recv(&mut self) -> Recv<'_, T> {
        Recv {
            receiver: self,
            node: Node::new(),
            waits_for_loan: false,
        }
    }

    /// Reads the next message if it is there.
    ///
    /// # Errors
    /// See [`TryRecvError`].
    #[inline]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        loop {
            match self.read_next() {
                Ok(message) => return Ok(message),
                Err(Absent::Lent) => {
                    self.sleep_until_returned();
                    continue;
                }
                Err(Absent::Elsewhere) => {}
            }
            match self.shared.end.locked(|guarded| self.look(&guarded.state)) {
                Look::Filled => {}
                Look::Empty => return Err(TryRecvError::Empty),
                Look::Closed => return Err(TryRecvError::Closed),
                Look::Lagged(oldest) => return Err(TryRecvError::Lagged(self.skip_to(oldest))),
            }
        }
    }

    /// As [`recv`](Self::recv), on a thread that may block.
    ///
    /// # Errors
    /// As [`recv`](Self::recv).
    ///
    /// # Panics
    /// Inside of a current-thread runtime, whose thread would wait for itself.
    #[cfg(not(loom))]
    #[track_caller]
    pub fn blocking_recv(&mut self) -> Result<T, RecvError> {
        crate::parking::wait("blocking_recv", self.recv())
    }

    /// Reads the next message, if it lies in its slot.
    #[inline]
    fn read_next(&mut self) -> Result<T, Absent> {
        let mut taken = self.shared.slot(self.next).take(self.next)?;
        let message = if taken.content(|content| content.remaining) > 1 {
            taken.lend(&self.shared.loans).and_then(Loan::read)
        } else {
            // The last one need not clone it.
            let message = Self::has_read(&mut taken);
            drop(taken);
            message
        };
        self.next = self.next.wrapping_add(1);
        debug_assert!(
            message.is_some(),
            "a message that was not read by all is there"
        );
        message.ok_or(Absent::Elsewhere)
    }

    /// Whether its next message is lent, under the lock of the line of those who wait for that.
    fn must_wait_for_loan(&self) -> bool {
        self.shared.slot(self.next).is_lent(self.next)
    }

    /// Waits, on this thread, until another receiver has cloned the next message.
    #[cold]
    fn sleep_until_returned(&self) {
        #[cfg(not(loom))]
        crate::parking::wait_anywhere(Until::new(&self.shared.loans, || {
            !self.must_wait_for_loan()
        }));
        #[cfg(loom)]
        crate::primitives::yield_now();
    }

    /// Returns how many messages were missed.
    fn skip_to(&mut self, oldest: u64) -> u64 {
        let missed = oldest.wrapping_sub(self.next);
        self.next = oldest;
        missed
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let (end, last) = self.shared.end.locked(|guarded| {
            guarded.state.receivers -= 1;
            (guarded.state.position, guarded.state.receivers == 0)
        });
        // Messages that are gone do not count any more.
        let left = end.wrapping_sub(self.next).min(self.shared.capacity());
        let mut unread = Unread {
            shared: &self.shared,
            end,
            left,
            last,
        };
        unread.give_up();
    }
}

/// What a receiver that goes away was counted for, and has not read.
struct Unread<'a, T> {
    shared: &'a Shared<T>,
    end: u64,
    /// How many before the end.
    left: u64,
    /// Whether it was the last receiver.
    last: bool,
}

impl<T> Unread<'_, T> {
    fn give_up(&mut self) {
        while self.left > 0 {
            let position = self.end.wrapping_sub(self.left);
            self.left -= 1;
            let message = match self.shared.slot(position).take_lent(position) {
                Some(mut taken) => Receiver::has_read(&mut taken),
                None => None,
            };
            // Somebody else's code, with the slot given back.
            drop(message);
        }
    }
}

/// A message whose destructor panics keeps neither the others nor those who wait until no receiver is left. These are told at last: whoever is woken finds the
/// channel empty.
impl<T> Drop for Unread<'_, T> {
    fn drop(&mut self) {
        self.give_up();
        if self.last {
            self.shared
                .watchers
                .release_all(State::Dismissed, |()| true);
        }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("len", &self.len())
            .finish()
    }
}

/// Waits for a message; see [`Receiver::recv`].
#[must_use = "futures do nothing unless polled"]
pub struct Recv<'a, T> {
    receiver: &'a mut Receiver<T>,
    /// In the line at the end of the ring,
    node: Node,
    /// or in that for loans.
    waits_for_loan: bool,
}

impl<T> Recv<'_, T> {
    fn parts(self: Pin<&mut Self>) -> (&mut Receiver<T>, Pin<&Node>, &mut bool) {
        // SAFETY: nothing is moved; the node stays pinned, the others need not be.
        unsafe {
            let this = self.get_unchecked_mut();
            let node = Pin::new_unchecked(&this.node);
            (&mut *this.receiver, node, &mut this.waits_for_loan)
        }
    }
}

impl<T> Receiver<T> {
    /// A future of this receiver is polled again: is it still in line?
    fn still_waits(&self, node: Pin<&Node>, for_loan: bool, waker: &Waker) -> bool {
        node.state() == State::Waiting
            && State::Waiting
                == if for_loan {
                    self.shared.loans.again(node, waker)
                } else {
                    self.shared.end.again(node, waker)
                }
    }

    /// A future of this receiver leaves its line, if it is in one.
    #[inline]
    fn leave_line(&self, node: Pin<&Node>, for_loan: bool) {
        if for_loan {
            self.shared.loans.withdraw(node, |_| {});
        } else {
            self.shared.end.withdraw(node, |_| {});
        }
    }
}

impl<T: Clone> Recv<'_, T> {
    /// The message is not there: takes a place in line, unless it has come meanwhile, or never will.
    #[cold]
    fn wait(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut absent: Absent,
    ) -> Poll<Result<T, RecvError>> {
        let (receiver, node, waits_for_loan) = self.parts();
        loop {
            if receiver.still_waits(node, *waits_for_loan, cx.waker()) {
                return Poll::Pending;
            }
            receiver.leave_line(node, *waits_for_loan);
            *waits_for_loan = absent == Absent::Lent;
            let waits = if *waits_for_loan {
                receiver.wait_for_loan(node, cx.waker())
            } else {
                match receiver.wait_for_message(node, cx.waker()) {
                    ControlFlow::Continue(()) => true,
                    ControlFlow::Break(Look::Lagged(oldest)) => {
                        return Poll::Ready(Err(RecvError::Lagged(receiver.skip_to(oldest))));
                    }
                    ControlFlow::Break(Look::Closed) => return Poll::Ready(Err(RecvError::Closed)),
                    ControlFlow::Break(Look::Filled | Look::Empty) => false,
                }
            };
            if waits {
                return Poll::Pending;
            }
            match receiver.read_next() {
                Ok(message) => return Poll::Ready(Ok(message)),
                Err(again) => absent = again,
            }
        }
    }
}

impl<T: Clone> Receiver<T> {
    /// Takes a place in the line at the end of the ring, if it has read all that there is.
    fn wait_for_message(&self, node: Pin<&Node>, waker: &Waker) -> ControlFlow<Look> {
        // SAFETY: one line at a time, `&mut` at the caller's, and the future's `drop` withdraws it.
        unsafe {
            self.shared
                .end
                .arrive(node, waker, |guarded| match self.look(&guarded.state) {
                    Look::Empty => ControlFlow::Continue(1),
                    look => ControlFlow::Break(look),
                })
        }
    }

    /// Takes a place in the line of those who wait for the end of a loan, unless that is over.
    fn wait_for_loan(&self, node: Pin<&Node>, waker: &Waker) -> bool {
        let slot = self.shared.slot(self.next);
        let outside = slot.has_flaw(Flaw::MarksOutsideOfTheLock);
        let lent_before = outside && self.must_wait_for_loan();
        // SAFETY: as above.
        let arrived = unsafe {
            self.shared.loans.arrive(node, waker, |_| {
                if lent_before || !outside && self.must_wait_for_loan() {
                    ControlFlow::Continue(1)
                } else {
                    ControlFlow::Break(())
                }
            })
        };
        arrived.is_continue()
    }
}

impl<T: Clone> Future for Recv<'_, T> {
    type Output = Result<T, RecvError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let unit = ready!(coop::take_unit(cx));
        let absent = match self.as_mut().parts().0.read_next() {
            Ok(message) => return Poll::Ready(Ok(message)),
            Err(absent) => absent,
        };
        let polled = self.wait(cx, absent);
        if polled.is_pending() {
            unit.refund();
        }
        polled
    }
}

impl<T> Drop for Recv<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: what is dropped does not move any more.
        let node = unsafe { Pin::new_unchecked(&self.node) };
        self.receiver.leave_line(node, self.waits_for_loan);
    }
}

impl<T> fmt::Debug for Recv<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recv { .. }")
    }
}
