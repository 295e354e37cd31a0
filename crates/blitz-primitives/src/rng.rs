//! A tiny random number generator for choosing victims.
//!
//! Thieves start their search at a random place so that they do not all fall upon the same victim.
//! That needs numbers that are cheap and different per thread, not unpredictable ones: xorshift64*
//! (Marsaglia's shifts, Vigna's multiplier) has a period of 2^64 - 1, one word of state, and costs
//! about a nanosecond. A range is reached by Lemire's multiplication instead of a division. Not
//! for cryptography.

/// The odd number nearest to 2^64 divided by the golden ratio: spreads small seeds over all bits.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// The generator xorshift64*.
///
/// ```
/// use blitz_primitives::XorShift64Star;
///
/// let mut rng = XorShift64Star::new(7);
/// let die = rng.below(6) + 1;
/// assert!((1..=6).contains(&die));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XorShift64Star {
    /// Never zero: zero is the one state that maps to itself.
    state: u64,
}

impl XorShift64Star {
    /// A generator that always yields the same sequence for the same seed. A seed of zero, from
    /// which the shifts could not escape, is replaced by a constant.
    ///
    /// ```
    /// use blitz_primitives::XorShift64Star;
    ///
    /// assert_eq!(XorShift64Star::new(7).next_u64(), XorShift64Star::new(7).next_u64());
    /// ```
    #[inline]
    pub const fn new(seed: u64) -> Self {
        Self {
            state: if seed == 0 { GOLDEN } else { seed },
        }
    }

    /// A generator for worker `index`: neighbouring indices give unrelated sequences.
    ///
    /// ```
    /// use blitz_primitives::XorShift64Star;
    /// let mut a = XorShift64Star::from_index(0);
    /// let mut b = XorShift64Star::from_index(1);
    /// assert_ne!(a.next_u64(), b.next_u64());
    /// ```
    #[inline]
    pub const fn from_index(index: usize) -> Self {
        Self::new((index as u64).wrapping_add(1).wrapping_mul(GOLDEN))
    }

    /// The next 64 bits.
    ///
    /// ```
    /// let mut rng = blitz_primitives::XorShift64Star::new(7);
    /// let (first, second) = (rng.next_u64(), rng.next_u64());
    /// assert_ne!(first, second);
    /// ```
    #[inline]
    pub const fn next_u64(&mut self) -> u64 {
        let mut x = self.state;
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        self.state = x;
        x.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `limit`, each with the same probability up to a relative error of
    /// `limit / 2^64`.
    ///
    /// # Panics
    ///
    /// If `limit` is zero.
    ///
    /// ```
    /// let mut rng = blitz_primitives::XorShift64Star::new(7);
    /// let mut seen = [0; 6];
    /// (0..6000).for_each(|_| seen[rng.below(6)] += 1);
    /// assert!(seen.iter().all(|&times| times > 800));
    /// ```
    #[inline]
    pub const fn below(&mut self, limit: usize) -> usize {
        assert!(limit > 0, "there is no number below zero");
        // Lemire: the high half of the product of 64 random bits with the limit.
        ((self.next_u64() as u128 * limit as u128) >> 64) as usize
    }

    /// A number below `limit` other than `excluded`: a victim other than the thief.
    ///
    /// ```
    /// let mut rng = blitz_primitives::XorShift64Star::new(1);
    /// assert_eq!(rng.excluding(2, 0), 1);
    /// ```
    ///
    /// # Panics
    ///
    /// If `limit` is less than two (nothing would be left), or `excluded` is not below it.
    #[inline]
    pub const fn excluding(&mut self, limit: usize, excluded: usize) -> usize {
        assert!(
            limit > 1 && excluded < limit,
            "nothing is left to choose from"
        );
        let choice = self.below(limit - 1);
        if choice >= excluded {
            choice + 1
        } else {
            choice
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_that_of_the_published_algorithm() {
        // By hand from seed 1: x = 1; x ^= x >> 12 -> 1; x ^= x << 25 -> 0x2000001;
        // x ^= x >> 27 -> 0x2000001; times 0x2545F4914F6CDD1D.
        let mut rng = XorShift64Star::new(1);
        assert_eq!(
            rng.next_u64(),
            0x2545_F491_4F6C_DD1D_u64.wrapping_mul(0x0200_0001)
        );
        assert_eq!(XorShift64Star::new(1).next_u64(), 0x47E4_CE4B_896C_DD1D);
    }

    #[test]
    fn a_zero_seed_works_like_any_other() {
        let mut rng = XorShift64Star::new(0);
        assert!((0..100).any(|_| rng.next_u64() != 0));
    }

    #[test]
    fn numbers_stay_below_the_limit_and_reach_all_of_it_evenly() {
        let mut rng = XorShift64Star::from_index(3);
        for limit in [1, 2, 3, 7, 64] {
            let mut hits = vec![0_u32; limit];
            (0..limit * 1000).for_each(|_| hits[rng.below(limit)] += 1);
            assert!(hits.iter().all(|&n| (800..1200).contains(&n)), "{hits:?}");
        }
        assert!(rng.below(usize::MAX) < usize::MAX);
    }

    #[test]
    fn the_excluded_number_never_comes_and_all_others_do() {
        let mut rng = XorShift64Star::new(99);
        for limit in 2..6 {
            for excluded in 0..limit {
                let mut hits = vec![0_u32; limit];
                (0..1000).for_each(|_| hits[rng.excluding(limit, excluded)] += 1);
                for (number, &n) in hits.iter().enumerate() {
                    assert_eq!(n == 0, number == excluded);
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "no number below zero")]
    fn an_empty_range_panics() {
        XorShift64Star::new(1).below(0);
    }

    #[test]
    #[should_panic(expected = "nothing is left")]
    fn excluding_the_only_number_panics() {
        XorShift64Star::new(1).excluding(1, 0);
    }
}
