//! Small arithmetic that sources, sorts and algorithms share.

use std::ops::{Bound, Range, RangeBounds};

/// Turns any range over `0..len` into `start..end` with `start <= end <= len`.
///
/// # Panics
///
/// When either end lies outside `0..=len`, or the range is inverted: the same requests that make `Vec::drain` panic. The
/// caller of the draining method is blamed.
#[track_caller]
pub(crate) fn simplify_range(range: impl RangeBounds<usize>, len: usize) -> Range<usize> {
    let start = match range.start_bound() {
        Bound::Unbounded => Some(0),
        Bound::Included(&first) => Some(first),
        Bound::Excluded(&before) => before.checked_add(1),
    };
    let end = match range.end_bound() {
        Bound::Unbounded => Some(len),
        Bound::Excluded(&past) => Some(past),
        Bound::Included(&last) => last.checked_add(1),
    };
    let Some(start) = start.filter(|&start| start <= len) else {
        panic!(
            "range start {:?} should be <= length {len}",
            range.start_bound()
        );
    };
    let Some(end) = end.filter(|&end| end <= len) else {
        panic!(
            "range end {:?} should be <= length {len}",
            range.end_bound()
        );
    };
    assert!(
        start <= end,
        "range start {:?} should be <= range end {:?}",
        range.start_bound(),
        range.end_bound()
    );
    start..end
}

/// The place of one of `count` stripes of equal length in a slice of `len`.
pub(crate) fn stripe(len: usize, count: usize, index: usize) -> Range<usize> {
    let border = |i: usize| (len as u128 * i as u128 / count as u128) as usize;
    border(index)..border(index + 1)
}

/// `counts[s][b]` elements go from stripe `s` to bucket `b`, and each of these numbers becomes the place where the first of them goes: buckets lie one after the other, and in
/// each bucket the stripes. So all stripes can write at once, and elements of a bucket keep their order. Returns where buckets start, and where the last one ends.
pub(crate) fn bucket_starts(counts: &mut [impl AsMut<[usize]>], buckets: usize) -> Vec<usize> {
    let mut starts = Vec::with_capacity(buckets + 1);
    let mut next = 0;
    for bucket in 0..buckets {
        starts.push(next);
        for stripe in &mut *counts {
            next += std::mem::replace(&mut stripe.as_mut()[bucket], next);
        }
    }
    starts.push(next);
    starts
}

#[cfg(test)]
mod tests {
    use super::{bucket_starts, simplify_range, stripe};
    use std::ops::Bound;
    use std::panic::catch_unwind;

    #[test]
    fn every_form_of_range_becomes_start_and_end() {
        assert_eq!(simplify_range(.., 5), 0..5);
        assert_eq!(simplify_range(2.., 5), 2..5);
        assert_eq!(simplify_range(..2, 5), 0..2);
        assert_eq!(simplify_range(..=2, 5), 0..3);
        assert_eq!(simplify_range(1..=4, 5), 1..5);
        assert_eq!(simplify_range(5..5, 5), 5..5);
        let after_one = (Bound::Excluded(1), Bound::Included(3));
        assert_eq!(simplify_range(after_one, 5), 2..4);
    }

    #[test]
    fn stripes_lie_side_by_side() {
        assert_eq!([0, 1, 2].map(|i| stripe(10, 3, i)), [0..3, 3..6, 6..10]);
        assert_eq!([0, 1].map(|i| stripe(1, 2, i)), [0..0, 0..1]);
        let last = stripe(usize::MAX, 5, 4);
        assert_eq!((last.end, last.len()), (usize::MAX, usize::MAX / 5));
    }

    #[test]
    fn stripes_share_out_each_bucket_in_their_order() {
        let mut counts = [[2, 0, 1], [1, 3, 0]];
        assert_eq!(bucket_starts(&mut counts, 3), [0, 3, 6, 7]);
        assert_eq!(counts, [[0, 3, 6], [2, 3, 7]]);
    }

    #[test]
    fn a_range_past_the_end_or_inverted_panics() {
        assert!(catch_unwind(|| simplify_range(6.., 5)).is_err());
        assert!(catch_unwind(|| simplify_range(..6, 5)).is_err());
        assert!(catch_unwind(|| simplify_range(..=5, 5)).is_err());
        assert!(catch_unwind(|| simplify_range(..=usize::MAX, 5)).is_err());
        #[expect(clippy::reversed_empty_ranges)]
        let inverted = 4..2;
        assert!(catch_unwind(move || simplify_range(inverted, 5)).is_err());
        let past_the_last = (Bound::Excluded(usize::MAX), Bound::Unbounded);
        assert!(catch_unwind(move || simplify_range(past_the_last, 5)).is_err());
    }
}
