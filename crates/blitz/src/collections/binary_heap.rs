//! Parallel iterators over `BinaryHeap`, in no particular order.
//!
//! A heap is a vector inside: iterating it costs nothing extra, by reference or by value.

use super::as_vec::AsVec;
use crate::delegate::{clone_references, delegate_indexed, indexed_source};
use crate::iter::{IntoParallelIterator, ParallelDrainFull, ParallelDrainRange};
use crate::{slice, vec};
use std::collections::BinaryHeap;

/// Parallel iterator that owns the items of a heap.
///
/// ```
/// use blitz::prelude::*;
/// use std::collections::BinaryHeap;
///
/// let heap = BinaryHeap::from([2, 7, 1]);
/// assert_eq!(heap.into_par_iter().min(), Some(1));
/// ```
#[derive(Debug, Clone)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct IntoIter<T> {
    inner: vec::IntoIter<T>,
}

/// Parallel iterator over references to the items of a heap.
///
/// ```
/// use blitz::prelude::*;
/// use std::collections::BinaryHeap;
///
/// let heap = BinaryHeap::from([2, 7, 1]);
/// assert_eq!(heap.par_iter().sum::<i32>(), 10);
/// ```
#[derive(Debug)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct Iter<'a, T> {
    inner: slice::Iter<'a, T>,
}

clone_references! { Iter of T }

impl<T: Send> IntoParallelIterator for BinaryHeap<T> {
    type Item = T;
    type Iter = IntoIter<T>;

    fn into_par_iter(self) -> Self::Iter {
        IntoIter {
            inner: self.into_vec().into_par_iter(),
        }
    }
}

impl<'a, T: Sync> IntoParallelIterator for &'a BinaryHeap<T> {
    type Item = &'a T;
    type Iter = Iter<'a, T>;

    fn into_par_iter(self) -> Self::Iter {
        Iter {
            inner: self.as_slice().into_par_iter(),
        }
    }
}

delegate_indexed! { impl [T: Send] IntoIter<T> => T }
delegate_indexed! { impl ['a, T: Sync] Iter<'a, T> => &'a T }

/// Parallel iterator that empties a heap and leaves it its capacity.
///
/// ```
/// use blitz::prelude::*;
/// use std::collections::BinaryHeap;
///
/// let mut heap = BinaryHeap::from([2, 7, 1]);
/// assert_eq!(heap.par_drain().max(), Some(7));
/// assert!(heap.is_empty());
/// ```
#[derive(Debug)]
pub struct Drain<'a, T> {
    heap: &'a mut BinaryHeap<T>,
}

impl<'a, T: Ord + Send> ParallelDrainFull for &'a mut BinaryHeap<T> {
    type Iter = Drain<'a, T>;
    type Item = T;

    fn par_drain(self) -> Self::Iter {
        Drain { heap: self }
    }
}

indexed_source! {
    impl ['a, T: Ord + Send] Drain<'a, T> => T;
    fn len(self) { self.heap.len() }
    fn with_producer(self, callback) {
        AsVec::new(self.heap).vec.par_drain(..).with_producer(callback)
    }
}

impl<T> Drop for Drain<'_, T> {
    fn drop(&mut self) {
        // Empty already if the items have been produced.
        self.heap.clear();
    }
}
