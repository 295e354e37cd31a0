//! The methods every exclusive slice gains: chunks and parts to write to, and sorting.

use super::sort::RadixKey;
use super::{
    ChunkByMut, ChunksExactMut, ChunksMut, RChunksExactMut, RChunksMut, SplitInclusiveMut, SplitMut,
};
use super::{cached_key, sort};
use std::cmp::Ordering;

/// Parallel methods of exclusive slices.
///
/// Implemented for `[T]`, and so reachable from everything that derefs to a mutable slice. The stable sorts keep equal
/// elements in their order and allocate scratch space; the unstable ones work in place. If a comparison panics, the slice
/// holds its old elements in some order.
pub trait ParallelSliceMut<T: Send> {
    /// The slice itself; all other methods are built on it.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut v = vec![1, 2];
    /// v.as_parallel_slice_mut()[0] = 7;
    /// assert_eq!(v, [7, 2]);
    /// ```
    fn as_parallel_slice_mut(&mut self) -> &mut [T];

    /// The parts between elements that satisfy `separator`, without these elements, in parallel; as `<[T]>::split_mut`.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut words = *b"parallel split";
    /// words.par_split_mut(|&c| c == b' ').for_each(|word| word.make_ascii_uppercase());
    /// assert_eq!(&words, b"PARALLEL SPLIT");
    /// ```
    fn par_split_mut<P>(&mut self, separator: P) -> SplitMut<'_, T, P>
    where
        P: Fn(&T) -> bool + Sync + Send,
    {
        SplitMut::new(self.as_parallel_slice_mut(), separator)
    }

    /// The parts that end with an element satisfying `separator`, including it, in parallel; as
    /// `<[T]>::split_inclusive_mut`.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut text = *b"ab.cd.";
    /// text.par_split_inclusive_mut(|&c| c == b'.').for_each(|part| part.reverse());
    /// assert_eq!(&text, b".ba.dc");
    /// ```
    fn par_split_inclusive_mut<P>(&mut self, separator: P) -> SplitInclusiveMut<'_, T, P>
    where
        P: Fn(&T) -> bool + Sync + Send,
    {
        SplitInclusiveMut::new(self.as_parallel_slice_mut(), separator)
    }

    /// Chunks of `chunk_size` elements to write to, in parallel; the last may be shorter.
    ///
    /// # Panics
    ///
    /// If `chunk_size` is zero.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut image = [0u8; 6];
    /// image.par_chunks_mut(3).enumerate().for_each(|(row, pixels)| pixels.fill(row as u8));
    /// assert_eq!(image, [0, 0, 0, 1, 1, 1]);
    /// ```
    #[track_caller]
    fn par_chunks_mut(&mut self, chunk_size: usize) -> ChunksMut<'_, T> {
        assert!(chunk_size != 0, "chunk_size must not be zero");
        ChunksMut::new(chunk_size, self.as_parallel_slice_mut())
    }

    /// Chunks of exactly `chunk_size` elements to write to, in parallel; what is left over at the end is in
    /// [`remainder`](ChunksExactMut::remainder).
    ///
    /// # Panics
    ///
    /// If `chunk_size` is zero.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut pixels = [1, 2, 3, 4, 5, 6, 7];
    /// pixels.par_chunks_exact_mut(3).for_each(|rgb| rgb.swap(0, 2));
    /// assert_eq!(pixels, [3, 2, 1, 6, 5, 4, 7]);
    /// ```
    #[track_caller]
    fn par_chunks_exact_mut(&mut self, chunk_size: usize) -> ChunksExactMut<'_, T> {
        assert!(chunk_size != 0, "chunk_size must not be zero");
        ChunksExactMut::new(chunk_size, self.as_parallel_slice_mut())
    }

    /// Chunks of `chunk_size` elements counted from the back, in parallel; the one at the beginning of the slice comes last
    /// and may be shorter.
    ///
    /// # Panics
    ///
    /// If `chunk_size` is zero.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut data = [1, 2, 3, 4, 5];
    /// data.par_rchunks_mut(2).for_each(|pair| pair.reverse());
    /// assert_eq!(data, [1, 3, 2, 5, 4]);
    /// ```
    #[track_caller]
    fn par_rchunks_mut(&mut self, chunk_size: usize) -> RChunksMut<'_, T> {
        assert!(chunk_size != 0, "chunk_size must not be zero");
        RChunksMut::new(chunk_size, self.as_parallel_slice_mut())
    }

    /// Chunks of exactly `chunk_size` elements counted from the back, in parallel; what is left over at the beginning is in
    /// [`remainder`](RChunksExactMut::remainder).
    ///
    /// # Panics
    ///
    /// If `chunk_size` is zero.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut data = [1, 2, 3, 4, 5];
    /// data.par_rchunks_exact_mut(2).enumerate().for_each(|(nth, pair)| pair.fill(nth as i32));
    /// assert_eq!(data, [1, 1, 1, 0, 0]);
    /// ```
    #[track_caller]
    fn par_rchunks_exact_mut(&mut self, chunk_size: usize) -> RChunksExactMut<'_, T> {
        assert!(chunk_size != 0, "chunk_size must not be zero");
        RChunksExactMut::new(chunk_size, self.as_parallel_slice_mut())
    }

    /// Sorts the slice in parallel; equal elements keep their order.
    ///
    /// `O(n log n)` comparisons and scratch space for `n` elements; runs that are already sorted are recognised. Where the
    /// order of equal elements cannot matter, [`par_sort_unstable`](Self::par_sort_unstable) needs no scratch space.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut names = ["Noether", "Abel", "Galois"];
    /// names.par_sort();
    /// assert_eq!(names, ["Abel", "Galois", "Noether"]);
    /// ```
    fn par_sort(&mut self)
    where
        T: Ord,
    {
        sort::par_sort(self.as_parallel_slice_mut());
    }

    /// Sorts the slice in parallel by a comparison; elements it calls equal keep their order.
    ///
    /// The comparison should be a total order; if it is not, the order of the result is unspecified, but no element is lost
    /// or doubled.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut prices = [2.5f64, 0.5, 1.5];
    /// prices.par_sort_by(|a, b| b.total_cmp(a));
    /// assert_eq!(prices, [2.5, 1.5, 0.5]);
    /// ```
    fn par_sort_by<F>(&mut self, compare: F)
    where
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        sort::par_sort_by(self.as_parallel_slice_mut(), compare);
    }

    /// Sorts the slice in parallel by a key; elements with equal keys keep their order.
    ///
    /// The key is computed for every comparison. If that is expensive, use
    /// [`par_sort_by_cached_key`](Self::par_sort_by_cached_key).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut words = ["ccc", "a", "bb", "d"];
    /// words.par_sort_by_key(|word| word.len());
    /// assert_eq!(words, ["a", "d", "bb", "ccc"]);
    /// ```
    fn par_sort_by_key<K, F>(&mut self, f: F)
    where
        K: Ord,
        F: Fn(&T) -> K + Sync,
    {
        sort::par_sort_by_key(self.as_parallel_slice_mut(), f);
    }

    /// Sorts the slice in parallel by a key that is computed once per element; elements with equal keys keep their order.
    ///
    /// Allocates a table of `n` keys, each with the index of its element.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut numbers = [10, 9, 100];
    /// numbers.par_sort_by_cached_key(|n| n.to_string());
    /// assert_eq!(numbers, [10, 100, 9]);
    /// ```
    fn par_sort_by_cached_key<K, F>(&mut self, f: F)
    where
        F: Fn(&T) -> K + Sync,
        K: Ord + Send,
    {
        cached_key::sort(self.as_parallel_slice_mut(), &f);
    }

    /// Sorts the slice in parallel and in place; equal elements may change places.
    ///
    /// `O(n log n)` comparisons in the worst case, no allocation.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut v = [5, -3, 2, -3];
    /// v.par_sort_unstable();
    /// assert_eq!(v, [-3, -3, 2, 5]);
    /// ```
    fn par_sort_unstable(&mut self)
    where
        T: Ord,
    {
        sort::par_sort_unstable(self.as_parallel_slice_mut());
    }

    /// Sorts the slice in parallel and in place by a comparison; elements it calls equal may change places.
    ///
    /// The comparison should be a total order; if it is not, the order of the result is unspecified, but no element is lost
    /// or doubled.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut prices = [2.5f64, 0.5, 1.5];
    /// prices.par_sort_unstable_by(|a, b| a.total_cmp(b));
    /// assert_eq!(prices, [0.5, 1.5, 2.5]);
    /// ```
    fn par_sort_unstable_by<F>(&mut self, compare: F)
    where
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        sort::par_sort_unstable_by(self.as_parallel_slice_mut(), compare);
    }

    /// Sorts the slice in parallel and in place by a key; elements with equal keys may change places.
    ///
    /// The key is computed for every comparison. If that is expensive, use
    /// [`par_sort_by_cached_key`](Self::par_sort_by_cached_key).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut v = [4i32, -6, 1];
    /// v.par_sort_unstable_by_key(|x| x.abs());
    /// assert_eq!(v, [1, 4, -6]);
    /// ```
    fn par_sort_unstable_by_key<K, F>(&mut self, f: F)
    where
        K: Ord,
        F: Fn(&T) -> K + Sync,
    {
        sort::par_sort_unstable_by_key(self.as_parallel_slice_mut(), f);
    }

    /// Sorts by the elements' bits: integers, floats (in their total order), `bool`, `char`, tuples and arrays of them.
    ///
    /// Stable; digits that are the same in all elements cost nothing. Takes memory for a second slice; if there is none to
    /// be had, it sorts in place by comparing. Work O(n · bits).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut v = [2.5, -1.0, f64::NEG_INFINITY, 0.0];
    /// v.par_sort_radix();
    /// assert_eq!(v, [f64::NEG_INFINITY, -1.0, 0.0, 2.5]);
    /// ```
    fn par_sort_radix(&mut self)
    where
        T: RadixKey,
    {
        sort::par_sort_radix(self.as_parallel_slice_mut());
    }

    /// Sorts by the bits of a key, which is computed about once per element. Stable; as
    /// [`par_sort_radix`](Self::par_sort_radix).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut v = ["pear", "fig", "apple"];
    /// v.par_sort_radix_by_key(|word| word.len());
    /// assert_eq!(v, ["fig", "pear", "apple"]);
    /// ```
    fn par_sort_radix_by_key<K, F>(&mut self, f: F)
    where
        K: RadixKey,
        F: Fn(&T) -> K + Sync,
    {
        sort::par_sort_radix_by_key(self.as_parallel_slice_mut(), f);
    }

    /// The longest runs in which `pred` holds for all neighbours, to write to, in parallel; as `<[T]>::chunk_by_mut`.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut v = [1, 2, 3, 1, 2];
    /// v.par_chunk_by_mut(|a, b| a < b).for_each(|run| run.reverse());
    /// assert_eq!(v, [3, 2, 1, 2, 1]);
    /// ```
    fn par_chunk_by_mut<F>(&mut self, pred: F) -> ChunkByMut<'_, T, F>
    where
        F: Fn(&T, &T) -> bool + Send + Sync,
    {
        ChunkByMut::new(self.as_parallel_slice_mut(), pred)
    }
}

impl<T: Send> ParallelSliceMut<T> for [T] {
    #[inline]
    fn as_parallel_slice_mut(&mut self) -> &mut [T] {
        self
    }
}
