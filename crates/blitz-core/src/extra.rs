//! Seats beside those of a pool's threads, for whoever works for the pool while it has none of its own.
//!
//! Five kinds of threads do:
//! * an outside thread whose work nobody takes, because every thread of the pool may be waiting for a lock that it holds ([`crate::guest`]);
//! * a thread of the pool whose seat a guest has, while there is something for the companion to run ([`crate::worker`]);
//! * a companion's own thread, which runs its work while the pool's are busy ([`StandIn`]);
//! * a rescue thread, which runs what is queued while all of the pool's threads wait, or stands in for one that is away ([`crate::rescue`]);
//! * a relay thread, to which background work lends its CPU ([`crate::priority`]).
//!
//! The last two are the engine's own: both [live](live) as the pool's threads do.
//!
//! What runs there may fork, open a scope or spawn, as it does in the pool's own seats, and never has to wait for one of the pool's threads: these may
//! wait for something that it holds. Its forks can be taken by others as from any seat; its tasks go to the shared queue; what it waits for and they do not take,
//! it runs itself. Only a rescue thread looks for more than that.
//!
//! Seats are added as they are needed and used again; they go with the pool. So a thief may look at them without asking.
//!
//! **No index.** There are as many indices as threads, and each may be in use: an occupant of such a seat has none. (A rescue thread has that of a thread
//! that waits.)

use crate::abort::AbortOnDrop;
use crate::context;
use crate::join_stack::JoinStack;
use crate::pool::Pool;
use crate::seat::{self, Seat};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// The extra seats of a pool: a list that only grows.
#[derive(Default)]
pub(crate) struct ExtraSeats {
    newest: AtomicPtr<Extra>,
}

struct Extra {
    seat: Seat,
    taken: AtomicBool,
    /// The one that was there before; null for the first. Never changes once this one is in the list.
    next: *const Extra,
}

/// The seats that were in the list, by hand for the sake of those who compile it (see `rows::Iter`).
#[derive(Clone)]
pub(crate) struct Seats<'a>(All<'a>);

impl<'a> Iterator for Seats<'a> {
    type Item = &'a Seat;

    #[inline]
    fn next(&mut self) -> Option<&'a Seat> {
        self.0.next().map(|extra| &extra.seat)
    }
}

#[derive(Clone)]
struct All<'a>(Option<&'a Extra>);

impl<'a> Iterator for All<'a> {
    type Item = &'a Extra;

    #[inline]
    fn next(&mut self) -> Option<&'a Extra> {
        let extra = self.0?;
        // SAFETY: what is in the list lives as long as the list, which is borrowed.
        self.0 = unsafe { extra.next.as_ref() };
        Some(extra)
    }
}

impl ExtraSeats {
    /// All of them, taken or not.
    #[inline]
    pub(crate) fn seats(&self) -> Seats<'_> {
        Seats(self.all())
    }

    #[inline]
    fn all(&self) -> All<'_> {
        // Acquire: the seat and what `next` leads to. SAFETY: what is in the list lives as long as the list, which is borrowed.
        All(unsafe { self.newest.load(Ordering::Acquire).as_ref() })
    }

    /// One that is the caller's until it gives it back.
    fn take(&self, pool: &Pool) -> &Extra {
        let free = self.all().find(|extra| {
            // Acquire: what the last one did with the seat.
            !extra.taken.load(Ordering::Relaxed) && !extra.taken.swap(true, Ordering::Acquire)
        });
        free.unwrap_or_else(|| self.add(pool))
    }

    fn add(&self, pool: &Pool) -> &Extra {
        let extra = Box::into_raw(Box::new(Extra {
            seat: Seat::extra(pool),
            taken: AtomicBool::new(true),
            next: ptr::null(),
        }));
        let mut newest = self.newest.load(Ordering::Acquire);
        loop {
            // SAFETY: not in the list yet: ours alone.
            unsafe { (*extra).next = newest };
            // Release: the seat, for those who find it.
            let (order, failed) = (Ordering::AcqRel, Ordering::Acquire);
            match self
                .newest
                .compare_exchange_weak(newest, extra, order, failed)
            {
                // SAFETY: it lives as long as the list now.
                Ok(_) => return unsafe { &*extra },
                Err(changed) => newest = changed,
            }
        }
    }
}

impl Drop for ExtraSeats {
    fn drop(&mut self) {
        let mut next = *self.newest.get_mut();
        while !next.is_null() {
            // SAFETY: made by `add`, and in nobody else's hands: occupants hold the pool.
            let extra = unsafe { Box::from_raw(next) };
            next = extra.next.cast_mut();
        }
    }
}

/// The calling thread in an extra seat, until this is dropped.
pub(crate) struct Beside<'a> {
    extra: &'a Extra,
    before: *const JoinStack,
}

impl<'a> Beside<'a> {
    /// The caller keeps the pool alive, and its threads if what runs in the seat needs them.
    pub(crate) fn enter(pool: &'a Pool) -> Self {
        let extra = pool.extra.take(pool);
        // SAFETY: the seat is ours until `drop`, and this value stays on its thread.
        let before = unsafe { extra.seat.enter() };
        Beside { extra, before }
    }

    pub(crate) fn seat(&self) -> &'a Seat {
        &self.extra.seat
    }
}

impl Drop for Beside<'_> {
    fn drop(&mut self) {
        self.extra.seat.running_since.set(0);
        seat::leave(self.before);
        // Release: what we did with the seat, for the next one in it.
        self.extra.taken.store(false, Ordering::Release);
    }
}

/// The life of a thread that the engine has started to work for the pool beside its own, and that nobody can tell from these: handlers, companion and placement are theirs.
/// It has an end when there are no more `turns`. A companion that comes to the pool meanwhile is told of the thread before its next turn.
pub(crate) fn live<T>(
    pool: &Pool,
    index: usize,
    turns: impl Iterator<Item = T>,
    mut work: impl FnMut(&Seat, T),
) {
    let beside = Beside::enter(pool);
    pool.placement.stand_in_started();
    if let Some(handler) = &pool.handlers.start {
        pool.catch_panic(|| handler(index));
    }
    let mut companion = None;
    for turn in turns {
        if companion.is_none() {
            companion = pool
                .companion()
                .inspect(|companion| companion.thread_started(None));
        }
        work(beside.seat(), turn);
    }
    if let Some(companion) = companion {
        companion.thread_stopped(None);
    }
    if let Some(handler) = &pool.handlers.exit {
        pool.catch_panic(|| handler(index));
    }
    drop(beside);
}

/// A thread that is not one of the pool's and runs work in it, in an extra seat.
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
}

impl StandIn {
    pub(crate) fn new(pool: Arc<Pool>) -> Self {
        pool.placement.stand_in_started();
        StandIn { pool }
    }

    /// Runs `work` in the calling thread, as work of the pool that descends from nothing else. The pool's threads do not end meanwhile;
    /// if they have, it runs outside of any pool. It has [no index](crate::current_thread_index).
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
        let Some(_visit) = self.pool.visit() else {
            return work();
        };
        let abort = AbortOnDrop("a stand-in's work panicked");
        let beside = Beside::enter(&self.pool);
        // It hears of what takes long there, as on the pool's threads.
        let companion = self.pool.companion();
        let seat = beside.seat();
        seat.bring(companion.as_ref(), seat.index);
        // SAFETY: the seat is ours. Joins leave the stack as they found it; whatever unwinds, unwinds no further than here.
        let result = unsafe { seat.run_in(&raw const context::ROOT, work) };
        seat.bring(None, 0);
        drop(beside);
        std::mem::forget(abort);
        result
    }
}

impl std::fmt::Debug for StandIn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StandIn").finish_non_exhaustive()
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
    fn a_stand_in_that_is_turned_away_does_not_bring_the_pool_back() {
        let pool = pool(1);
        let handle = pool.handle();
        let stand_in = handle.stand_in();
        drop(pool);
        assert!(handle.join_threads(None));
        for _ in 0..2 {
            assert!(stand_in.run(|| seat::current().is_none()));
        }
        // Nobody would run it.
        assert!(handle.spawn(None, || ()).is_err());
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
        pool.shutdown();
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
    fn seats_are_used_again_and_each_occupant_has_its_own() {
        let pool = pool(1);
        let stand_in = pool.handle().stand_in();
        let address = || ptr::from_ref(seat::current().unwrap());
        let (first, second) = stand_in.run(|| {
            let first = address();
            let beside = Beside::enter(pool.pool());
            let second = ptr::from_ref(beside.seat());
            assert_eq!(second, address());
            drop(beside);
            assert_eq!(first, address());
            (first, second)
        });
        assert_ne!(first, second);
        let again = stand_in.run(address);
        assert!(again == first || again == second);
        assert_eq!(pool.pool().extra.seats().count(), 2);
    }

    #[test]
    fn an_occupant_of_an_extra_seat_has_no_index() {
        let pool = pool(2);
        let index = || (crate::current_thread_index(), pool.current_thread_index());
        assert_eq!(pool.handle().stand_in().run(index), (None, None));
    }

    #[test]
    fn work_of_a_stand_in_whose_pool_has_ended_runs_outside() {
        let pool = pool(1);
        let stand_in = pool.handle().stand_in();
        pool.shutdown();
        assert!(stand_in.run(|| seat::current().is_none()));
    }
}
