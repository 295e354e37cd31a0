//! `with_min_len` and `with_max_len`: how short and how long a piece may be.

use super::IndexedParallelIterator;
use super::plumbing::{Folder, Producer};
use crate::delegate::{forward_to_base, indexed_source, wrapping_callback};

/// No piece shorter than `min`. Made by [`with_min_len`](super::IndexedParallelIterator::with_min_len).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let pieces = (0..1000).into_par_iter().with_min_len(1000).fold(|| 0, |n, _| n + 1).count();
/// assert_eq!(pieces, 1);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct MinLen<I> {
    base: I,
    min: usize,
}

impl<I> MinLen<I> {
    pub(super) fn new(base: I, min: usize) -> Self {
        MinLen { base, min }
    }
}

indexed_source! {
    impl [I: IndexedParallelIterator] MinLen<I> => I::Item;
    fn len(self) { self.base.len() }
    fn with_producer(self, callback) {
        self.base.with_producer(Bound { callback, min: self.min, max: usize::MAX })
    }
}

/// No piece longer than `max`. Made by [`with_max_len`](super::IndexedParallelIterator::with_max_len).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let longest = (0..1000).into_par_iter().with_max_len(10).fold(|| 0, |n, _| n + 1).max();
/// assert!(longest <= Some(10));
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct MaxLen<I> {
    base: I,
    max: usize,
}

impl<I> MaxLen<I> {
    pub(super) fn new(base: I, max: usize) -> Self {
        MaxLen { base, max }
    }
}

indexed_source! {
    impl [I: IndexedParallelIterator] MaxLen<I> => I::Item;
    fn len(self) { self.base.len() }
    fn with_producer(self, callback) {
        self.base.with_producer(Bound { callback, min: 0, max: self.max })
    }
}

wrapping_callback! {
    struct Bound { min: usize, max: usize };
    fn wrap(self, base: T) -> T { Bounded { base, min: self.min, max: self.max } }
}

/// A producer that asks for pieces between `min` and `max` long.
struct Bounded<P> {
    base: P,
    min: usize,
    max: usize,
}

impl<P> Producer for Bounded<P>
where
    P: Producer,
{
    type Item = P::Item;
    type IntoIter = P::IntoIter;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.base.into_iter()
    }

    forward_to_base! { wishes }

    #[inline]
    fn min_len(&self) -> usize {
        self.base.min_len().max(self.min)
    }

    #[inline]
    fn max_len(&self) -> usize {
        self.base.max_len().min(self.max)
    }

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.base.split_at(index);
        (
            Bounded { base: left, ..self },
            Bounded {
                base: right,
                ..self
            },
        )
    }

    #[inline]
    fn fold_with<F>(self, folder: F) -> F
    where
        F: Folder<Self::Item>,
    {
        self.base.fold_with(folder)
    }
}
