//! A latch that plain blocking threads wait on: thread start, thread end.

use std::sync::{Condvar, Mutex, PoisonError};

/// Set once, waited for by anybody, without spinning.
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

    pub(crate) fn wait(&self) {
        let mut set = self.set.lock().unwrap_or_else(PoisonError::into_inner);
        while !*set {
            set = self
                .changed
                .wait(set)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}
