//! The coarse buckets of the first passes: equal steps on the line of keys, laid out by a sample.
//!
//! Top bits make poor buckets when keys crowd: small numbers with a few huge ones among them, signed numbers around zero (whose
//! bit patterns differ in all 64 bits), timestamps of one day. A scale runs from about the smallest to about the largest key of a
//! sample, in equal steps. Keys outside go to the first or the last bucket. The mapping is monotone for any sample, so
//! correctness does not depend on it. Only the balance does. Somebody who knows where the sample is taken can spoil it. So code that lays out
//! scale after scale counts how often it does.

use super::element::Reading;

/// Number of buckets of a scale at most, as a power of two. Spreading keeps one cache line per bucket in use; measured with 8-byte
/// elements, 1024 lines cost 1.6 ns per element, 2048 cost 4.
const WIDEST: u32 = 10;

/// Elements in a sample.
pub(super) const SAMPLE: usize = 128;

/// Equal steps from a base upwards; the first and the last one are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scale {
    /// Which word of the key is measured.
    pub(super) word: u32,
    base: u64,
    shift: u32,
    last: u64,
}

impl Scale {
    /// A scale of about `2^width` buckets for these elements, by the first word from `first_word` on in which they differ; nothing if
    /// they do not differ at all. At least two buckets will be in use.
    pub(super) fn for_elements<E, R: Reading<E>>(
        elements: &[E],
        reading: R,
        first_word: u32,
        width: u32,
    ) -> Option<Scale> {
        (first_word..R::WORDS).find_map(|word| {
            let step = (elements.len() / SAMPLE).max(1);
            let mut sample = [0; SAMPLE];
            let mut len = 0;
            for (slot, element) in sample.iter_mut().zip(elements.iter().step_by(step)) {
                *slot = reading.word(element, word);
                len += 1;
            }
            let sample = &mut sample[..len];
            sample.sort_unstable();
            // The outermost ones may be far out; the rest should be well inside.
            let outer = len / 32;
            let (low, high) = (sample[outer], sample[len - 1 - outer]);
            if low < high {
                let margin = (high - low) / 32;
                return Some(Scale::spanning(
                    low.saturating_sub(margin),
                    high.saturating_add(margin),
                    width,
                    word,
                ));
            }
            // No idea from the sample: take the whole range, if there is one.
            let (low, high) = elements
                .iter()
                .map(|x| reading.word(x, word))
                .fold((u64::MAX, 0), |(low, high), x| (low.min(x), high.max(x)));
            (low < high).then(|| Scale::spanning(low, high, width, word))
        })
    }

    /// Steps of a power of two, as small as possible, from `low` to `high`, which is larger.
    fn spanning(low: u64, high: u64, width: u32, word: u32) -> Scale {
        let significant = u64::BITS - (high - low).leading_zeros();
        // With four steps or more, no sample from which the scale was made falls into a single one.
        let shift = significant.saturating_sub(width.clamp(2, WIDEST));
        Scale {
            word,
            base: low,
            shift,
            last: (high - low) >> shift,
        }
    }

    /// Number of buckets.
    pub(super) fn buckets(self) -> usize {
        self.last as usize + 1
    }

    /// The bucket of an element. Monotone in the measured word.
    #[inline(always)]
    pub(super) fn of<E, R: Reading<E>>(self, element: &E, reading: R) -> usize {
        let above = reading.word(element, self.word).saturating_sub(self.base);
        (above >> self.shift).min(self.last) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::super::element::Itself;
    use super::*;

    fn spreads(elements: &[u64]) -> usize {
        let scale = Scale::for_elements(elements, Itself, 0, 8).expect("the elements differ");
        let mut sorted = elements.to_vec();
        sorted.sort_unstable();
        let buckets: Vec<usize> = sorted.iter().map(|x| scale.of(x, Itself)).collect();
        assert!(buckets.is_sorted(), "a scale must be monotone");
        assert!(buckets.iter().all(|b| *b < scale.buckets()));
        let mut used = buckets;
        used.dedup();
        used.len()
    }

    #[test]
    fn evenly_spread_keys_use_many_buckets() {
        let elements: Vec<u64> = (0..10_000)
            .map(|i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15))
            .collect();
        assert!(spreads(&elements) > 100);
    }

    #[test]
    fn keys_around_a_power_of_two_use_many_buckets() {
        let elements: Vec<u64> = (0..10_000).map(|i: u64| (1 << 63) - 5_000 + i).collect();
        assert!(spreads(&elements) > 100);
    }

    #[test]
    fn a_few_huge_keys_do_not_spoil_the_scale() {
        let elements: Vec<u64> = (0..10_000)
            .map(|i: u64| if i % 1000 == 7 { u64::MAX - i } else { i })
            .collect();
        assert!(spreads(&elements) > 100);
    }

    #[test]
    fn one_odd_key_that_no_sample_sees_is_split_off() {
        for odd in [0, 6, u64::MAX] {
            let mut elements = vec![5; 10_000];
            elements[4_321] = odd;
            assert_eq!(spreads(&elements), 2);
        }
    }

    #[test]
    fn equal_keys_have_no_scale() {
        assert_eq!(Scale::for_elements(&[7_u64; 1000], Itself, 0, 8), None);
        assert_eq!(
            Scale::for_elements(&[(3_u64, 9_u64); 1000], Itself, 0, 8),
            None
        );
        assert_eq!(
            Scale::for_elements(&[(3_u64, 9_u64), (3, 10)], Itself, 0, 8).map(|scale| scale.word),
            Some(1)
        );
    }
}
