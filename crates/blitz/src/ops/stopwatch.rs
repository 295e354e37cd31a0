//! How long something took, by the engine's clock: a reading costs 10 ns, less than half of what `Instant` takes. Loops over a
//! few elements are timed, too, and there that is most of the cost.

use crate::engine::demand;

/// With more than this many nanoseconds of work ahead, what cannot be cut as it goes along asks others for help.
pub(crate) const WORTH_HELP_NS: f64 = 60_000.0;

/// Nanoseconds in the engine's unit.
pub(crate) fn ticks(ns: f64) -> u64 {
    (ns / 1e3 * demand::ticks_per_us() as f64) as u64
}

/// Runs from when it was made.
pub(crate) struct Stopwatch(u64);

impl Stopwatch {
    #[inline]
    pub(crate) fn start() -> Self {
        Stopwatch(demand::ticks_at_work())
    }

    /// Nanoseconds since the start. Clocks of different CPUs may disagree a little, so a thread that moved may read 0.
    #[inline]
    pub(crate) fn ns(&self) -> f64 {
        let ticks = demand::ticks_at_work().saturating_sub(self.0);
        ticks as f64 * 1e3 / demand::ticks_per_us() as f64
    }
}
