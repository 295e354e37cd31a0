//! Other numbers of threads while a pool is used.
//!
//! A pool has a *target*, which is what `current_num_threads` says. There are seats for at least so many threads; those that have no thread are *retired*: taken for good, so that no guest sits there,
//! and empty. Nothing of a pool is freed or moved before its end ([`crate::rows`]), so whoever looks at seats needs no lock.
//!
//! **More threads.** Under the lock of the pool's shape, one after the other: the seat is opened, the target raised, the thread started. If that fails the target goes back to what it was, and those that
//! have just come leave again.
//!
//! **Fewer.** The target goes down, and sleepers beyond it are woken. A thread whose index is not below the target notices between two pieces of work, or when it is about to sleep (the target is written before the
//! look at who sleeps, and read after the announcement of a sleep: [`crate::sleep`]). It claims its seat, waiting for a guest to leave if there is one, and *retires* under
//! the lock, if it still has to. Its tasks go to the shared queue. What is in its mailbox it runs: broadcasts are addressed under the same lock, to threads below
//! the target, so none is addressed to a seat after it was retired.
//!
//! A seat gets its next thread when the last one has ended, exit handler included.

use crate::builder::{ErrorKind, ThreadPoolBuildError, start_thread};
use crate::companion::sleep_elsewhere;
use crate::join_stack::MAX_SEATS;
use crate::pool::Pool;
use crate::seat::Seat;
use crate::sync::ignore_poison;
use crate::thread_latch::ThreadLatch;
use std::sync::{Arc, MutexGuard};

impl Pool {
    /// As long as this is held, the pool's number of threads stays as it is, and no thread retires.
    pub(crate) fn shape(&self) -> MutexGuard<'_, ()> {
        ignore_poison(self.shape.lock())
    }

    /// Gives the pool another number of threads. The caller keeps it going meanwhile.
    pub(crate) fn resize(&self, threads: usize) -> Result<(), ThreadPoolBuildError> {
        if threads == 0 {
            return Err(ErrorKind::NoThreads.into());
        }
        if threads > MAX_SEATS - 1 {
            return Err(ErrorKind::TooManyThreads(threads).into());
        }
        if !self.resizable {
            return Err(ErrorKind::UsersThreads.into());
        }
        // In the exit handler of a thread that is one too many, or of one that ends with the pool.
        if self
            .current_seat()
            .is_some_and(|seat| seat.is_retired() || self.is_over())
        {
            return Err(ErrorKind::Leaving.into());
        }
        let shape = self.shape_with_free_seats(threads);
        let before = self.num_threads();
        let mut result = Ok(());
        for index in before..threads {
            result = self.add_thread(index);
            if result.is_err() {
                self.set_target(before);
                break;
            }
        }
        if threads < before {
            self.set_target(threads);
        }
        drop(shape);
        // Those too many, who may sleep.
        self.sleep.wake_all();
        result
    }

    /// Waits until all seats below `threads` have a thread that is there to stay, or none at all.
    fn shape_with_free_seats(&self, threads: usize) -> MutexGuard<'_, ()> {
        loop {
            let shape = self.shape();
            let seats = self.seats.iter().zip(self.stopped.iter()).take(threads);
            let leaving = seats
                .filter(|(seat, _)| seat.is_retired())
                .find_map(|(_, stopped)| Some((stopped, stopped.this_thread()?)));
            let Some((stopped, leaving)) = leaving else {
                return shape;
            };
            drop(shape);
            // Its exit handler may wait for a task of the caller's pool. And whoever else changes the number may be faster: then there is another thread in the seat by now.
            sleep_elsewhere(|| stopped.wait_for_this(leaving));
        }
    }

    /// Under the lock. The target is `index`.
    fn add_thread(&self, index: usize) -> Result<(), ThreadPoolBuildError> {
        let pool = self.arc().expect("somebody uses it");
        let none = |_| {
            let latch = ThreadLatch::new();
            latch.set();
            latch
        };
        self.started.grow_to(index + 1, none);
        self.stopped.grow_to(index + 1, none);
        #[cfg(windows)]
        self.begun.grow_to(index + 1, none);
        self.placement.grow_to(index + 1);
        self.seats.grow_to(index + 1, |index| {
            let seat = Seat::new(index, Arc::as_ptr(&pool));
            seat.set_retired(true);
            seat.occupancy.take();
            seat
        });
        self.set_target(index + 1);
        let seat = &self.seats[index];
        if !seat.is_retired() {
            // It was about to leave, and stays.
            return Ok(());
        }
        self.started[index].reset();
        self.stopped[index].reset();
        #[cfg(windows)]
        self.begun[index].reset();
        if self.handlers.start.is_none() {
            // Otherwise no guest before it has run.
            seat.occupancy.vacate();
        }
        seat.set_retired(false);
        let started = start_thread(pool, index);
        if started.is_err() {
            // A guest may have come. It leaves in its own time, and does no harm: nobody else wants the seat before that.
            while !seat.occupancy.start_running() {
                std::thread::yield_now();
            }
            seat.set_retired(true);
        }
        started
    }

    /// The occupant of `seat`, its own thread, leaves it for good, if the pool still has too many. `false`: it has not.
    pub(crate) fn retire(&self, seat: &Seat) -> bool {
        let _shape = self.shape();
        let retires = seat.index >= self.num_threads();
        if retires {
            seat.set_retired(true);
        }
        retires
    }

    /// Leaves nothing behind in a seat that has been retired.
    ///
    /// # Safety
    /// The caller occupies the seat.
    pub(crate) unsafe fn empty(&self, seat: &Seat) {
        loop {
            let mut any = false;
            // SAFETY: passed on.
            while let Some(task) = unsafe { seat.pop_task() } {
                self.put_back_stranger(task);
            }
            while let Some(task) = seat.mailbox.pop() {
                any = true;
                // SAFETY: passed on.
                unsafe { seat.run_task(task) };
            }
            if !any {
                // Whoever has parked over them relied on this thread, or on those who counted it.
                self.rescue_if_stuck();
                return;
            }
        }
    }
}
