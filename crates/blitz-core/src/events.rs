//! What happens on the threads of a pool, for all who measure: the counters of a seat, the user's handlers, and the features `trace`, `profile` and `console`.
//!
//! One function for each event, so that the code in which it happens has one line for all of them. Without features and handlers, a counter is what remains.

use crate::console;
use crate::hooks;
use crate::profile;
use crate::seat::Seat;
use crate::trace::{self, Kind};

/// The occupant of `seat` runs `work`: a task, a stolen fork. `work` does not unwind.
#[inline]
pub(crate) fn runs(seat: &Seat, work: impl FnOnce()) {
    seat.stats.executed.one();
    let _run = trace::span(Kind::Run, 0);
    work();
}

/// The same for a fork of `victim`'s: it works for whatever that one works for.
#[inline]
pub(crate) fn runs_stolen(seat: &Seat, victim: &Seat, fork: impl FnOnce()) {
    stole(seat, victim);
    runs(seat, || {
        let for_victim = console::adopt(victim);
        fork();
        for_victim.end();
    });
}

/// The occupant of `seat` has taken something from `victim`.
pub(crate) fn stole(seat: &Seat, victim: &Seat) {
    seat.stats.stolen.one();
    trace::instant(Kind::Steal, victim.index);
    hooks::stole(seat, victim);
}

/// It has made somebody's private forks public.
pub(crate) fn forced(seat: &Seat) {
    seat.stats.forced.one();
    trace::instant(Kind::Force, 0);
}

/// The calling thread waits, which is no work, until this is dropped.
pub(crate) fn waits() -> impl Sized {
    let paused = profile::pause();
    (trace::span(Kind::Wait, 0), paused)
}
