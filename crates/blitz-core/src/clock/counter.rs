//! x86's time-stamp counter. Reading it costs some nanoseconds, half or a third of what `Instant` costs.

#[cfg(target_arch = "x86")]
use core::arch::x86::_rdtsc;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::_rdtsc;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::time::{Duration, Instant};

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

/// When the process first asked, by both clocks.
fn start() -> (u64, Instant) {
    // Not a `OnceLock`: a fork in the middle of its first use would leave the child waiting for it.
    static START: AtomicPtr<(u64, Instant)> = AtomicPtr::new(ptr::null_mut());
    // Acquire and Release: what it points to.
    let mut start = START.load(Ordering::Acquire);
    if start.is_null() {
        let mine = Box::into_raw(Box::new((ticks(), Instant::now())));
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
        0 => measured(),
        fixed => u64::from(fixed),
    }
}

/// What it is when it is known. 32 bits are enough for a rate: four thousand gigahertz.
static FIXED: AtomicU32 = AtomicU32::new(0);

#[cold]
fn measured() -> u64 {
    let (first, at) = start();
    while at.elapsed() < Duration::from_micros(20) {
        std::hint::spin_loop();
    }
    let (now, elapsed) = (ticks(), at.elapsed());
    let rate = rate(now.saturating_sub(first), elapsed);
    if elapsed > Duration::from_millis(1) {
        FIXED.store(rate, Ordering::Relaxed);
    }
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
