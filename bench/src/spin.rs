//! A calibrated chunk of CPU work: dependent integer steps whose result can be checked.
//!
//! A task of N microseconds is a number of steps, fixed once per process by timing the kernel, not a loop that polls a
//! clock: polling would make a task end on time even when its CPU was taken away, and so hide the very thing measured.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// Runs `steps` steps that each need the previous one's result (about a nanosecond apiece) and returns the last value.
#[inline(never)]
pub fn spin(steps: u64, seed: u64) -> u64 {
    let mut value = seed | 1;
    for _ in 0..steps {
        value = (value ^ (value >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    value
}

/// The speed of [`spin`] in this process.
#[derive(Clone, Copy, Debug)]
pub struct Calibration {
    steps_per_us: f64,
}

impl Calibration {
    /// Times the kernel on the calling thread; the fastest of many tries, since anything slower was disturbed.
    pub fn measure() -> Self {
        const STEPS: u64 = 50_000;
        let best = (0..40)
            .map(|seed| {
                let start = Instant::now();
                black_box(spin(black_box(STEPS), seed));
                start.elapsed()
            })
            .min()
            .unwrap_or(Duration::from_micros(50));
        Self {
            steps_per_us: STEPS as f64 / best.as_secs_f64() / 1e6,
        }
    }

    /// Steps that take this many microseconds on an undisturbed CPU.
    pub fn steps_for(self, microseconds: f64) -> u64 {
        ((self.steps_per_us * microseconds) as u64).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_steps_and_seed_give_the_same_value() {
        assert_eq!(spin(1000, 7), spin(1000, 7));
        assert_ne!(spin(1000, 7), spin(1001, 7));
        assert_ne!(spin(1000, 7), spin(1000, 8));
    }

    #[test]
    fn steps_grow_with_the_time_asked_for() {
        let calibration = Calibration::measure();
        assert!(calibration.steps_for(1000.0) > calibration.steps_for(5.0));
        assert!(calibration.steps_for(0.0) >= 1);
    }
}
