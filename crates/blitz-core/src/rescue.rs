//! A way out when every thread of a pool waits for something that none of them may run.
//!
//! Inside one pool, waits go from ancestors to descendants, so somebody can always go on. Between pools they can
//! form a circle: all threads of P wait for something they installed in Q, all threads of Q for something they
//! installed in P, and neither may run what the other waits for, because it is not a descendant of what it waits
//! for itself. (It takes one pool to do so in a smaller way: a thread leaves a task in its own deque and waits for
//! another pool, where somebody waits for the task.) And a companion's threads block in the middle of tasks, on futures that may depend on
//! tasks in the queues ([`sleep_elsewhere`](crate::away::sleep_elsewhere)). Running it on top of the waiting frames is what we promise never
//! to do. So somebody else does: a pool that is *stuck* (every seat lost, because those who would run what is queued are parked,
//! and tasks in the queues; see `Pool::is_stuck`) gets a rescue
//! thread, which runs them on a stack and in a seat of its own ([`crate::extra`]). If it blocks in the same way, and the pool is
//! stuck again, another one is started: as many as the program is deep, but no more than
//! [`max_rescue_threads`](crate::ThreadPoolBuilder::max_rescue_threads).
//!
//! # Somebody is away
//! A thread that blocks in something that is not the engine's, and says so ([`block_in_place`](crate::block_in_place)), or does not say so, but the companion finds it stuck in a task
//! (`Pool::set_absent`), is missing, although the pool is not stuck as long as others go on. If there is
//! work that nobody takes, because all others are busy, the same kind of thread *stands in* for it, also if that work is a fork, whose owner would get to it. There are never more
//! of them taking forks than threads are away; when these are back, the forks are for them. So a pool has as many threads that compute as it was made with, and for a moment a few more.
//! Nothing here is needed for anybody to get on: a call for a stand-in that comes to nothing costs time.
//!
//! One that has run everything waits for more: a pool that is stuck once mostly is again soon. It ends after a second without work.
//!
//! Whatever a task may expect of a thread of this pool, it finds here: a stack as large as the others', what the start handler
//! prepares (thread-locals, a registration with some other runtime), the companion's runtime, a name that begins as theirs do. So the handlers are
//! called, although with an index they know already; a task on a thread that was never set up would be worse.
//!
//! The rescue thread has the index of one of the waiting threads. That is the one case in which two threads of a
//! pool can have the same index at the same time: if the wait ends while the rescue's last job still runs. The
//! alternatives were to let the thread wait for a job that may need what it holds, or an index that is out of range.

use crate::abort::complain;
use crate::extra;
use crate::hooks;
use crate::pool::Pool;
use crate::process_fork;
use crate::seat::Seat;
use crate::sync::locks::{Condvar, Mutex, ignore_poison, wait_while_at_most};
use crate::worker;
use std::iter;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

/// How long a rescue thread waits for more work before it ends.
const KEEP_ALIVE: Duration = Duration::from_secs(1);

/// The most rescue threads of a pool, unless the builder says otherwise.
pub(crate) const MOST: usize = 512;

/// The rescue threads of a pool; usually none.
#[derive(Default)]
pub(crate) struct Rescue {
    /// Those that run tasks, or are about to: occupants of the pool.
    active: AtomicUsize,
    /// Those of them that have looked at everything and found nothing, or sleep elsewhere.
    parked: AtomicUsize,
    /// Occupants of the pool's own seats that sleep elsewhere.
    away: AtomicUsize,
    waiting: Mutex<Waiting>,
    called: Condvar,
}

#[derive(Default)]
struct Waiting {
    /// Threads in `rest`.
    threads: usize,
    /// Those of them that have been called and have not noticed yet.
    called: usize,
    /// Somebody has been told that there are no more threads to be had.
    complained: bool,
}

impl Rescue {
    /// How many rescue threads run tasks.
    pub(crate) fn active(&self) -> usize {
        self.active.load(Ordering::SeqCst)
    }

    /// One of them parks in a wait, or has come back from it.
    pub(crate) fn parks(&self, parks: bool) {
        if parks {
            self.parked.fetch_add(1, Ordering::SeqCst);
        } else {
            self.parked.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// The occupant of one of the pool's own seats goes to sleep elsewhere, or is back.
    pub(crate) fn is_away(&self, away: bool) {
        if away {
            self.away.fetch_add(1, Ordering::SeqCst);
        } else {
            self.away.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Are fewer rescue threads at work than others are away?
    #[inline]
    pub(crate) fn is_short(&self) -> bool {
        let away = self.away.load(Ordering::SeqCst);
        away > 0 && self.at_work() < away
    }

    /// May one that is at work take forks? For it.
    fn stands_in(&self) -> bool {
        self.at_work() <= self.away.load(Ordering::SeqCst)
    }

    /// How many of them do not wait.
    pub(crate) fn at_work(&self) -> usize {
        let parked = self.parked.load(Ordering::SeqCst);
        self.active().saturating_sub(parked)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        ignore_poison(self.waiting.lock())
    }

    /// The pool is over: those that wait end.
    pub(crate) fn end(&self) {
        drop(self.waiting());
        self.called.notify_all();
    }

    /// Waits until it is called. `false`: it was not.
    fn rest(&self, pool: &Pool) -> bool {
        let mut waiting = self.waiting();
        // It is no occupant any more, and somebody may have relied on it in the moment before: so it asks after that.
        self.active.fetch_sub(1, Ordering::SeqCst);
        if pool.is_stuck() || pool.is_short() {
            self.active.fetch_add(1, Ordering::SeqCst);
            return true;
        }
        // Whoever parked last may have thought that we go on.
        hooks::look_for_deadlock(pool);
        waiting.threads += 1;
        let idle = |waiting: &mut Waiting| waiting.called == 0 && !pool.is_over();
        let mut waiting = wait_while_at_most(&self.called, waiting, KEEP_ALIVE, idle);
        waiting.threads -= 1;
        let called = waiting.called > 0;
        if called {
            waiting.called -= 1;
        }
        called
    }

    /// Says once that the pool stays stuck. What is queued runs when one of the threads comes back.
    fn complain(&self, waiting: &mut Waiting, why: std::fmt::Arguments<'_>) {
        if !std::mem::replace(&mut waiting.complained, true) {
            complain(format_args!(
                "all threads of a pool wait for something that is still queued, and there is no thread to run it: {why}"
            ));
        }
    }
}

/// Gets somebody to run what is in the queues of a pool, if it is stuck or short of threads.
#[cold]
pub(crate) fn start(pool: &Pool) {
    let rescue = &pool.rescue;
    let mut waiting = rescue.waiting();
    // Several may have noticed at the same time; one thread will do.
    let stuck = pool.is_stuck();
    if !stuck && !pool.is_short() {
        return;
    }
    if waiting.threads > waiting.called {
        waiting.called += 1;
        rescue.active.fetch_add(1, Ordering::SeqCst);
        rescue.called.notify_one();
        return;
    }
    if rescue.active() + waiting.threads >= pool.max_rescue_threads {
        if !stuck || pool.let_one_in() {
            // Others get to it.
            return;
        }
        let most = pool.max_rescue_threads;
        return rescue.complain(
            &mut waiting,
            format_args!("{most} have been started (max_rescue_threads)"),
        );
    }
    let Some(pool) = pool.arc() else { return };
    rescue.active.fetch_add(1, Ordering::SeqCst);
    let is_away =
        |seat: &&Seat| !seat.waiter.waits_for().is_null() || seat.waiter.sleeps_elsewhere();
    let stand_in_for = pool.seats.iter().find(is_away);
    let index = stand_in_for.map_or(0, |seat| seat.index);
    let run = {
        let pool = Arc::clone(&pool);
        move || main(&pool, index)
    };
    match process_fork::start_thread(pool.attributes.rescue_builder(index), run) {
        Ok(handle) => pool.keep_handle(handle),
        Err(error) => {
            rescue.active.fetch_sub(1, Ordering::SeqCst);
            if stuck && !pool.let_one_in() {
                rescue.complain(&mut waiting, format_args!("{error}"));
            }
        }
    }
}

/// The life of a rescue thread; on entry it counts as active.
fn main(pool: &Pool, index: usize) {
    let called_again = iter::from_fn(|| pool.rescue.rest(pool).then_some(()));
    let turns = iter::once(()).chain(called_again);
    extra::live(pool, index, turns, |seat, ()| {
        seat.begin_rescue(index);
        // SAFETY: the seat is this thread's.
        unsafe { run_everything(pool, seat) };
        // Before the thread is no occupant any more: a token in its parker would look as if it woke up.
        seat.end_rescue();
    });
}

/// # Safety
/// The caller occupies the seat.
unsafe fn run_everything(pool: &Pool, seat: &Seat) {
    let mut forced = false;
    loop {
        // SAFETY: passed on.
        unsafe {
            if worker::run_task(seat)
                || pool.rescue.stands_in() && worker::run_fork(seat)
                || worker::run_background(seat)
            {
                forced = false;
                continue;
            }
        }
        // Once: what is shown is taken by us or by somebody else.
        if forced || !pool.rescue.stands_in() || !pool.force_somebody() {
            return;
        }
        forced = true;
    }
}
