//! Whether a fork is worth a wake-up.
//!
//! A wake costs its caller 5 to 17 microseconds and the woken thread as much again, or several times as much, before it does
//! anything useful: `wake_cost.rs` measures it. A thread that is awake and searching sees every public fork for free. So a fork wakes
//! somebody only if nobody is searching *and* the work in hand probably outlasts the wake. Two sources
//! of "probably":
//!
//! * **The call site's past.** A join whose fork is the first on its stack is timed from the push to the
//!   end, and the duration goes into a moving average kept per call site (the address of the job's code). What is left of it
//!   decides about forks that become public later.
//!   A site that was never seen is taken for long: a fork that should have been shared and was not costs
//!   more than one wake too many.
//!   Where short joins of one site follow each other closely, they are neither timed nor shown to others: see [`follows_short_ones`].
//!   One that is too short for a wake, but comes again and again without a pause, is worth one in the end: see [`ends_a_row`].
//! * **The present.** Every few microseconds worth of forks, and every fork that becomes public later than the first, looks how
//!   long the thread has been at it. What has already outlasted a wake is likely to go on. This catches
//!   sites that were short and have become long.
//!
//! Nothing here affects correctness: a fork that nobody is woken for is run by its owner.

use crate::abort::without_unwinding;
use crate::by_code::{ByCode, Entry};
use crate::clock::{affords_a_reading, reading_ns, ticks, ticks_per_us};
use crate::console::{self, Called};
use crate::global;
use crate::inherited;
use crate::join_stack::{FIRST_BEAT, Job, Pushed};
use crate::rules::{ROW_GAP_US, WORTH_A_ROW, WORTH_SHARING_US};
use crate::seat::{Seat, Timed};
use crate::trace::{self, Kind};
use crate::wake_cost;
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};

/// Durations are kept in units of this many ticks, so that 32 bits hold minutes.
const UNIT: u64 = 64;
const UNKNOWN: u32 = 0;
const SITES: usize = 1024;

/// The moving averages.
static AVERAGES: ByCode<AtomicU32, SITES> =
    ByCode::new([const { Entry::new(AtomicU32::new(UNKNOWN)) }; SITES]);

fn average(site: usize) -> &'static AtomicU32 {
    AVERAGES.of(site)
}

/// Would waking a thread for so many ticks of work pay?
pub fn outlasts_a_wake(expected: u64) -> bool {
    expected >= wake_cost::worth_a_wake()
}

/// The calling thread begins work of so many ticks, too short for a wake. Has it done so much of the kind in a row that waking somebody
/// for all of it together would have paid? Then it probably pays for what is to come.
#[cold]
pub fn ends_a_row(expected: u64) -> bool {
    thread_local! {
        /// When the last of the row should end, and how long it took in all.
        static ROW: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
    }
    let now = ticks();
    let (end, before) = ROW.get();
    let goes_on = now.saturating_sub(end) < ROW_GAP_US * ticks_per_us();
    let row = expected.saturating_add(if goes_on { before } else { 0 });
    let worth_it = WORTH_A_ROW * wake_cost::worth_a_wake();
    let enough = row > worth_it;
    // They may be queued, to be run one after the other. What was expected to take longer than it did does not make up for a pause.
    let end = now.max(end).saturating_add(expected);
    let end = end.min(now.saturating_add(worth_it));
    ROW.set((end, if enough { 0 } else { row }));
    enough
}

/// The slow half of a push: the fork has become public, or it is time to look at the clock.
/// `expected` is the work behind the fork, if the caller knows better than the call site's past.
///
/// Does not unwind: the fork is in the caller's frame, where thieves see it.
#[cold]
#[inline(never)]
pub(crate) fn after_push(
    seat: &Seat,
    pushed: Pushed,
    job: *const Job,
    expected: Option<u64>,
    called: Called,
) {
    if pushed == Pushed::Kept && stays_private(seat) {
        return;
    }
    without_unwinding("a panic behind a fork", || {
        let pushed = if pushed == Pushed::Kept {
            seat.stack.keep_private(None);
            // SAFETY: the seat is the caller's.
            unsafe { seat.stack.show() };
            Pushed::Public
        } else {
            pushed
        };
        console::join_begins(seat, pushed, called);
        look_around(seat, pushed, job, expected);
    });
}

/// One more of many short joins, as it seems.
fn stays_private(seat: &Seat) -> bool {
    let now = ticks();
    seat.running_since.set(now);
    may_stay_private(seat) && follows_short_ones(seat, true, now)
}

/// Not if somebody looks for work, who would take a long one among them, or others want to hear of each join.
fn may_stay_private(seat: &Seat) -> bool {
    !seat.has_companion()
        && !console::is_looked_at()
        && seat.pool().sleep.counters().searching() == 0
}

/// A fork that is known to be long has been pushed beside others that are public already: somebody has to be awake to ask for it.
///
/// Does not unwind, as above.
#[cold]
#[inline(never)]
pub(crate) fn after_private_push(seat: &Seat) {
    without_unwinding("a panic behind a fork", || {
        seat.pool().wake_if_nobody_searches();
    });
}

fn look_around(seat: &Seat, pushed: Pushed, job: *const Job, expected: Option<u64>) {
    let pool = seat.pool();
    if pool.global {
        global::settle();
    }
    if seat.has_companion() && pushed != Pushed::Full {
        beat_for_companion(seat, pushed);
    } else if pushed == Pushed::Beat {
        inherited::beat(seat);
    }
    let counters = match pushed {
        Pushed::Public => {
            trace::instant(Kind::Expose, 0);
            pool.sleep.post()
        }
        Pushed::Beat => pool.sleep.counters(),
        Pushed::Kept | Pushed::Full => return,
    };
    // A searching thread sees the fork for free.
    if counters.searching() > 0 || counters.sleeping() == 0 && !pool.waiters.any() {
        return;
    }
    let worth_it = match expected {
        Some(expected) if pushed == Pushed::Public => outlasts_a_wake(expected),
        _ => is_probably_long(seat, pushed, job),
    };
    if worth_it && !pool.wake_one() {
        pool.stand_in_if_short();
        // SAFETY: the seat's own context is alive: the occupant, our caller, runs in it.
        unsafe { pool.wake_waiters_for(seat.context()) };
    }
}

fn is_probably_long(seat: &Seat, pushed: Pushed, job: *const Job) -> bool {
    // SAFETY: the caller has just pushed the job; it is alive.
    let site = unsafe { (*job).execute } as usize;
    let is_short = || recall(site).is_some_and(|past| !outlasts_a_wake(past));
    if pushed == Pushed::Public && !affords_a_reading() && is_short() {
        // As always, presumably. If not, the next beat tells.
        return false;
    }
    let now = ticks();
    if seat.running_since.get() == 0 {
        seat.running_since.set(now);
    }
    if pushed == Pushed::Beat && !seat.has_companion() {
        pace(seat, now, 8);
    }
    let depth = seat.stack.depth();
    let timed = seat.timed.get().depth;
    // A fork at or below the timed one means that the timed one is gone (its join ended in a panic).
    if pushed == Pushed::Public && (timed == 0 || timed >= depth) {
        let again = seat.last_site.replace(site) == site;
        if !again {
            // Another computation: forget the pace of the last one.
            seat.last_beat.set((now, FIRST_BEAT));
            seat.stack.set_beat(FIRST_BEAT);
        }
        // SAFETY: as above.
        let kind = unsafe { (*job).execute };
        if depth > 1 {
            // What has forks inside is better shown at once than with the second of them.
            if seat.stack.keep_private(None) {
                seat.row.set((now, TREES));
            }
        } else if may_stay_private(seat) && follows_short_ones(seat, again, now) {
            seat.stack.keep_private(Some(kind));
        }
        seat.timed.set(Timed {
            depth,
            site,
            start: now,
        });
        if recall(site).is_none_or(|past| outlasts_a_wake(past) || is_short_but_one_of_many(past)) {
            return true;
        }
    } else if pushed == Pushed::Public {
        // Somebody has taken what was public before, perhaps before this fork was here to be seen. What the timed one still has before it, this has, too.
        let timed = seat.timed.get();
        let elapsed = now.saturating_sub(timed.start);
        if recall(timed.site).is_none_or(|past| outlasts_a_wake(past.saturating_sub(elapsed))) {
            return true;
        }
    }
    outlasts_a_wake(now.saturating_sub(seat.running_since.get()))
}

/// So many joins of a site have to be short, one after the other, before the next ones are taken for short. One that is long among fewer of them is in the site's average.
const ROW: u32 = 16;
/// The same for joins that had forks inside.
const TREES: u32 = 1 << 10;

/// A join with nothing around it begins; `again`: at the same site as the last one. Are it and those before it in a row, each of which began so soon after the one before that it was too short to
/// be shared? Then nobody need see this one: showing it and taking it back is a third of what an empty join costs. If it is long all the same, whoever comes to look for work asks for it, forks inside
/// of it make it public, and the next one begins too late to be in the row.
fn follows_short_ones(seat: &Seat, again: bool, now: u64) -> bool {
    let (last, missing) = seat.row.get();
    let soon = now.saturating_sub(last) < WORTH_SHARING_US as u64 * ticks_per_us();
    let missing = if again && soon {
        missing.saturating_sub(1)
    } else {
        missing.max(ROW)
    };
    seat.row.set((now, missing));
    missing == 0
}

/// Work of so many ticks is too short for a wake. Is it still worth handing over, and one of so many that a wake pays for all of them?
fn is_short_but_one_of_many(ticks: u64) -> bool {
    ticks > WORTH_SHARING_US as u64 * ticks_per_us() && ends_a_row(ticks)
}

/// The companion is told every few microseconds, from the first fork of a computation on: somebody may be waiting for an
/// answer from a socket.
fn beat_for_companion(seat: &Seat, pushed: Pushed) {
    seat.beat();
    let now = ticks();
    if pushed == Pushed::Public {
        seat.last_beat.set((now, 1));
        seat.stack.set_beat(1);
    } else {
        pace(seat, now, 1);
    }
}

/// Sets the distance to the next look at the clock: some microseconds, whatever the forks' size.
fn pace(seat: &Seat, now: u64, fewest: u32) {
    let (last, pushes) = seat.last_beat.get();
    let elapsed_us = now.saturating_sub(last) / ticks_per_us();
    // A slow clock is looked at so seldom that its readings are a twentieth of the time.
    let reading_us = reading_ns() / 1000;
    let pushes = if elapsed_us < 4 + 20 * reading_us {
        (pushes * 2).min(512 << reading_us.min(5))
    } else if elapsed_us < 30 + 40 * reading_us {
        pushes
    } else {
        (pushes / 4).max(fewest)
    };
    seat.last_beat.set((now, pushes));
    seat.stack.set_beat(pushes);
}

/// The join whose fork was at `depth` has ended. `shared`: a thief ran its right half.
pub(crate) fn after_join(seat: &Seat, depth: usize, shared: bool) {
    let timed = seat.timed.get();
    if timed.depth != depth || depth == 0 {
        return;
    }
    seat.timed.set(Timed::NOTHING);
    let mut took = ticks().saturating_sub(timed.start);
    if shared {
        took *= 2;
    }
    record(timed.site, took);
}

/// How long work of this site (an address that stands for the code) takes, if it has been recorded.
pub fn recall(site: usize) -> Option<u64> {
    let past = average(site).load(Ordering::Relaxed);
    (past != UNKNOWN).then_some(u64::from(past) * UNIT)
}

/// Work of this site took so many ticks.
pub fn record(site: usize, ticks: u64) {
    let took = u32::try_from(ticks / UNIT).unwrap_or(u32::MAX).max(1);
    let entry = average(site);
    let past = entry.load(Ordering::Relaxed);
    if past.abs_diff(took) <= past / 4 {
        // Several threads share the entry, and a store takes it away from the others: no news is not worth one.
        return;
    }
    let next = if past == UNKNOWN {
        took
    } else {
        // Half old, half new: one preempted run must not make a short site look long for long.
        past / 2 + took / 2
    };
    entry.store(next.max(1), Ordering::Relaxed);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seat;

    #[test]
    fn no_fork_is_kept_from_a_thread_that_looks_for_one() {
        let pool = crate::ThreadPoolBuilder::new().num_threads(1).build();
        pool.unwrap().install(|| {
            let seat = seat::current().unwrap();
            let sleep = &seat.pool().sleep;
            assert!(may_stay_private(seat));
            sleep.start_searching();
            assert!(!may_stay_private(seat));
            sleep.stop_searching();
            assert!(may_stay_private(seat));
        });
    }
}
