//! Whether the owner of a core gets to its tasks: one word.
//!
//! * [`AWAY`]: it is in no slice. It sleeps, or does the engine's work, or looks for some.
//! * [`SERVES`]: it runs tasks, and gets to the next one soon.
//! * [`STUCK`]: it is in a poll that takes long. It has said so, or the watcher has seen it.
//!
//! The owner goes from one to the other with plain stores. Others only ever take one that serves for stuck, by an exchange that comes right behind the owner's store: a watcher that is late
//! makes nobody stuck who has left its slice, and may not come back for long. If it is the next poll that it calls stuck, the one after that takes it back.
//!
//! # Workers leave the driver to each other, but not all of them
//! A worker that is about to sleep may leave the driver to one that serves ([`leaves_driver_to`]). It has stopped serving before. Then the engine counts it among those who sleep, and after that
//! it looks for one that serves, perhaps for the second time. Of two that fall asleep, one is counted later, and finds that the other does not serve.

use crate::primitives::{AtomicU32, Ordering};

#[cfg(all(test, loom))]
mod models;

const AWAY: u32 = 0;
const SERVES: u32 = 1;
const STUCK: u32 = 2;

/// See the module's documentation.
pub(crate) struct Service(AtomicU32);

impl Service {
    pub(super) fn new() -> Self {
        Service(AtomicU32::new(AWAY))
    }

    fn state(&self) -> u32 {
        // Relaxed: who sleeps is counted by the engine in between, and everybody else asks for a hint.
        self.0.load(Ordering::Relaxed)
    }

    /// Does the owner run tasks, one after the other?
    #[inline]
    pub(crate) fn serves(&self) -> bool {
        self.state() == SERVES
    }

    /// Is it in a slice: in a poll, or between two of them?
    #[inline]
    pub(crate) fn is_in_slice(&self) -> bool {
        self.state() != AWAY
    }

    /// Is it in a poll that has been found to take long?
    pub(super) fn is_stuck(&self) -> bool {
        self.state() == STUCK
    }

    /// The owner begins a slice, or the next task of one.
    #[inline]
    pub(super) fn goes_on(&self) {
        // A store of the same value would take the line away from readers.
        if !self.serves() {
            self.0.store(SERVES, Ordering::Relaxed);
        }
    }

    /// The slice is over, or the owner goes on without the core.
    pub(super) fn ends(&self) {
        self.0.store(AWAY, Ordering::Relaxed);
    }

    /// The poll takes long, if the owner is in one: it says so, or the watcher does.
    pub(super) fn takes_long(&self) {
        if self.serves() {
            let order = Ordering::Relaxed;
            // If it has moved on meanwhile, that is as well.
            let _ = self.0.compare_exchange(SERVES, STUCK, order, order);
        }
    }
}

/// The caller, who does not serve any more, is about to sleep: does it leave the driver to one of these?
pub(super) fn leaves_driver_to<'a>(mut workers: impl Iterator<Item = &'a Service>) -> bool {
    workers.any(Service::serves)
}
