//! A clock cheap enough to read while scheduling: the CPU's tick counter on x86, nanoseconds elsewhere.
//!
//! What a tick is differs from CPU to CPU, so a constant is never in ticks: it is in microseconds and goes through [`ticks_per_us`].
//!
//! Ticks of different CPUs are compared only where a wrong answer costs a little time, never correctness.
//!
//! With `--cfg blitz_slow_clock` a reading takes half a microsecond and tells whole ones, as on systems where the clock is a device. That is for tests of
//! what the policies do there.

#[cfg(all(
    any(target_arch = "x86_64", target_arch = "x86"),
    not(any(miri, blitz_slow_clock))
))]
#[path = "clock/counter.rs"]
mod source;

#[cfg(all(target_family = "wasm", target_os = "unknown"))]
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

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
