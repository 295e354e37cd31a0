//! Non-overlapping chunks counted from the back of a slice.
//!
//! The first item is the *end* of the slice and the short chunk, if any, is its beginning. Positions still count chunks in
//! the order they are produced, so a split at chunk `k` cuts `k * chunk_size` elements before the end and the *back* part
//! becomes the left producer.

use super::chunks::chunk_producer;
use crate::delegate::indexed_source;
use std::mem;

/// Parallel iterator over shared chunks from the back; the last one produced may be shorter. Made by
/// [`par_rchunks`](super::ParallelSlice::par_rchunks).
///
/// ```
/// use blitz::prelude::*;
///
/// let data = [1, 2, 3, 4, 5];
/// let chunks: Vec<&[i32]> = data.par_rchunks(2).collect();
/// assert_eq!(chunks, [&[4, 5][..], &[2, 3], &[1]]);
/// ```
#[derive(Debug)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct RChunks<'data, T> {
    chunk_size: usize,
    slice: &'data [T],
}

/// Parallel iterator over shared chunks from the back that all have the full size. Made by
/// [`par_rchunks_exact`](super::ParallelSlice::par_rchunks_exact).
///
/// ```
/// use blitz::prelude::*;
///
/// let data = [1, 2, 3, 4, 5];
/// let chunks: Vec<&[i32]> = data.par_rchunks_exact(2).collect();
/// assert_eq!(chunks, [[4, 5], [2, 3]]);
/// ```
#[derive(Debug)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct RChunksExact<'data, T> {
    chunk_size: usize,
    whole: &'data [T],
    remainder: &'data [T],
}

/// Parallel iterator over exclusive chunks from the back; the last one produced may be shorter. Made by
/// [`par_rchunks_mut`](super::ParallelSliceMut::par_rchunks_mut).
///
/// ```
/// use blitz::prelude::*;
///
/// let mut row = [1, 2, 3, 4, 5];
/// row.par_rchunks_mut(2).enumerate().for_each(|(nth, chunk)| chunk.fill(nth));
/// assert_eq!(row, [2, 1, 1, 0, 0]);
/// ```
#[derive(Debug)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct RChunksMut<'data, T> {
    chunk_size: usize,
    slice: &'data mut [T],
}

/// Parallel iterator over exclusive chunks from the back that all have the full size. Made by
/// [`par_rchunks_exact_mut`](super::ParallelSliceMut::par_rchunks_exact_mut).
///
/// ```
/// use blitz::prelude::*;
///
/// let mut row = [1, 2, 3, 4, 5];
/// row.par_rchunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
/// assert_eq!(row, [1, 3, 2, 5, 4]);
/// ```
#[derive(Debug)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct RChunksExactMut<'data, T> {
    chunk_size: usize,
    whole: &'data mut [T],
    remainder: &'data mut [T],
}

impl<'data, T> RChunks<'data, T> {
    pub(super) fn new(chunk_size: usize, slice: &'data [T]) -> Self {
        RChunks { chunk_size, slice }
    }
}

impl<'data, T> RChunksMut<'data, T> {
    pub(super) fn new(chunk_size: usize, slice: &'data mut [T]) -> Self {
        RChunksMut { chunk_size, slice }
    }
}

impl<'data, T> RChunksExact<'data, T> {
    pub(super) fn new(chunk_size: usize, slice: &'data [T]) -> Self {
        let (remainder, whole) = slice.split_at(slice.len() % chunk_size);
        RChunksExact {
            chunk_size,
            whole,
            remainder,
        }
    }

    /// The elements at the beginning that do not fill a chunk, fewer than `chunk_size`, which the iterator leaves out.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// assert_eq!([1, 2, 3, 4, 5].par_rchunks_exact(2).remainder(), [1]);
    /// ```
    pub fn remainder(&self) -> &'data [T] {
        self.remainder
    }
}

impl<'data, T> RChunksExactMut<'data, T> {
    pub(super) fn new(chunk_size: usize, slice: &'data mut [T]) -> Self {
        let (remainder, whole) = slice.split_at_mut(slice.len() % chunk_size);
        RChunksExactMut {
            chunk_size,
            whole,
            remainder,
        }
    }

    /// Gives up the iterator for the elements at the beginning that do not fill a chunk.
    ///
    /// To have both the remainder and the iteration, use [`take_remainder`](Self::take_remainder).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut data = [1, 2, 3, 4, 5];
    /// data.par_rchunks_exact_mut(2).into_remainder()[0] = 10;
    /// assert_eq!(data, [10, 2, 3, 4, 5]);
    /// ```
    pub fn into_remainder(self) -> &'data mut [T] {
        self.remainder
    }

    /// Borrows the elements at the beginning that do not fill a chunk, fewer than `chunk_size`.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut data = [1, 2, 3, 4, 5];
    /// let mut pairs = data.par_rchunks_exact_mut(2);
    /// assert_eq!(pairs.remainder(), [1]);
    /// ```
    pub fn remainder(&mut self) -> &mut [T] {
        self.remainder
    }

    /// Takes the elements at the beginning out of the iterator, for as long as the slice itself is borrowed; later calls
    /// find none left.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut data = [1, 2, 3, 4, 5];
    /// let mut pairs = data.par_rchunks_exact_mut(2);
    /// let rest = pairs.take_remainder();
    /// assert!(pairs.remainder().is_empty());
    /// pairs.for_each(|pair| pair.fill(0));
    /// rest.fill(9);
    /// assert_eq!(data, [9, 0, 0, 0, 0]);
    /// ```
    pub fn take_remainder(&mut self) -> &'data mut [T] {
        mem::take(&mut self.remainder)
    }
}

// By hand: a derive would ask for `T: Clone`, although only references are copied.
impl<T> Clone for RChunks<'_, T> {
    fn clone(&self) -> Self {
        RChunks { ..*self }
    }
}

impl<T> Clone for RChunksExact<'_, T> {
    fn clone(&self) -> Self {
        RChunksExact { ..*self }
    }
}

indexed_source! {
    impl ['data, T: Sync] RChunks<'data, T> => &'data [T];
    fn len(self) { self.slice.len().div_ceil(self.chunk_size) }
    fn with_producer(self, callback) {
        callback.callback(RChunksProducer { chunk_size: self.chunk_size, slice: self.slice })
    }
}

indexed_source! {
    impl ['data, T: Sync] RChunksExact<'data, T> => &'data [T];
    fn len(self) { self.whole.len() / self.chunk_size }
    fn with_producer(self, callback) {
        callback.callback(RChunksExactProducer { chunk_size: self.chunk_size, slice: self.whole })
    }
}

indexed_source! {
    impl ['data, T: Send] RChunksMut<'data, T> => &'data mut [T];
    fn len(self) { self.slice.len().div_ceil(self.chunk_size) }
    fn with_producer(self, callback) {
        callback.callback(RChunksMutProducer { chunk_size: self.chunk_size, slice: self.slice })
    }
}

indexed_source! {
    impl ['data, T: Send] RChunksExactMut<'data, T> => &'data mut [T];
    fn len(self) { self.whole.len() / self.chunk_size }
    fn with_producer(self, callback) {
        callback.callback(RChunksExactMutProducer { chunk_size: self.chunk_size, slice: self.whole })
    }
}

/// The last `elements` of the slice first, then what stands before them.
#[inline]
fn back_first<T>(slice: &[T], elements: usize) -> (&[T], &[T]) {
    let (before, back) = slice.split_at(slice.len() - elements);
    (back, before)
}

/// As [`back_first`], for an exclusive slice.
#[inline]
fn back_first_mut<T>(slice: &mut [T], elements: usize) -> (&mut [T], &mut [T]) {
    let (before, back) = slice.split_at_mut(slice.len() - elements);
    (back, before)
}

chunk_producer! {
    RChunksProducer: Sync, &'data [T], rchunks -> RChunks, |slice, elements| back_first(slice, elements)
}

chunk_producer! {
    RChunksExactProducer: Sync, &'data [T], rchunks_exact -> RChunksExact, |slice, elements| back_first(slice, elements)
}

chunk_producer! {
    RChunksMutProducer: Send, &'data mut [T], rchunks_mut -> RChunksMut, |slice, elements| back_first_mut(slice, elements)
}

chunk_producer! {
    RChunksExactMutProducer: Send, &'data mut [T], rchunks_exact_mut -> RChunksExactMut,
    |slice, elements| back_first_mut(slice, elements)
}
