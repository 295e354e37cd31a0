//! Draining characters out of a `String` in parallel.
//!
//! Characters are copied, never moved, so the string stays whole while others read it; the range is removed when the iterator
//! goes, used or not, also by a panic.

use crate::iter::plumbing::UnindexedConsumer;
use crate::iter::{ParallelDrainRange, ParallelIterator};
use crate::math::simplify_range;
use crate::str::ParallelString;
use std::ops::{Range, RangeBounds};

/// Parallel iterator over the characters of a range that is then removed from its string, which keeps its capacity.
///
/// Made by [`par_drain`](ParallelDrainRange::par_drain), which panics if an end of the range is out of bounds or not on a
/// character boundary.
///
/// ```
/// use blitz::prelude::*;
///
/// let mut text = String::from("key=value");
/// let key: String = text.par_drain(..3).collect();
/// assert_eq!((key.as_str(), text.as_str()), ("key", "=value"));
/// ```
#[derive(Debug)]
pub struct Drain<'a> {
    string: &'a mut String,
    range: Range<usize>,
}

impl<'a> ParallelDrainRange<usize> for &'a mut String {
    type Iter = Drain<'a>;
    type Item = char;

    #[track_caller]
    fn par_drain<R: RangeBounds<usize>>(self, range: R) -> Self::Iter {
        let range = simplify_range(range, self.len());
        // Checked here, so that the drop cannot fail.
        assert!(
            self.is_char_boundary(range.start) && self.is_char_boundary(range.end),
            "range {range:?} should begin and end on character boundaries"
        );
        Drain {
            string: self,
            range,
        }
    }
}

impl ParallelIterator for Drain<'_> {
    type Item = char;

    const MAY_HAVE_LEN: bool = false;

    fn drive_unindexed<C: UnindexedConsumer<char>>(self, consumer: C) -> C::Result {
        self.string[self.range.clone()]
            .par_chars()
            .drive_unindexed(consumer)
    }
}

impl Drop for Drain<'_> {
    fn drop(&mut self) {
        self.string.drain(self.range.clone());
    }
}

#[cfg(test)]
mod tests {
    use crate::prelude::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    const TEXT: &str = "aßc😀é\u{10FFFF}z";

    #[test]
    fn every_range_between_characters_is_drained_as_std_does() {
        let bounds: Vec<usize> = (0..=TEXT.len())
            .filter(|&i| TEXT.is_char_boundary(i))
            .collect();
        for &start in &bounds {
            for &end in bounds.iter().filter(|&&end| end >= start) {
                let (mut expected, mut actual) = (TEXT.to_string(), TEXT.to_string());
                let sequential: String = expected.drain(start..end).collect();
                let parallel: String = actual.par_drain(start..end).collect();
                assert_eq!((parallel, &actual), (sequential, &expected));

                let mut unused = TEXT.to_string();
                drop(unused.par_drain(start..end));
                assert_eq!(unused, expected);
            }
        }
    }

    #[test]
    fn the_range_is_removed_although_the_consumer_panics() {
        let mut text = TEXT.to_string();
        let result = catch_unwind(AssertUnwindSafe(|| {
            text.par_drain(1..).for_each(|c| assert!(c != '😀'))
        }));
        assert!(result.is_err());
        assert_eq!(text, "a");
    }

    #[test]
    #[should_panic(expected = "character boundaries")]
    fn a_range_inside_a_character_is_refused() {
        let mut text = TEXT.to_string();
        let _ = text.par_drain(2..);
    }
}
