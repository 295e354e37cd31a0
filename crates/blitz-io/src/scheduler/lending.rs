//! How often a worker that computes lends its CPU.
//!
//! It yields at its beats as long as the relief thread has something to do. Mostly it has the CPU back after some microseconds. But others may want it too:
//! a relief thread that always has a task, or other programs. Then each yield costs one of their time slices, of milliseconds, and some kernels also count a whole time slice
//! of the worker's own as used. Beats are microseconds apart, so a computation that lent its CPU at each of them would hardly run at all. So a
//! worker that was away for some time keeps its CPU for as long, but no longer than [`MOST_US`], because a task may wait meanwhile.

use blitz_core::demand::{ticks, ticks_per_us};
use std::cell::Cell;

/// As long as a slice of tasks at the most.
const MOST_US: u64 = 1_000;

/// See the module's documentation. One for each worker.
#[derive(Debug, Default)]
pub(crate) struct Lending {
    /// Until when it keeps its CPU, in ticks.
    keeps_until: Cell<u64>,
}

impl Lending {
    /// Yields, if it is time for that.
    pub(crate) fn lend(&self, yields: impl FnOnce()) {
        self.lend_by(ticks, MOST_US * ticks_per_us(), yields);
    }

    fn lend_by(&self, now: impl Fn() -> u64, most: u64, yields: impl FnOnce()) {
        let lent = now();
        if lent < self.keeps_until.get() {
            return;
        }
        yields();
        let back = now();
        let away = back.saturating_sub(lent);
        self.keeps_until.set(back.saturating_add(away.min(most)));
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Of a second of beats every 25 us: how many microseconds of it the worker has computed, and how often it has yielded, if each yield takes `away` of them.
    fn a_second_with_yields_of(away: u64) -> (u64, u32) {
        let (clock, lending) = (Cell::new(0), Lending::default());
        let (mut computed, mut yields) = (0, 0);
        while clock.get() < 1_000_000 {
            clock.set(clock.get() + 25);
            computed += 25;
            lending.lend_by(
                || clock.get(),
                MOST_US,
                || {
                    clock.set(clock.get() + away);
                    yields += 1;
                },
            );
        }
        (computed, yields)
    }

    #[test]
    fn short_absences_are_as_frequent_as_beats() {
        let (computed, yields) = a_second_with_yields_of(5);
        assert_eq!(u64::from(yields), computed / 25);
    }

    #[test]
    fn a_computation_gets_half_of_the_time() {
        for away in [50, 200, 1_000] {
            let (computed, yields) = a_second_with_yields_of(away);
            assert!(computed >= 490_000, "{computed} of {away}");
            assert!(yields >= 400, "{yields} of {away}");
        }
    }

    #[test]
    fn long_absences_do_not_bring_it_to_a_standstill_and_no_task_waits_for_long() {
        let (computed, yields) = a_second_with_yields_of(4_000);
        assert!(computed >= 190_000, "{computed}");
        assert!(yields >= 190, "{yields}");
    }
}
