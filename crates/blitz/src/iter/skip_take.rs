//! `skip` and `take`: all but the first `n` items, or just those.

use super::IndexedParallelIterator;
use super::noop::Nothing;
use super::plumbing::{Producer, ProducerCallback, bridge_producer_consumer};
use crate::delegate::indexed_source;

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

struct DropFirst<CB> {
    callback: CB,
    n: usize,
}

impl<T, CB> ProducerCallback<T> for DropFirst<CB>
where
    CB: ProducerCallback<T>,
{
    type Output = CB::Output;

    #[inline]
    fn callback<P>(self, base: P) -> CB::Output
    where
        P: Producer<Item = T>,
    {
        if self.n == 0 {
            return self.callback.callback(base);
        }
        let (skipped, rest) = base.split_at(self.n);
        bridge_producer_consumer(self.n, skipped, Nothing);
        self.callback.callback(rest)
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

struct KeepFirst<CB> {
    callback: CB,
    n: usize,
}

impl<T, CB> ProducerCallback<T> for KeepFirst<CB>
where
    CB: ProducerCallback<T>,
{
    type Output = CB::Output;

    #[inline]
    fn callback<P>(self, base: P) -> CB::Output
    where
        P: Producer<Item = T>,
    {
        let (kept, _) = base.split_at(self.n);
        self.callback.callback(kept)
    }
}
