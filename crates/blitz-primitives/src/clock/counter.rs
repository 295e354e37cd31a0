//! x86's time-stamp counter. Reading it costs some nanoseconds, half or a third of what `Instant` costs.

#[cfg(target_arch = "x86")]
use core::arch::x86::_rdtsc;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::_rdtsc;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Whether ticks tell the time.
pub(super) const IS_CLOCK: bool = true;

#[inline]
pub(super) fn ticks() -> u64 {
    // SAFETY: every CPU that programs for this target run on has `rdtsc`; it reads a register.
    unsafe { _rdtsc() }
}

/// Never worth a thought.
#[inline]
pub(super) fn reading_ns() -> u64 {
    0
}

/// Both clocks at the same moment, or nearly so. A thread that loses its CPU between the two readings has them milliseconds apart, and the rate would be wrong
/// for good: so there are three pairs, each with the counter read again behind it, and the one that took the least counts.
fn both() -> (u64, Instant) {
    let pair = || {
        let (before, at) = (ticks(), Instant::now());
        (ticks().saturating_sub(before), (before, at))
    };
    closest([pair(), pair(), pair()])
}

/// Of pairs with the time they took.
fn closest<T>(pairs: [(u64, T); 3]) -> T {
    let [first, second, third] = pairs;
    let least = |a: (u64, T), b: (u64, T)| if b.0 < a.0 { b } else { a };
    least(least(first, second), third).1
}

/// When the process first asked, by both clocks.
fn start() -> (u64, Instant) {
    // Not a `OnceLock`: a fork in the middle of its first use would leave the child waiting for it.
    static START: AtomicPtr<(u64, Instant)> = AtomicPtr::new(ptr::null_mut());
    // Acquire and Release: what it points to.
    let mut start = START.load(Ordering::Acquire);
    if start.is_null() {
        let mine = Box::into_raw(Box::new(both()));
        let (empty, order) = (ptr::null_mut(), Ordering::Acquire);
        start = match START.compare_exchange(empty, mine, Ordering::AcqRel, order) {
            Ok(_) => mine,
            Err(others) => {
                // SAFETY: made above, and nobody else has seen it.
                drop(unsafe { Box::from_raw(mine) });
                others
            }
        };
    }
    // SAFETY: what was put there stays for ever and is not changed.
    unsafe { *start }
}

/// Measured over ever longer intervals until a millisecond has passed since the first call, then fixed.
#[inline]
pub(super) fn ticks_per_us() -> u64 {
    match FIXED.load(Ordering::Relaxed) {
        0 => not_fixed(),
        fixed => u64::from(fixed),
    }
}

/// What it is when it is known. 32 bits are enough for a rate: four thousand gigahertz.
static FIXED: AtomicU32 = AtomicU32::new(0);

/// What was measured last, 0 if nothing was; and until when that is good enough.
static LAST: AtomicU32 = AtomicU32::new(0);
static GOOD_UNTIL: AtomicU64 = AtomicU64::new(0);

/// A measurement takes longer than the loops and joins that ask, and in its first millisecond a program may ask a thousand times: so a measurement serves until as much time has
/// passed again as it saw.
#[cold]
fn not_fixed() -> u64 {
    // Relaxed: any rate that was measured will do, from whichever interval.
    let last = LAST.load(Ordering::Relaxed);
    if last != 0 && ticks() < GOOD_UNTIL.load(Ordering::Relaxed) {
        return u64::from(last);
    }
    measured()
}

fn measured() -> u64 {
    let (first, at) = start();
    while at.elapsed() < Duration::from_micros(20) {
        std::hint::spin_loop();
    }
    let (now, later) = both();
    let elapsed = later.duration_since(at);
    let passed = now.saturating_sub(first);
    let rate = rate(passed, elapsed);
    if elapsed > Duration::from_millis(1) {
        FIXED.store(rate, Ordering::Relaxed);
    }
    LAST.store(rate, Ordering::Relaxed);
    GOOD_UNTIL.store(now.saturating_add(passed), Ordering::Relaxed);
    u64::from(rate)
}

/// Ticks per microsecond, at least one.
fn rate(ticks: u64, elapsed: Duration) -> u32 {
    // In 128 bits: a program may have been at it for months when it first asks.
    let rate = u128::from(ticks) * 1000 / elapsed.as_nanos().max(1);
    u32::try_from(rate).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_of_readings_that_was_torn_apart_does_not_count() {
        assert_eq!(closest([(90, 'a'), (9_000_000, 'b'), (80, 'c')]), 'c');
        assert_eq!(closest([(90, 'a'), (80, 'b'), (9_000_000, 'c')]), 'b');
        assert_eq!(closest([(80, 'a'), (80, 'b'), (9_000_000, 'c')]), 'a');
    }

    #[test]
    fn the_first_millisecond_is_not_spent_measuring() {
        // One measurement per doubling, from 20 us to 1 ms; how many were made shows in how often the end of the last one moved.
        let mut ends = Vec::new();
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(2) || ends.len() < 1000 {
            not_fixed();
            ends.push(GOOD_UNTIL.load(Ordering::Relaxed));
        }
        ends.dedup();
        assert!(ends.len() <= 16, "{} measurements", ends.len());
    }

    #[test]
    fn the_rate_is_right_after_months_too() {
        let day = 24 * 60 * 60;
        for days in [0, 1, 71, 100, 1000] {
            let elapsed = Duration::from_secs(1 + days * day);
            let ticks = elapsed.as_secs() * 3_000_000_000;
            assert_eq!(rate(ticks, elapsed), 3000, "after {days} days");
        }
        assert_eq!(rate(0, Duration::ZERO), 1);
    }
}
