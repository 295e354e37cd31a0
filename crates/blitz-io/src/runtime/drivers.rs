//! Threads that wait for their turn to drive a current-thread runtime.

use std::sync::{Mutex, PoisonError};
use std::thread::{Thread, ThreadId};

/// See the module's documentation.
#[derive(Default)]
pub(crate) struct Drivers(Mutex<Vec<Thread>>);

impl Drivers {
    /// The thread wants to be told when the driver is free, until the guard is dropped.
    pub(super) fn wait(&self, thread: Thread) -> Waiting<'_> {
        let id = thread.id();
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(thread);
        Waiting { drivers: self, id }
    }

    /// The driver is free.
    pub(super) fn next(&self) {
        let waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.iter().for_each(Thread::unpark);
    }
}

pub(super) struct Waiting<'a> {
    drivers: &'a Drivers,
    id: ThreadId,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut waiting = self
            .drivers
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|thread| thread.id() != self.id);
    }
}
