//! A barrier: tasks wait for each other.
//!
//! The number of tasks that have arrived is under the line's lock. The last task sets it back to zero and moves the line aside in the same critical section. So
//! the next round can begin while the tasks of this one are still being woken.

#[cfg(all(test, loom))]
mod models;

use crate::coop;
use crate::primitives::{const_fn, constant};
use crate::waiters::{Node, State, Waiters};
use blitz_primitives::flaw::Flaws;
use std::fmt;
use std::future::Future;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Lets tasks wait until a number of them have come.
///
/// It can be used again at once. Works on any executor; waiting allocates nothing.
///
/// ```
/// use blitz_sync::Barrier;
/// use std::sync::Arc;
///
/// let barrier = Arc::new(Barrier::new(4));
/// let threads: Vec<_> = (0..4)
///     .map(|_| {
///         let barrier = barrier.clone();
///         std::thread::spawn(move || blitz_sync::block_on(barrier.wait()).is_leader())
///     })
///     .collect();
/// let mut leaders = 0;
/// for thread in threads {
///     leaders += u32::from(thread.join().unwrap());
/// }
/// assert_eq!(leaders, 1);
/// ```
pub struct Barrier {
    size: usize,
    waiters: Waiters<Round>,
    flaws: Flaws<Flaw>,
}

/// What a model gets wrong on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(all(test, loom)), allow(dead_code))]
enum Flaw {
    /// A task that goes away still counts.
    CountsThoseWhoLeft,
    /// A task that goes away is taken from the count of the next round, if its own is complete.
    DiscountsTwice,
}

#[derive(Debug)]
struct Round {
    number: u64,
    /// How many have come.
    arrived: usize,
}

/// What the tasks of one round get.
///
/// ```
/// # fn block_on<F: Future>(f: F) -> F::Output { let mut f = std::pin::pin!(f); loop { if let std::task::Poll::Ready(x) = f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) { return x } std::thread::yield_now() } }
/// # block_on(async {
/// let barrier = blitz_sync::Barrier::new(1);
/// assert!(barrier.wait().await.is_leader()); // the only one is the last one
/// # });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Whether it was the last to come: true for one task of each round.
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

impl Barrier {
    const_fn! {
        /// A barrier for `n` tasks; zero is as good as one.
        ///
        /// ```
        /// use blitz_sync::Barrier;
        ///
        /// static BOTH: Barrier = Barrier::new(2);
        /// # let _ = &BOTH;
        /// ```
        pub const fn new(n: usize) -> Self {
            Self {
                size: if n == 0 { 1 } else { n },
                waiters: constant!(Waiters::new(Round {
                    number: 0,
                    arrived: 0,
                })),
                flaws: Flaws::NONE,
            }
        }
    }

    /// Waits until `n` tasks wait.
    ///
    /// # Cancel safety
    /// A future that is dropped before the round is complete does not count any more.
    ///
    /// ```
    /// use blitz_sync::Barrier;
    /// use std::sync::Arc;
    /// # blitz_sync::block_on(async {
    /// let barrier = Arc::new(Barrier::new(2));
    /// let other = Arc::clone(&barrier);
    /// let thread = std::thread::spawn(move || blitz_sync::block_on(other.wait()).is_leader());
    /// let leads = barrier.wait().await.is_leader();
    /// // One of the two.
    /// assert_ne!(leads, thread.join().unwrap());
    /// # });
    /// ```
    #[inline]
    pub fn wait(&self) -> impl Future<Output = BarrierWaitResult> {
        Wait {
            barrier: self,
            in_line: false,
            round: 0,
            node: Node::new(),
        }
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier")
            .field("size", &self.size)
            .finish_non_exhaustive()
    }
}

#[must_use = "futures do nothing unless polled"]
struct Wait<'a> {
    barrier: &'a Barrier,
    in_line: bool,
    /// The one that it has come to.
    round: u64,
    node: Node,
}

impl Wait<'_> {
    fn node(self: Pin<&Self>) -> Pin<&Node> {
        // SAFETY: the node is pinned with the whole.
        unsafe { self.map_unchecked(|this| &this.node) }
    }

    /// Comes to the barrier. `None`: as the last one; otherwise in which round.
    fn arrive(self: Pin<&Self>, cx: &mut Context<'_>) -> Option<u64> {
        let Barrier { size, waiters, .. } = self.barrier;
        let mut round = 0;
        // SAFETY: one list, a node of ours that only `poll` and `drop` use, and `drop` withdraws it.
        let arrived = unsafe {
            waiters.arrive(self.node(), cx.waker(), |guarded| {
                let state = &mut guarded.state;
                round = state.number;
                state.arrived += 1;
                if state.arrived < *size {
                    return ControlFlow::Continue(1);
                }
                state.number += 1;
                state.arrived = 0;
                ControlFlow::Break(guarded.line.send_off())
            })
        };
        match arrived {
            ControlFlow::Continue(()) => Some(round),
            ControlFlow::Break(leaving) => {
                waiters.see_off(State::Dismissed, leaving);
                None
            }
        }
    }

    fn round_is_complete(self: Pin<&Self>, cx: &mut Context<'_>) -> bool {
        let node = self.node();
        let waiters = &self.barrier.waiters;
        node.state() != State::Waiting || waiters.again(node, cx.waker()) != State::Waiting
    }
}

impl Future for Wait<'_> {
    type Output = BarrierWaitResult;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<BarrierWaitResult> {
        if self.in_line {
            if !self.as_ref().round_is_complete(cx) {
                return Poll::Pending;
            }
            // SAFETY: nothing is moved.
            unsafe { self.get_unchecked_mut() }.in_line = false;
            return Poll::Ready(BarrierWaitResult(false));
        }
        let unit = ready!(coop::take_unit(cx));
        let Some(round) = self.as_ref().arrive(cx) else {
            return Poll::Ready(BarrierWaitResult(true));
        };
        unit.refund();
        // SAFETY: nothing is moved.
        let this = unsafe { self.get_unchecked_mut() };
        (this.in_line, this.round) = (true, round);
        Poll::Pending
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if self.in_line {
            // SAFETY: what is dropped does not move any more.
            let node = unsafe { Pin::new_unchecked(&self.node) };
            let (barrier, round) = (self.barrier, self.round);
            barrier.waiters.withdraw(node, |guarded| {
                // Not if the round is complete and it is only about to be told so.
                let counts = guarded.state.number == round;
                if (counts || barrier.flaws.has(Flaw::DiscountsTwice))
                    && !barrier.flaws.has(Flaw::CountsThoseWhoLeft)
                {
                    guarded.state.arrived = guarded.state.arrived.wrapping_sub(1);
                }
            });
        }
    }
}
