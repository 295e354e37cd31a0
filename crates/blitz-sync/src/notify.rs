//! Notification of tasks: of one task, which may come later, or of all that wait.
//!
//! One word holds a state and a count. The state is `EMPTY`, `PERMIT` (a notification that nobody has consumed yet; there is never more than one)
//! or `WAITING` (somebody is in the line, and there is no permit). The count is that of the calls of `notify_waiters`.
//!
//! # Who is notified
//!
//! * `notify_one` gives its notification to the first in the line, or leaves it as the permit. A future may go away with such a notification before
//!   it has reported it. It then hands the notification on.
//! * `notify_waiters` notifies every [`Notified`] that exists, also those that have not been polled. A future remembers the count from when it was made, and is
//!   ready as soon as the count is different. Futures in the line are released. The line is moved aside under the lock. So a future that comes back is not
//!   notified twice, and a `notify_one` in between does not waste its notification on a future that has one.
//!
//! # Orderings
//!
//! What a thread did before it notified must be visible to the one that is notified. Notifying is `Release` and consuming is `Acquire`, or the line's lock is between
//! them. `notify_one` changes the word *even if there is a permit already*. The one that consumes the permit has to see what happened before either call, and only reading
//! the word would publish nothing. Every decision is a change of that one word (under the lock if it concerns the line). So acquire and
//! release are enough. Suppose that a waiter has joined the line and then finds that its condition does not hold. It cannot have missed
//! the notification, because the thread that makes the condition true changes the word after that, and sees the line.

#[cfg(all(test, loom))]
mod models;
mod notified;

pub(super) use notified::Wait;
pub use notified::{Notified, OwnedNotified};

use super::word;
use crate::primitives::{AtomicUsize, Ordering, const_fn, constant};
use crate::waiters::{Guarded, State, Waiters};
use crate::wake_batch::WakeBatch;
use blitz_primitives::flaw::Flaws;
use std::ops::ControlFlow;
use std::sync::Arc;

const EMPTY: usize = 0;
const WAITING: usize = 1;
const PERMIT: usize = 2;
/// The bits of the state.
const STATE: usize = 3;
/// One call of `notify_waiters`.
const CALL: usize = 4;

/// What a model gets wrong on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(all(test, loom)), allow(dead_code))]
pub(crate) enum Flaw {
    /// A notification that finds a permit does not touch the word.
    LeavesPermitAlone,
    /// A future that goes away keeps its notification.
    KeepsNotification,
    /// An arrival joins the line without another look at the word.
    ArrivesBlindly,
}

/// Wakes tasks that wait for something to happen.
///
/// [`notify_one`](Self::notify_one) wakes one task; if none waits, the next one that does so goes on at once. [`notify_waiters`](Self::notify_waiters)
/// wakes all. Works on any executor; waiting allocates nothing.
///
/// ```
/// use blitz_sync::Notify;
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// let shared = Arc::new((AtomicBool::new(false), Notify::new()));
/// let theirs = shared.clone();
/// let waiter = std::thread::spawn(move || {
///     let (done, notify) = &*theirs;
///     blitz_sync::block_on(notify.notified());
///     assert!(done.load(Ordering::Relaxed));
/// });
/// shared.0.store(true, Ordering::Relaxed);
/// shared.1.notify_one();
/// waiter.join().unwrap();
/// ```
#[derive(Debug)]
pub struct Notify {
    word: AtomicUsize,
    waiters: Waiters<()>,
    flaws: Flaws<Flaw>,
}

/// Which end of the line a notification goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    First,
    Last,
}

impl Notify {
    const_fn! {
        /// A new one, without a permit.
        ///
        /// ```
        /// # fn block_on<F: Future>(f: F) -> F::Output { let mut f = std::pin::pin!(f); loop { if let std::task::Poll::Ready(x) = f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) { return x } std::thread::yield_now() } }
        /// # block_on(async {
        /// let notify = blitz_sync::Notify::new();
        /// notify.notify_one();
        /// notify.notified().await; // at once
        /// # });
        /// ```
        pub const fn new() -> Self {
            Self::with_flaws(Flaws::NONE)
        }
    }

    const_fn! {
        /// As [`new`](Self::new).
        ///
        /// ```
        /// static CHANGED: blitz_sync::Notify = blitz_sync::Notify::const_new();
        /// CHANGED.notify_waiters();
        /// ```
        pub const fn const_new() -> Self {
            Self::new()
        }
    }

    const_fn! {
        const fn with_flaws(flaws: Flaws<Flaw>) -> Self {
            Self {
                word: AtomicUsize::new(EMPTY),
                waiters: constant!(Waiters::new(())),
                flaws,
            }
        }
    }

    /// Waits for a notification: one of [`notify_one`](Self::notify_one) once it is polled (or [enabled](Notified::enable)), one of
    /// [`notify_waiters`](Self::notify_waiters) from now on.
    ///
    /// # Cancel safety
    /// A future that is dropped loses its place in the line; a notification that it has got goes to the next.
    ///
    /// ```
    /// use blitz_sync::Notify;
    /// use std::sync::atomic::{AtomicBool, Ordering};
    ///
    /// async fn wait_until_open(is_open: &AtomicBool, opened: &Notify) {
    ///     loop {
    ///         let notified = opened.notified(); // before the look: nothing is missed
    ///         if is_open.load(Ordering::Acquire) {
    ///             return;
    ///         }
    ///         notified.await;
    ///     }
    /// }
    /// # fn block_on<F: Future>(f: F) -> F::Output { let mut f = std::pin::pin!(f); loop { if let std::task::Poll::Ready(x) = f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) { return x } std::thread::yield_now() } }
    /// let (is_open, opened) = (AtomicBool::new(false), Notify::new());
    /// std::thread::scope(|threads| {
    ///     threads.spawn(|| block_on(wait_until_open(&is_open, &opened)));
    ///     is_open.store(true, Ordering::Release);
    ///     opened.notify_waiters();
    /// });
    /// ```
    #[inline]
    pub fn notified(&self) -> Notified<'_> {
        Notified {
            wait: Wait::new(self),
        }
    }

    /// As [`notified`](Self::notified), for a future that shares the `Notify`.
    ///
    /// ```
    /// # fn block_on<F: Future>(f: F) -> F::Output { let mut f = std::pin::pin!(f); loop { if let std::task::Poll::Ready(x) = f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) { return x } std::thread::yield_now() } }
    /// # block_on(async {
    /// use std::sync::Arc;
    ///
    /// let notify = Arc::new(blitz_sync::Notify::new());
    /// let notified = notify.clone().notified_owned(); // may go to another task
    /// notify.notify_one();
    /// notified.await;
    /// # });
    /// ```
    pub fn notified_owned(self: Arc<Self>) -> OwnedNotified {
        OwnedNotified {
            wait: Wait::new(self),
        }
    }

    /// Notifies the task that has waited longest; if nobody waits, the next one that does goes on at once. Such notifications do not add up.
    ///
    /// ```
    /// use blitz_sync::Notify;
    /// # blitz_sync::block_on(async {
    /// let news = Notify::new();
    /// // Nobody waits: the next who does goes on at once.
    /// news.notify_one();
    /// news.notified().await;
    /// # });
    /// ```
    #[inline]
    pub fn notify_one(&self) {
        self.notify(End::First);
    }

    /// As [`notify_one`](Self::notify_one), for the task that came last.
    ///
    /// ```
    /// # fn block_on<F: Future>(f: F) -> F::Output { let mut f = std::pin::pin!(f); loop { if let std::task::Poll::Ready(x) = f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) { return x } std::thread::yield_now() } }
    /// # block_on(async {
    /// use std::pin::pin;
    ///
    /// let notify = blitz_sync::Notify::new();
    /// let (mut first, mut last) = (pin!(notify.notified()), pin!(notify.notified()));
    /// first.as_mut().enable();
    /// last.as_mut().enable();
    /// notify.notify_last();
    /// assert!(last.as_mut().enable() && !first.as_mut().enable());
    /// last.await;
    /// # });
    /// ```
    #[inline]
    pub fn notify_last(&self) {
        self.notify(End::Last);
    }

    /// Notifies every task that waits, and every [`Notified`] that has been made and not polled yet. Nothing is left for later.
    ///
    /// ```
    /// # blitz_sync::block_on(async {
    /// let notify = blitz_sync::Notify::new();
    /// let (one, two) = (notify.notified(), notify.notified());
    /// notify.notify_waiters();
    /// one.await;
    /// two.await;
    /// # });
    /// ```
    pub fn notify_waiters(&self) {
        let counted = self.change(Ordering::Release, |word| {
            if word & STATE == WAITING {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(word.wrapping_add(CALL))
        });
        if counted.is_continue() {
            return;
        }
        self.waiters.release_all(State::Dismissed, |()| {
            let _ = self.change(Ordering::Release, |word| {
                let state = match word & STATE {
                    WAITING => EMPTY,
                    other => other,
                };
                ControlFlow::<(), _>::Continue((word & !STATE | state).wrapping_add(CALL))
            });
            true
        });
    }

    /// See [`word::change`].
    #[inline]
    fn change<R>(
        &self,
        order: Ordering,
        next: impl FnMut(usize) -> ControlFlow<R, usize>,
    ) -> ControlFlow<R, usize> {
        word::change(&self.word, order, next)
    }

    #[inline]
    fn notify(&self, end: End) {
        if self.leave_permit().is_break() {
            self.waiters
                .releasing(|guarded, batch| self.notify_line(end, guarded, batch));
        }
    }

    /// Leaves a permit, unless somebody waits.
    #[inline]
    fn leave_permit(&self) -> ControlFlow<()> {
        if self.flaws.has(Flaw::LeavesPermitAlone)
            && self.word.load(Ordering::Relaxed) & STATE == PERMIT
        {
            return ControlFlow::Continue(());
        }
        self.change(Ordering::Release, |word| match word & STATE {
            WAITING => ControlFlow::Break(()),
            _ => ControlFlow::Continue(word & !STATE | PERMIT),
        })?;
        ControlFlow::Continue(())
    }

    #[cold]
    fn notify_line(&self, end: End, guarded: &mut Guarded<()>, batch: &mut WakeBatch) {
        // Before we had the lock the last one may have left the line.
        if self.leave_permit().is_continue() {
            return;
        }
        match end {
            End::First => {
                // Tells it which kind it has got; see `Wait::withdraw`.
                guarded.line.feed_first(&mut 1);
                guarded.line.release_first(State::Granted, batch);
            }
            End::Last => {
                guarded.line.release_last(State::Granted, batch);
            }
        }
        self.line_changed(guarded);
    }

    /// Somebody has left the line; the lock is held.
    fn line_changed(&self, guarded: &mut Guarded<()>) {
        if guarded.line.is_empty() {
            let _ = self.change(Ordering::Relaxed, |word| match word & STATE {
                WAITING => ControlFlow::Continue(word & !STATE),
                _ => ControlFlow::Break(()),
            });
        }
    }

    /// Takes the permit, or finds that `notify_waiters` has been called after `calls` calls. `Err`: neither.
    #[inline]
    fn consume(&self, calls: usize) -> Result<(), ()> {
        let consumed = self.change(Ordering::Acquire, |word| {
            if word & !STATE != calls {
                // Leaves the permit to others.
                ControlFlow::Break(Ok(()))
            } else if word & STATE == PERMIT {
                ControlFlow::Continue(word & !STATE)
            } else {
                ControlFlow::Break(Err(()))
            }
        });
        match consumed {
            ControlFlow::Continue(_) => Ok(()),
            ControlFlow::Break(result) => result,
        }
    }
}

impl Default for Notify {
    fn default() -> Self {
        Self::new()
    }
}
