//! A clock cheap enough to read while scheduling: the CPU's tick counter, where there is one to read, or else nanoseconds.
//!
//! What a tick is differs from CPU to CPU, so a constant is never in ticks: it is in microseconds and goes through [`ticks_per_us`].
//!
//! Reading it costs some nanoseconds; `Instant` costs two to three times as much. Ticks of different
//! CPUs are compared only where a wrong answer costs a little time, never correctness.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A point in time. Only differences mean something.
#[inline]
pub fn ticks() -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        // SAFETY: every x86-64 CPU has `rdtsc`; it reads a register.
        unsafe { core::arch::x86_64::_rdtsc() }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    {
        start().1.elapsed().as_nanos() as u64
    }
}

/// When the process first asked, by both clocks.
fn start() -> (u64, Instant) {
    // Not a `OnceLock`: a fork in the middle of its first use would leave the child waiting for it.
    static START: AtomicPtr<(u64, Instant)> = AtomicPtr::new(ptr::null_mut());
    // Acquire and Release: what it points to.
    let mut start = START.load(Ordering::Acquire);
    if start.is_null() {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        let first = ticks();
        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        let first = 0;
        let mine = Box::into_raw(Box::new((first, Instant::now())));
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

/// How many ticks make a microsecond.
///
/// Measured over ever longer intervals until a millisecond has passed since the first call, then fixed.
pub fn ticks_per_us() -> u64 {
    static FIXED: AtomicU64 = AtomicU64::new(0);
    let fixed = FIXED.load(Ordering::Relaxed);
    if fixed != 0 {
        return fixed;
    }
    let (first, at) = start();
    while at.elapsed() < Duration::from_micros(20) {
        std::hint::spin_loop();
    }
    let (now, elapsed) = (ticks(), at.elapsed());
    let rate = rate(now.saturating_sub(first), elapsed);
    if elapsed > Duration::from_millis(1) {
        FIXED.store(rate, Ordering::Relaxed);
    }
    rate
}

/// Ticks per microsecond, at least one.
fn rate(ticks: u64, elapsed: Duration) -> u64 {
    // In 128 bits: a program may have been at it for months when it first asks.
    let rate = u128::from(ticks) * 1000 / elapsed.as_nanos().max(1);
    u64::try_from(rate).unwrap_or(u64::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn ticks_agree_with_the_wall_clock() {
        let rate = ticks_per_us();
        assert!(rate > 0);
        let (before, at) = (ticks(), Instant::now());
        std::thread::sleep(Duration::from_millis(5));
        let (after, elapsed) = (ticks(), at.elapsed());
        let measured = (after - before) / ticks_per_us();
        let real = elapsed.as_micros() as u64;
        assert!(
            measured > real / 2 && measured < real * 2,
            "{measured} us, really {real} us"
        );
    }
}
