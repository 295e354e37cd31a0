//! How a thread of a pool falls asleep, and what it does without its seat.

use super::Worker;
use crate::extra::Beside;
use crate::hooks;
use crate::process_fork;
use crate::trace::{self, Kind};

impl Worker<'_> {
    /// Is there anything that keeps the thread from sleeping?
    ///
    /// Work of the pool is none of its business while a guest has its seat, but then it leaves a note, and somebody else has to look: from the moment when
    /// nobody relies on this thread any more, because it is `asleep`.
    ///
    /// Forks that have to be forced count as others do: whoever left the search before us may have relied on us (see `wake_successor`). In a crowd somebody
    /// else goes on.
    fn must_stay_awake(&self, leaves_crowd: bool, asleep: bool) -> bool {
        if self.is_surplus() && !self.pool.is_over() {
            // A guest that has the seat wakes us when it leaves.
            return !self.seat.occupancy.want();
        }
        if self.companion_has_work() || self.pool.is_over() {
            return true;
        }
        if self.companion.is_none() && self.pool.companion().is_some() {
            // It hears of every sleep.
            return true;
        }
        let hidden = || !leaves_crowd && self.asks_for_forks && self.pool.hides_work();
        if !self.sees_work_of_the_pool(u64::MAX) && !hidden() {
            return false;
        }
        let taken = self.seat.occupancy.want();
        if taken && asleep {
            // Not before: it would be news to ourselves, too, and we would never fall asleep.
            self.pool.wake_if_nobody_searches();
        }
        !taken
    }

    /// Sleeps until there is work; with `leaves_crowd`, only if it leaves one.
    pub(super) fn sleep(&mut self, leaves_crowd: bool) {
        if self.woken {
            self.seat.stats.vain.one();
        }
        // A child of a fork on this thread that has come back here would sleep for ever.
        process_fork::assert_may_wait(self.pool.generation);
        self.meet_companion();
        let companion = self.companion.clone();
        let index = self.seat.index;
        if let Some(companion) = &companion {
            // Before the announcement: what it makes to do is seen.
            companion.falls_asleep(index);
        }
        self.woken = self.sleep_unless_needed(leaves_crowd);
        if let Some(companion) = &companion {
            companion.is_awake(index);
        }
    }

    /// `false`: it was.
    fn sleep_unless_needed(&mut self, leaves_crowd: bool) -> bool {
        let announced = self.pool.sleep.announce_sleepy();
        self.hesitation_us = 0;
        self.hesitate_until = 0;
        if self.must_stay_awake(leaves_crowd, false) {
            return false;
        }
        self.seat.occupancy.stand_up();
        let index = self.seat.index;
        let asleep = trace::span(Kind::Sleep, 0);
        let _parked = hooks::parks(self.seat);
        let has_work = || {
            let stays = self.must_stay_awake(leaves_crowd, true);
            if !stays {
                hooks::look_for_deadlock(self.pool);
            }
            stays
        };
        let attended = self
            .companion
            .as_ref()
            .filter(|companion| companion.attend(index));
        let sleep = &self.pool.sleep;
        let steering = self.pool.placement.steering(index);
        steering.falls_asleep();
        let slept = match attended {
            None => sleep.sleep(index, announced, leaves_crowd, || {
                has_work()
                    || self
                        .companion
                        .as_ref()
                        .is_some_and(|companion| companion.wants_attendant())
            }),
            Some(companion) => {
                let block = || companion.block(index);
                let slept = sleep.sleep_attending(index, announced, leaves_crowd, has_work, block);
                companion.unattend(index);
                slept
            }
        };
        steering.is_awake();
        if slept {
            self.seat.stats.parked.one();
        }
        asleep.end();
        self.seat.occupancy.sit_down();
        slept
    }

    /// There is work, and a guest has the seat. On entry and on return the thread counts as searching.
    #[cold]
    pub(super) fn do_without_seat(&mut self) {
        self.meet_companion();
        if !self.companion_has_work() {
            // Leaves the note, and passes the word on.
            return self.sleep(false);
        }
        self.stop_searching(true);
        let beside = Beside::enter(self.pool);
        let seat = beside.seat();
        // If it blocks in there, and the guest goes, nobody is left here.
        self.seat.waiter.set_beside(Some(&seat.waiter));
        seat.bring(self.companion.as_ref(), self.seat.index);
        // SAFETY: the extra seat is ours.
        unsafe { self.run_companion_in(seat) };
        seat.bring(None, 0);
        self.seat.waiter.set_beside(None);
        drop(beside);
        self.companion_was_last = true;
        self.woken = false;
        self.pool.sleep.start_searching();
    }
}
