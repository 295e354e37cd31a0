//! Notification of tasks: of one, which may come later, or of all who wait.
//!
//! One word holds a state and a count. The state is `EMPTY`, `PERMIT` (a notification that nobody has consumed yet; there is never more than one)
//! or `WAITING` (somebody is in the line, and there is no permit). The count is that of the calls of `notify_waiters`.
//!
//! # Who is notified
//!
//! * `notify_one` hands its notification to the first in the line, or leaves it as the permit. A future that goes away with a notification of this kind that
//!   it has not told anybody about hands it on.
//! * `notify_waiters` notifies every [`Notified`] that exists, also those that have not been polled: a future remembers the count at its making, and is
//!   ready as soon as the count is another. Those in the line are released; the line is moved out of the way under the lock, so that whoever comes back is not
//!   notified twice, and a `notify_one` in between does not waste its notification on somebody who has one.
//!
//! # Orderings
//!
//! What somebody did before it notified must be visible to whoever is notified. Notifying is `Release` and consuming is `Acquire`, or the line's lock is between
//! them. `notify_one` changes the word *also if there is a permit already*: whoever consumes that one has to see what happened before either call, and a mere look at
//! the word would publish nothing. Every decision is taken by a change of that one word (under the lock if it concerns the line), so that acquire and
//! release are enough: somebody who has joined the line and then finds that its condition does not hold cannot have missed
//! the notification, because the one who made the condition true changes the word after that, and sees the line.

#[cfg(all(test, loom))]
mod models;

use super::word;
use crate::coop;
use crate::primitives::{AtomicUsize, Ordering, const_fn, constant};
use crate::waiters::{Guarded, Node, State, Waiters};
use crate::wake_batch::WakeBatch;
use blitz_core::checking::Flaws;
use std::fmt;
use std::future::Future;
use std::mem::MaybeUninit;
use std::ops::{ControlFlow, Deref};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

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
/// use blitz_io::sync::Notify;
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// # blitz_io::Runtime::new().unwrap().block_on(async {
/// let shared = Arc::new((AtomicBool::new(false), Notify::new()));
/// let theirs = shared.clone();
/// let waiter = blitz_io::spawn(async move {
///     let (done, notify) = &*theirs;
///     notify.notified().await;
///     assert!(done.load(Ordering::Relaxed));
/// });
/// shared.0.store(true, Ordering::Relaxed);
/// shared.1.notify_one();
/// waiter.await.unwrap();
/// # });
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
        pub const fn new() -> Self {
            Self::with_flaws(Flaws::NONE)
        }
    }

    const_fn! {
        /// As [`new`](Self::new).
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
    #[inline]
    pub fn notified(&self) -> Notified<'_> {
        Notified {
            wait: Wait::new(self),
        }
    }

    /// As [`notified`](Self::notified), for a future that shares the `Notify`.
    pub fn notified_owned(self: Arc<Self>) -> OwnedNotified {
        OwnedNotified {
            wait: Wait::new(self),
        }
    }

    /// Notifies the task that has waited longest; if nobody waits, the next one that does goes on at once. Such notifications do not add up.
    #[inline]
    pub fn notify_one(&self) {
        self.notify(End::First);
    }

    /// As [`notify_one`](Self::notify_one), for the task that came last.
    #[inline]
    pub fn notify_last(&self) {
        self.notify(End::Last);
    }

    /// Notifies every task that waits, and every [`Notified`] that has been made and not polled yet. Nothing is left for later.
    ///
    /// ```
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// let notify = blitz_io::sync::Notify::new();
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

/// Waits for a notification; see [`Notify::notified`].
#[must_use = "futures do nothing unless polled"]
pub struct Notified<'a> {
    wait: Wait<&'a Notify>,
}

/// As [`Notified`], without a lifetime: it shares the [`Notify`].
#[must_use = "futures do nothing unless polled"]
pub struct OwnedNotified {
    wait: Wait<Arc<Notify>>,
}

/// What both are made of.
pub(super) struct Wait<R: Deref<Target = Notify>> {
    notify: R,
    /// How often `notify_waiters` had been called when this was made.
    calls: usize,
    phase: Phase,
    /// There is one if it is in the line. Most never are, and do not pay for it.
    node: MaybeUninit<Node>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Not in the line yet.
    New,
    InLine,
    /// It has been notified.
    Done,
}

impl<R: Deref<Target = Notify>> Wait<R> {
    #[inline]
    pub(super) fn new(notify: R) -> Self {
        Self {
            // Acquire: if it counts a call already, what happened before that call is visible, and need not be waited for.
            calls: notify.word.load(Ordering::Acquire) & !STATE,
            notify,
            phase: Phase::New,
            node: MaybeUninit::uninit(),
        }
    }

    /// What it waits at.
    pub(super) fn notify(&self) -> &R {
        &self.notify
    }

    #[inline]
    pub(super) fn poll(mut self: Pin<&mut Self>, waker: &Waker) -> Poll<()> {
        let done = match self.phase {
            Phase::Done => true,
            Phase::New => {
                self.notify.consume(self.calls).is_ok() || !self.as_mut().join_line(waker)
            }
            // SAFETY: it is in the line.
            Phase::InLine => unsafe { self.as_ref().leaves_line(waker) },
        };
        // SAFETY: nothing is moved.
        let this = unsafe { self.as_mut().get_unchecked_mut() };
        this.phase = if done { Phase::Done } else { Phase::InLine };
        if done { Poll::Ready(()) } else { Poll::Pending }
    }

    /// Joins the line without a waker; one that is there already stays.
    fn enable(self: Pin<&mut Self>) -> bool {
        let waits = self.phase == Phase::InLine
            // SAFETY: it is in the line.
            && unsafe { self.as_ref().node() }.state() == State::Waiting;
        !waits && self.poll(Waker::noop()).is_ready()
    }

    /// # Safety
    /// There is a node.
    unsafe fn node(self: Pin<&Self>) -> Pin<&Node> {
        // SAFETY: given; and the node is pinned with the whole.
        unsafe { self.map_unchecked(|this| this.node.assume_init_ref()) }
    }

    /// `false`: it has been notified just now.
    #[cold]
    fn join_line(mut self: Pin<&mut Self>, waker: &Waker) -> bool {
        // SAFETY: nothing is moved; there is no node yet.
        unsafe { self.as_mut().get_unchecked_mut() }
            .node
            .write(Node::new());
        let this = self.into_ref();
        let notify = &*this.notify;
        let arrive = |_: &mut Guarded<()>| {
            if notify.flaws.has(Flaw::ArrivesBlindly) {
                notify.word.fetch_or(WAITING, Ordering::Acquire);
                return ControlFlow::Continue(1);
            }
            loop {
                if notify.consume(this.calls).is_ok() {
                    return ControlFlow::Break(());
                }
                let waits = notify.change(Ordering::Acquire, |word| {
                    // Notified after all.
                    if word & STATE == PERMIT || word & !STATE != this.calls {
                        return ControlFlow::Break(());
                    }
                    ControlFlow::Continue(word | WAITING)
                });
                if waits.is_continue() {
                    return ControlFlow::Continue(1);
                }
            }
        };
        // SAFETY: one list, a node of ours that only `poll` and `drop` use, and `drop` withdraws it.
        unsafe { notify.waiters.arrive(this.node(), waker, arrive) }.is_continue()
    }

    /// # Safety
    /// There is a node.
    #[cold]
    unsafe fn leaves_line(self: Pin<&Self>, waker: &Waker) -> bool {
        // SAFETY: given.
        let node = unsafe { self.node() };
        if node.state() == State::Waiting
            && self.notify.waiters.again(node, waker) == State::Waiting
        {
            return false;
        }
        self.notify.waiters.withdraw(node, |_| {});
        true
    }

    /// # Safety
    /// There is a node.
    #[cold]
    unsafe fn withdraw(self: Pin<&Self>) {
        let notify = &*self.notify;
        // SAFETY: given.
        let node = unsafe { self.node() };
        let (state, need) = notify
            .waiters
            .withdraw(node, |guarded| notify.line_changed(guarded));
        if state == State::Granted && !notify.flaws.has(Flaw::KeepsNotification) {
            // `notify_one` gives what is needed, `notify_last` does not: so we know whom it was meant for.
            notify.notify(if need == 0 { End::First } else { End::Last });
        }
    }
}

impl<R: Deref<Target = Notify>> Drop for Wait<R> {
    #[inline]
    fn drop(&mut self) {
        if self.phase == Phase::InLine {
            // SAFETY: it is in the line, and what is dropped does not move any more.
            unsafe { Pin::new_unchecked(&*self).withdraw() };
        }
    }
}

/// What both kinds of futures can do.
macro_rules! notified {
    ([$($life:lifetime)?] [$($future:tt)*] $wait:ty) => {
        impl<$($life)?> $($future)* {
            /// Joins the line now, without being polled: from now on it gets notifications of [`Notify::notify_one`] as well. `true`: it has been
            /// notified already, and is ready.
            ///
            /// For a task that looks at a condition between joining the line and waiting, so that it cannot miss a change in between.
            pub fn enable(self: Pin<&mut Self>) -> bool {
                self.wait().enable()
            }

            #[inline]
            fn wait(self: Pin<&mut Self>) -> Pin<&mut $wait> {
                // SAFETY: pinned with the whole.
                unsafe { self.map_unchecked_mut(|this| &mut this.wait) }
            }
        }

        impl<$($life)?> Future for $($future)* {
            type Output = ();

            #[inline]
            fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
                let unit = ready!(coop::take_unit(cx));
                let polled = self.wait().poll(cx.waker());
                if polled.is_pending() {
                    unit.refund();
                }
                polled
            }
        }

        impl<$($life)?> fmt::Debug for $($future)* {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct("Notified").field("phase", &self.wait.phase).finish_non_exhaustive()
            }
        }
    };
}
notified!(['a] [Notified<'a>] Wait<&'a Notify>);
notified!([] [OwnedNotified] Wait<Arc<Notify>>);
