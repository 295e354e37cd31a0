//! How long timers that come in crowds wait for each other.
//!
//! To be woken by the kernel costs 5 to 15 us of CPU time, whether for one timer or for a hundred. A timer that is alone is worth that: it is on time. Where dozens
//! become due in tick after tick, waking for each tick would cost more than all the timers, and nobody gets a CPU of his own for each of them anyway. So a driver that has been
//! woken for several timers at a time, and often in a row, waits until there is a [`CROWD`] of them, but not longer than [`LONGEST`] after it was last woken.
//!
//! Measured: 20,000 timers within 50 ms, 12 in each tick, on one thread (`programs/micro`, row `timers/fired-cpu`): CPU time 1.19 of tokio's, which waits for the millisecond, with an eighth of
//! a millisecond, 0.94 with a quarter, 0.80 with half of one.

/// So many timers at once are worth a wake-up. Few enough that the worker that runs their tasks does not ask for help with them (`outlook`): with 100, and 31 in each tick, a second worker was woken every
/// time, and they took a third more CPU time (group `time`).
const CROWD: u64 = 84;
/// In ticks: a quarter of a millisecond.
const LONGEST: u64 = 8;
/// Wakes in a row that make a habit.
const ROW: u32 = 16;

/// The habit of the thread that waits in the driver.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// The tick of the last wake for timers.
    last: u64,
    /// Such wakes for several timers at a time, each soon after the one before.
    row: u32,
    /// How many ticks after the last one the next crowd is to be expected.
    gap: u64,
}

impl Pace {
    /// The driver has waited, and fires so many timers at tick `now`.
    pub(super) fn fires(&mut self, timers: usize, now: u64) {
        let passed = now.saturating_sub(self.last).max(1);
        self.last = now;
        self.row = if timers > 1 && passed <= 2 * LONGEST {
            (self.row + 1).min(ROW)
        } else {
            0
        };
        self.gap = (CROWD * passed / (timers as u64).max(1)).min(LONGEST);
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

    /// The driver is woken whenever it wants to be, with so many timers in every `every`th tick. Returns how often in 1,000 ticks.
    fn wakes(timers: usize, every: u64) -> usize {
        let (mut pace, mut now, mut wakes) = (Pace::default(), 0, 0);
        let mut fired = 0;
        loop {
            let next = (fired / every + 1) * every;
            now = pace.wake_at(next).max(now + 1);
            if now > 1000 {
                return wakes;
            }
            assert!(now - next <= LONGEST, "so late is no timer");
            pace.fires(timers * (now / every - fired / every) as usize, now);
            (fired, wakes) = (now, wakes + 1);
        }
    }

    #[test]
    fn a_timer_that_is_alone_is_on_time_however_often_it_comes() {
        assert_eq!(wakes(1, 1), 1000);
        assert_eq!(wakes(1, 3), 333);
    }

    #[test]
    fn timers_that_come_in_crowds_wait_for_each_other_up_to_a_limit() {
        let few = |wakes: usize, gap: usize| wakes.abs_diff(1000 / gap) <= ROW as usize;
        assert!(few(wakes(2, 1), 8));
        assert!(few(wakes(12, 1), 7));
        assert!(few(wakes(25, 1), 3));
        // There is a crowd in every tick.
        assert_eq!(wakes(CROWD as usize, 1), 1000);
        assert_eq!(wakes(1000, 1), 1000);
    }

    #[test]
    fn crowds_with_pauses_between_them_are_on_time() {
        assert_eq!(wakes(10, 2 * LONGEST + 1), 58);
        let mut pace = Pace::default();
        for tick in 1..100 {
            pace.fires(10, tick);
        }
        assert_eq!(pace.wake_at(100), 107, "in a row");
        assert_eq!(pace.wake_at(99), 99, "there is more to do at once");
        assert_eq!(pace.wake_at(u64::MAX), u64::MAX, "and nothing to do");
        pace.fires(10, 200);
        assert_eq!(pace.wake_at(201), 201, "after a pause");
    }
}
