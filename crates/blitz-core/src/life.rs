//! What keeps a pool going, in one word: its handle, its unfinished detached tasks, and its visitors.
//!
//! A visitor is a thread that works in the pool for a while without holding the pool's handle: one that has entered a runtime, a companion's own. It is no
//! task, so `wait_idle` does not wait for it; but the pool's threads stay as long as it is there, and it may spawn tasks. When neither is left the pool
//! is over, for ever: whoever comes then is turned away. In one word, so that no reading finds the last task gone before a visitor spawned another.

use crate::sync::{AtomicU64, Ordering};

const TASK: u64 = 1;
const VISITOR: u64 = 1 << 40;
/// Set when nothing else is left, and never taken back.
const OVER: u64 = 1 << 63;

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct Life(AtomicU64);

impl Life {
    /// Of a pool with its handle, which counts as a task.
    pub(crate) fn new() -> Self {
        Life(AtomicU64::new(TASK))
    }

    /// One more task, spawned by somebody who keeps the pool going; or by an exit handler of a pool that is over, whose thread runs it itself.
    pub(crate) fn add_task(&self) {
        self.0.fetch_add(TASK, Ordering::Relaxed);
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
        self.0.fetch_update(order, order, more).is_ok()
    }

    fn remove(&self, what: u64) -> bool {
        // SeqCst: whatever the tasks did comes before the end of the pool, and half of a store-then-load race with a thread that enters
        // `wait_idle`.
        let is_last = self.0.fetch_sub(what, Ordering::SeqCst) == what;
        if is_last {
            // Nobody adds anything to nothing, so it is as good as one step.
            self.0.store(OVER, Ordering::SeqCst);
        }
        is_last
    }

    /// Tasks that have not ended, the handle among them.
    pub(crate) fn tasks(&self) -> usize {
        (self.0.load(Ordering::SeqCst) & (VISITOR - 1)) as usize
    }

    /// Has everybody gone?
    pub(crate) fn is_over(&self) -> bool {
        let life = self.0.load(Ordering::Acquire);
        life == 0 || life & OVER != 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_pool_lives_as_long_as_its_handle_its_tasks_or_its_visitors() {
        let life = Life::new();
        assert!(life.try_enter());
        assert!(!life.remove_task(), "a visitor is there");
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
