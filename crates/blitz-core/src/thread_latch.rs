//! A latch that plain blocking threads wait on: thread start, thread end.

use crate::sync::locks::{Condvar, Mutex};
use std::sync::PoisonError;
use std::time::Instant;

/// Set once for each thread, waited for by anybody, without spinning.
#[derive(Debug, Default)]
pub(crate) struct ThreadLatch {
    set: Mutex<bool>,
    changed: Condvar,
}

impl ThreadLatch {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn set(&self) {
        *self.set.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// For another thread.
    pub(crate) fn reset(&self) {
        *self.set.lock().unwrap_or_else(PoisonError::into_inner) = false;
    }

    pub(crate) fn is_set(&self) -> bool {
        *self.set.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn wait(&self) {
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        while !*set {
            set = self
                .changed
                .wait(set)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits no longer than until `deadline`, if there is one. `false`: not set by then.
    pub(crate) fn wait_within(&self, deadline: Option<Instant>) -> bool {
        let Some(deadline) = deadline else {
            self.wait();
            return true;
        };
        let left = deadline.saturating_duration_since(Instant::now());
        let set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(set, left, |set| !*set);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}
