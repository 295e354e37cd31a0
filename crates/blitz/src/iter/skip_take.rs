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
