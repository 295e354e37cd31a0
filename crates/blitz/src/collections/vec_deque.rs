//! Parallel iterators over `VecDeque`, from front to back.
//!
//! By reference the two slices of the deque are chained. By value and for draining, the deque becomes a vector: no allocation,
//! but if its front is not at the beginning of the buffer, the items are moved there first.

use super::as_vec::AsVec;
use crate::delegate::{clone_references, delegate_indexed, indexed_source};
use crate::iter::{Chain, IntoParallelIterator, ParallelDrainRange, ParallelIterator};
use crate::math::simplify_range;
use crate::{slice, vec};
use std::collections::VecDeque;
use std::ops::{Range, RangeBounds};

/// Parallel iterator that owns the items of a deque.
///
/// ```
/// use blitz::prelude::*;
/// use std::collections::VecDeque;
///
/// let doubled: Vec<i32> = VecDeque::from([1, 2, 3]).into_par_iter().map(|x| 2 * x).collect();
/// assert_eq!(doubled, [2, 4, 6]);
/// ```
#[derive(Debug, Clone)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct IntoIter<T: Send> {
    inner: vec::IntoIter<T>,
}

/// Parallel iterator over references to the items of a deque.
///
/// ```
/// use blitz::prelude::*;
/// use std::collections::VecDeque;
///
/// let deque = VecDeque::from([4, 5, 6]);
/// assert_eq!(deque.par_iter().position_any(|&x| x == 6), Some(2));
/// ```
#[derive(Debug)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct Iter<'a, T> {
    inner: Chain<slice::Iter<'a, T>, slice::Iter<'a, T>>,
}

/// Parallel iterator over exclusive references to the items of a deque.
///
/// ```
/// use blitz::prelude::*;
/// use std::collections::VecDeque;
///
/// let mut deque = VecDeque::from([4, 5, 6]);
/// deque.par_iter_mut().enumerate().for_each(|(index, x)| *x -= index);
/// assert_eq!(deque, [4, 4, 4]);
/// ```
#[derive(Debug)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct IterMut<'a, T> {
    inner: Chain<slice::IterMut<'a, T>, slice::IterMut<'a, T>>,
}

clone_references! { Iter of T }

impl<T: Send> IntoParallelIterator for VecDeque<T> {
    type Item = T;
    type Iter = IntoIter<T>;

    fn into_par_iter(self) -> Self::Iter {
        IntoIter {
            inner: Vec::from(self).into_par_iter(),
        }
    }
}

impl<'a, T: Sync> IntoParallelIterator for &'a VecDeque<T> {
    type Item = &'a T;
    type Iter = Iter<'a, T>;

    fn into_par_iter(self) -> Self::Iter {
        let (front, back) = self.as_slices();
        Iter {
            inner: front.into_par_iter().chain(back),
        }
    }
}

impl<'a, T: Send> IntoParallelIterator for &'a mut VecDeque<T> {
    type Item = &'a mut T;
    type Iter = IterMut<'a, T>;

    fn into_par_iter(self) -> Self::Iter {
        let (front, back) = self.as_mut_slices();
        IterMut {
            inner: front.into_par_iter().chain(back),
        }
    }
}

delegate_indexed! { impl [T: Send] IntoIter<T> => T }
delegate_indexed! { impl ['a, T: Sync] Iter<'a, T> => &'a T }
delegate_indexed! { impl ['a, T: Send] IterMut<'a, T> => &'a mut T }

/// Parallel iterator that moves a range out of a deque and leaves it its capacity.
///
/// Made by [`par_drain`](ParallelDrainRange::par_drain), which panics if the range is out of bounds. The range is removed even
/// if the iterator is dropped unused, and also if a closure panics in the middle.
///
/// ```
/// use blitz::prelude::*;
/// use std::collections::VecDeque;
///
/// let mut deque = VecDeque::from([1, 2, 3, 4]);
/// assert_eq!(deque.par_drain(1..3).sum::<i32>(), 5);
/// assert_eq!(deque, [1, 4]);
/// ```
#[derive(Debug)]
pub struct Drain<'a, T> {
    deque: &'a mut VecDeque<T>,
    /// What is still to be removed; empty once the items have been produced.
    range: Range<usize>,
}

impl<'a, T: Send> ParallelDrainRange<usize> for &'a mut VecDeque<T> {
    type Iter = Drain<'a, T>;
    type Item = T;

    #[track_caller]
    fn par_drain<R: RangeBounds<usize>>(self, range: R) -> Self::Iter {
        Drain {
            range: simplify_range(range, self.len()),
            deque: self,
        }
    }
}

indexed_source! {
    impl ['a, T: Send] Drain<'a, T> => T;
    fn len(self) { self.range.len() }
    fn with_producer(self, callback) {
        let mut drain = self;
        let range = std::mem::take(&mut drain.range);
        AsVec::new(drain.deque).vec.par_drain(range).with_producer(callback)
    }
}

impl<T> Drop for Drain<'_, T> {
    fn drop(&mut self) {
        self.deque.drain(self.range.clone());
    }
}
