//! Non-overlapping chunks counted from the back of a slice.
//!
//! The first item is the *end* of the slice and the short chunk, if any, is its beginning. Positions still count chunks in
//! the order they are produced, so the *back* part becomes the left producer. How cuts fall: `chunking.rs`.

use super::chunking::chunk_iterator;
use std::mem;

chunk_iterator! {
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
    shared RChunks, chunks by rchunks, cut by back_first
}

chunk_iterator! {
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
    shared RChunksExact, exact chunks by rchunks_exact, cut by back_first
}

chunk_iterator! {
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
    exclusive RChunksMut, chunks by rchunks_mut, cut by back_first_mut
}

chunk_iterator! {
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
    exclusive RChunksExactMut, exact chunks by rchunks_exact_mut, cut by back_first_mut
}

impl<'data, T> RChunksExact<'data, T> {
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
