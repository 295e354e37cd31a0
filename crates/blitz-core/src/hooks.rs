//! Handlers of the user's that hear of thefts, sleeps and deadlocks: see the methods of [`ThreadPoolBuilder`](crate::ThreadPoolBuilder).
//!
//! They are called in the middle of the scheduler, by threads that may be about to lose their seat or have none. So they are called as if the thread sat in no
//! pool ([`seat::hidden`]), and what they do in parallel goes elsewhere. The handler of deadlocks, which is to do something about the pool, has a thread of its own.
//!
//! # Deadlocks
//! A pool is deadlocked if all of its threads wait, for others or in a sleep that they have told of ([`sleep_elsewhere`](crate::away::sleep_elsewhere)), or sleep for
//! want of work, at least one of them waits, and no task is queued that a [rescue](crate::rescue) could run. Whoever makes it so asks: by parking, or by falling
//! asleep. Each makes its own part visible before it looks at the others' (both are followed by a full fence), so the last one sees all. It may see too much: a thread whose wait is
//! over, and who has not run since. So the handler's thread looks again, some milliseconds later, before it tells.
//!
//! Only the pool is looked at. If one of the threads waits for another pool, for an outside thread or for the system, that may end the wait; so the handler is told that
//! the *pool* cannot go on by itself, and has to know what it was waiting for. A pool that an async runtime lives on waits for the outside by nature: nothing is reported there.

use crate::abort::complain;
use crate::pool::Pool;
use crate::process_fork;
use crate::seat::{self, Seat};
use std::sync::atomic::{Ordering, fence};
use std::thread;
use std::time::Duration;

/// What looks like a deadlock is one if it still does after so many looks.
const LOOKS: u32 = 3;
const PAUSE: Duration = Duration::from_millis(5);

/// The occupant of `seat` has stolen something from `victim`.
#[inline]
pub(crate) fn stole(seat: &Seat, victim: &Seat) {
    let pool = seat.pool();
    if let Some(handler) = &pool.handlers.steal {
        if let Some(index) = seat.thread_index() {
            let victim = victim.index.min(pool.num_threads());
            seat::hidden(|| pool.catch_panic(|| handler(index, victim)));
        }
    }
}

/// A thread that blocks, until this is dropped.
pub(crate) struct Parked<'a>(&'a Seat, usize);

/// The thread of `seat` is about to block.
#[inline]
pub(crate) fn parks(seat: &Seat) -> Option<Parked<'_>> {
    let handlers = &seat.pool().handlers;
    if handlers.park.is_none() && handlers.unpark.is_none() {
        return None;
    }
    let index = seat.thread_index()?;
    if let Some(handler) = &handlers.park {
        seat::hidden(|| seat.pool().catch_panic(|| handler(index)));
    }
    Some(Parked(seat, index))
}

impl Drop for Parked<'_> {
    fn drop(&mut self) {
        let Parked(seat, index) = *self;
        if let Some(handler) = &seat.pool().handlers.unpark {
            seat::hidden(|| seat.pool().catch_panic(|| handler(index)));
        }
    }
}

/// The caller, who parks or sleeps, may have been the last.
#[inline]
pub(crate) fn look_for_deadlock(pool: &Pool) {
    if pool.handlers.deadlock.is_some() && is_deadlocked(pool) {
        report(pool);
    }
}

fn is_deadlocked(pool: &Pool) -> bool {
    // Our own part before the look at the others'.
    fence(Ordering::SeqCst);
    let counters = pool.sleep.counters();
    if counters.searching() > 0 || pool.rescue.at_work() > 0 || pool.companion().is_some() {
        return false;
    }
    let (waiting, others): (Vec<&Seat>, Vec<&Seat>) =
        pool.seats.iter().partition(|seat| seat.is_lost());
    if waiting.is_empty() || others.iter().any(|seat| seat.occupancy.is_occupied()) {
        return false;
    }
    // Those who sleep would take forks, too; those who wait may not.
    let somebody_sleeps = !others.is_empty();
    !pool.has_tasks() && !(somebody_sleeps && (pool.offers_work() || pool.hides_work()))
}

#[cold]
fn report(pool: &Pool) {
    let Some(pool) = pool.arc() else { return };
    let builder = thread::Builder::new().name("blitz deadlock".into());
    let tell = move || {
        // A thread that has been woken counts as one that waits until it runs, which may take a while. A deadlock is for ever.
        let lasts = (0..LOOKS).all(|_| {
            thread::sleep(PAUSE);
            is_deadlocked(&pool)
        });
        if let (true, Some(handler)) = (lasts, &pool.handlers.deadlock) {
            pool.catch_panic(handler);
        }
    };
    if let Err(error) = process_fork::start_thread(builder, tell) {
        complain(format_args!(
            "all threads of a pool wait for each other, and there is no thread to tell its handler: {error}"
        ));
    }
}
