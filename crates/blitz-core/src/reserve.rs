//! Seats for threads that stand in for a pool's own: beside the pool's seats, and for as long as the thread likes.
//!
//! A companion may have a thread that runs its work while all of the pool's are busy. What runs there may fork, open a scope or spawn, as it does on
//! the pool's threads; and it may hold a lock that these wait for, so it must not wait for one of them to take its work
//! over. A [`StandIn`] has a seat of its own. Its forks can be taken by the pool's threads as from each other, and its tasks go to the
//! shared queue; what it waits for and they do not take, it runs itself. It looks for no other work.
//!
//! Seats are added as they are needed and used again; they go with the pool. So a thief may look at them without asking.
//!
//! A stand-in has the index of one of the pool's threads, as rescue threads do ([`crate::rescue`]), and with the same reason.

use crate::context::{self, TaskContext};
use crate::pool::{AbortOnDrop, Pool};
use crate::seat::{self, Seat};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// The seats of a pool's stand-ins: a list that only grows.
#[derive(Default)]
pub(crate) struct Reserve {
    newest: AtomicPtr<Chair>,
}

struct Chair {
    seat: Seat,
    taken: AtomicBool,
    /// The one that was there before; null for the first. Never changes once the chair is in the list.
    next: *const Chair,
}

impl Reserve {
    /// All seats, taken or not.
    #[inline]
    pub(crate) fn seats(&self) -> impl Iterator<Item = &Seat> + Clone {
        self.chairs().map(|chair| &chair.seat)
    }

    #[inline]
    fn chairs(&self) -> impl Iterator<Item = &Chair> + Clone {
        // Acquire: the chair and what `next` leads to. SAFETY: chairs in the list live as long as the list, which is borrowed.
        let newest = unsafe { self.newest.load(Ordering::Acquire).as_ref() };
        // SAFETY: as above.
        std::iter::successors(newest, |chair| unsafe { chair.next.as_ref() })
    }

    /// Is it one of these?
    pub(crate) fn has(&self, seat: &Seat) -> bool {
        self.seats().any(|other| ptr::eq(other, seat))
    }

    /// A chair that is the caller's until it gives it back.
    fn take(&self, pool: &Pool) -> &Chair {
        let free = self.chairs().find(|chair| {
            // Acquire: what the last one on it did with the seat.
            !chair.taken.swap(true, Ordering::Acquire)
        });
        free.unwrap_or_else(|| self.add(pool))
    }

    fn add(&self, pool: &Pool) -> &Chair {
        let index = self.chairs().count() % pool.num_threads();
        let seat = Seat::stand_in(index, pool);
        let chair = Box::into_raw(Box::new(Chair {
            seat,
            taken: AtomicBool::new(true),
            next: ptr::null(),
        }));
        let mut newest = self.newest.load(Ordering::Acquire);
        loop {
            // SAFETY: not in the list yet: ours alone.
            unsafe { (*chair).next = newest };
            // Release: the chair, for those who find it.
            match self.newest.compare_exchange_weak(
                newest,
                chair,
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                // SAFETY: it lives as long as the list now.
                Ok(_) => return unsafe { &*chair },
                Err(changed) => newest = changed,
            }
        }
    }
}

impl Drop for Reserve {
    fn drop(&mut self) {
        let mut next = *self.newest.get_mut();
        while !next.is_null() {
            // SAFETY: made by `add`, and in nobody else's hands: stand-ins hold the pool.
            let chair = unsafe { Box::from_raw(next) };
            next = chair.next.cast_mut();
        }
    }
}

/// A thread that is not one of the pool's, with a seat beside theirs, until this is dropped.
///
/// ```
/// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
/// let stand_in = pool.handle().stand_in();
/// // In this thread, and in that pool.
/// let here = std::thread::current().id();
/// let there = stand_in.run(|| (std::thread::current().id(), blitz_core::current_num_threads()));
/// assert_eq!(there, (here, 3));
/// ```
pub struct StandIn {
    pool: Arc<Pool>,
    /// In the pool's reserve.
    chair: *const Chair,
}

impl StandIn {
    pub(crate) fn new(pool: Arc<Pool>) -> Self {
        pool.placement.stand_in_started();
        let chair = ptr::from_ref(pool.reserve.take(&pool));
        StandIn { pool, chair }
    }

    fn chair(&self) -> &Chair {
        // SAFETY: it lives as long as the pool, which we hold.
        unsafe { &*self.chair }
    }

    /// Runs `work` in the calling thread, as work of the pool that descends from nothing else. The pool's threads do not end meanwhile;
    /// if they have, it runs outside of any pool.
    ///
    /// A panic in `work` ends the process. Costs a few atomic operations.
    ///
    /// # Panics
    /// If the calling thread is in a pool.
    pub fn run<R>(&self, work: impl FnOnce() -> R) -> R {
        assert!(
            seat::current().is_none(),
            "StandIn::run: the calling thread is in a pool already"
        );
        if !self.pool.try_retain() {
            return work();
        }
        let abort = AbortOnDrop("a stand-in's work panicked");
        let seat = &self.chair().seat;
        // SAFETY: the chair is ours, and this value is not `Sync` or `Send`: nobody else is in the seat, and we leave it below.
        // Joins leave the stack as they found it; whatever unwinds, unwinds no further than here.
        let result = unsafe {
            let before = seat.enter();
            // As a detached task: `wait_idle` in there does not wait for us.
            let task = TaskContext::new(self.pool.address(), &raw const context::ROOT);
            let result = seat.run_in(task.context(), work);
            seat::leave(before);
            result
        };
        std::mem::forget(abort);
        self.pool.release();
        result
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        // Release: what we did with the seat, for the next one in it.
        self.chair().taken.store(false, Ordering::Release);
    }
}

impl std::fmt::Debug for StandIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StandIn")
            .field("seat", &self.chair().seat)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ThreadPoolBuilder;
    use std::sync::atomic::AtomicUsize;
    use std::thread::{self, ThreadId};
    use std::time::{Duration, Instant};

    fn pool(threads: usize) -> crate::ThreadPool {
        let builder = ThreadPoolBuilder::new().num_threads(threads);
        builder.caller_participates(false).build().unwrap()
    }

    fn id_after(time: Duration) -> ThreadId {
        let start = Instant::now();
        while start.elapsed() < time {
            std::hint::spin_loop();
        }
        thread::current().id()
    }

    #[test]
    fn the_pools_threads_take_a_stand_ins_forks_and_it_stays_where_it_is() {
        let pool = pool(2);
        let stand_in = pool.handle().stand_in();
        let start = Instant::now();
        // `join` promises no parallelism, but should find some.
        let taken = |_: &usize| {
            let half = || id_after(Duration::from_micros(300));
            let (mine, other) = stand_in.run(|| crate::join(half, half));
            assert_eq!(mine, thread::current().id());
            other != mine || start.elapsed() > Duration::from_secs(100)
        };
        assert_eq!((0..).filter(taken).take(10).count(), 10);
        assert!(start.elapsed() < Duration::from_secs(100), "nobody helps");
        let size = stand_in.run(|| crate::join(crate::current_num_threads, || 0).0);
        assert_eq!(size, 2);
        assert!(seat::current().is_none());
    }

    #[test]
    fn a_stand_in_gets_on_while_all_threads_wait_for_it() {
        let pool = pool(2);
        let lock = Arc::new(std::sync::Mutex::new(0_u64));
        let stand_in = pool.handle().stand_in();
        let held = lock.lock().unwrap();
        let (sender, waiting) = std::sync::mpsc::channel();
        for _ in 0..2 {
            let (lock, sender) = (lock.clone(), sender.clone());
            pool.spawn(move || {
                sender.send(()).unwrap();
                *lock.lock().unwrap() += 1;
            });
        }
        drop(sender);
        assert_eq!(waiting.iter().take(2).count(), 2);
        fn sum(n: u64) -> u64 {
            if n < 10 {
                return (0..n).sum();
            }
            let (a, b) = crate::join(|| sum(n / 2), || n / 2 * (n - n / 2) + sum(n - n / 2));
            a + b
        }
        let scoped = AtomicUsize::new(0);
        let joined = stand_in.run(|| {
            crate::scope(|scope| {
                for _ in 0..100 {
                    scope.spawn(|_| {
                        scoped.fetch_add(1, Ordering::Relaxed);
                    });
                }
            });
            sum(10_000)
        });
        assert_eq!((joined, scoped.into_inner()), ((0..10_000).sum(), 100));
        drop(held);
        pool.end_and_wait();
        assert_eq!(*lock.lock().unwrap(), 2);
    }

    #[test]
    fn what_a_stand_in_spawns_is_run_by_the_pool_also_after_it_has_gone() {
        let pool = pool(2);
        let (sender, ran) = std::sync::mpsc::channel();
        let stand_in = pool.handle().stand_in();
        let me = thread::current().id();
        stand_in.run(|| {
            for n in 0..100 {
                let sender = sender.clone();
                let task = move || sender.send((n, thread::current().id())).unwrap();
                if n % 2 == 0 {
                    crate::spawn(task);
                } else {
                    crate::spawn_fifo(task);
                }
            }
        });
        drop((sender, stand_in, pool));
        let mut all: Vec<i32> = Vec::new();
        for (n, thread) in ran {
            assert_ne!(thread, me);
            all.push(n);
        }
        all.sort_unstable();
        assert!(all.into_iter().eq(0..100));
    }

    #[test]
    fn seats_are_used_again_and_each_stand_in_has_its_own() {
        let pool = pool(1);
        let handle = pool.handle();
        let address = |stand_in: &StandIn| stand_in.run(|| ptr::from_ref(seat::current().unwrap()));
        let (one, two) = (handle.stand_in(), handle.stand_in());
        let (first, second) = (address(&one), address(&two));
        assert_ne!(first, second);
        drop(one);
        assert_eq!(address(&handle.stand_in()), first);
        assert_eq!(pool.pool.reserve.seats().count(), 2);
    }

    #[test]
    fn work_of_a_stand_in_whose_pool_has_ended_runs_outside() {
        let pool = pool(1);
        let stand_in = pool.handle().stand_in();
        pool.end_and_wait();
        assert!(stand_in.run(|| seat::current().is_none()));
    }
}
