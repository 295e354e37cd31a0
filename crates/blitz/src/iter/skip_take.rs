//! `skip` and `take`: all but the first `n` items, or just those.

use super::IndexedParallelIterator;
use super::noop::Nothing;
use super::plumbing::bridge_producer_consumer;
use crate::delegate::{indexed_source, wrapping_callback};

/// Yields all items after the first `n`. Made by [`skip`](super::IndexedParallelIterator::skip).
///
/// The skipped items are still produced, and dropped: closures further up see them.
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
        if self.n == 0 {
            base
        } else {
            let (skipped, rest) = base.split_at(self.n);
            bridge_producer_consumer(self.n, skipped, Nothing);
            rest
        }
    }
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
