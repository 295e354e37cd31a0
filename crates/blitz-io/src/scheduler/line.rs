//! The queue of a runtime's only worker: first in, first out, however many tasks there are.
//!
//! No other thread takes tasks from that worker. So the line needs neither the ring's places for thieves nor its limit. Everything but the length is for the owner alone: the thread that is in the
//! driver of a current-thread runtime. Other threads put the tasks that they wake into the injector.

use crate::task::Queued;
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Room for this many tasks is kept when the line has become empty.
const KEPT: usize = 16 * 1024;

/// See the module's documentation.
#[derive(Default)]
pub(crate) struct Line {
    tasks: UnsafeCell<VecDeque<Queued>>,
    /// Written by the owner only.
    len: AtomicUsize,
}

// SAFETY: the tasks are touched by the owner only, by the contracts of the methods, and may move between threads as it does.
unsafe impl Sync for Line {}

impl Line {
    /// How many tasks are ready here: exactly for the owner, about for others.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::Relaxed)
    }

    /// Adds a task at the end.
    ///
    /// # Safety
    /// The caller is the owner.
    #[inline]
    pub(crate) unsafe fn push(&self, task: Queued) {
        // SAFETY: the owner is here, and not in another method: none of them calls code of others while it has this reference.
        let tasks = unsafe { &mut *self.tasks.get() };
        tasks.push_back(task);
        self.len.store(tasks.len(), Ordering::Relaxed);
    }

    /// Takes the oldest task.
    ///
    /// # Safety
    /// The caller is the owner.
    #[inline]
    pub(crate) unsafe fn pop(&self) -> Option<Queued> {
        // SAFETY: as in `push`.
        let tasks = unsafe { &mut *self.tasks.get() };
        let task = tasks.pop_front()?;
        self.len.store(tasks.len(), Ordering::Relaxed);
        if tasks.is_empty() && tasks.capacity() > 2 * KEPT {
            shrink(tasks);
        }
        Some(task)
    }
}

#[cold]
fn shrink(tasks: &mut VecDeque<Queued>) {
    *tasks = VecDeque::with_capacity(KEPT);
}
