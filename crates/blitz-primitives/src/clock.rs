//! A clock cheap enough to read while scheduling: the CPU's tick counter on x86, nanoseconds elsewhere.
//!
//! What a tick is differs from CPU to CPU, so a constant is never in ticks: it is in microseconds and goes through [`ticks_per_us`].
//!
//! Ticks of different CPUs are compared only where a wrong answer costs a little time, never correctness.
//!
//! On some systems a reading is a call into the kernel or to a device and takes a microsecond. There, whoever looks at the clock every so often does so the more seldom the
//! longer a reading takes ([`reading_ns`]), and work that is shorter than that is timed now and then only ([`affords_a_reading`]). What that costs: work that suddenly takes
//! longer than it used to is noticed later.
//!
//! With `--cfg blitz_slow_clock` a reading takes a microsecond and tells whole ones, for tests of what the policies do there (`.ci/platforms/run slow-clock`).

#[path = "clock/coarse.rs"]
mod coarse;

pub use coarse::{coarse_is_cheap, coarse_mark};
use std::cell::Cell;
use std::time::{Duration, Instant};

#[cfg(all(
    any(target_arch = "x86_64", target_arch = "x86"),
    not(any(miri, blitz_slow_clock))
))]
#[path = "clock/counter.rs"]
mod source;

// A page with threads.
#[cfg(all(
    feature = "web_spin_lock",
    target_family = "wasm",
    target_os = "unknown",
    target_feature = "atomics"
))]
#[path = "clock/page.rs"]
mod source;

#[cfg(all(
    target_family = "wasm",
    target_os = "unknown",
    not(all(feature = "web_spin_lock", target_feature = "atomics"))
))]
#[path = "clock/counted.rs"]
mod source;

#[cfg(not(any(
    all(
        any(target_arch = "x86_64", target_arch = "x86"),
        not(any(miri, blitz_slow_clock))
    ),
    all(target_family = "wasm", target_os = "unknown")
)))]
#[path = "clock/nanoseconds.rs"]
mod source;

/// A point in time. Only differences mean something.
#[inline]
pub fn ticks() -> u64 {
    source::ticks()
}

/// How many ticks make a microsecond.
#[inline]
pub fn ticks_per_us() -> u64 {
    source::ticks_per_us()
}

/// Does the standard library have a clock?
const HAS_INSTANTS: bool = cfg!(not(all(target_family = "wasm", target_os = "unknown")));

/// The point in time that is so far away; none if it is beyond all clocks, or if there is none: whoever waits then waits as long as it takes.
pub fn deadline(limit: Duration) -> Option<Instant> {
    HAS_INSTANTS.then(Instant::now)?.checked_add(limit)
}

/// How long it is since it was started, for those who wait.
#[derive(Clone, Copy, Debug)]
pub enum Stopwatch {
    /// By the standard library's clock, started then.
    Instants(Instant),
    /// By ticks, started then.
    Ticks(u64),
    /// Ticks count readings.
    Nothing,
}

impl Stopwatch {
    /// From now on.
    pub fn start() -> Self {
        match (HAS_INSTANTS, source::IS_CLOCK) {
            (true, _) => Self::Instants(Instant::now()),
            (false, true) => Self::Ticks(ticks()),
            (false, false) => Self::Nothing,
        }
    }

    /// `None`: nobody knows.
    pub fn elapsed(self) -> Option<Duration> {
        match self {
            Self::Instants(start) => Some(start.elapsed()),
            Self::Ticks(start) => {
                let passed = ticks().saturating_sub(start);
                Some(Duration::from_micros(passed / ticks_per_us()))
            }
            Self::Nothing => None,
        }
    }
}

/// How long a reading takes, if that is long enough to count; 0 otherwise.
#[inline]
pub fn reading_ns() -> u64 {
    source::reading_ns()
}

/// How long it was from one reading to another, less what a slow reading takes itself. 0 if that is all that a slow clock can tell.
#[inline]
pub fn between(start: u64, end: u64) -> u64 {
    let (passed, ns) = (end.saturating_sub(start), reading_ns());
    if ns == 0 {
        return passed;
    }
    let reading = ns * ticks_per_us() / 1000;
    if passed < 2 * reading {
        0
    } else {
        passed - reading
    }
}

/// Of so many short pieces of work, one is timed.
const TIMED_ONCE_IN: u8 = 64;

/// Should work that may be too short for it be timed? Always, if the clock is a fast one.
#[inline]
pub fn affords_a_reading() -> bool {
    reading_ns() == 0 || is_one_of_many()
}

#[cold]
fn is_one_of_many() -> bool {
    thread_local! { static COUNT: Cell<u8> = const { Cell::new(0) } }
    let count = COUNT.get();
    COUNT.set(count.wrapping_add(1));
    count % TIMED_ONCE_IN == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_agree_with_the_wall_clock() {
        let rate = ticks_per_us();
        assert!(rate > 0);
        let agree = || {
            let (before, at) = (ticks(), Instant::now());
            std::thread::sleep(Duration::from_millis(5));
            let (after, elapsed) = (ticks(), at.elapsed());
            let measured = (after - before) / ticks_per_us();
            let real = elapsed.as_micros() as u64;
            measured > real / 2 && measured < real * 2
        };
        // A thread may lose its CPU between the readings of the two clocks, but not always.
        assert!((0..10).any(|_| agree()));
    }
}
