//! Small arithmetic shared by the sources.

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

#[cfg(test)]
mod tests {
    use super::simplify_range;
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
