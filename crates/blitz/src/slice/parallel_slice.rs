//! The methods every shared slice gains.

use super::{
    ArrayWindows, ChunkBy, Chunks, ChunksExact, RChunks, RChunksExact, Split, SplitInclusive,
    Windows,
};

/// Parallel methods of shared slices.
///
/// Implemented for `[T]`, and so reachable from everything that derefs to a slice.
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
}

impl<T: Sync> ParallelSlice<T> for [T] {
    #[inline]
    fn as_parallel_slice(&self) -> &[T] {
        self
    }
}
