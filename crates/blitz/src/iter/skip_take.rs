//! `skip` and `take`: all but the first `n` items, or just those.

use super::IndexedParallelIterator;
use super::noop::Nothing;
use super::plumbing::{Producer, bridge_producer_consumer};
use crate::delegate::{indexed_source, wrapping_callback};

/// Yields all items after the first `n`. Made by [`skip`](super::IndexedParallelIterator::skip).
///
/// The skipped items are still produced, and dropped: closures further up see them. (Where there is nothing to see, as with slices and ranges, they are left alone.)
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let tail: Vec<i32> = (0..5).into_par_iter().skip(3).collect();
/// assert_eq!(tail, [3, 4]);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct Skip<I> {
    base: I,
    n: usize,
}

impl<I> Skip<I>
where
    I: IndexedParallelIterator,
{
    pub(super) fn new(base: I, n: usize) -> Self {
        let n = n.min(base.len());
        Skip { base, n }
    }
}

indexed_source! {
    impl [I: IndexedParallelIterator] Skip<I> => I::Item;
    fn len(self) { self.base.len() - self.n }
    fn with_producer(self, callback) { self.base.with_producer(DropFirst { callback, n: self.n }) }
}

wrapping_callback! {
    struct DropFirst { n: usize };
    fn wrap(self, base: T) -> T {
        without_first(base, self.n)
    }
}

fn without_first<P: Producer>(base: P, n: usize) -> P {
    if n == 0 {
        return base;
    }
    let (skipped, rest) = base.split_at(n);
    // Otherwise a loop of its own, and as much to compile as for the items that are wanted.
    if const { !P::MAY_BE_LEFT } {
        bridge_producer_consumer(n, skipped, Nothing);
    }
    rest
}

/// Yields the first `n` items. Made by [`take`](super::IndexedParallelIterator::take).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let head: Vec<i32> = (0..5).into_par_iter().take(2).collect();
/// assert_eq!(head, [0, 1]);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct Take<I> {
    base: I,
    n: usize,
}

impl<I> Take<I>
where
    I: IndexedParallelIterator,
{
    pub(super) fn new(base: I, n: usize) -> Self {
        let n = n.min(base.len());
        Take { base, n }
    }
}

indexed_source! {
    impl [I: IndexedParallelIterator] Take<I> => I::Item;
    fn len(self) { self.n }
    fn with_producer(self, callback) { self.base.with_producer(KeepFirst { callback, n: self.n }) }
}

wrapping_callback! {
    struct KeepFirst { n: usize };
    fn wrap(self, base: T) -> T { base.split_at(self.n).0 }
}

#[cfg(test)]
mod tests {
    use crate::prelude::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn skipped_items_are_made_where_somebody_can_tell() {
        struct Counted<'a>(&'a AtomicUsize);
        impl Clone for Counted<'_> {
            fn clone(&self) -> Self {
                self.0.fetch_add(1, Ordering::Relaxed);
                Counted(self.0)
            }
        }
        let (mapped, cloned) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let count = |x: &usize| {
            mapped.fetch_add(1, Ordering::Relaxed);
            *x
        };
        let numbers: Vec<usize> = (0..1000).collect();
        let both = numbers.par_iter().zip(numbers.par_iter().map(count));
        let skipped = both.rev().enumerate().skip(990);
        assert_eq!(skipped.map(|(i, (x, _))| i + x).sum::<usize>(), 9990);
        assert_eq!(mapped.into_inner(), 1000);
        let values = vec![Counted(&cloned); 100];
        let before = cloned.load(Ordering::Relaxed);
        values.par_iter().cloned().skip(60).for_each(drop);
        assert_eq!(cloned.load(Ordering::Relaxed) - before, 100);
    }
}
