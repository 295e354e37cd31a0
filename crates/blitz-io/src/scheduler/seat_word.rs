//! Which thread is inside the driver, and whether the driver is to be shut: one word.
//!
//! # The driver is shut once nobody needs it, and nobody waits for that
//! The end of a runtime sets [`CLOSING`] in the same step in which it enters, or in which it finds that a thread is inside. A thread leaves by one step
//! that fails if `CLOSING` has been set meanwhile. Then it shuts the driver, while it is still inside. So either the end enters itself, or the thread
//! inside sees its note. There is no moment between the two.
//!
//! # Orderings
//! Entering acquires what the last one released when it left: the driver's exclusive half.

use crate::primitives::{AtomicU32, Ordering};
use blitz_core::checking::Flaws;

#[cfg(all(test, loom))]
mod models;

/// Somebody is inside.
const TAKEN: u32 = 1;
/// It sleeps there, or is about to.
const ASLEEP: u32 = 2;
/// What is inside is to be shut when nobody is there; or it has been.
const CLOSING: u32 = 4;

/// What a model gets wrong on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(all(test, loom)), allow(dead_code))]
pub(super) enum Flaw {
    /// Whoever leaves looks for the note first, and leaves in a second step.
    LeavesInTwoSteps,
    /// The end looks whether somebody is inside before it leaves its note.
    ClosesInTwoSteps,
    RelaxedLeaving,
}

pub(super) struct SeatWord(AtomicU32, Flaws<Flaw>);

impl SeatWord {
    pub(super) fn new() -> Self {
        Self::with_flaws(Flaws::NONE)
    }

    fn with_flaws(flaws: Flaws<Flaw>) -> Self {
        SeatWord(AtomicU32::new(0), flaws)
    }

    /// `true`: the caller is inside.
    pub(super) fn try_enter(&self) -> bool {
        self.0.load(Ordering::Relaxed) & TAKEN == 0
            && self.0.fetch_or(TAKEN, Ordering::Acquire) & TAKEN == 0
    }

    /// The caller, who is inside, leaves, and calls `shut` before if it is time for that.
    pub(super) fn leave(&self, shut: impl FnOnce()) {
        let release = self.1.relax(Flaw::RelaxedLeaving, Ordering::Release);
        let mut state = self.0.load(Ordering::Relaxed);
        while state & CLOSING == 0 {
            if self.1.has(Flaw::LeavesInTwoSteps) {
                self.0.swap(0, release);
                return;
            }
            let left = self
                .0
                .compare_exchange_weak(state, 0, release, Ordering::Relaxed);
            match left {
                Ok(_) => return,
                Err(changed) => state = changed,
            }
        }
        shut();
        // A swap, since those who try to enter write as well: loom does not know which of two stores is the last.
        self.0.swap(CLOSING, release);
    }

    /// `true`: nobody is inside but the caller, who shuts by leaving. `false`: whoever is inside does.
    pub(super) fn close(&self) -> bool {
        if self.1.has(Flaw::ClosesInTwoSteps) && !self.try_enter() {
            self.0.fetch_or(CLOSING, Ordering::AcqRel);
            return false;
        }
        let before = self.0.fetch_or(CLOSING | TAKEN, Ordering::AcqRel);
        before & TAKEN == 0 || self.1.has(Flaw::ClosesInTwoSteps)
    }

    pub(super) fn is_taken(&self) -> bool {
        self.0.load(Ordering::SeqCst) & TAKEN != 0
    }

    pub(super) fn is_asleep(&self) -> bool {
        self.0.load(Ordering::SeqCst) & ASLEEP != 0
    }

    /// The caller, who is inside, is about to sleep, or is awake.
    pub(super) fn set_asleep(&self, asleep: bool) {
        if asleep {
            self.0.fetch_or(ASLEEP, Ordering::SeqCst);
        } else {
            self.0.fetch_and(!ASLEEP, Ordering::SeqCst);
        }
    }
}
