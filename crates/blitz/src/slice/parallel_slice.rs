//! The methods every shared slice gains.

use super::ordered;
use super::{
    ArrayWindows, ChunkBy, Chunks, ChunksExact, RChunks, RChunksExact, Split, SplitInclusive,
    Windows,
};
use crate::engine::operation;
use std::cmp::Ordering;

/// Parallel methods of shared slices.
///
/// Implemented for `[T]`, and so reachable from everything that derefs to a slice.
///
/// ```
/// use blitz::prelude::*;
///
/// let numbers = [1, 2, 3, 4, 5];
/// let sums: Vec<i32> = numbers.par_chunks(2).map(|pair| pair.iter().sum()).collect();
/// assert_eq!(sums, [3, 7, 5]);
/// assert!(numbers.par_windows(2).all(|pair| pair[0] < pair[1]));
/// ```
pub trait ParallelSlice<T: Sync> {
    /// The slice itself; all other methods are built on it.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// assert_eq!(vec![1, 2].as_parallel_slice(), [1, 2]);
    /// ```
    fn as_parallel_slice(&self) -> &[T];

    /// The parts between elements that satisfy `separator`, without these elements, in parallel; as `<[T]>::split`.
    ///
    /// A separator at either end, or next to another one, makes an empty part. The predicate may be called from several
    /// threads.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let readings = [3, 5, -1, 8, -1];
    /// let sums: Vec<i32> = readings.par_split(|&x| x < 0).map(|run| run.iter().sum()).collect();
    /// assert_eq!(sums, [8, 8, 0]);
    /// ```
    fn par_split<P>(&self, separator: P) -> Split<'_, T, P>
    where
        P: Fn(&T) -> bool + Sync + Send,
    {
        Split::new(self.as_parallel_slice(), separator)
    }

    /// The parts that end with an element satisfying `separator`, including it, in parallel; as `<[T]>::split_inclusive`.
    ///
    /// If the last element is a separator, nothing follows it.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let readings = [3, 5, -1, 8, -1];
    /// let sizes: Vec<usize> = readings.par_split_inclusive(|&x| x < 0).map(|run| run.len()).collect();
    /// assert_eq!(sizes, [3, 2]);
    /// ```
    fn par_split_inclusive<P>(&self, separator: P) -> SplitInclusive<'_, T, P>
    where
        P: Fn(&T) -> bool + Sync + Send,
    {
        SplitInclusive::new(self.as_parallel_slice(), separator)
    }

    /// All runs of `window_size` neighbouring elements, overlapping, in parallel.
    ///
    /// A slice shorter than a window has none.
    ///
    /// # Panics
    ///
    /// If `window_size` is zero.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let heights = [1, 4, 2, 8];
    /// let steepest = heights.par_windows(2).map(|pair| pair[1] - pair[0]).max();
    /// assert_eq!(steepest, Some(6));
    /// ```
    #[track_caller]
    fn par_windows(&self, window_size: usize) -> Windows<'_, T> {
        assert!(window_size != 0, "window_size must not be zero");
        Windows::new(window_size, self.as_parallel_slice())
    }

    /// All runs of `N` neighbouring elements as references to arrays, overlapping, in parallel.
    ///
    /// The compiler knows the window's length, so there are no bounds checks in the closure. A size of zero does not compile.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let heights = [1, 4, 2, 8];
    /// let steepest = heights.par_array_windows().map(|[before, after]| after - before).max();
    /// assert_eq!(steepest, Some(6));
    /// ```
    fn par_array_windows<const N: usize>(&self) -> ArrayWindows<'_, T, N> {
        const { assert!(N != 0, "a window holds at least one element") };
        ArrayWindows::new(self.as_parallel_slice())
    }

    /// Chunks of `chunk_size` elements that do not overlap, in parallel; the last may be shorter.
    ///
    /// # Panics
    ///
    /// If `chunk_size` is zero.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let bytes: Vec<u8> = [1u8, 0, 1, 1, 1].par_chunks(2).map(|bits| bits.iter().sum()).collect();
    /// assert_eq!(bytes, [1, 2, 1]);
    /// ```
    #[track_caller]
    fn par_chunks(&self, chunk_size: usize) -> Chunks<'_, T> {
        assert!(chunk_size != 0, "chunk_size must not be zero");
        Chunks::new(chunk_size, self.as_parallel_slice())
    }

    /// Chunks of exactly `chunk_size` elements, in parallel; what is left over at the end is in
    /// [`remainder`](ChunksExact::remainder).
    ///
    /// # Panics
    ///
    /// If `chunk_size` is zero.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let samples = [1, 2, 3, 4, 5];
    /// let pairs = samples.par_chunks_exact(2);
    /// assert_eq!(pairs.remainder(), [5]);
    /// assert_eq!(pairs.map(|pair| pair[0] * pair[1]).sum::<i32>(), 14);
    /// ```
    #[track_caller]
    fn par_chunks_exact(&self, chunk_size: usize) -> ChunksExact<'_, T> {
        assert!(chunk_size != 0, "chunk_size must not be zero");
        ChunksExact::new(chunk_size, self.as_parallel_slice())
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
    /// let digits = b"1234567";
    /// let groups: Vec<&[u8]> = digits.par_rchunks(3).collect();
    /// assert_eq!(groups, [&b"567"[..], b"234", b"1"]);
    /// ```
    #[track_caller]
    fn par_rchunks(&self, chunk_size: usize) -> RChunks<'_, T> {
        assert!(chunk_size != 0, "chunk_size must not be zero");
        RChunks::new(chunk_size, self.as_parallel_slice())
    }

    /// Chunks of exactly `chunk_size` elements counted from the back, in parallel; what is left over at the beginning is in
    /// [`remainder`](RChunksExact::remainder).
    ///
    /// # Panics
    ///
    /// If `chunk_size` is zero.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let digits = b"1234567";
    /// let groups = digits.par_rchunks_exact(3);
    /// assert_eq!(groups.remainder(), b"1");
    /// assert_eq!(groups.len(), 2);
    /// ```
    #[track_caller]
    fn par_rchunks_exact(&self, chunk_size: usize) -> RChunksExact<'_, T> {
        assert!(chunk_size != 0, "chunk_size must not be zero");
        RChunksExact::new(chunk_size, self.as_parallel_slice())
    }

    /// The longest runs in which `pred` holds for all neighbours, in parallel; as `<[T]>::chunk_by`.
    ///
    /// The predicate is called once per pair of neighbours.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let signal = [1, 1, 0, 0, 0, 1];
    /// let runs: Vec<(i32, usize)> = signal.par_chunk_by(|a, b| a == b).map(|run| (run[0], run.len())).collect();
    /// assert_eq!(runs, [(1, 2), (0, 3), (1, 1)]);
    /// ```
    fn par_chunk_by<F>(&self, pred: F) -> ChunkBy<'_, T, F>
    where
        F: Fn(&T, &T) -> bool + Send + Sync,
    {
        ChunkBy::new(self.as_parallel_slice(), pred)
    }

    /// Whether every element is at most as large as the next, in parallel; as `<[T]>::is_sorted`.
    ///
    /// Stops soon after the first pair that is not. Work O(n), span O(log n).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// assert!([1, 2, 2, 9].par_is_sorted());
    /// assert!(![0.0, f64::NAN].par_is_sorted());
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_is_sorted(&self) -> bool
    where
        T: PartialOrd,
    {
        let _operation = operation();
        ordered::all_pieces(self.as_parallel_slice(), |part| part.is_sorted())
    }

    /// Whether `in_order` holds for all pairs of neighbours, in parallel; as `<[T]>::is_sorted_by`. Work O(n), span O(log n).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// assert!([3, 2, 1].par_is_sorted_by(|a, b| a > b));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_is_sorted_by<F>(&self, in_order: F) -> bool
    where
        F: Fn(&T, &T) -> bool + Sync + Send,
    {
        let _operation = operation();
        let v = self.as_parallel_slice();
        ordered::all_pieces(v, |part| ordered::is_sorted_by(part, &in_order))
    }

    /// Whether the keys are sorted, in parallel; as `<[T]>::is_sorted_by_key`. A key is computed for every comparison. Work
    /// O(n), span O(log n).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// assert!(["c", "bb", "aaa"].par_is_sorted_by_key(|word| word.len()));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_is_sorted_by_key<K, F>(&self, key: F) -> bool
    where
        K: PartialOrd,
        F: Fn(&T) -> K + Sync + Send,
    {
        let _operation = operation();
        self.par_is_sorted_by(|a, b| key(a) <= key(b))
    }

    /// Merges this sorted slice with another one into a new vector, in parallel; of equal elements, those of this slice come
    /// first.
    ///
    /// If one of them is not sorted, the result has the right length, and elements of both in some order. Work O(n), span
    /// O(log n) and one piece.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// assert_eq!([1, 4, 9].par_merge(&[2, 4, 8]), [1, 2, 4, 4, 8, 9]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_merge(&self, other: &[T]) -> Vec<T>
    where
        T: Ord + Clone + Send,
    {
        let _operation = operation();
        self.par_merge_by(other, T::cmp)
    }

    /// As [`par_merge`](Self::par_merge), for slices that are sorted by a comparison.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let merged = [2.5f64, 0.5].par_merge_by(&[1.5], |a, b| b.total_cmp(a));
    /// assert_eq!(merged, [2.5, 1.5, 0.5]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_merge_by<F>(&self, other: &[T], compare: F) -> Vec<T>
    where
        T: Clone + Send,
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        let _operation = operation();
        ordered::merge(self.as_parallel_slice(), other, &compare)
    }

    /// Searches this sorted slice for many values, in parallel: for each what `<[T]>::binary_search` returns. Work
    /// O(q log n) for q queries, span O(log q + log n) and one piece.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let sorted = [10, 20, 30];
    /// assert_eq!(sorted.par_binary_search_batch(&[20, 25]), [Ok(1), Err(2)]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_binary_search_batch(&self, queries: &[T]) -> Vec<Result<usize, usize>>
    where
        T: Ord,
    {
        let _operation = operation();
        ordered::binary_search_batch(self.as_parallel_slice(), queries)
    }
}

impl<T: Sync> ParallelSlice<T> for [T] {
    #[inline]
    fn as_parallel_slice(&self) -> &[T] {
        self
    }
}
