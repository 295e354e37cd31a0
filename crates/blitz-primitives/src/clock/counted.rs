//! For systems without a clock: a web page gives none to a library that knows nothing of JavaScript, and `Instant::now` panics there.
//!
//! Each reading counts as a little time. So whoever waits for time to pass gets through, and work between two readings is taken to be cheap, which is right
//! where there is one thread: nothing is worth giving away.

use std::sync::atomic::{AtomicU64, Ordering};

const NS_PER_READING: u64 = 100;

/// Whether ticks tell the time.
pub(super) const IS_CLOCK: bool = false;

#[inline]
pub(super) fn ticks() -> u64 {
    static READINGS: AtomicU64 = AtomicU64::new(0);
    READINGS.fetch_add(NS_PER_READING, Ordering::Relaxed)
}

#[inline]
pub(super) fn ticks_per_us() -> u64 {
    1000
}

/// Never worth a thought.
#[inline]
pub(super) fn reading_ns() -> u64 {
    0
}
