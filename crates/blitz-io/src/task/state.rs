//! The life of a task in one word, with a name for every step.
//!
//! ```text
//!   NOTIFIED --start_poll--> RUNNING --end_poll--> (idle) --wake--> NOTIFIED --> ...
//!                               |  \--woken meanwhile--> NOTIFIED (queued again by the poller)
//!                               \--complete--> COMPLETE
//! ```
//!
//! * **NOTIFIED** means: there is exactly one entry of this task in some queue, or the thread that polls it will make
//!   one when the poll is over. So a task is never in two queues, and a wake never gets lost: it finds either
//!   NOTIFIED (somebody will poll after us), RUNNING (it sets NOTIFIED, and `end_poll` sees it), or neither (it
//!   queues).
//! * **RUNNING** is the lock on the future: whoever sets it may touch the future until it clears it or completes the task.
//! * **CANCELLED** is a request. Whoever polls next, polls now, or (if nobody does) finds the task in the queue because
//!   of the request, drops the future and completes the task.
//!   A shielded section defers that, unless the task is **ENDING** with its runtime.
//! * **JOIN_INTEREST** is there as long as the handle is. **JOIN_WAKER** says whose the waker's cell is: unset, the
//!   handle's; set, the task's, which reads it once it is complete.
//! * The rest counts references: the list of owned tasks, the handle, each waker, the queue's entry (which becomes
//!   the poller's).
//!
//! # Orderings
//! Every step is a read-modify-write with AcqRel: RUNNING hands the future from poller to poller, NOTIFIED hands what the waker
//! wrote to the next poll, COMPLETE hands the output to the handle, the count hands everything to whoever frees.
//! Relaxed anywhere would tear one of these; the loom models beside this file run each race.

use crate::primitives::{AtomicUsize, Ordering};
use blitz_core::checking::Flaws;

const RUNNING: usize = 1 << 0;
const COMPLETE: usize = 1 << 1;
const NOTIFIED: usize = 1 << 2;
const CANCELLED: usize = 1 << 3;
const JOIN_INTEREST: usize = 1 << 4;
const JOIN_WAKER: usize = 1 << 5;
const ENDING: usize = 1 << 6;
const ONE_REF: usize = 1 << 7;
/// About to be queued for the first time: references for the owned list, the queue, the handle.
const FRESH: usize = NOTIFIED | JOIN_INTEREST | (3 * ONE_REF);

/// What the models break on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "constructed by loom models only")]
pub(crate) enum Flaw {
    RelaxedEnd,
    RelaxedComplete,
    RelaxedLastRef,
    ForgetsWakesWhileRunning,
    WakesSilently,
    CancelsSilently,
    GivesWakerBlindly,
    LeavesRunningTasks,
    DropsHandleBlindly,
}

/// The word.
#[derive(Debug)]
pub(crate) struct State(AtomicUsize, Flaws<Flaw>);

/// What to do with a task taken out of a queue.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(crate) enum Start {
    /// Poll its future; the caller is RUNNING.
    Poll,
    /// Drop its future and complete it; the caller is RUNNING.
    Cancel,
    /// Nothing: somebody else has it or had it. The caller gives its reference back.
    Nothing,
}

/// What to do after a poll that returned `Pending`.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(crate) enum End {
    /// Nothing more: the reference of the poll is gone.
    Idle,
    /// It was woken meanwhile: queue it, with the reference of the poll.
    Again,
    /// Drop its future and complete it; the caller is still RUNNING.
    Cancel,
}

/// Has the future of such a task to be dropped rather than polled?
fn must_end(now: usize, shielded: bool) -> bool {
    now & CANCELLED != 0 && (!shielded || now & ENDING != 0)
}

impl State {
    /// Of a task that is about to be queued for the first time.
    pub(crate) fn with_flaws(flaws: Flaws<Flaw>) -> Self {
        State(AtomicUsize::new(FRESH), flaws)
    }

    #[inline]
    fn update<R>(&self, step: impl FnMut(usize) -> (Option<usize>, R)) -> R {
        self.update_with(Ordering::AcqRel, step)
    }

    #[inline]
    fn update_with<R>(
        &self,
        order: Ordering,
        mut step: impl FnMut(usize) -> (Option<usize>, R),
    ) -> R {
        let mut now = self.0.load(Ordering::Acquire);
        loop {
            let (next, result) = step(now);
            let Some(next) = next else { return result };
            match self
                .0
                .compare_exchange_weak(now, next, order, Ordering::Acquire)
            {
                Ok(_) => return result,
                Err(changed) => now = changed,
            }
        }
    }

    /// The holder of a queue's entry wants to poll. `shielded`: a cancellation has to wait for the section's end.
    pub(crate) fn start_poll(&self, shielded: bool) -> Start {
        self.update(|now| {
            if now & (RUNNING | COMPLETE) != 0 {
                return (None, Start::Nothing);
            }
            debug_assert!(now & NOTIFIED != 0, "polled without an entry in a queue");
            let start = if must_end(now, shielded) {
                Start::Cancel
            } else {
                Start::Poll
            };
            (Some((now | RUNNING) & !NOTIFIED), start)
        })
    }

    /// The poll returned `Pending`. `shielded`: a cancellation has to wait for the section's end.
    pub(crate) fn end_poll(&self, shielded: bool) -> End {
        let order = self.1.relax(Flaw::RelaxedEnd, Ordering::AcqRel);
        self.update_with(order, |now| {
            debug_assert!(now & RUNNING != 0);
            if must_end(now, shielded) {
                return (None, End::Cancel);
            }
            if now & NOTIFIED != 0 {
                (Some(now & !RUNNING), End::Again)
            } else {
                debug_assert!(now >= 2 * ONE_REF, "the owned list has a reference, too");
                (Some((now & !RUNNING) - ONE_REF), End::Idle)
            }
        })
    }

    /// The poller has stored the output. Returns whether a handle will want it, and whether it left a waker.
    pub(crate) fn complete(&self) -> (bool, bool) {
        let order = self.1.relax(Flaw::RelaxedComplete, Ordering::AcqRel);
        let before = self.0.fetch_xor(RUNNING | COMPLETE, order);
        debug_assert!(before & RUNNING != 0 && before & COMPLETE == 0);
        (before & JOIN_INTEREST != 0, before & JOIN_WAKER != 0)
    }

    /// The completed task has called the handle's waker. Returns whether the handle is gone, so that the task drops the
    /// waker.
    pub(crate) fn join_waker_called(&self) -> bool {
        let before = self.0.fetch_and(!JOIN_WAKER, Ordering::AcqRel);
        before & JOIN_INTEREST == 0
    }

    /// Somebody with a reference of their own, which they keep, wakes the task. `true`: queue it, with a new reference.
    pub(crate) fn wake_by_ref(&self) -> bool {
        self.update(|now| {
            if now & COMPLETE != 0 {
                (None, false)
            } else if now & NOTIFIED != 0 {
                // Written back unchanged: the poll that clears NOTIFIED then comes after us, and sees what we wake it for.
                let silent = self.1.has(Flaw::WakesSilently);
                ((!silent).then_some(now), false)
            } else if now & RUNNING != 0 {
                let forgets = self.1.has(Flaw::ForgetsWakesWhileRunning);
                (Some(if forgets { now } else { now | NOTIFIED }), false)
            } else {
                (Some((now | NOTIFIED) + ONE_REF), true)
            }
        })
    }

    /// Asks the task to end. `true`: queue it, with a new reference.
    pub(crate) fn cancel(&self) -> bool {
        self.update(|now| {
            if now & (COMPLETE | CANCELLED) != 0 {
                (None, false)
            } else if now & (RUNNING | NOTIFIED) != 0 {
                (Some(now | CANCELLED | NOTIFIED), false)
            } else if self.1.has(Flaw::CancelsSilently) {
                (Some(now | CANCELLED), false)
            } else {
                (Some((now | CANCELLED | NOTIFIED) + ONE_REF), true)
            }
        })
    }

    /// The runtime ends. `true`: the caller is RUNNING, drops the future and completes the task; `false`: whoever runs it
    /// does.
    pub(crate) fn seize(&self) -> bool {
        self.update(|now| {
            let skips_running = self.1.has(Flaw::LeavesRunningTasks) && now & RUNNING != 0;
            if now & COMPLETE != 0 || skips_running {
                (None, false)
            } else if now & RUNNING != 0 {
                (Some(now | CANCELLED | ENDING | NOTIFIED), false)
            } else {
                (Some(now | RUNNING | CANCELLED), true)
            }
        })
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.0.load(Ordering::Acquire) & COMPLETE != 0
    }

    // ---- the handle -------------------------------------------------------------------------

    /// Is the waker's cell the handle's?
    pub(crate) fn handle_owns_waker(&self) -> bool {
        self.0.load(Ordering::Acquire) & JOIN_WAKER == 0
    }

    /// The handle has written a waker and gives the cell to the task. `false`: the task is complete, the cell stays the
    /// handle's.
    pub(crate) fn give_waker(&self) -> bool {
        self.update(|now| {
            debug_assert!(now & JOIN_WAKER == 0);
            if now & COMPLETE != 0 && !self.1.has(Flaw::GivesWakerBlindly) {
                (None, false)
            } else {
                (Some(now | JOIN_WAKER), true)
            }
        })
    }

    /// The handle takes the waker's cell back. `false`: the task is complete.
    pub(crate) fn take_waker_back(&self) -> bool {
        self.update(|now| {
            if now & COMPLETE != 0 {
                (None, false)
            } else {
                (Some(now & !JOIN_WAKER), true)
            }
        })
    }

    /// The handle goes away while nothing has happened to the task yet, nor to the handle. `true`: so it is, and the handle's
    /// interest and reference are gone.
    pub(crate) fn drop_fresh_handle(&self) -> bool {
        let next = FRESH - JOIN_INTEREST - ONE_REF;
        if self.1.has(Flaw::DropsHandleBlindly) {
            self.0.fetch_sub(FRESH - next, Ordering::Release);
            return true;
        }
        // Release, as for every reference but the last, which this is not.
        let order = Ordering::Release;
        self.0
            .compare_exchange(FRESH, next, order, Ordering::Relaxed)
            .is_ok()
    }

    /// The handle goes away. Returns whether it has to drop the output, and whether it has to drop the waker.
    pub(crate) fn drop_interest(&self) -> (bool, bool) {
        self.update(|now| {
            debug_assert!(now & JOIN_INTEREST != 0);
            if now & (COMPLETE | JOIN_WAKER) == COMPLETE {
                // Nobody will ask for our interest any more.
                return (None, (true, true));
            }
            let complete = now & COMPLETE != 0;
            // Complete and JOIN_WAKER: the task is about to call the waker, and drops it when it sees us gone.
            let keeps_bits = if complete { JOIN_WAKER } else { 0 };
            let next = now & !(JOIN_INTEREST | (JOIN_WAKER & !keeps_bits));
            (Some(next), (complete, next & JOIN_WAKER == 0))
        })
    }

    // ---- references -------------------------------------------------------------------------

    pub(crate) fn add_ref(&self) {
        // Relaxed: whoever adds one has one, so nothing is freed, and nothing is published by it.
        let before = self.0.fetch_add(ONE_REF, Ordering::Relaxed);
        if before > usize::MAX / 2 {
            // Wakers that are cloned and forgotten in a loop: ending here is better than a count that wraps.
            std::process::abort();
        }
    }

    /// Drops some, which are the caller's. `true`: these were the last ones.
    #[must_use]
    pub(crate) fn drop_refs(&self, count: usize) -> bool {
        let order = self.1.relax(Flaw::RelaxedLastRef, Ordering::AcqRel);
        let before = self.0.fetch_sub(count * ONE_REF, order);
        debug_assert!(before >= count * ONE_REF);
        before / ONE_REF == count
    }
}

#[cfg(all(test, loom))]
mod models;
