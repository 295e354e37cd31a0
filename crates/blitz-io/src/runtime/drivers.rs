//! Threads that wait for their turn to drive a current-thread runtime.

use crate::primitives::ignore_poison;
use std::sync::Mutex;
use std::thread::{Thread, ThreadId};

/// See the module's documentation.
#[derive(Default)]
pub(crate) struct Drivers(Mutex<Vec<Thread>>);

impl Drivers {
    /// The thread wants to be told when the driver is free, until the guard is dropped.
    pub(super) fn wait(&self, thread: Thread) -> Waiting<'_> {
        let id = thread.id();
        ignore_poison(self.0.lock()).push(thread);
        Waiting { drivers: self, id }
    }

    /// The driver is free.
    pub(super) fn next(&self) {
        let waiting = ignore_poison(self.0.lock());
        waiting.iter().for_each(Thread::unpark);
    }
}

pub(super) struct Waiting<'a> {
    drivers: &'a Drivers,
    id: ThreadId,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut waiting = ignore_poison(self.drivers.0.lock());
        waiting.retain(|thread| thread.id() != self.id);
    }
}
