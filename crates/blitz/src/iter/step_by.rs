//! `step_by`: every n-th item.

use super::IndexedParallelIterator;
use super::plumbing::{Producer, Wishes};
use crate::delegate::{indexed_source, wrapping_callback};

/// Yields the first item and every `step`-th after it. Made by
/// [`step_by`](super::IndexedParallelIterator::step_by).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let tens: Vec<i32> = (0..35).into_par_iter().step_by(10).collect();
/// assert_eq!(tens, [0, 10, 20, 30]);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct StepBy<I> {
    base: I,
    step: usize,
}

impl<I> StepBy<I> {
    #[track_caller]
    pub(super) fn new(base: I, step: usize) -> Self {
        assert!(step != 0, "step_by: the step must not be 0");
        StepBy { base, step }
    }
}

indexed_source! {
    impl [I: IndexedParallelIterator] StepBy<I> => I::Item;
    fn len(self) { self.base.len().div_ceil(self.step) }
    fn with_producer(self, callback) {
        let len = self.base.len();
        self.base.with_producer(Stride { callback, step: self.step, len })
    }
}

wrapping_callback! {
    struct Stride { step: usize, len: usize };
    fn wrap(self, base: T) -> T { Strided { base, step: self.step, len: self.len } }
}

/// Every `step`-th of the `len` items of a producer. Cuts fall on multiples of `step`.
struct Strided<P> {
    base: P,
    step: usize,
    len: usize,
}

impl<P> Producer for Strided<P>
where
    P: Producer,
{
    type Item = P::Item;
    type IntoIter = std::iter::StepBy<P::IntoIter>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.base.into_iter().step_by(self.step)
    }

    const MAY_BE_LEFT: bool = P::MAY_BE_LEFT;

    const HAS_WISHES: bool = P::HAS_WISHES;

    #[inline]
    fn wishes(&self) -> Wishes<'_> {
        self.base.wishes().per(self.step)
    }

    #[inline]
    fn min_len(&self) -> usize {
        self.base.min_len().div_ceil(self.step)
    }

    #[inline]
    fn max_len(&self) -> usize {
        self.base.max_len() / self.step
    }

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self) {
        let cut = self.len.min(index.saturating_mul(self.step));
        let (left, right) = self.base.split_at(cut);
        (
            Strided {
                base: left,
                step: self.step,
                len: cut,
            },
            Strided {
                base: right,
                step: self.step,
                len: self.len - cut,
            },
        )
    }
}
