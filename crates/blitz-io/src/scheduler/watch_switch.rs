//! Whether somebody watches: the switch between workers that leave tasks lying and the thread that looks after them.
//!
//! A worker that leaves a task lying without telling anybody (it will get to it soon) makes sure that the vigil is kept: one load, mostly.
//! The watcher ends the vigil when it has found nothing to watch.
//!
//! # No task is left without a watcher
//! The worker makes the task visible, then looks at the switch. The watcher turns the switch off, then looks for tasks a last time. With a full
//! fence between the two steps on both sides, one of them sees what the other did: either the worker begins the vigil anew, or the watcher
//! finds the task and goes on. Release and acquire would not do: both could read the old value. Workers come here at every poll and the
//! watcher ends rarely, so the workers' fence is the light one, and the watcher pays (`blitz_core::primitives::fence`).

use crate::primitives::{AtomicBool, Ordering};
use blitz_core::checking::Flaws;
use blitz_core::primitives::fence;

#[cfg(all(test, loom))]
mod models;

/// What a model gets wrong on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(all(test, loom)), allow(dead_code))]
pub(super) enum Flaw {
    /// The watcher's last look comes before it turns the switch off.
    LooksTooEarly,
    /// Nothing is between a worker's task and its look at the switch.
    DoesNotFence,
}

pub(super) struct Vigil {
    kept: AtomicBool,
    flaws: Flaws<Flaw>,
}

impl Vigil {
    pub(super) fn new(kept: bool) -> Self {
        Self::with_flaws(kept, Flaws::NONE)
    }

    fn with_flaws(kept: bool, flaws: Flaws<Flaw>) -> Self {
        Vigil {
            kept: AtomicBool::new(kept),
            flaws,
        }
    }

    pub(super) fn is_kept(&self) -> bool {
        self.kept.load(Ordering::SeqCst)
    }

    /// The caller has left a task lying. `true`: nobody watches.
    #[inline]
    pub(super) fn is_missed(&self) -> bool {
        if !self.flaws.has(Flaw::DoesNotFence) {
            fence::light();
        }
        !self.kept.load(Ordering::Relaxed)
    }

    /// Turns the switch on. `true`: it was off, and the watcher has to be told.
    pub(super) fn begin(&self) -> bool {
        !self.kept.swap(true, Ordering::SeqCst)
    }

    /// Turns the switch off: there is no watcher.
    pub(super) fn give_up(&self) {
        self.kept.store(false, Ordering::SeqCst);
    }

    /// Turns the switch off, unless tasks are still lying there. For the watcher.
    pub(super) fn end(&self, tasks_lie: impl Fn() -> bool) -> bool {
        if self.flaws.has(Flaw::LooksTooEarly) {
            let go_on = tasks_lie();
            self.kept.store(go_on, Ordering::SeqCst);
            return !go_on;
        }
        self.kept.store(false, Ordering::SeqCst);
        // Where the kernel refuses the fence (a process that was sandboxed after the start), nobody can tell whether tasks lie there: the
        // vigil goes on.
        if fence::heavy() && !tasks_lie() {
            return true;
        }
        // If somebody else has turned it on meanwhile, the watcher is told for nothing.
        self.kept.store(true, Ordering::SeqCst);
        false
    }
}
