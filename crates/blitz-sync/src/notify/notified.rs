//! The futures that wait for a notification.
//!
//! Each remembers how often `notify_waiters` had been called when it was made, so that it cannot miss a call between then and its first poll. It joins the
//! line with a node of its own (see `waiters`) when it is polled or enabled, and leaves it when it is dropped, handing on a notification that was
//! meant for one alone.

use super::{End, Flaw, Notify, PERMIT, STATE, WAITING};
use crate::coop;
use crate::primitives::Ordering;
use crate::waiters::{Guarded, Node, State};
use std::fmt;
use std::future::Future;
use std::mem::MaybeUninit;
use std::ops::{ControlFlow, Deref};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

/// Waits for a notification; see [`Notify::notified`].
///
/// ```
/// # fn block_on<F: Future>(f: F) -> F::Output { let mut f = std::pin::pin!(f); loop { if let std::task::Poll::Ready(x) = f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) { return x } std::thread::yield_now() } }
/// # block_on(async {
/// use std::pin::pin;
///
/// let notify = blitz_sync::Notify::new();
/// let mut notified = pin!(notify.notified());
/// assert!(!notified.as_mut().enable()); // in line now, without being polled
/// notify.notify_one();
/// notified.await;
/// # });
/// ```
#[must_use = "futures do nothing unless polled"]
pub struct Notified<'a> {
    pub(super) wait: Wait<&'a Notify>,
}

/// As [`Notified`], without a lifetime: it shares the [`Notify`].
///
/// ```
/// # fn block_on<F: Future>(f: F) -> F::Output { let mut f = std::pin::pin!(f); loop { if let std::task::Poll::Ready(x) = f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) { return x } std::thread::yield_now() } }
/// # block_on(async {
/// use std::pin::pin;
/// use std::sync::Arc;
///
/// let notify = Arc::new(blitz_sync::Notify::new());
/// let mut notified = pin!(notify.clone().notified_owned());
/// assert!(!notified.as_mut().enable()); // in line now, without being polled
/// notify.notify_one();
/// notified.await;
/// # });
/// ```
#[must_use = "futures do nothing unless polled"]
pub struct OwnedNotified {
    pub(super) wait: Wait<Arc<Notify>>,
}

/// What both are made of.
pub(crate) struct Wait<R: Deref<Target = Notify>> {
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
    pub(crate) fn new(notify: R) -> Self {
        Self {
            // Acquire: if it counts a call already, what happened before that call is visible, and need not be waited for.
            calls: notify.word.load(Ordering::Acquire) & !STATE,
            notify,
            phase: Phase::New,
            node: MaybeUninit::uninit(),
        }
    }

    /// What it waits at.
    pub(crate) fn notify(&self) -> &R {
        &self.notify
    }

    #[inline]
    pub(crate) fn poll(mut self: Pin<&mut Self>, waker: &Waker) -> Poll<()> {
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
