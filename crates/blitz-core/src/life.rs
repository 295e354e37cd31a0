//! What keeps a pool going, in one word: its handle, its unfinished detached tasks, and its visitors.
//!
//! A visitor is a thread that works in the pool for a while without holding the pool's handle: one that has entered a runtime, a companion's own. It is no
//! task, so `wait_idle` does not wait for it; but the pool's threads stay as long as it is there, and it may spawn tasks. When neither is left the pool
//! is over, for ever: whoever comes then is turned away. In one word, so that no reading finds the last task gone before a visitor spawned another.
//!
//! # Closing
//! A pool is *closed* when its handle says so (`shutdown`), while others may still use that handle. From then on nobody gets in from outside; what is inside goes on, spawns
//! and is waited for. A thread that gets in as a visitor is in the word. A guest is not: it takes a seat, which costs it one step of its own ([`crate::occupancy`]), and
//! not two more here. So the handle's share of the word is kept until no guest is left, and given up once ([`Life::drop_handle`]): by whoever closes the pool, or
//! by the last guest.
//!
//! | who closes | guest |
//! |---|---|
//! | C1 `close` | G1 takes the seat |
//! | C2 looks for guests; none: gives the share up | G2 `is_closed`: leaves at once |
//! | | G3 leaves the seat; `is_closed`: as C2 |
//!
//! All of these are SeqCst. *No guest is inside when the share is given up*: one that C2 does not see takes its seat after C1, so G2 sees it. *Somebody gives it up*:
//! a guest that C2 sees is there after C1, so its G3 sees C1; and of all who look after they have left, the last one finds nobody.

use crate::sync::{AtomicBool, AtomicU64, Ordering};
use blitz_primitives::flaw::Flaws;

const TASK: u64 = 1;
const VISITOR: u64 = 1 << 40;
/// Set when nothing else is left, and never taken back.
const OVER: u64 = 1 << 63;

/// What the models break on purpose; see [`Flaws`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "constructed by loom models only")]
enum Flaw {
    GuestsStay,
    LeavesSilently,
    DropsTwice,
    LooksBeforeClosing,
}

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct Life {
    word: AtomicU64,
    closed: AtomicBool,
    /// The handle has not given up its share.
    handle: AtomicBool,
    flaws: Flaws<Flaw>,
}

impl Life {
    /// Of a pool with its handle, which counts as a task.
    pub(crate) fn new() -> Self {
        Self::with_flaws(Flaws::NONE)
    }

    fn with_flaws(flaws: Flaws<Flaw>) -> Self {
        Life {
            word: AtomicU64::new(TASK),
            closed: AtomicBool::new(false),
            handle: AtomicBool::new(true),
            flaws,
        }
    }

    /// C1 and C2. Nobody gets in any more. `true`: the pool is over.
    pub(crate) fn close(&self, has_guests: impl Fn() -> bool) -> bool {
        if self.flaws.has(Flaw::LooksBeforeClosing) && !has_guests() {
            self.closed.store(true, Ordering::SeqCst);
            return self.drop_handle();
        }
        self.closed.store(true, Ordering::SeqCst);
        !has_guests() && self.drop_handle()
    }

    /// G2, and the look of everybody else who comes from outside.
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst) && !self.flaws.has(Flaw::GuestsStay)
    }

    /// G3. A guest has left. `true`: the pool is over.
    #[inline]
    pub(crate) fn guest_left(&self, has_guests: impl Fn() -> bool) -> bool {
        self.closed.load(Ordering::SeqCst)
            && !self.flaws.has(Flaw::LeavesSilently)
            && !has_guests()
            && self.drop_handle()
    }

    /// The handle's share is given up, if it has not been. `true`: the pool is over.
    pub(crate) fn drop_handle(&self) -> bool {
        let first = self.handle.swap(false, Ordering::SeqCst);
        (first || self.flaws.has(Flaw::DropsTwice)) && self.remove_task()
    }

    /// One more task, spawned by somebody who keeps the pool going; or by an exit handler of a pool that is over, whose thread runs it itself.
    pub(crate) fn add_task(&self) {
        self.word.fetch_add(TASK, Ordering::Relaxed);
    }

    /// One more task, unless the pool is over.
    pub(crate) fn try_add_task(&self) -> bool {
        self.try_add(TASK)
    }

    /// A task has ended, or the handle is gone. `true`: the pool is over.
    pub(crate) fn remove_task(&self) -> bool {
        self.remove(TASK)
    }

    /// A visitor comes. `false`: the pool is over.
    pub(crate) fn try_enter(&self) -> bool {
        self.try_add(VISITOR)
    }

    /// And leaves. `true`: the pool is over.
    pub(crate) fn leave(&self) -> bool {
        self.remove(VISITOR)
    }

    fn try_add(&self, what: u64) -> bool {
        let more = |life| (life > 0 && life & OVER == 0).then_some(life + what);
        let order = Ordering::Relaxed;
        self.word.fetch_update(order, order, more).is_ok()
    }

    fn remove(&self, what: u64) -> bool {
        // SeqCst: whatever the tasks did comes before the end of the pool, and half of a store-then-load race with a thread that enters
        // `wait_idle`.
        let is_last = self.word.fetch_sub(what, Ordering::SeqCst) == what;
        if is_last {
            // Nobody adds anything to nothing, so it is as good as one step.
            self.word.store(OVER, Ordering::SeqCst);
        }
        is_last
    }

    /// Detached tasks that have not ended.
    pub(crate) fn tasks(&self) -> usize {
        let shares = (self.word.load(Ordering::SeqCst) & (VISITOR - 1)) as usize;
        // In this order: a handle that is dropped between the two counts as a task, until its share is given up, and not a task as the handle.
        shares - usize::from(self.handle.load(Ordering::SeqCst)).min(shares)
    }

    /// Has everybody gone?
    pub(crate) fn is_over(&self) -> bool {
        let life = self.word.load(Ordering::Acquire);
        life == 0 || life & OVER != 0
    }
}

#[cfg(all(test, loom))]
mod models;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_pool_lives_as_long_as_its_handle_its_tasks_or_its_visitors() {
        let life = Life::new();
        assert!(life.try_enter());
        assert!(!life.drop_handle(), "a visitor is there");
        assert!(!life.drop_handle(), "it has one share");
        assert_eq!(life.tasks(), 0);
        life.add_task();
        assert!(!life.leave(), "it has spawned a task");
        assert!(!life.is_over());
        assert!(life.remove_task());
        assert!(life.is_over() && !life.try_enter() && !life.try_add_task());
        life.add_task();
        assert!(life.is_over(), "an exit handler's task changes nothing");
        assert!(!life.remove_task());
    }
}
