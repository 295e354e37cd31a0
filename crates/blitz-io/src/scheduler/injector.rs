//! The queue for tasks that do not come from a worker: spawns and wakes from other threads, and what overflows.
//!
//! The queue holds pointers in a growing ring behind a lock. A whole batch goes in or out under one locking, and no task is accessed under the lock. A
//! list through the tasks would need no memory of its own. But a thread that takes a batch would then wait for the cache line of each task while
//! others wait for the lock. The length can be read without the lock. The queue can be closed. A task that is pushed later comes back to
//! the pusher, so no task is forgotten in a runtime that ends.

use crate::primitives::{AtomicUsize, Mutex, Ordering, ignore_poison};
use crate::task::Queued;
use blitz_core::checking::Flaws;
use std::collections::VecDeque;
use std::ops::DerefMut;

/// The fewest and the most tasks that a worker takes at once.
const BATCH: std::ops::RangeInclusive<usize> = 4..=64;

/// Room for this many tasks is kept when the queue has become empty. Threads that spawn thousands at a time do it again: less room, and
/// each time the queue would grow through half a dozen sizes, the larger ones of which are fresh pages from the kernel.
const KEPT: usize = 16 * 1024;

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
    queue: Mutex<Queue>,
    len: AtomicUsize,
    flaws: Flaws<Flaw>,
}

struct Queue {
    tasks: VecDeque<Queued>,
    closed: bool,
}

impl Injector {
    pub(crate) fn new() -> Self {
        Self::with_flaws(Flaws::NONE)
    }

    pub(crate) fn with_flaws(flaws: Flaws<Flaw>) -> Self {
        Injector {
            queue: Mutex::new(Queue {
                tasks: VecDeque::new(),
                closed: false,
            }),
            len: AtomicUsize::new(0),
            flaws,
        }
    }

    fn queue(&self) -> impl DerefMut<Target = Queue> + '_ {
        ignore_poison(self.queue.lock())
    }

    /// How many tasks wait here. Exact for whoever pushed, a hint for others.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len.load(Ordering::SeqCst)
    }

    /// Under the lock, so that the length never says less than there is to whoever took the lock later.
    ///
    /// Release is enough: whoever relies on a sleeper's seeing it has a fence before its look at the sleepers.
    fn show_len(&self, queue: &Queue) {
        self.len.store(queue.tasks.len(), Ordering::Release);
    }

    /// Adds a task, behind the others or before them, or gives it back if the queue is closed.
    pub(crate) fn push(&self, task: Queued, first: bool) -> Result<(), Queued> {
        let mut queue = self.queue();
        if queue.closed && !self.flaws.has(Flaw::AcceptsAfterClosing) {
            return Err(task);
        }
        if first {
            queue.tasks.push_front(task);
        } else {
            queue.tasks.push_back(task);
        }
        self.show_len(&queue);
        Ok(())
    }

    /// Adds many tasks under one locking; gives them back if the queue is closed.
    pub(crate) fn push_batch(&self, tasks: Vec<Queued>) -> Result<(), Vec<Queued>> {
        let mut queue = self.queue();
        if queue.closed {
            return Err(tasks);
        }
        queue.tasks.extend(tasks);
        self.show_len(&queue);
        Ok(())
    }

    /// Takes up to a fair share for one of `workers` workers: returns the first task, hands the others to `keep`.
    pub(crate) fn take_batch(
        &self,
        workers: usize,
        room: usize,
        keep: impl FnMut(Queued),
    ) -> Option<Queued> {
        if self.len() == 0 {
            return None;
        }
        // Copied out, so that nobody waits for the lock until `keep` has found a place for each.
        let mut batch = [const { None }; *BATCH.end()];
        let mut queue = self.queue();
        let first = queue.tasks.pop_front()?;
        let share = fair_batch(queue.tasks.len() + 1, workers).min(room + 1) - 1;
        let share = share.min(queue.tasks.len());
        for (place, task) in batch.iter_mut().zip(queue.tasks.drain(..share)) {
            *place = Some(task);
        }
        let spare = if queue.tasks.is_empty() && queue.tasks.capacity() > 2 * KEPT {
            std::mem::replace(&mut queue.tasks, VecDeque::with_capacity(KEPT))
        } else {
            VecDeque::new()
        };
        self.show_len(&queue);
        drop(queue);
        drop(spare);
        batch.into_iter().map_while(|task| task).for_each(keep);
        Some(first)
    }

    /// Closes the queue and returns what is in it.
    pub(crate) fn close(&self) -> Vec<Queued> {
        let mut queue = self.queue();
        queue.closed = true;
        if self.flaws.has(Flaw::ForgetsWhatWasQueued) {
            return Vec::new();
        }
        let tasks = std::mem::take(&mut queue.tasks);
        self.show_len(&queue);
        tasks.into()
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
