//! Non-overlapping chunks counted from the front of a slice.
//!
//! The first item is the beginning of the slice and the short chunk, if any, is its end. How cuts fall: `chunking.rs`.

use super::chunking::chunk_iterator;
use std::mem;

chunk_iterator! {
    /// Parallel iterator over shared chunks; the last one may be shorter. Made by
    /// [`par_chunks`](super::ParallelSlice::par_chunks).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let sums: Vec<i32> = [1, 2, 3, 4, 5].par_chunks(2).map(|pair| pair.iter().sum()).collect();
    /// assert_eq!(sums, [3, 7, 5]);
    /// ```
    shared Chunks, chunks by chunks, cut by front_first
}

chunk_iterator! {
    /// Parallel iterator over shared chunks that all have the full size. Made by
    /// [`par_chunks_exact`](super::ParallelSlice::par_chunks_exact).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let pairs = [1, 2, 3, 4, 5].par_chunks_exact(2).map(|pair| pair[0] * pair[1]).sum::<i32>();
    /// assert_eq!(pairs, 1 * 2 + 3 * 4);
    /// ```
    shared ChunksExact, exact chunks by chunks_exact, cut by front_first
}

chunk_iterator! {
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
    exclusive ChunksMut, chunks by chunks_mut, cut by front_first_mut
}

chunk_iterator! {
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
    exclusive ChunksExactMut, exact chunks by chunks_exact_mut, cut by front_first_mut
}

impl<'data, T> ChunksExact<'data, T> {
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
