//! Threads that do not get on: is the pool stuck, is it short of threads, does it stand still?

use super::Pool;
use crate::rescue;
use crate::seat::Seat;
use std::sync::atomic::{Ordering, fence};

impl Pool {
    /// See [`Waiters::is_stuck`].
    pub(crate) fn is_stuck(&self) -> bool {
        let all_are_lost = || self.seats.iter().all(Seat::is_lost) && self.rescue.at_work() == 0;
        let has_work = || self.has_tasks() && !self.victims(0).any(Seat::is_waking_rescue);
        self.waiters.is_stuck(all_are_lost, has_work)
    }

    /// The caller may have made it so: then it gets somebody to run what is queued.
    pub(crate) fn rescue_if_stuck(&self) {
        if self.is_stuck() {
            rescue::start(self);
        }
    }

    /// Is there work that nobody takes, since somebody is away and all others are busy?
    pub(crate) fn is_short(&self) -> bool {
        fence(Ordering::SeqCst);
        self.rescue.is_short() && self.all_are_busy() && self.offers_work()
    }

    /// If it is so, somebody is called to stand in.
    #[inline]
    pub(crate) fn stand_in_if_short(&self) {
        if self.rescue.is_short() && self.is_short() {
            rescue::start(self);
        }
    }

    /// The companion says whether one of the pool's threads is stuck in its work. Until it is said to be back, it counts as one that sleeps elsewhere: somebody stands in for it.
    /// That may be too late by the time between two looks of the companion's, and then the pool has a thread too many, or one too few.
    pub(crate) fn set_absent(&self, thread: usize, absent: bool) {
        // A companion may know of a thread that is about to start.
        let Some(seat) = self.seats.get(thread) else {
            return;
        };
        // A guest computes in its place; and who waits in a way that the engine knows counts as that.
        let absent = absent && !seat.occupancy.has_guest() && !seat.waiter.is_marked();
        // One that waits for a CPU goes on when it gets one, and whoever stood in for it would take that.
        let absent = absent && (seat.is_absent() || self.placement.may_sleep(thread));
        if seat.set_absent(absent) != absent {
            self.is_away(seat, absent);
        }
        if absent {
            // Also those that stand in for it may be stuck by now.
            self.stand_in_if_short();
        }
    }

    /// The occupant of a seat goes to sleep elsewhere, or is back.
    pub(crate) fn is_away(&self, seat: &Seat, away: bool) {
        if seat.is_extra() {
            // Rescue threads are counted by themselves, and nobody stands in for others.
            return;
        }
        self.rescue.is_away(away);
        // Whoever forks looks at it.
        if away {
            self.waiters.add_blocked();
        } else {
            self.waiters.remove_blocked();
        }
    }

    /// Does nothing move in here? So it is if there is somebody in every seat, or its thread works beside it, and nothing has been begun there since `seen`, which is brought up to date.
    ///
    /// What is begun in extra seats is no sign: an outside thread that goes on beside a blocked pool, or many that do, would keep others from noticing that it is.
    pub(crate) fn stands_still(&self, seen: &mut u64) -> bool {
        let begun = |seat: &Seat| {
            let stats = seat.stats.read();
            stats.executed.wrapping_add(stats.guests)
        };
        let seats = self.seats.iter();
        let begun = seats.fold(0, |sum: u64, seat| sum.wrapping_add(begun(seat)));
        std::mem::replace(seen, begun) == begun
            && self
                .seats
                .iter()
                .all(|seat| seat.occupancy.is_occupied() || seat.waiter.beside().is_some())
    }

    /// Nothing has moved for so long that nobody should rely on it, until something does again.
    pub(crate) fn found_blocked(&self, seen: u64) {
        self.blocked_since.store(seen, Ordering::Relaxed);
    }

    /// Is it still so?
    pub(crate) fn is_known_blocked(&self) -> bool {
        let mut since = self.blocked_since.load(Ordering::Relaxed);
        since != 0 && self.stands_still(&mut since)
    }
}
