//! Parallel iterators over ranges `a..=b` of every integer type and of `char`.
//!
//! `a..=b` is `a..b + 1`, and driven as such, unless `b` is the type's largest value: then it is `a..b` followed by `b`.
//!
//! `zip`, `enumerate` and the other methods of [`IndexedParallelIterator`] exist for `u8`, `i8`, `u16`, `i16` and `char`, as in
//! std: even `0..=usize::MAX` has one item too many to be counted. Write `a..b` where they are needed.
//!
//! ```
//! use blitz::prelude::*;
//!
//! assert_eq!((1..=100u32).into_par_iter().sum::<u32>(), 5050);
//! assert_eq!((0..=u8::MAX).into_par_iter().count(), 256);
//! ```

use crate::iter::plumbing::{Consumer, ProducerCallback, UnindexedConsumer};
use crate::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator, once};
use crate::range::{ordinal, range_iterator};
use std::ops::RangeInclusive;

/// Parallel iterator over an inclusive range of integers or characters.
///
/// ```
/// use blitz::prelude::*;
///
/// assert_eq!(('a'..='e').into_par_iter().collect::<String>(), "abcde");
/// ```
#[derive(Debug, Clone)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct Iter<T> {
    range: RangeInclusive<T>,
}

impl<T> IntoParallelIterator for RangeInclusive<T>
where
    Iter<T>: ParallelIterator,
{
    type Item = <Iter<T> as ParallelIterator>::Item;
    type Iter = Iter<T>;

    fn into_par_iter(self) -> Self::Iter {
        Iter { range: self }
    }
}

range_iterator! {}

/// Calls a method on `$iter` as a half-open range, with its last item chained on if there is no value behind it.
///
/// A range that has been iterated to its end reports bounds that do not say so; `is_empty` does.
macro_rules! as_half_open {
    ($iter:expr, $integer:ty, |$half_open:ident| $call:expr) => {{
        let (start, end) = (*$iter.range.start(), *$iter.range.end());
        if $iter.range.is_empty() {
            let $half_open = (start..start).into_par_iter();
            $call
        } else if end < <$integer>::MAX {
            let $half_open = (start..end + 1).into_par_iter();
            $call
        } else {
            let $half_open = (start..end).into_par_iter().chain(once(end));
            $call
        }
    }};
}

macro_rules! inclusive_range {
    ($($integer:ty)*) => {$(
        impl RangeInteger for $integer {
            #[inline]
            fn drive_unindexed<C: UnindexedConsumer<Self>>(iter: Iter<Self>, consumer: C) -> C::Result {
                as_half_open!(iter, $integer, |range| range.drive_unindexed(consumer))
            }

            #[inline]
            fn opt_len(iter: &Iter<Self>) -> Option<usize> {
                as_half_open!(iter, $integer, |range| range.opt_len())
            }
        }
    )*};
}

macro_rules! indexed_inclusive_range {
    ($($integer:ty)*) => {$(
        inclusive_range!($integer);

        impl IndexedRangeInteger for $integer {
            #[inline]
            fn drive<C: Consumer<Self>>(iter: Iter<Self>, consumer: C) -> C::Result {
                as_half_open!(iter, $integer, |range| range.drive(consumer))
            }

            #[inline]
            fn len(iter: &Iter<Self>) -> usize {
                iter.range.len()
            }

            #[inline]
            fn with_producer<CB: ProducerCallback<Self>>(iter: Iter<Self>, callback: CB) -> CB::Output {
                as_half_open!(iter, $integer, |range| range.with_producer(callback))
            }
        }
    )*};
}

indexed_inclusive_range!(u8 u16 i8 i16);
inclusive_range!(u32 u64 u128 usize i32 i64 i128 isize);

impl Iter<char> {
    /// The numbers of the characters, as a half-open range; the largest character leaves room for one more.
    fn ordinals(&self) -> std::ops::Range<u32> {
        let start = ordinal::of(*self.range.start());
        if self.range.is_empty() {
            start..start
        } else {
            start..ordinal::of(*self.range.end()) + 1
        }
    }
}

#[cfg(test)]
mod tests;
