//! What the recipes of the cookbook have in common: sizes, a stopwatch, a comparison with sequential code, random data.
//!
//! ```text
//! cargo run --release -p blitz-examples --bin monte_carlo
//! cargo run --release -p blitz-examples --bin monte_carlo -- --quick
//! ```

use std::process::exit;
use std::time::{Duration, Instant};

/// A recipe being run.
pub struct Recipe {
    quick: bool,
}

impl Recipe {
    /// Reads the command line and says what is going to happen.
    pub fn start(what: &str) -> Self {
        let mut quick = false;
        for word in std::env::args().skip(1) {
            match word.as_str() {
                "--quick" => quick = true,
                other => {
                    eprintln!(
                        "unknown argument '{other}'; the only one there is: --quick (small data)"
                    );
                    exit(2);
                }
            }
        }
        println!("{what}");
        Recipe { quick }
    }

    /// How much data: the first, or the second with `--quick`.
    pub fn size(&self, full: usize, quick: usize) -> usize {
        if self.quick { quick } else { full }
    }

    /// Runs both, checks that they agree, and prints how much faster the parallel one is. Returns its result.
    ///
    /// The rounds are interleaved and the fastest one counts, so that a disturbance hits neither side alone.
    pub fn compare<T: PartialEq>(&self, sequential: impl Fn() -> T, parallel: impl Fn() -> T) -> T {
        let rounds = self.size(5, 2);
        let (mut best_sequential, mut best_parallel) = (Duration::MAX, Duration::MAX);
        let mut result = None;
        for _ in 0..rounds {
            let (expected, time) = timed(&sequential);
            best_sequential = best_sequential.min(time);
            let (actual, time) = timed(&parallel);
            best_parallel = best_parallel.min(time);
            if actual != expected {
                eprintln!("WRONG: the parallel result differs from the sequential one");
                exit(1);
            }
            result = Some(actual);
        }
        println!(
            "  sequential {:>9.2} ms\n  parallel   {:>9.2} ms   {:.2} times as fast, on {} threads; same result",
            best_sequential.as_secs_f64() * 1e3,
            best_parallel.as_secs_f64() * 1e3,
            best_sequential.as_secs_f64() / best_parallel.as_secs_f64(),
            blitz::current_num_threads(),
        );
        result.expect("there is at least one round")
    }
}

fn timed<T>(work: impl Fn() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

/// A small random generator: the same seed gives the same numbers, on every machine.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Any seed will do.
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x1234_5678_9ABC_DEF1)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.bits()) * limit as u128) >> 64) as usize
    }

    /// A number from 0 to 1, 1 excluded.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(doctest)]
mod book;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_numbers_stay_in_their_range_and_fill_it() {
        let mut random = Random::new(7);
        let mut seen = [false; 10];
        for _ in 0..1000 {
            seen[random.below(10)] = true;
            assert!((0.0..1.0).contains(&random.unit()));
        }
        assert!(seen.iter().all(|&seen| seen));
    }

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let mut random = (Random::new(3), Random::new(3));
        assert!((0..100).all(|_| random.0.bits() == random.1.bits()));
        assert_ne!(Random::new(3).bits(), Random::new(4).bits());
    }
}
