//! A limit for detached tasks that wait, and what happens to the next one.
//!
//! One count: tasks that have been spawned and have not begun. A spawner takes a place before it queues its task, and the task gives it back before it does anything else. So however tasks
//! move between queues, there are never more of them waiting than places.
//!
//! A spawner that has to wait does so under a lock. *It does not oversleep:* it says that it waits, then looks for a place, then sleeps, all under the lock; a task that begins
//! gives its place back, then looks whether anybody waits (both SeqCst), and if so takes the lock before it tells. If the spawner's look came before the place was given back, so did its word, and the task sees it;
//! and it cannot get the lock before the spawner sleeps.
//!
//! *It does not wait for ever:* a thread of a pool counts as away meanwhile, and when all of them are, and there are tasks, a rescue thread runs these ([`crate::rescue`]). If there may
//! not be another one, a thread of the pool gets a place beyond the limit ([`Capacity::let_one_in`]): whoever finds the pool stuck has seen all of them say that they are away, so those that do not have a place yet
//! look for one after that, or are woken.

use crate::companion::sleep_elsewhere;
use crate::pool::Pool;
use crate::sync::locks::{Condvar, Mutex, ignore_poison};
use blitz_primitives::FullPolicy;
use crossbeam_utils::CachePadded;
use std::sync::atomic::{AtomicUsize, Ordering};

/// See the module's documentation.
pub(crate) struct Capacity {
    places: usize,
    when_full: FullPolicy,
    taken: CachePadded<AtomicUsize>,
    /// Spawners that wait, or are about to.
    waiting: AtomicUsize,
    /// A thread of the pool may have a place beyond the limit.
    gate: Mutex<bool>,
    room: Condvar,
}

impl Capacity {
    pub(crate) fn new((places, when_full): (usize, FullPolicy)) -> Self {
        Capacity {
            places,
            when_full,
            taken: CachePadded::new(AtomicUsize::new(0)),
            waiting: AtomicUsize::new(0),
            gate: Mutex::new(false),
            room: Condvar::new(),
        }
    }

    fn try_take(&self) -> bool {
        let more = |taken| (taken < self.places).then_some(taken + 1);
        let order = Ordering::SeqCst;
        self.taken.fetch_update(order, order, more).is_ok()
    }

    #[track_caller]
    fn take(&self, pool: &Pool) {
        if self.try_take() {
            return;
        }
        match self.when_full {
            FullPolicy::Grow => {
                self.taken.fetch_add(1, Ordering::SeqCst);
            }
            FullPolicy::Block => {
                let inside = pool.current_seat().is_some();
                sleep_elsewhere(|| self.wait(inside));
            }
            FullPolicy::Refuse => panic!(
                "{} tasks wait in this pool, as many as its queue_capacity, and it refuses more: use try_spawn, which hands the task back, or FullPolicy::Block",
                self.places
            ),
        }
    }

    #[cold]
    fn wait(&self, inside: bool) {
        let mut gate = ignore_poison(self.gate.lock());
        self.waiting.fetch_add(1, Ordering::SeqCst);
        while !self.try_take() {
            if inside && std::mem::take(&mut *gate) {
                self.taken.fetch_add(1, Ordering::SeqCst);
                break;
            }
            gate = ignore_poison(self.room.wait(gate));
        }
        self.waiting.fetch_sub(1, Ordering::SeqCst);
    }

    /// All threads of the pool wait, and there is nobody to run what is queued. `false`: none of them waits for room, or is about to.
    fn let_one_in(&self) -> bool {
        if self.when_full != FullPolicy::Block || self.taken.load(Ordering::SeqCst) < self.places {
            return false;
        }
        *ignore_poison(self.gate.lock()) = true;
        // All: others may wait outside.
        self.room.notify_all();
        true
    }

    fn give_back(&self) {
        self.taken.fetch_sub(1, Ordering::SeqCst);
        if self.waiting.load(Ordering::SeqCst) > 0 {
            drop(ignore_poison(self.gate.lock()));
            self.room.notify_one();
        }
    }
}

impl Pool {
    /// A detached task is about to be spawned: takes a place for it, if there is a limit.
    #[inline]
    #[track_caller]
    pub(crate) fn make_room(&self) {
        if let Some(capacity) = &self.capacity {
            capacity.take(self);
        }
    }

    /// The same, if there is one. `false`: there is not.
    pub(crate) fn has_room(&self) -> bool {
        self.capacity.as_ref().is_none_or(Capacity::try_take)
    }

    /// See [`Capacity::let_one_in`].
    pub(crate) fn let_one_in(&self) -> bool {
        self.capacity.as_ref().is_some_and(Capacity::let_one_in)
    }

    /// It begins.
    #[inline]
    pub(crate) fn task_begins(&self) {
        if let Some(capacity) = &self.capacity {
            capacity.give_back();
        }
    }
}
