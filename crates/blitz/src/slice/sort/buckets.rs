//! What the sorts that deal elements into buckets have in common: numbers only, so that it is compiled once.
//!
//! The slice is cut into stripes. Each stripe counts its elements per bucket. [`bucket_starts`] adds up the counts bucket by bucket and stripe by stripe, which gives every stripe
//! its own places in every bucket. So all stripes write at once without asking each other, and elements of a bucket keep their order.
//!
//! [`bucket_starts`]: crate::math::bucket_starts

use crate::engine::demand::join_in_operation;
use crate::math::stripe;
use std::ops::Range;

/// A part of the slice and, per bucket, first the number of its elements, then the next free place for them.
pub(super) struct Stripe {
    pub(super) range: Range<usize>,
    pub(super) places: Vec<usize>,
}

impl AsMut<[usize]> for Stripe {
    fn as_mut(&mut self) -> &mut [usize] {
        &mut self.places
    }
}

/// So many equal stripes of a slice of `len` elements. Nothing is counted yet.
pub(super) fn stripes(len: usize, count: usize, buckets: usize) -> Vec<Stripe> {
    let stripe = |i| Stripe {
        range: stripe(len, count, i),
        places: vec![0; buckets],
    };
    (0..count).map(stripe).collect()
}

/// Runs `work` on every stripe, in parallel.
pub(super) fn each_stripe(stripes: &mut [Stripe], work: &(dyn Fn(&mut Stripe) + Sync)) {
    if let [stripe] = stripes {
        work(stripe);
        return;
    }
    let (near, far) = stripes.split_at_mut(stripes.len() / 2);
    join_in_operation(|| each_stripe(near, work), || each_stripe(far, work));
}

/// Cuts a row of two or more buckets where half of their elements are, but leaves at least one on each side. `ends` says where each one ends, the first one starts at `start`.
/// Returns the two rows, and where the second one starts.
pub(super) fn halves(ends: &[usize], start: usize) -> (&[usize], &[usize], usize) {
    let last = ends.len() - 1;
    let half = start + (ends[last] - start) / 2;
    let middle = ends.partition_point(|&end| end <= half).clamp(1, last);
    let (near, far) = ends.split_at(middle);
    (near, far, near[middle - 1])
}

/// One pseudo-random place in each of `count` equal parts of a slice of `len`, which is at least as long.
pub(super) fn sample(len: usize, count: usize) -> impl Iterator<Item = usize> {
    let part = len / count;
    let mut state = len as u64 | 1;
    (0..count).map(move |i| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        i * part + (((state >> 32) * part as u64) >> 32) as usize
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_have_a_bucket_each() {
        assert_eq!(halves(&[14, 15], 4), (&[14][..], &[15][..], 14));
        assert_eq!(halves(&[4, 15], 4), (&[4][..], &[15][..], 4));
        assert_eq!(halves(&[5, 6, 7, 8], 4), (&[5, 6][..], &[7, 8][..], 6));
        assert_eq!(halves(&[0, 0, 0], 0), (&[0, 0][..], &[0][..], 0));
    }

    #[test]
    fn a_sample_has_one_place_of_each_part() {
        for (len, count) in [(1, 1), (100, 7), (4096, 4096)] {
            let part = len / count;
            assert!(sample(len, count).enumerate().all(|(i, at)| at / part == i));
        }
    }
}
