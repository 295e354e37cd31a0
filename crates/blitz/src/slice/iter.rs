//! The plain parallel iterators over shared and exclusive slices.
//!
//! A producer is only the slice that it still has to visit. So a split makes two pointer-length pairs, and a leaf is given
//! to the consumer as the standard library's own slice iterator: the loop inside vectorises exactly like the sequential one.

use crate::delegate::indexed_source;
use crate::iter::IntoParallelIterator;
use crate::iter::plumbing::Producer;

/// Parallel iterator over `&T`, in slice order.
///
/// Made by `par_iter()` (or `into_par_iter()` on a reference) of slices, arrays, vectors and boxed slices.
///
/// ```
/// use blitz::prelude::*;
///
/// let distances = [3u32, 1, 4, 1, 5];
/// assert_eq!(distances.par_iter().max(), Some(&5));
/// ```
#[derive(Debug)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct Iter<'data, T> {
    slice: &'data [T],
}

/// Parallel iterator over `&mut T`, in slice order.
///
/// Made by `par_iter_mut()` (or `into_par_iter()` on an exclusive reference) of slices, arrays, vectors and boxed slices.
///
/// ```
/// use blitz::prelude::*;
///
/// let mut celsius = [0.0f32, 37.0, 100.0];
/// celsius.par_iter_mut().for_each(|t| *t = *t * 1.8 + 32.0);
/// assert_eq!(celsius, [32.0, 98.6, 212.0]);
/// ```
#[derive(Debug)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct IterMut<'data, T> {
    slice: &'data mut [T],
}

// By hand: a derive would ask for `T: Clone`, although only the reference is copied.
impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Iter { slice: self.slice }
    }
}

impl<'data, T: Sync> IntoParallelIterator for &'data [T] {
    type Item = &'data T;
    type Iter = Iter<'data, T>;

    fn into_par_iter(self) -> Self::Iter {
        Iter { slice: self }
    }
}

impl<'data, T: Sync> IntoParallelIterator for &'data Box<[T]> {
    type Item = &'data T;
    type Iter = Iter<'data, T>;

    fn into_par_iter(self) -> Self::Iter {
        Iter { slice: self }
    }
}

impl<'data, T: Send> IntoParallelIterator for &'data mut [T] {
    type Item = &'data mut T;
    type Iter = IterMut<'data, T>;

    fn into_par_iter(self) -> Self::Iter {
        IterMut { slice: self }
    }
}

impl<'data, T: Send> IntoParallelIterator for &'data mut Box<[T]> {
    type Item = &'data mut T;
    type Iter = IterMut<'data, T>;

    fn into_par_iter(self) -> Self::Iter {
        IterMut { slice: self }
    }
}

indexed_source! {
    impl ['data, T: Sync] Iter<'data, T> => &'data T;
    fn len(self) { self.slice.len() }
    fn with_producer(self, callback) { callback.callback(SharedProducer(self.slice)) }
}

indexed_source! {
    impl ['data, T: Send] IterMut<'data, T> => &'data mut T;
    fn len(self) { self.slice.len() }
    fn with_producer(self, callback) { callback.callback(ExclusiveProducer(self.slice)) }
}

struct SharedProducer<'data, T>(&'data [T]);

impl<'data, T: Sync> Producer for SharedProducer<'data, T> {
    type Item = &'data T;
    type IntoIter = std::slice::Iter<'data, T>;

    const MAY_BE_LEFT: bool = true;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.0.split_at(index);
        (SharedProducer(left), SharedProducer(right))
    }
}

struct ExclusiveProducer<'data, T>(&'data mut [T]);

impl<'data, T: Send> Producer for ExclusiveProducer<'data, T> {
    type Item = &'data mut T;
    type IntoIter = std::slice::IterMut<'data, T>;

    const MAY_BE_LEFT: bool = true;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter_mut()
    }

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.0.split_at_mut(index);
        (ExclusiveProducer(left), ExclusiveProducer(right))
    }
}
