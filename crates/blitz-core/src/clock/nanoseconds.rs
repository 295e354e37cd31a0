//! The standard library's clock, in nanoseconds. Most systems read a counter of the CPU for it, without a call into the kernel.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Instant;

#[inline]
pub(super) fn ticks() -> u64 {
    if cfg!(blitz_slow_clock) {
        let begin = Instant::now();
        while begin.elapsed().as_nanos() < 500 {
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
