//! Parallel iterators over ranges `a..b` of every integer type and of `char`.
//!
//! Ranges whose length fits a `usize` are driven by position, for every integer type. So collecting them writes each
//! item straight to its place. A leaf is the standard library's own `Range`, and its loop compiles like the sequential one.
//! Longer ranges (`0..10u128.pow(27)`) are halved without computing a length. A search in one of them ends as
//! soon as a thread finds what it looks for.
//!
//! `zip`, `enumerate` and the other methods of [`IndexedParallelIterator`] exist for the types whose ranges can never be too
//! long on any platform std counts them on: all up to 32 bits, `usize`, `isize` and `char`.
//!
//! ```
//! use blitz::prelude::*;
//!
//! let squares: Vec<u64> = (1..6u64).into_par_iter().map(|x| x * x).collect();
//! assert_eq!(squares, [1, 4, 9, 16, 25]);
//! ```

use crate::iter::plumbing::{
    Consumer, Folder, Producer, ProducerCallback, UnindexedConsumer, UnindexedProducer, bridge,
    bridge_producer_consumer, bridge_unindexed,
};
use crate::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use std::iter::FusedIterator;
use std::ops::Range;

/// Parallel iterator over a range of integers or characters.
///
/// ```
/// use blitz::prelude::*;
///
/// assert_eq!((1..=20u64).into_par_iter().product::<u64>(), 2_432_902_008_176_640_000);
/// assert_eq!(('a'..'e').into_par_iter().collect::<String>(), "abcd");
/// ```
#[derive(Debug, Clone)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct Iter<T> {
    range: Range<T>,
}

impl<T> IntoParallelIterator for Range<T>
where
    Iter<T>: ParallelIterator,
{
    type Item = <Iter<T> as ParallelIterator>::Item;
    type Iter = Iter<T>;

    fn into_par_iter(self) -> Self::Iter {
        Iter { range: self }
    }
}

/// The numbers from `start` to just below `end`: a short name for `(start..end).into_par_iter()`. Empty if `start >= end`.
///
/// # Examples
///
/// ```
/// use blitz::par_range;
/// use blitz::prelude::*;
///
/// assert_eq!(par_range(1, 5).map(|n| n * n).sum::<i32>(), 30);
/// assert_eq!(par_range(5u8, 1).count(), 0);
/// ```
pub fn par_range<T>(start: T, end: T) -> Iter<T>
where
    Iter<T>: ParallelIterator,
{
    Iter { range: start..end }
}

/// Implements the iterator traits for the type `Iter` of a module, the one of `a..b` or the one of `a..=b`: for integers with
/// the traits of a module `private`, which this defines, and for characters by their `ordinals`.
///
/// The integer traits stand on the item and not on `Iter<T>`, because that is where type inference looks: in
/// `(0..9).into_par_iter().map(takes_i64)` the literal becomes an `i64` only if the compiler can ask "which integer?".
/// They are public because public implementations mention them, and unreachable because nobody else should implement them.
macro_rules! range_iterator {
    () => {
        mod private {
            use super::{Consumer, Iter, ProducerCallback, UnindexedConsumer};

            /// How a range of `Self` is driven.
            pub trait RangeInteger: Sized + Send {
                fn drive_unindexed<C: UnindexedConsumer<Self>>(
                    iter: Iter<Self>,
                    consumer: C,
                ) -> C::Result;
                fn opt_len(iter: &Iter<Self>) -> Option<usize>;
            }

            /// How a range of `Self` is driven if its length always fits.
            pub trait IndexedRangeInteger: RangeInteger {
                fn drive<C: Consumer<Self>>(iter: Iter<Self>, consumer: C) -> C::Result;
                fn len(iter: &Iter<Self>) -> usize;
                fn with_producer<CB: ProducerCallback<Self>>(
                    iter: Iter<Self>,
                    callback: CB,
                ) -> CB::Output;
            }
        }
        use private::{IndexedRangeInteger, RangeInteger};

        impl<T: RangeInteger> ParallelIterator for Iter<T> {
            type Item = T;

            #[inline]
            fn drive_unindexed<C: UnindexedConsumer<T>>(self, consumer: C) -> C::Result {
                T::drive_unindexed(self, consumer)
            }

            #[inline]
            fn opt_len(&self) -> Option<usize> {
                T::opt_len(self)
            }
        }

        impl<T: IndexedRangeInteger> IndexedParallelIterator for Iter<T> {
            #[inline]
            fn drive<C: Consumer<T>>(self, consumer: C) -> C::Result {
                T::drive(self, consumer)
            }

            #[inline]
            fn len(&self) -> usize {
                T::len(self)
            }

            #[inline]
            fn with_producer<CB: ProducerCallback<T>>(self, callback: CB) -> CB::Output {
                T::with_producer(self, callback)
            }
        }

        impl ParallelIterator for Iter<char> {
            type Item = char;

            #[inline]
            fn drive_unindexed<C: UnindexedConsumer<char>>(self, consumer: C) -> C::Result {
                $crate::range::ordinal::characters(self.ordinals()).drive(consumer)
            }

            fn opt_len(&self) -> Option<usize> {
                Some(self.len())
            }

            const MAY_LACK_LEN: bool = false;
        }

        impl IndexedParallelIterator for Iter<char> {
            #[inline]
            fn drive<C: Consumer<char>>(self, consumer: C) -> C::Result {
                $crate::range::ordinal::characters(self.ordinals()).drive(consumer)
            }

            fn len(&self) -> usize {
                self.ordinals().len()
            }

            #[inline]
            fn with_producer<CB: ProducerCallback<char>>(self, callback: CB) -> CB::Output {
                $crate::range::ordinal::characters(self.ordinals()).with_producer(callback)
            }
        }
    };
}
pub(crate) use range_iterator;

range_iterator! {}

/// Producer of a range.
struct Span<T>(Range<T>);

/// Splits behind `index` items. Signed ranges can be longer than the type's maximum, so `index` may wrap to a negative number
/// of the type; adding it still lands on the right value, which lies within the range.
macro_rules! split_range {
    ($range:expr, $integer:ty, $index:expr) => {{
        let Range { start, end } = $range;
        let middle = start.wrapping_add($index as $integer);
        (Span(start..middle), Span(middle..end))
    }};
}

/// Types whose ranges std can count.
macro_rules! indexed_range {
    ($($integer:ty)*) => {$(
        impl RangeInteger for $integer {
            #[inline]
            fn drive_unindexed<C: UnindexedConsumer<Self>>(iter: Iter<Self>, consumer: C) -> C::Result {
                bridge(iter, consumer)
            }

            #[inline]
            fn opt_len(iter: &Iter<Self>) -> Option<usize> {
                Some(iter.range.len())
            }
        }

        impl IndexedRangeInteger for $integer {
            #[inline]
            fn drive<C: Consumer<Self>>(iter: Iter<Self>, consumer: C) -> C::Result {
                bridge(iter, consumer)
            }

            #[inline]
            fn len(iter: &Iter<Self>) -> usize {
                iter.range.len()
            }

            #[inline]
            fn with_producer<CB: ProducerCallback<Self>>(iter: Iter<Self>, callback: CB) -> CB::Output {
                callback.callback(Span(iter.range))
            }
        }

        impl Producer for Span<$integer> {
            type Item = $integer;
            type IntoIter = Range<$integer>;

            const MAY_BE_LEFT: bool = true;

            #[inline]
            fn into_iter(self) -> Self::IntoIter {
                self.0
            }

            #[inline]
            fn split_at(self, index: usize) -> (Self, Self) {
                debug_assert!(index <= self.0.len());
                split_range!(self.0, $integer, index)
            }
        }
    )*};
}

indexed_range!(u8 u16 u32 usize i8 i16 i32 isize);

/// Types whose ranges std does not count, with the unsigned type that can.
macro_rules! unindexed_range {
    ($($integer:ty, $length:ty;)*) => {$(
        impl RangeInteger for $integer {
            #[inline]
            fn drive_unindexed<C: UnindexedConsumer<Self>>(iter: Iter<Self>, consumer: C) -> C::Result {
                let len = Self::opt_len(&iter);
                let span = Span(iter.range);
                match len {
                    Some(len) => bridge_producer_consumer(len, span, consumer),
                    None => bridge_unindexed(span, consumer),
                }
            }

            #[inline]
            fn opt_len(iter: &Iter<Self>) -> Option<usize> {
                usize::try_from(Span(iter.range.clone()).length()).ok()
            }
        }

        impl Span<$integer> {
            /// An inverted range is empty; a signed one may be longer than the type's maximum, but never than `$length`'s.
            #[inline]
            fn length(&self) -> $length {
                if self.0.is_empty() { 0 } else { self.0.end.wrapping_sub(self.0.start) as $length }
            }
        }

        /// Used only if the length fits a `usize`.
        impl Producer for Span<$integer> {
            type Item = $integer;
            type IntoIter = Counted<$integer>;

            const MAY_BE_LEFT: bool = true;

            #[inline]
            fn into_iter(self) -> Self::IntoIter {
                Counted(self.0)
            }

            #[inline]
            fn split_at(self, index: usize) -> (Self, Self) {
                debug_assert!(index as $length <= self.length());
                split_range!(self.0, $integer, index)
            }

            #[inline]
            fn fold_with<F: Folder<$integer>>(self, folder: F) -> F {
                folder.consume_iter(self.0)
            }
        }

        impl UnindexedProducer for Span<$integer> {
            type Item = $integer;

            fn split(self) -> (Self, Option<Self>) {
                let half = self.length() / 2;
                if half == 0 {
                    return (self, None);
                }
                let (left, right) = split_range!(self.0, $integer, half);
                (left, Some(right))
            }

            #[inline]
            fn fold_with<F: Folder<$integer>>(self, folder: F) -> F {
                folder.consume_iter(self.0)
            }
        }

        impl ExactSizeIterator for Counted<$integer> {
            #[inline]
            fn len(&self) -> usize {
                Span(self.0.clone()).length() as usize
            }
        }
    )*};
}

unindexed_range! {
    u64, u64;
    i64, u64;
    u128, u128;
    i128, u128;
}

/// A range that is known to have at most `usize::MAX` items, and may therefore say how many.
struct Counted<T>(Range<T>);

impl<T> Iterator for Counted<T>
where
    Range<T>: Iterator<Item = T>,
{
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.0.next()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<T> {
        self.0.nth(n)
    }

    #[inline]
    fn fold<B, F: FnMut(B, T) -> B>(self, init: B, f: F) -> B {
        self.0.fold(init, f)
    }
}

impl<T> DoubleEndedIterator for Counted<T>
where
    Range<T>: DoubleEndedIterator<Item = T>,
{
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        self.0.next_back()
    }
}

impl<T> FusedIterator for Counted<T> where Range<T>: FusedIterator<Item = T> {}

/// Characters are counted without the surrogates, so that a range of them is a range of consecutive numbers.
pub(crate) mod ordinal {
    use crate::iter::{Map, ParallelIterator};
    use std::ops::Range;

    const SURROGATES: Range<u32> = 0xD800..0xE000;

    /// The number of a character: how many characters are smaller.
    #[inline]
    pub(crate) fn of(c: char) -> u32 {
        let code = c as u32;
        if code < SURROGATES.start {
            code
        } else {
            code - (SURROGATES.end - SURROGATES.start)
        }
    }

    /// The character with a number that [`of`] returned for it or for a larger one.
    #[inline]
    fn to_char(ordinal: u32) -> char {
        let code = if ordinal < SURROGATES.start {
            ordinal
        } else {
            ordinal + (SURROGATES.end - SURROGATES.start)
        };
        char::from_u32(code).expect("numbers up to that of a character are characters")
    }

    /// The parallel iterator over the characters with these numbers.
    pub(crate) fn characters(
        ordinals: Range<u32>,
    ) -> Map<super::Iter<u32>, impl Fn(u32) -> char + Sync + Send> {
        super::Iter { range: ordinals }.map(to_char)
    }
}

impl Iter<char> {
    #[inline]
    fn ordinals(&self) -> Range<u32> {
        ordinal::of(self.range.start)..ordinal::of(self.range.end)
    }
}

#[cfg(test)]
pub(crate) mod tests;
