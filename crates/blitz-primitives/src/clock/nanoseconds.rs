//! The standard library's clock, in nanoseconds. Most systems read a counter of the CPU for it, without a call into the kernel.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::time::Instant;

/// Whether ticks tell the time.
pub(super) const IS_CLOCK: bool = true;

#[inline]
pub(super) fn ticks() -> u64 {
    if cfg!(blitz_slow_clock) {
        let begin = Instant::now();
        while begin.elapsed().as_nanos() < 1000 {
            std::hint::spin_loop();
        }
        return start().elapsed().as_micros() as u64 * 1000;
    }
    start().elapsed().as_nanos() as u64
}

#[inline]
pub(super) fn ticks_per_us() -> u64 {
    1000
}

/// A reading that takes less than this is like any other load.
const FAST_NS: u32 = 100;

/// Measured once. What it is then it stays: a machine that happens to be busy meanwhile is taken for one with a slow clock.
#[inline]
pub(super) fn reading_ns() -> u64 {
    static KNOWN: AtomicU32 = AtomicU32::new(u32::MAX);
    match KNOWN.load(Ordering::Relaxed) {
        u32::MAX => {
            let ns = measured_ns();
            KNOWN.store(ns, Ordering::Relaxed);
            u64::from(ns)
        }
        ns => u64::from(ns),
    }
}

#[cold]
fn measured_ns() -> u32 {
    // The clock may tell whole microseconds only, and an interrupt may come: several readings together, and the best of some rounds.
    const READINGS: u32 = 8;
    let round = |_| {
        let start = Instant::now();
        (0..READINGS).for_each(|_| _ = std::hint::black_box(ticks()));
        start.elapsed().as_nanos() as u32 / READINGS
    };
    let ns = (0..4).map(round).min().unwrap_or(0);
    if ns < FAST_NS { 0 } else { ns.min(100_000) }
}

/// When the process first asked.
fn start() -> Instant {
    // Not a `OnceLock`: a fork in the middle of its first use would leave the child waiting for it.
    static START: AtomicPtr<Instant> = AtomicPtr::new(ptr::null_mut());
    // Acquire and Release: what it points to.
    let mut start = START.load(Ordering::Acquire);
    if start.is_null() {
        let mine = Box::into_raw(Box::new(Instant::now()));
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
