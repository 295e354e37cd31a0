//! Occupants that block: in a wait, or in something that is not the engine's.
//!
//! Others may have relied on them, and have to know: [`crate::waiters`] says who asks what then.

use crate::hooks;
use crate::profile;
use crate::rescue::Rescue;
use crate::seat::Seat;
use crate::trace::{self, Kind};

/// Sleeps in `sleep`, and counts as parked meanwhile: once, however deep.
pub(crate) fn asleep<R>(seat: &Seat, elsewhere: bool, sleep: impl FnOnce() -> R) -> R {
    struct RescueParks<'a>(&'a Rescue);
    impl Drop for RescueParks<'_> {
        fn drop(&mut self) {
            self.0.parks(false);
        }
    }
    let _told = hooks::parks(seat);
    let pool = seat.pool();
    let mut rescue = None;
    let _parked = seat.waiter.parks(elsewhere, |already| {
        if !already && seat.is_rescue() {
            pool.rescue.parks(true);
            rescue = Some(RescueParks(&pool.rescue));
        }
        pool.rescue_if_stuck();
        hooks::look_for_deadlock(pool);
    });
    let _before_it_is_awake = rescue;
    seat.stats.parked.one();
    let asleep = trace::span(Kind::Sleep, 0);
    let slept = sleep();
    asleep.end();
    slept
}

/// The occupant of `seat` sleeps in `sleep`, which is not the engine's, in the middle of something that it runs. It helps nobody
/// meanwhile, also not with what it waits for: that may be a task in a queue of this pool. If everybody does so, the pool is stuck; if others are busy, it is short of a
/// thread ([`crate::rescue`]). (If `sleep` computes in the pool after all, it has a thread too many.)
pub(crate) fn sleep_elsewhere<R>(seat: &Seat, sleep: impl FnOnce() -> R) -> R {
    let _waiting_is_no_work = profile::pause();
    work_elsewhere(seat, sleep)
}

/// As [`sleep_elsewhere`], for something that may compute as well: for a profile, `work` is the occupant's own.
pub(crate) fn work_elsewhere<R>(seat: &Seat, work: impl FnOnce() -> R) -> R {
    struct Away<'a>(&'a Seat);
    impl Drop for Away<'_> {
        fn drop(&mut self) {
            self.0.pool().is_away(self.0, false);
        }
    }
    let pool = seat.pool();
    let _away = (!seat.waiter.sleeps_elsewhere()).then(|| {
        pool.is_away(seat, true);
        Away(seat)
    });
    asleep(seat, true, || {
        if seat.offers_work() || seat.stack.thief().sees_private() {
            // The tasks may have come without a word, and the forks may have been too short to wake anybody for.
            pool.wake_if_nobody_searches();
        } else {
            // Others' work may have relied on us.
            pool.stand_in_if_short();
        }
        work()
    })
}
