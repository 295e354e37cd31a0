//! The cores of a scheduler, and whose is which: first those of the workers that the pool had at the beginning, then those of relief threads, then those of
//! threads that the pool got later.

use super::core::{self, Core};
use crate::primitives::ignore_poison;
use blitz_core::rows::Rows;
use crossbeam_utils::CachePadded;
use std::ops::{Index, Range};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// See the module's documentation.
pub(crate) struct Cores {
    rows: Rows<CachePadded<Core>>,
    /// How many threads the pool had.
    first_workers: usize,
    /// Those of the first block that lie behind this one have no owner, and nothing in them.
    in_use: AtomicUsize,
    /// Held while there come more.
    growing: Mutex<()>,
    seed: u64,
}

impl Cores {
    pub(super) fn new(workers: usize, reliefs: usize, seed: u64) -> Self {
        let all = 0..workers + reliefs;
        let rows = all.map(|index| core::one(index, seed)).collect();
        Self::of(rows, workers, seed)
    }

    /// Of a current-thread runtime.
    pub(super) fn of_one_thread(seed: u64) -> Self {
        Self::of(std::iter::once(core::alone(seed)).collect(), 1, seed)
    }

    fn of(rows: Rows<CachePadded<Core>>, workers: usize, seed: u64) -> Self {
        let reliefs = rows.first().len() - workers;
        Cores {
            rows,
            first_workers: workers,
            in_use: AtomicUsize::new(workers + reliefs.min(1)),
            growing: Mutex::new(()),
            seed,
        }
    }

    /// The indices of those of relief threads.
    pub(super) fn reliefs(&self) -> Range<usize> {
        self.first_workers..self.rows.first().len()
    }

    /// Is it the core of a relief thread?
    pub(super) fn is_relief(&self, index: usize) -> bool {
        self.reliefs().contains(&index)
    }

    /// The index of a worker's.
    pub(super) fn index_of(&self, worker: usize) -> usize {
        if worker < self.first_workers {
            worker
        } else {
            worker + self.reliefs().len()
        }
    }

    /// Which worker owns this one, if one does.
    pub(crate) fn worker_of(&self, index: usize) -> Option<usize> {
        if index < self.first_workers {
            Some(index)
        } else {
            let later = index.checked_sub(self.rows.first().len())?;
            Some(self.first_workers + later)
        }
    }

    /// The one with that index, if there is one.
    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<&Core> {
        self.rows.get(index).map(|core| &**core)
    }

    pub(crate) fn of_worker(&self, worker: usize) -> Option<&Core> {
        self.get(self.index_of(worker))
    }

    /// Those of relief threads.
    pub(crate) fn of_reliefs(&self) -> impl Iterator<Item = &Core> {
        let reliefs = &self.rows.first()[self.first_workers..self.in_use()];
        reliefs.iter().map(|core| &**core)
    }

    /// Those that somebody owns, or may own soon, with their indices.
    pub(crate) fn with_index(&self) -> impl Iterator<Item = (usize, &Core)> {
        let first = self.rows.first()[..self.in_use()].iter();
        let all = first.enumerate().chain(self.later());
        all.map(|(index, core)| (index, &**core))
    }

    fn later(&self) -> impl Iterator<Item = (usize, &CachePadded<Core>)> {
        (self.rows.first().len()..).zip(self.rows.rest())
    }

    /// What `find` finds first, asked about each of them, from a random one on. For the owner of the core `mine`, who has drawn it: `random_below`.
    pub(super) fn find<T>(
        &self,
        mine: usize,
        random_below: impl FnOnce(usize) -> usize,
        find: impl Fn(usize, &Core) -> Option<T>,
    ) -> Option<T> {
        let block = self.rows.first();
        let count = self.in_use().max(mine + 1).min(block.len());
        let first = random_below(count);
        let mut all = (first..count).chain(0..first);
        let found = all.find_map(|index| find(index, &block[index]));
        if found.is_some() || !self.rows.is_longer() {
            return found;
        }
        self.later().find_map(|(index, core)| find(index, core))
    }

    /// Whether one of [them](Self::with_index) is such, for those who ask all the time: mostly there is one block.
    #[inline]
    pub(super) fn any(&self, is_it: impl Fn(&Core) -> bool) -> bool {
        let is_it = |core: &CachePadded<Core>| is_it(core);
        self.rows.first()[..self.in_use()].iter().any(is_it)
            || self.rows.is_longer() && self.rows.rest().any(is_it)
    }

    /// How many of the first block somebody owns, or may own soon.
    pub(super) fn in_use(&self) -> usize {
        self.in_use.load(Ordering::SeqCst)
    }

    /// The last one that is owned is the one before `end`.
    pub(super) fn use_until(&self, end: usize) {
        self.in_use.store(end, Ordering::SeqCst);
    }

    /// Makes those up to this one, if they are not there.
    pub(super) fn grow_to(&self, index: usize) {
        let _alone = ignore_poison(self.growing.lock());
        let make = |index| core::one(index, self.seed);
        self.rows.grow_to(index + 1, make);
    }
}

impl Index<usize> for Cores {
    type Output = Core;

    #[inline]
    fn index(&self, index: usize) -> &Core {
        &self.rows[index]
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn bug_20_workers_share_no_cache_line() {
        let cores = Cores::new(3, 0, 1);
        for pair in cores.rows.first().windows(2) {
            let end = (&raw const *pair[0]).addr() + size_of::<Core>();
            let next = (&raw const *pair[1]).addr();
            assert!(next.is_multiple_of(64) && end.next_multiple_of(64) <= next);
        }
    }
}
