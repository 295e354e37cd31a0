//! Whether the watcher is awake: a switch between workers that leave tasks behind and the thread that looks after them.
//!
//! A worker that leaves a task behind without telling anybody (it will get to it soon) makes sure that the watcher is awake: one load, mostly.
//! The watcher turns the switch off when it has found nothing to watch.
//!
//! # No task is left without a watcher
//! The worker makes the task visible, then reads the switch. The watcher turns the switch off, then looks for tasks a last time. Both sides have a full
//! fence between the two steps, so at least one sees what the other did. Either the worker turns the switch on again, or the watcher
//! finds the task and continues. Release and acquire would not be enough: both could read the old value. Workers come here at every poll, and the
//! watcher rarely ends. So the workers' fence is the light one, and the watcher pays (`blitz_core::primitives::fence`).

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

pub(super) struct WatchSwitch {
    on: AtomicBool,
    flaws: Flaws<Flaw>,
}

impl WatchSwitch {
    pub(super) fn new(on: bool) -> Self {
        Self::with_flaws(on, Flaws::NONE)
    }

    fn with_flaws(on: bool, flaws: Flaws<Flaw>) -> Self {
        WatchSwitch {
            on: AtomicBool::new(on),
            flaws,
        }
    }

    pub(super) fn is_on(&self) -> bool {
        self.on.load(Ordering::SeqCst)
    }

    /// The caller has left a task lying. `true`: nobody watches.
    #[inline]
    pub(super) fn is_off(&self) -> bool {
        if !self.flaws.has(Flaw::DoesNotFence) {
            fence::light();
        }
        !self.on.load(Ordering::Relaxed)
    }

    /// Turns the switch on. `true`: it was off, and the watcher has to be told.
    pub(super) fn turn_on(&self) -> bool {
        !self.on.swap(true, Ordering::SeqCst)
    }

    /// Turns the switch off: there is no watcher.
    pub(super) fn turn_off(&self) {
        self.on.store(false, Ordering::SeqCst);
    }

    /// Turns the switch off, unless tasks are still lying there. For the watcher.
    pub(super) fn turn_off_unless(&self, tasks_lie: impl Fn() -> bool) -> bool {
        if self.flaws.has(Flaw::LooksTooEarly) {
            let go_on = tasks_lie();
            self.on.store(go_on, Ordering::SeqCst);
            return !go_on;
        }
        self.on.store(false, Ordering::SeqCst);
        // Where the kernel refuses the fence (a process that was sandboxed after the start), nobody can tell whether tasks lie there: the
        // watcher goes on.
        if fence::heavy() && !tasks_lie() {
            return true;
        }
        // If somebody else has turned it on meanwhile, the watcher is told for nothing.
        self.on.store(true, Ordering::SeqCst);
        false
    }
}
