//! A way out when every thread of a pool waits for something that none of them may run.
//!
//! Inside one pool, waits go from ancestors to descendants, so somebody can always go on. Between pools they can
//! form a circle: all threads of P wait for something they installed in Q, all threads of Q for something they
//! installed in P, and neither may run what the other waits for, because it is not a descendant of what it waits
//! for itself. (It takes one pool to do so in a smaller way: a thread leaves a task in its own deque and waits for
//! another pool, where somebody waits for the task.) And a companion's threads block in the middle of tasks, on futures that may depend on
//! tasks in the queues ([`sleep_elsewhere`](crate::wait::sleep_elsewhere)). Running it on top of the waiting frames is what we promise never
//! to do. So somebody else does: a pool that is *stuck* (every occupant parked, tasks in the queues) starts a rescue
//! thread, which runs them on a stack and in a seat of its own, and ends when there are no more. If it blocks in the same way, and the pool is
//! stuck again, another one is started: as many as the program is deep.
//!
//! Threads that search know nothing of these seats. So a rescue thread keeps no tasks to itself: what it spawns goes to the shared queue.
//!
//! Whatever a task may expect of a thread of this pool, it finds here: a stack as large as the others', what the start handler
//! prepares (thread-locals, a registration with some other runtime), a name that begins as theirs do. So the handlers are
//! called, although with an index they know already; a task on a thread that was never set up would be worse.
//!
//! The rescue thread has the index of one of the waiting threads. That is the one case in which two threads of a
//! pool can have the same index at the same time: if the wait ends while the rescue's last job still runs. The
//! alternatives were to let the thread wait for a job that may need what it holds, or an index that is out of range.

use crate::pool::{AbortOnDrop, Pool, complain};
use crate::seat::{self, Seat};
use crate::task::TaskRef;
use crate::worker;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The rescue threads of a pool; usually none.
#[derive(Default)]
pub(crate) struct Rescue {
    count: AtomicUsize,
    seats: Mutex<Vec<Arc<Seat>>>,
}

impl Rescue {
    /// How many rescue threads run.
    pub(crate) fn seats(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    /// Calls `look_at` with the seat of each rescue thread.
    pub(crate) fn each_seat(&self, look_at: impl FnMut(&Seat)) {
        if self.seats() > 0 {
            let seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
            seats.iter().map(AsRef::as_ref).for_each(look_at);
        }
    }

    fn add(&self, seat: &Arc<Seat>) {
        let mut seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        seats.push(Arc::clone(seat));
        self.count.fetch_add(1, Ordering::SeqCst);
    }

    fn remove(&self, seat: &Arc<Seat>) {
        let mut seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        seats.retain(|other| !Arc::ptr_eq(other, seat));
        self.count.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Starts a thread that runs what is in the queues of a stuck pool.
#[cold]
pub(crate) fn start(pool: &Pool) {
    // SAFETY: pools live in an `Arc` (`Pool::new`), and this one is alive.
    let pool = unsafe {
        Arc::increment_strong_count(pool);
        Arc::from_raw(pool)
    };
    let stand_in_for = pool.seats.iter().find(|seat| !seat.waits_for().is_null());
    let index = stand_in_for.map_or(0, |seat| seat.index);
    let seat = Arc::new(Seat::stand_in(index, Arc::as_ptr(&pool)));
    // It counts from now on, so that nobody starts another one for the same reason.
    pool.rescue.add(&seat);
    let run = {
        let (pool, seat) = (Arc::clone(&pool), Arc::clone(&seat));
        move || rescue(&pool, &seat)
    };
    let builder = pool.attributes.stand_in_builder(seat.index);
    if let Err(error) = builder.spawn(run) {
        pool.rescue.remove(&seat);
        complain(format_args!(
            "all threads of a pool wait for something that is still queued, and no thread could be started to run it: {error}"
        ));
    }
}

fn rescue(pool: &Pool, seat: &Arc<Seat>) {
    let abort = AbortOnDrop("a rescue thread panicked outside of any job");
    let index = seat.index;
    // SAFETY: the seat is this thread's alone.
    let before = unsafe { seat.enter() };
    pool.placement.stand_in_started();
    if let Some(handler) = &pool.handlers.start {
        pool.catch_panic(|| handler(index));
    }
    loop {
        // SAFETY: as above.
        let task = unsafe { worker::take_local(seat, &mut 0) };
        let task = task.or_else(|| pool.take_injected());
        match task.or_else(|| steal(pool)) {
            // SAFETY: as above.
            Some(task) => unsafe { seat.run_task(task) },
            None => break,
        }
    }
    if let Some(handler) = &pool.handlers.exit {
        pool.catch_panic(|| handler(index));
    }
    seat::leave(before);
    pool.rescue.remove(seat);
    // Somebody may have relied on us in the moment before.
    if pool.is_stuck() {
        start(pool);
    }
    std::mem::forget(abort);
}

/// A task from anybody's deque.
fn steal(pool: &Pool) -> Option<TaskRef> {
    let mut task = None;
    pool.each_seat(|seat| {
        if task.is_none() {
            task = seat.stealer().steal_until_settled();
        }
    });
    task
}
