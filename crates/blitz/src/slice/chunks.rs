//! Non-overlapping chunks counted from the front of a slice.
//!
//! An item is a whole chunk, so positions count chunks and a split at chunk `k` cuts the slice `k * chunk_size` elements in.
//! Every cut falls on a multiple of the chunk size from the front, which is why the parts chunk exactly as the whole would.
//! The product saturates: slices of zero-sized elements can be as long as `usize::MAX`, and there the last chunk's end is not
//! representable.

use crate::delegate::indexed_source;
use std::mem;

/// Parallel iterator over shared chunks; the last one may be shorter. Made by
/// [`par_chunks`](super::ParallelSlice::par_chunks).
///
/// ```
/// use blitz::prelude::*;
///
/// let sums: Vec<i32> = [1, 2, 3, 4, 5].par_chunks(2).map(|pair| pair.iter().sum()).collect();
/// assert_eq!(sums, [3, 7, 5]);
/// ```
#[derive(Debug)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct Chunks<'data, T> {
    chunk_size: usize,
    slice: &'data [T],
}

/// Parallel iterator over shared chunks that all have the full size. Made by
/// [`par_chunks_exact`](super::ParallelSlice::par_chunks_exact).
///
/// ```
/// use blitz::prelude::*;
///
/// let pairs = [1, 2, 3, 4, 5].par_chunks_exact(2).map(|pair| pair[0] * pair[1]).sum::<i32>();
/// assert_eq!(pairs, 1 * 2 + 3 * 4);
/// ```
#[derive(Debug)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct ChunksExact<'data, T> {
    chunk_size: usize,
    whole: &'data [T],
    remainder: &'data [T],
}

/// Parallel iterator over exclusive chunks; the last one may be shorter. Made by
/// [`par_chunks_mut`](super::ParallelSliceMut::par_chunks_mut).
///
/// ```
/// use blitz::prelude::*;
///
/// let mut row = [1, 2, 3, 4, 5];
/// row.par_chunks_mut(2).for_each(|pair| pair.reverse());
/// assert_eq!(row, [2, 1, 4, 3, 5]);
/// ```
#[derive(Debug)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct ChunksMut<'data, T> {
    chunk_size: usize,
    slice: &'data mut [T],
}

/// Parallel iterator over exclusive chunks that all have the full size. Made by
/// [`par_chunks_exact_mut`](super::ParallelSliceMut::par_chunks_exact_mut).
///
/// ```
/// use blitz::prelude::*;
///
/// let mut row = [1, 2, 3, 4, 5];
/// row.par_chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
/// assert_eq!(row, [2, 1, 4, 3, 5]);
/// ```
#[derive(Debug)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct ChunksExactMut<'data, T> {
    chunk_size: usize,
    whole: &'data mut [T],
    remainder: &'data mut [T],
}

impl<'data, T> Chunks<'data, T> {
    pub(super) fn new(chunk_size: usize, slice: &'data [T]) -> Self {
        Chunks { chunk_size, slice }
    }
}

impl<'data, T> ChunksMut<'data, T> {
    pub(super) fn new(chunk_size: usize, slice: &'data mut [T]) -> Self {
        ChunksMut { chunk_size, slice }
    }
}

impl<'data, T> ChunksExact<'data, T> {
    pub(super) fn new(chunk_size: usize, slice: &'data [T]) -> Self {
        let (whole, remainder) = slice.split_at(slice.len() - slice.len() % chunk_size);
        ChunksExact {
            chunk_size,
            whole,
            remainder,
        }
    }

    /// The elements at the end that do not fill a chunk, fewer than `chunk_size`, which the iterator leaves out.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// assert_eq!([1, 2, 3, 4, 5].par_chunks_exact(2).remainder(), [5]);
    /// ```
    pub fn remainder(&self) -> &'data [T] {
        self.remainder
    }
}

impl<'data, T> ChunksExactMut<'data, T> {
    pub(super) fn new(chunk_size: usize, slice: &'data mut [T]) -> Self {
        let (whole, remainder) = slice.split_at_mut(slice.len() - slice.len() % chunk_size);
        ChunksExactMut {
            chunk_size,
            whole,
            remainder,
        }
    }

    /// Gives up the iterator for the elements at the end that do not fill a chunk.
    ///
    /// To have both the remainder and the iteration, use [`take_remainder`](Self::take_remainder).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut data = [1, 2, 3, 4, 5];
    /// data.par_chunks_exact_mut(2).into_remainder()[0] = 50;
    /// assert_eq!(data, [1, 2, 3, 4, 50]);
    /// ```
    pub fn into_remainder(self) -> &'data mut [T] {
        self.remainder
    }

    /// Borrows the elements at the end that do not fill a chunk, fewer than `chunk_size`.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut data = [1, 2, 3, 4, 5];
    /// let mut pairs = data.par_chunks_exact_mut(2);
    /// assert_eq!(pairs.remainder(), [5]);
    /// ```
    pub fn remainder(&mut self) -> &mut [T] {
        self.remainder
    }

    /// Takes the elements at the end out of the iterator, for as long as the slice itself is borrowed; later calls find
    /// none left.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut data = [1, 2, 3, 4, 5];
    /// let mut pairs = data.par_chunks_exact_mut(2);
    /// let rest = pairs.take_remainder();
    /// assert!(pairs.remainder().is_empty());
    /// pairs.for_each(|pair| pair.fill(0));
    /// rest.fill(9);
    /// assert_eq!(data, [0, 0, 0, 0, 9]);
    /// ```
    pub fn take_remainder(&mut self) -> &'data mut [T] {
        mem::take(&mut self.remainder)
    }
}

// By hand: a derive would ask for `T: Clone`, although only references are copied.
impl<T> Clone for Chunks<'_, T> {
    fn clone(&self) -> Self {
        Chunks { ..*self }
    }
}

impl<T> Clone for ChunksExact<'_, T> {
    fn clone(&self) -> Self {
        ChunksExact { ..*self }
    }
}

indexed_source! {
    impl ['data, T: Sync] Chunks<'data, T> => &'data [T];
    fn len(self) { self.slice.len().div_ceil(self.chunk_size) }
    fn with_producer(self, callback) {
        callback.callback(ChunksProducer { chunk_size: self.chunk_size, slice: self.slice })
    }
}

indexed_source! {
    impl ['data, T: Sync] ChunksExact<'data, T> => &'data [T];
    fn len(self) { self.whole.len() / self.chunk_size }
    fn with_producer(self, callback) {
        callback.callback(ChunksExactProducer { chunk_size: self.chunk_size, slice: self.whole })
    }
}

indexed_source! {
    impl ['data, T: Send] ChunksMut<'data, T> => &'data mut [T];
    fn len(self) { self.slice.len().div_ceil(self.chunk_size) }
    fn with_producer(self, callback) {
        callback.callback(ChunksMutProducer { chunk_size: self.chunk_size, slice: self.slice })
    }
}

indexed_source! {
    impl ['data, T: Send] ChunksExactMut<'data, T> => &'data mut [T];
    fn len(self) { self.whole.len() / self.chunk_size }
    fn with_producer(self, callback) {
        callback.callback(ChunksExactMutProducer { chunk_size: self.chunk_size, slice: self.whole })
    }
}

/// Defines the producer of one kind of chunk: `$std` is both the slice method that makes the sequential iterator and, through
/// `$into_iter`, its type; `$split` turns the slice and a number of elements into the parts before and after the cut.
macro_rules! chunk_producer {
    ($producer:ident: $bound:ident, $slice:ty, $std:ident -> $into_iter:ident, |$whole:ident, $elements:ident| $split:expr) => {
        struct $producer<'data, T> {
            chunk_size: usize,
            slice: $slice,
        }

        impl<'data, T: $bound> $crate::iter::plumbing::Producer for $producer<'data, T> {
            type Item = $slice;
            type IntoIter = std::slice::$into_iter<'data, T>;

            #[inline]
            fn into_iter(self) -> Self::IntoIter {
                self.slice.$std(self.chunk_size)
            }

            #[inline]
            fn split_at(self, index: usize) -> (Self, Self) {
                let chunk_size = self.chunk_size;
                let $whole = self.slice;
                let $elements = index.saturating_mul(chunk_size).min($whole.len());
                let (left, right) = $split;
                let part = |slice| $producer { chunk_size, slice };
                (part(left), part(right))
            }
        }
    };
}
pub(super) use chunk_producer;

chunk_producer! {
    ChunksProducer: Sync, &'data [T], chunks -> Chunks, |slice, elements| slice.split_at(elements)
}

chunk_producer! {
    ChunksExactProducer: Sync, &'data [T], chunks_exact -> ChunksExact, |slice, elements| slice.split_at(elements)
}

chunk_producer! {
    ChunksMutProducer: Send, &'data mut [T], chunks_mut -> ChunksMut, |slice, elements| slice.split_at_mut(elements)
}

chunk_producer! {
    ChunksExactMutProducer: Send, &'data mut [T], chunks_exact_mut -> ChunksExactMut,
    |slice, elements| slice.split_at_mut(elements)
}
