//! The queue for tasks that do not come from a worker: spawns and wakes from other threads, and what overflows.
//!
//! A list through the tasks themselves behind a lock: nothing is allocated, a whole batch goes in or out under one
//! locking, and the length is readable without the lock. It can be closed; what is pushed later comes back to the
//! pusher, so that no task is forgotten in a runtime that ends.

use crate::primitives::{AtomicUsize, Mutex, Ordering};
use crate::task::{Header, Queued};
use blitz_core::checking::Flaws;
use std::ops::DerefMut;
use std::ptr;
use std::sync::PoisonError;

/// The fewest and the most tasks that a worker takes at once.
const BATCH: std::ops::RangeInclusive<usize> = 4..=64;

/// The share of a worker: `len / workers`, but neither a trickle nor a flood.
pub(crate) fn fair_batch(len: usize, workers: usize) -> usize {
    (len / workers.max(1)).clamp(*BATCH.start(), *BATCH.end())
}

/// What the models break on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "constructed by loom models only")]
pub(crate) enum Flaw {
    AcceptsAfterClosing,
    ForgetsWhatWasQueued,
}

pub(crate) struct Injector {
    list: Mutex<List>,
    len: AtomicUsize,
    flaws: Flaws<Flaw>,
}

struct List {
    first: *const Header,
    last: *const Header,
    closed: bool,
}

// SAFETY: the list owns the entries in it, and entries may be sent.
unsafe impl Send for List {}

impl List {
    fn append(&mut self, task: Queued) {
        let task = task.into_raw();
        // SAFETY: the entry is ours, so its `next` is, too.
        unsafe { (*task).next.set(ptr::null()) };
        if self.last.is_null() {
            self.first = task;
        } else {
            // SAFETY: the list owns its last entry.
            unsafe { (*self.last).next.set(task) };
        }
        self.last = task;
    }

    fn take_first(&mut self) -> Option<Queued> {
        if self.first.is_null() {
            return None;
        }
        // SAFETY: the list owns its first entry, and gives it away.
        unsafe {
            let task = Queued::from_raw(self.first);
            self.first = (*self.first).next.get();
            if self.first.is_null() {
                self.last = ptr::null();
            }
            Some(task)
        }
    }
}

impl Injector {
    pub(crate) fn new() -> Self {
        Self::with_flaws(Flaws::NONE)
    }

    pub(crate) fn with_flaws(flaws: Flaws<Flaw>) -> Self {
        Injector {
            list: Mutex::new(List {
                first: ptr::null(),
                last: ptr::null(),
                closed: false,
            }),
            len: AtomicUsize::new(0),
            flaws,
        }
    }

    fn list(&self) -> impl DerefMut<Target = List> + '_ {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many tasks wait here. Exact for whoever pushed, a hint for others.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::SeqCst)
    }

    /// Adds a task, or gives it back if the queue is closed.
    pub(crate) fn push(&self, task: Queued) -> Result<(), Queued> {
        let mut list = self.list();
        if list.closed && !self.flaws.has(Flaw::AcceptsAfterClosing) {
            return Err(task);
        }
        list.append(task);
        // Under the lock, so that the length never says less than there is to whoever took the lock later.
        self.len.store(self.len() + 1, Ordering::SeqCst);
        Ok(())
    }

    /// Adds many tasks under one locking; gives them back if the queue is closed.
    pub(crate) fn push_batch(&self, tasks: Vec<Queued>) -> Result<(), Vec<Queued>> {
        let mut list = self.list();
        if list.closed {
            return Err(tasks);
        }
        let count = tasks.len();
        tasks.into_iter().for_each(|task| list.append(task));
        self.len.store(self.len() + count, Ordering::SeqCst);
        Ok(())
    }

    /// Takes up to a fair share for one of `workers` workers: returns the first task, hands the others to `keep`.
    pub(crate) fn take_batch(
        &self,
        workers: usize,
        room: usize,
        mut keep: impl FnMut(Queued),
    ) -> Option<Queued> {
        if self.len() == 0 {
            return None;
        }
        let mut list = self.list();
        let share = fair_batch(self.len(), workers).min(room + 1);
        let first = list.take_first()?;
        let mut taken = 1;
        while taken < share
            && let Some(task) = list.take_first()
        {
            keep(task);
            taken += 1;
        }
        self.len.store(self.len() - taken, Ordering::SeqCst);
        Some(first)
    }

    /// Closes the queue and returns what is in it.
    pub(crate) fn close(&self) -> Vec<Queued> {
        let mut list = self.list();
        list.closed = true;
        if self.flaws.has(Flaw::ForgetsWhatWasQueued) {
            return Vec::new();
        }
        self.len.store(0, Ordering::SeqCst);
        std::iter::from_fn(|| list.take_first()).collect()
    }
}

/// Entries that no queue takes: the runtime has ended, and their tasks are shut down, or will be by whoever polls them.
pub(crate) fn refuse(tasks: impl IntoIterator<Item = Queued>) {
    for task in tasks {
        task.task().shutdown();
    }
}

impl Drop for Injector {
    fn drop(&mut self) {
        drop(self.close());
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_neither_a_trickle_nor_a_flood() {
        assert_eq!(fair_batch(0, 8), 4);
        assert_eq!(fair_batch(80, 8), 10);
        assert_eq!(fair_batch(10_000, 8), 64);
        assert_eq!(fair_batch(10, 0), 10);
    }
}
