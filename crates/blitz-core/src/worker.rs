//! The life of a pool's thread: search, run, sleep. (`worker/`: what it takes, how it falls asleep; and taking part just once.)
//!
//! The thread of seat k owns that seat while it runs something. While it searches, a guest may take the
//! seat from under it ([`crate::occupancy`]); so it first looks, then claims the seat, and only then takes.
//!
//! A thread whose seat is taken cannot run the pool's work: there are as many computing threads as the pool has seats. It leaves a note for the guest and sleeps,
//! and others look after the work. The companion's work does not wait for guests: the thread runs it in an extra seat ([`crate::extra`]), and sleeps in
//! the companion as it would otherwise.

use crate::clock::{ticks, ticks_per_us};
use crate::companion::Companion;
use crate::context;
use crate::demand;
use crate::events;
use crate::join_stack::Stolen;
use crate::pool::Pool;
use crate::rules::{
    FORCE_AFTER_US, FORCE_AGAIN, MAX_FRUITLESS, SHORT_US, TASK_HESITATION_US, longer_hesitation_us,
    patience_us,
};
use crate::seat::{self, Seat};
use crate::task::TaskRef;
use crate::trace::{self, Kind};
use crate::wait::pause;
use blitz_primitives::XorShift64Star;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

/// How long a thread looks for more of the companion's work if that says that it is worth it.
const EXPECTING_US: u64 = 3;
/// After so many looks in vain it is only tried now and then.
const MAX_VAIN: u32 = 3;
const RETRY: u32 = 32;

mod once;
mod sleeping;
mod taking;

pub(crate) use once::{run_anything, run_background, run_fork, run_if_any, run_task};
pub(crate) use taking::take_local;

/// Something to run.
enum Work<'a> {
    Task(TaskRef),
    /// A task from somebody else's deque.
    Loot(TaskRef),
    Fork(Stolen<'a>, &'a Seat),
    /// Some of the companion's.
    Companion,
}

/// Runs thread `index` of the pool until the pool ends.
pub(crate) fn run(pool: &Arc<Pool>, index: usize) {
    // What has happened before the next time does not matter.
    demand::may_have_lost_its_cpu();
    let seat = &pool.seats[index];
    // SAFETY: this thread is the seat's own. While a guest occupies the seat, the thread runs no user code,
    // so nothing looks at its thread-local.
    let before = unsafe { seat.enter() };
    seat.watched.thread_begins();
    if let Some(handler) = &pool.handlers.start {
        pool.catch_panic(|| handler(index));
        seat.occupancy.stop_running();
        seat.occupancy.stand_up();
    }
    pool.placement.thread_started(index);
    pool.started[index].set();
    Worker {
        pool,
        seat,
        rng: XorShift64Star::new(index as u64 + 1),
        hesitation_us: 0,
        hesitate_until: 0,
        fruitless: 0,
        companion: None,
        companion_was_last: false,
        asks_for_forks: true,
        since_background: 0,
        listened: 0,
        expected: 0,
        vain: 0,
        woken: false,
    }
    .main_loop();
    if seat.is_retired() {
        // SAFETY: nobody else gets the seat any more.
        unsafe { pool.empty(seat) };
    }
    if let Some(handler) = &pool.handlers.exit {
        // No guest can be in the seat: the pool's handle is gone, or the seat has been taken for good.
        pool.catch_panic(|| handler(index));
        // SAFETY: so the seat is ours.
        while let Some(task) = unsafe { take_local(seat, &mut 0) } {
            // What the handler has spawned: nobody else would run it.
            // SAFETY: as above.
            unsafe { seat.run_task(task) };
        }
    }
    seat::leave(before);
}

struct Worker<'a> {
    pool: &'a Pool,
    seat: &'a Seat,
    rng: XorShift64Star,
    hesitation_us: u64,
    hesitate_until: u64,
    /// Searches that ended in sleep since the last one that paid.
    fruitless: u32,
    companion: Option<Arc<dyn Companion>>,
    /// Was the last thing we ran the companion's?
    companion_was_last: bool,
    /// Does this search ask for private forks?
    asks_for_forks: bool,
    /// Pieces of other work since it last looked at the background's tasks.
    since_background: u32,
    /// When it last had the companion listen before it took a background task.
    listened: u64,
    /// Times that more of its work was expected, and how often in vain since it last came.
    expected: u32,
    vain: u32,
    /// Has it slept, and run nothing since?
    woken: bool,
}

impl<'a> Worker<'a> {
    fn main_loop(&mut self) {
        self.pool.sleep.start_searching();
        self.seat.occupancy.sit_down();
        self.meet_companion();
        while let Some(work) = self.search() {
            // Whoever attached it may have posted this very work next.
            self.meet_companion();
            self.seat.bring(self.companion.as_ref(), self.seat.index);
            // SAFETY: `search` has claimed the seat for us.
            unsafe { self.run_and_drain(work) };
            self.seat.bring(None, 0);
            self.seat.occupancy.stop_running();
            self.pool.sleep.start_searching();
            self.seat.stats.searches.one();
        }
        // If it is the end of this thread only, others go on.
        self.stop_searching(false);
        // One that was attached at the last moment hears of every thread, too.
        self.meet_companion();
        if let Some(companion) = self.companion.take() {
            companion.thread_stopped(Some(self.seat.index));
        }
    }

    /// Gets to know the pool's companion, if it has one by now.
    fn meet_companion(&mut self) {
        if self.companion.is_some() {
            return;
        }
        if let Some(companion) = self.pool.companion() {
            companion.thread_started(Some(self.seat.index));
            self.companion = Some(companion);
        }
    }

    /// Runs `work` and what follows from it.
    ///
    /// # Safety
    /// The thread occupies its seat.
    unsafe fn run_and_drain(&mut self, work: Work<'a>) {
        let mut since_fairness = 0;
        let looted_at = matches!(work, Work::Loot(_)).then(ticks);
        let mut next = Some(work);
        while let Some(work) = next {
            self.companion_was_last = matches!(work, Work::Companion);
            self.since_background += 1;
            // SAFETY: passed on.
            next = unsafe {
                match work {
                    Work::Task(task) | Work::Loot(task) => self.seat.run_task(task),
                    Work::Fork(stolen, victim) => self.run_fork(stolen, victim),
                    Work::Companion if !self.run_companion_in(self.seat) => return,
                    Work::Companion => {}
                }
                self.take_next(&mut since_fairness)
            };
        }
        if let Some(start) = looted_at {
            let end = ticks();
            if end.saturating_sub(start) < SHORT_US * ticks_per_us() {
                // Whoever waits for such a task at once, as a scope does, runs it sooner than a thief has it. Not for longer each time, as with forks: nobody else may run a task.
                self.hesitate_until = end + TASK_HESITATION_US * ticks_per_us();
            }
        }
    }

    /// # Safety
    /// The thread occupies that seat.
    unsafe fn run_companion_in(&self, seat: &Seat) -> bool {
        let Some(companion) = &self.companion else {
            return false;
        };
        let run = || companion.run(self.seat.index);
        // SAFETY: passed on. A companion does not unwind.
        unsafe { seat.run_in(&raw const context::ROOT, run) }
    }

    fn companion_has_work(&self) -> bool {
        self.companion
            .as_ref()
            .is_some_and(|companion| companion.has_work())
    }

    /// # Safety
    /// The thread occupies its seat.
    unsafe fn run_fork(&mut self, stolen: Stolen<'_>, victim: &Seat) {
        let start = ticks();
        // SAFETY: passed on.
        unsafe { self.seat.run_stolen(stolen, victim) };
        let end = ticks();
        let rate = ticks_per_us();
        if end.saturating_sub(start) < SHORT_US * rate {
            // Each theft costs the victim more than such a fork is worth.
            self.hesitation_us = longer_hesitation_us(self.hesitation_us);
            self.hesitate_until = end + self.hesitation_us * rate;
        } else {
            self.hesitation_us = 0;
            self.hesitate_until = 0;
        }
    }

    /// Looks for work until there is some, sleeping if need be. `None`: the pool has ended, or the thread has left it ([`crate::resize`]), and has its seat for a last time.
    ///
    /// On entry the thread counts as searching; with `Some`, it occupies its seat and does not.
    fn search(&mut self) -> Option<Work<'a>> {
        let _search = trace::span(Kind::Search, 0);
        let rate = ticks_per_us();
        let mut patience = self.patience(rate);
        let mut since = ticks();
        // Straight from the companion's work it does not ask for private forks: it will soon be needed there again. If it is woken for them, it does.
        self.asks_for_forks = !self.companion_was_last;
        let mut force_at = self.force_after(patience, rate);
        let mut round = 0;
        self.woken = false;
        loop {
            if self.is_surplus() {
                if self.retires() {
                    return None;
                }
                continue;
            }
            let now = ticks();
            if self.sees_work(now) {
                if let Some(work) = self.claim_and_take(now) {
                    if round > 0 {
                        // Found while looking, not on being woken: looking pays.
                        self.fruitless = 0;
                        self.vain = 0;
                    }
                    return Some(work);
                }
            } else if self.pool.is_over() {
                return None;
            }
            let searched = now.saturating_sub(since);
            // Before patience ends, however short it is: this may be what we were woken for.
            if searched > force_at {
                // Twice per search at most: each costs the victim, too.
                force_at = force_at.saturating_mul(FORCE_AGAIN).max(rate);
                if self.force_somebody() {
                    continue;
                }
            }
            let crowded = round == 0 && self.shuns_crowds() && self.pool.sleep.is_crowded();
            if searched > patience || crowded {
                if !crowded {
                    self.fruitless = (self.fruitless + 1).min(MAX_FRUITLESS);
                    self.vain = (self.vain + u32::from(patience > 0)).min(MAX_VAIN);
                }
                self.sleep(crowded);
                patience = self.patience(rate);
                since = ticks();
                self.asks_for_forks = true;
                force_at = self.force_after(patience, rate);
                round = 0;
                continue;
            }
            pause(round);
            round += 1;
        }
    }

    /// Has the pool more threads than it is to have, and is this one of those too many?
    #[inline]
    fn is_surplus(&self) -> bool {
        self.seat.index >= self.pool.num_threads()
    }

    /// It is. `false`: a guest had the seat until now, or it is not any more.
    #[cold]
    fn retires(&mut self) -> bool {
        if self.pool.is_over() {
            // As all the others.
            return self.seat.occupancy.start_running();
        }
        if !self.seat.occupancy.start_running() {
            // Leaves a note for the guest.
            self.sleep(false);
            return false;
        }
        let retires = self.pool.retire(self.seat);
        if !retires {
            self.seat.occupancy.stop_running();
        }
        retires
    }

    /// Should the thread sleep at once if half of the others search? After a computation, on a CPU that nobody else needs, looking costs no more than the
    /// wake that it saves if the next one comes soon.
    fn shuns_crowds(&self) -> bool {
        self.companion_was_last || self.pool.oversubscribed()
    }

    /// How long to look before asking for private forks by force.
    fn force_after(&self, patience: u64, rate: u64) -> u64 {
        if self.asks_for_forks {
            (FORCE_AFTER_US * rate).min(patience)
        } else {
            u64::MAX
        }
    }

    /// How long to look before sleeping, in ticks: less after each search that found nothing.
    ///
    /// After the companion's work: hardly any, or none. Its tasks are woken by what the companion waits for in our sleep.
    fn patience(&mut self, rate: u64) -> u64 {
        if self.companion_was_last {
            let index = self.seat.index;
            let expects = |companion: &Arc<dyn Companion>| companion.expects_more(index);
            if !self.companion.as_ref().is_some_and(expects) {
                return 0;
            }
            self.expected = self.expected.wrapping_add(1);
            let tries = self.vain < MAX_VAIN || self.expected % RETRY == 0;
            return if tries { EXPECTING_US * rate } else { 0 };
        }
        (patience_us(self.pool.backoff) * rate) >> self.fruitless
    }

    /// Is there anything this thread could take? Thefts wait while the thread hesitates.
    fn sees_work(&self, now: u64) -> bool {
        self.sees_work_of_the_pool(now) || self.companion_has_work()
    }

    fn sees_work_of_the_pool(&self, now: u64) -> bool {
        !self.seat.mailbox.is_empty()
            || self.pool.injected() > 0
            || now >= self.hesitate_until
                && self
                    .pool
                    .victims(0)
                    .any(|seat| !seat.stealer().is_empty() || seat.stack.thief().sees_work())
    }

    fn claim_and_take(&mut self, now: u64) -> Option<Work<'a>> {
        if !self.seat.occupancy.start_running() {
            self.do_without_seat();
            return None;
        }
        // SAFETY: the thread occupies its seat now.
        let work = unsafe { self.take(now >= self.hesitate_until) };
        if work.is_some() {
            self.stop_searching(matches!(work, Some(Work::Companion)));
        } else {
            self.seat.occupancy.stop_running();
        }
        work
    }

    /// The thread searches no more; `companion_next`: since it has found some of the companion's work.
    fn stop_searching(&self, companion_next: bool) {
        let left = self.pool.sleep.stop_searching();
        if left.searching() == 0 && left.sleeping() > 0 {
            self.wake_successor(companion_next);
        }
    }

    /// The thread was the last searcher. A job that was posted while others relied on it may be another one than it has found.
    #[cold]
    fn wake_successor(&self, companion_next: bool) {
        // Our leaving the search before the look around; posters do it the other way round.
        fence(Ordering::SeqCst);
        // Forks that became nobody's when their public part was taken count, too: their owner may be in a long leaf, and only somebody who searches
        // forces them into the open. If the companion's work is what we have found, the companion knows best whether there is too much of it.
        if self.pool.offers_work()
            || self.pool.hides_work()
            || !companion_next && self.companion_has_work()
        {
            let counters = self.pool.sleep.counters();
            if counters.searching() == 0 && counters.sleeping() > 0 {
                self.pool.wake_one();
            }
        }
    }

    fn force_somebody(&self) -> bool {
        let forced = self.pool.force_somebody();
        if forced {
            events::forced(self.seat);
        }
        forced
    }
}
