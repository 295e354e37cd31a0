//! How long timers that come in crowds wait for each other.
//!
//! A wake by the kernel costs 5 to 20 us of CPU time, for one timer or for a hundred. A timer that is alone is worth that: it is on time. If dozens
//! become due in tick after tick, waking for each tick would cost more than all the timers. And they could not all have a CPU at once anyway. So a driver that has often
//! been woken for several timers at a time waits until the last wake has served a *crowd* of them, but not longer than [`LONGEST`] after it.
//!
//! **All timers since the last wake count**, also those that no thread was woken for. A thread that is awake looks for timers between two tasks, and before it
//! sleeps. The busier it is, the more timers it finds in that way. Suppose that only timers that end a wait counted. Then with more timers they would seem to be rarer, and would wait longer:
//! with 31 in each tick, for up to eight ticks instead of two, until 250 tasks were ready at once. That is more than a ring holds, and more than one worker should run alone.
//!
//! **How many are a crowd** depends on who pays. In a current-thread runtime, the tasks pay for waking their thread. There timers must cost no more than tokio's, which wait for the
//! millisecond. A worker that sleeps in the driver has a CPU that nobody else needs. There timers must be on time, even if dozens come in a tick.
//!
//! Measured, with crowds of 60, 75, 90 and 105: 20,000 timers within 50 ms, 12 in each tick, on one thread (`programs/micro`, row `timers/fired-cpu`): CPU time as part of tokio's 1.20, 1.05, 0.97,
//! 0.93. 100,000 timers within 100 ms, 31 in each tick, on two threads (group `time`): lateness p50 36, 53, 54, 62 us, p99 62, 100, 100, 130 us, CPU time of all 1.09, 0.88, 0.85, 0.76 us a timer;
//! woken for each tick: 36 us, 60 us, 1.18 us.

/// So many timers are worth a wake-up.
const CROWD: u64 = 60;
/// The same for the thread that also runs all the tasks.
const CROWD_ALONE: u64 = 105;
/// In ticks: a quarter of a millisecond.
const LONGEST: u64 = 8;
/// Wakes in a row that make a habit.
const ROW: u32 = 16;

/// The habit of the thread that waits in the driver.
#[derive(Debug)]
pub(super) struct Pace {
    crowd: u64,
    /// The tick of the last wake for timers.
    last: u64,
    /// How many have been fired since then.
    found: u64,
    /// Such wakes for several timers at a time, each soon after the one before.
    row: u32,
    /// How many ticks after the last one the next wake is worth it.
    gap: u64,
}

impl Pace {
    /// `alone`: the thread that waits is the only one that runs tasks.
    pub(super) fn new(alone: bool) -> Self {
        Pace {
            crowd: if alone { CROWD_ALONE } else { CROWD },
            last: 0,
            found: 0,
            row: 0,
            gap: 0,
        }
    }

    /// Somebody has looked without waiting, and fires so many timers.
    pub(super) fn finds(&mut self, timers: usize) {
        self.found += timers as u64;
    }

    /// The driver has waited, and fires so many timers, up to tick `now`.
    pub(super) fn wakes_for(&mut self, timers: usize, now: u64) {
        let passed = now.saturating_sub(self.last).max(1);
        self.last = now;
        self.row = if timers > 1 && passed <= 2 * LONGEST {
            (self.row + 1).min(ROW)
        } else {
            0
        };
        let all = std::mem::take(&mut self.found) + timers as u64;
        self.gap = (self.crowd * passed / all.max(1)).min(LONGEST);
    }

    /// The first timer is due at tick `next`: when is the driver to be woken?
    pub(super) fn wake_at(&self, next: u64) -> u64 {
        // What is there to do at once, is done at once.
        if self.row < ROW || next <= self.last || next == u64::MAX {
            return next;
        }
        next.max(self.last + self.gap)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const ALONE: bool = true;

    /// The driver is woken whenever it wants to be, with so many timers in every `every`th tick, and is busy for `busy` ticks each time, at the end of which it looks. Returns how often in 1,000 ticks.
    fn wakes_if_busy(alone: bool, timers: usize, every: u64, busy: u64) -> usize {
        let (mut pace, mut now, mut wakes) = (Pace::new(alone), 0, 0);
        let mut fired = 0;
        loop {
            let next = (fired / every + 1) * every;
            now = pace.wake_at(next).max(now + 1);
            if now > 1000 {
                return wakes;
            }
            assert!(now - next <= LONGEST, "so late is no timer");
            let due = |until: u64, fired: u64| timers * (until / every - fired / every) as usize;
            pace.wakes_for(due(now, fired), now);
            pace.finds(due(now + busy, now));
            (fired, wakes) = (now + busy, wakes + 1);
            now += busy;
        }
    }

    fn wakes(alone: bool, timers: usize, every: u64) -> usize {
        wakes_if_busy(alone, timers, every, 0)
    }

    /// One in so many ticks, but for the first few.
    fn is_every(ticks: usize, wakes: usize) -> bool {
        wakes.abs_diff(1000 / ticks) <= ROW as usize
    }

    #[test]
    fn a_timer_that_is_alone_is_on_time_however_often_it_comes() {
        for alone in [false, true] {
            assert_eq!(wakes(alone, 1, 1), 1000);
            assert_eq!(wakes(alone, 1, 3), 333);
        }
    }

    #[test]
    fn timers_that_come_in_crowds_wait_for_each_other_up_to_a_limit() {
        for alone in [false, true] {
            assert!(is_every(8, wakes(alone, 2, 1)));
            // There is a crowd in every tick.
            assert_eq!(wakes(alone, CROWD_ALONE as usize, 1), 1000);
            assert_eq!(wakes(alone, 1000, 1), 1000);
        }
        assert!(is_every(8, wakes(ALONE, 12, 1)));
        assert!(is_every(5, wakes(!ALONE, 12, 1)));
        assert!(is_every(3, wakes(ALONE, 31, 1)));
        assert_eq!(wakes(!ALONE, 31, 1), 1000);
    }

    #[test]
    fn those_that_nobody_was_woken_for_count_as_well() {
        // As often as without them: whoever is busy for a tick finds some in it.
        assert!(is_every(5, wakes_if_busy(!ALONE, 12, 1, 1)));
        assert!(is_every(2, wakes_if_busy(!ALONE, 25, 1, 1)));
        assert!(is_every(3, wakes_if_busy(ALONE, 31, 1, 1)));
        // Who is busy for longer than others wait is woken for the next one at once.
        assert!(is_every(4, wakes_if_busy(!ALONE, 31, 1, 3)));
        assert!(is_every(6, wakes_if_busy(ALONE, 31, 1, 5)));
    }

    #[test]
    fn crowds_with_pauses_between_them_are_on_time() {
        assert_eq!(wakes(ALONE, 10, 2 * LONGEST + 1), 58);
        let mut pace = Pace::new(ALONE);
        for tick in 1..100 {
            pace.wakes_for(10, tick);
        }
        assert_eq!(pace.wake_at(100), 107, "in a row");
        assert_eq!(pace.wake_at(99), 99, "there is more to do at once");
        assert_eq!(pace.wake_at(u64::MAX), u64::MAX, "and nothing to do");
        pace.wakes_for(10, 200);
        assert_eq!(pace.wake_at(201), 201, "after a pause");
    }
}
