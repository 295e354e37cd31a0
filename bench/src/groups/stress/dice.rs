//! Random decisions that follow from a seed: the same seed, the same decisions.

use std::time::Duration;

use super::program::mix;

/// Throws of one scenario.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Dice(mix(seed ^ 0xD1CE))
    }

    /// Any number.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mix(self.0)
    }

    /// 0 to `bound - 1`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.roll() % bound as u64) as usize
    }

    /// `low` to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True once in so many throws.
    pub fn once_in(&mut self, throws: usize) -> bool {
        self.below(throws) == 0
    }

    /// A pause of less than so many microseconds.
    pub fn micros(&mut self, bound: usize) -> Duration {
        Duration::from_micros(self.below(bound) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_throws_the_same() {
        let throws = |seed| {
            let mut dice = Dice::new(seed);
            [(); 8].map(|()| dice.between(3, 90))
        };
        assert_eq!(throws(1), throws(1));
        assert_ne!(throws(1), throws(2));
        assert!(throws(3).iter().all(|throw| (3..=90).contains(throw)));
    }
}
