//! The life of a task in one word, with a name for every step.
//!
//! ```text
//!   NOTIFIED --start_poll--> RUNNING --end_poll--> (idle) --wake--> NOTIFIED --> ...
//!                               |  \--woken meanwhile--> NOTIFIED (queued again by the poller)
//!                               \--complete--> COMPLETE
//! ```
//!
//! * **NOTIFIED** means: there is exactly one entry of this task in some queue, or the thread that polls it will make
//!   one when the poll is over. So a task is never in two queues, and a wake never gets lost. It finds either
//!   NOTIFIED (the task will be polled after it), RUNNING (it sets NOTIFIED, and `end_poll` sees it), or neither (it
//!   queues the task).
//! * **RUNNING** is the lock on the future: the thread that sets it may access the future until it clears it or completes the task.
//! * **CANCELLED** is a request. The thread that polls now, or polls next, drops the future and completes the task. If there is none, the request puts
//!   the task into the queue.
//!   A shielded section defers that, unless the task is **ENDING** with its runtime.
//! * **JOIN_INTEREST** is set as long as the handle exists. **JOIN_WAKER** says who owns the waker's cell. If it is not set, the
//!   handle does. If it is set, the task does, and reads the cell once it is complete.
//! * Two small numbers are in this word, because a word of their own would make every task sixteen bytes larger, the step of usual allocators.
//!   One is how many **shielded sections** the task is in, which only the RUNNING thread changes. The other is which **shard** of the list of owned tasks it
//!   is in, which its spawner writes before any other thread knows the task.
//! * The rest counts references: the list of owned tasks, the handle, each waker, the queue's entry (which becomes
//!   the poller's).
//!
//! # Orderings
//! Every step is a read-modify-write with AcqRel. RUNNING hands the future from poller to poller. NOTIFIED hands what the waker
//! wrote to the next poll. COMPLETE hands the output to the handle. The count hands everything to the thread that frees.
//! Relaxed anywhere would break one of these. The loom models beside this file run each race.

use crate::primitives::{AtomicU64, Ordering};
use blitz_core::checking::Flaws;

const RUNNING: u64 = 1 << 0;
const COMPLETE: u64 = 1 << 1;
const NOTIFIED: u64 = 1 << 2;
const CANCELLED: u64 = 1 << 3;
const JOIN_INTEREST: u64 = 1 << 4;
const JOIN_WAKER: u64 = 1 << 5;
const ENDING: u64 = 1 << 6;
/// Nine bits: the shard.
const ONE_SHARD: u64 = 1 << 7;
const SHARD: u64 = (MOST_SHARDS as u64 - 1) * ONE_SHARD;
/// Nineteen bits: the shielded sections.
const ONE_SHIELD: u64 = 1 << 16;
const SHIELDS: u64 = 0x7_FFFF * ONE_SHIELD;
/// The console has shown it.
#[cfg(all(feature = "console", not(loom)))]
const SHOWN: u64 = 1 << 35;
/// The remaining 28. Wakers of one task that fill a gigabyte are a mistake of somebody's.
const ONE_REF: u64 = 1 << 36;
/// About to be queued for the first time: references for the owned list, the queue, the handle.
const FRESH: u64 = NOTIFIED | JOIN_INTEREST | (3 * ONE_REF);

/// The most shards that a list of owned tasks can have.
pub(crate) const MOST_SHARDS: usize = 512;

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
pub(crate) struct State(AtomicU64, Flaws<Flaw>);

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
fn must_end(now: u64) -> bool {
    // A shielded section defers it.
    now & CANCELLED != 0 && (now & SHIELDS == 0 || now & ENDING != 0)
}

impl State {
    /// Of a task that is about to be queued for the first time.
    pub(crate) fn with_flaws(flaws: Flaws<Flaw>) -> Self {
        State(AtomicU64::new(FRESH), flaws)
    }

    #[inline]
    fn update<R>(&self, step: impl FnMut(u64) -> (Option<u64>, R)) -> R {
        self.update_with(Ordering::AcqRel, step)
    }

    #[inline]
    fn update_with<R>(&self, order: Ordering, mut step: impl FnMut(u64) -> (Option<u64>, R)) -> R {
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

    /// For somebody who looks. `None`: it is through.
    #[cfg(all(feature = "console", not(loom)))]
    pub(crate) fn doing(&self) -> Option<crate::console::TaskDoing> {
        use crate::console::TaskDoing;
        let now = self.0.load(Ordering::Relaxed);
        (now & COMPLETE == 0).then_some(if now & RUNNING != 0 {
            TaskDoing::Running
        } else if now & NOTIFIED != 0 {
            TaskDoing::Ready
        } else {
            TaskDoing::Idle
        })
    }

    /// Somebody looks at it, for the first time? There may be another task in its memory later.
    #[cfg(all(feature = "console", not(loom)))]
    pub(crate) fn is_first_shown(&self) -> bool {
        let shown = |now| now & SHOWN != 0;
        !shown(self.0.load(Ordering::Relaxed)) && !shown(self.0.fetch_or(SHOWN, Ordering::Relaxed))
    }

    /// The holder of a queue's entry wants to poll.
    pub(crate) fn start_poll(&self) -> Start {
        self.update(|now| {
            if now & (RUNNING | COMPLETE) != 0 {
                return (None, Start::Nothing);
            }
            debug_assert!(now & NOTIFIED != 0, "polled without an entry in a queue");
            let start = if must_end(now) {
                Start::Cancel
            } else {
                Start::Poll
            };
            (Some((now | RUNNING) & !NOTIFIED), start)
        })
    }

    /// The poll returned `Pending`.
    pub(crate) fn end_poll(&self) -> End {
        let order = self.1.relax(Flaw::RelaxedEnd, Ordering::AcqRel);
        self.update_with(order, |now| {
            debug_assert!(now & RUNNING != 0);
            if must_end(now) {
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

    /// Has somebody asked the task to end?
    pub(crate) fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire) & CANCELLED != 0
    }

    /// Is there still a handle?
    pub(crate) fn has_handle(&self) -> bool {
        self.0.load(Ordering::Acquire) & JOIN_INTEREST != 0
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
        let (interest, shard) = (
            JOIN_INTEREST + ONE_REF,
            self.0.load(Ordering::Relaxed) & SHARD,
        );
        if self.1.has(Flaw::DropsHandleBlindly) {
            self.0.fetch_sub(interest, Ordering::Release);
            return true;
        }
        // Release, as for every reference but the last, which this is not.
        let order = Ordering::Release;
        self.0
            .compare_exchange(
                FRESH | shard,
                (FRESH - interest) | shard,
                order,
                Ordering::Relaxed,
            )
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

    // ---- the small numbers ------------------------------------------------------------------

    /// Writes down the shard, which must be below [`MOST_SHARDS`]. For the spawner, while it alone knows the task.
    #[inline]
    pub(crate) fn set_shard(&self, shard: usize) {
        debug_assert!(shard < MOST_SHARDS);
        // A plain store: nobody else writes yet.
        let now = self.0.load(Ordering::Relaxed) & !SHARD;
        let next = now | (shard as u64 * ONE_SHARD);
        self.0.store(next, Ordering::Relaxed);
    }

    /// The shard.
    #[inline]
    pub(crate) fn shard(&self) -> usize {
        ((self.0.load(Ordering::Relaxed) & SHARD) / ONE_SHARD) as usize
    }

    /// The task enters a shielded section. For the RUNNING thread.
    ///
    /// A task that is in a million of them at the same time stays shielded for good: the count is full, and nobody knows any more when it is
    /// down to zero.
    pub(crate) fn enter_shield(&self) {
        // Only the RUNNING thread changes these bits, so they are the same in the next step. Relaxed: only that thread acts on them,
        // and the end of its poll hands them on.
        if self.0.load(Ordering::Relaxed) & SHIELDS != SHIELDS {
            self.0.fetch_add(ONE_SHIELD, Ordering::Relaxed);
        }
    }

    /// It leaves one, if it is in any: a section that was begun in another task, which had the same address, is not counted here.
    /// For the RUNNING thread.
    pub(crate) fn leave_shield(&self) {
        let shields = self.0.load(Ordering::Relaxed) & SHIELDS;
        if shields != 0 && shields != SHIELDS {
            self.0.fetch_sub(ONE_SHIELD, Ordering::Relaxed);
        }
    }

    // ---- references -------------------------------------------------------------------------

    pub(crate) fn add_ref(&self) {
        // Relaxed: whoever adds one has one, so nothing is freed, and nothing is published by it.
        let before = self.0.fetch_add(ONE_REF, Ordering::Relaxed);
        if before > u64::MAX / 2 {
            // Wakers that are cloned and forgotten in a loop: ending here is better than a count that wraps.
            std::process::abort();
        }
    }

    /// Drops some, which are the caller's. `true`: these were the last ones.
    #[must_use]
    pub(crate) fn drop_refs(&self, count: u64) -> bool {
        let order = self.1.relax(Flaw::RelaxedLastRef, Ordering::AcqRel);
        let before = self.0.fetch_sub(count * ONE_REF, order);
        debug_assert!(before >= count * ONE_REF);
        before / ONE_REF == count
    }
}

#[cfg(all(test, loom))]
mod models;
