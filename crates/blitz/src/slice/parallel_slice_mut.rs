//! The methods every exclusive slice gains: chunks and parts to write to, and sorting.

use super::sort::RadixKey;
use super::{
    ChunkByMut, ChunksExactMut, ChunksMut, RChunksExactMut, RChunksMut, SplitInclusiveMut, SplitMut,
};
use super::{cached_key, keep, moves, sort};
use crate::engine::operation;
use std::cmp::Ordering;

/// Parallel methods of exclusive slices.
///
/// Implemented for `[T]`, and so reachable from everything that derefs to a mutable slice. The stable sorts keep equal
/// elements in their order and allocate scratch space; the unstable ones work in place, but for plain numbers. If a comparison
/// panics, the panic goes on to the caller, and the slice holds its old elements in some order.
///
/// A comparison that contradicts itself never makes a sort panic or lose an element; the order of the result is then
/// unspecified. Pieces are sorted by the standard library, whose sorts do panic when they notice such a comparison; that
/// panic is caught, but its message may have been printed. (Where panics abort the process, this one does too.)
///
/// ```
/// use blitz::prelude::*;
///
/// let mut words = ["pear", "fig", "apple"];
/// words.par_sort_unstable();
/// assert_eq!(words, ["apple", "fig", "pear"]);
/// words.par_sort_by_key(|word| word.len());
/// assert_eq!(words, ["fig", "pear", "apple"]);
/// ```
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
    /// `O(n log n)` comparisons; runs that are already sorted are recognised, and integers, `bool` and `char` are sorted by
    /// their bits ([`par_sort_radix`](Self::par_sort_radix)). Extra memory: as much as the slice, and what the standard
    /// library's stable sort takes for a piece on each thread.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut names = ["Noether", "Abel", "Galois"];
    /// names.par_sort();
    /// assert_eq!(names, ["Abel", "Galois", "Noether"]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_sort(&mut self)
    where
        T: Ord,
    {
        let _operation = operation();
        sort::par_sort(self.as_parallel_slice_mut());
    }

    /// Sorts the slice in parallel by a comparison; elements it calls equal keep their order.
    ///
    /// The comparison should be a total order; if it is not, the order of the result is unspecified, but no element is lost
    /// or doubled. Extra memory: as [`par_sort`](Self::par_sort).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut prices = [2.5f64, 0.5, 1.5];
    /// prices.par_sort_by(|a, b| b.total_cmp(a));
    /// assert_eq!(prices, [2.5, 1.5, 0.5]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_sort_by<F>(&mut self, compare: F)
    where
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        let _operation = operation();
        sort::par_sort_by(self.as_parallel_slice_mut(), compare);
    }

    /// Sorts the slice in parallel by a key; elements with equal keys keep their order.
    ///
    /// The key is computed for every comparison. If that is expensive, use
    /// [`par_sort_by_cached_key`](Self::par_sort_by_cached_key). Long slices with integer keys are sorted by the bits of
    /// the keys ([`par_sort_radix_by_key`](Self::par_sort_radix_by_key)). Extra memory: as much as the slice, what the
    /// standard library's stable sort takes on each thread, and for integer keys up to 32 bytes per element.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut words = ["ccc", "a", "bb", "d"];
    /// words.par_sort_by_key(|word| word.len());
    /// assert_eq!(words, ["a", "d", "bb", "ccc"]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_sort_by_key<K, F>(&mut self, f: F)
    where
        K: Ord,
        F: Fn(&T) -> K + Sync,
    {
        let _operation = operation();
        sort::par_sort_by_key(self.as_parallel_slice_mut(), f);
    }

    /// Sorts the slice in parallel by a key that is computed once per element; elements with equal keys keep their order.
    ///
    /// Extra memory: a table of `n` keys, each with the index of its element, and as much as the slice.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut numbers = [10, 9, 100];
    /// numbers.par_sort_by_cached_key(|n| n.to_string());
    /// assert_eq!(numbers, [10, 100, 9]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_sort_by_cached_key<K, F>(&mut self, f: F)
    where
        F: Fn(&T) -> K + Sync,
        K: Ord + Send,
    {
        let _operation = operation();
        cached_key::sort(self.as_parallel_slice_mut(), &f);
    }

    /// Sorts the slice in parallel and in place; equal elements may change places.
    ///
    /// `O(n log n)` comparisons in the worst case. Extra memory: up to a megabyte per thread. Integers, `bool` and `char` are
    /// sorted by their bits ([`par_sort_radix`](Self::par_sort_radix)), which is several times faster and takes as much
    /// memory as the slice, if there is any to be had.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut v = [5, -3, 2, -3];
    /// v.par_sort_unstable();
    /// assert_eq!(v, [-3, -3, 2, 5]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_sort_unstable(&mut self)
    where
        T: Ord,
    {
        let _operation = operation();
        sort::par_sort_unstable(self.as_parallel_slice_mut());
    }

    /// Sorts the slice in parallel and in place by a comparison; elements it calls equal may change places.
    ///
    /// The comparison should be a total order; if it is not, the order of the result is unspecified, but no element is lost
    /// or doubled. Extra memory: up to a megabyte per thread.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut prices = [2.5f64, 0.5, 1.5];
    /// prices.par_sort_unstable_by(|a, b| a.total_cmp(b));
    /// assert_eq!(prices, [0.5, 1.5, 2.5]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_sort_unstable_by<F>(&mut self, compare: F)
    where
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        let _operation = operation();
        sort::par_sort_unstable_by(self.as_parallel_slice_mut(), compare);
    }

    /// Sorts the slice in parallel and in place by a key; elements with equal keys may change places.
    ///
    /// The key is computed for every comparison. If that is expensive, use
    /// [`par_sort_by_cached_key`](Self::par_sort_by_cached_key). Extra memory: up to a megabyte per thread; long slices of
    /// small elements with integer keys are sorted as by [`par_sort_by_key`](Self::par_sort_by_key).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut v = [4i32, -6, 1];
    /// v.par_sort_unstable_by_key(|x| x.abs());
    /// assert_eq!(v, [1, 4, -6]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_sort_unstable_by_key<K, F>(&mut self, f: F)
    where
        K: Ord,
        F: Fn(&T) -> K + Sync,
    {
        let _operation = operation();
        sort::par_sort_unstable_by_key(self.as_parallel_slice_mut(), f);
    }

    /// Sorts by the elements' bits: integers, floats (in their total order), `bool`, `char`, tuples and arrays of them.
    ///
    /// Stable; digits that are the same in all elements cost nothing. A few passes over the slice if keys spread over their range;
    /// what still is not told apart then is sorted by comparing, as are runs, a few values that repeat and what is nearly sorted: work
    /// O(n log n) at most. Extra memory: as much as the slice; if there is none to be had, it sorts in place by comparing.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut v = [2.5, -1.0, f64::NEG_INFINITY, 0.0];
    /// v.par_sort_radix();
    /// assert_eq!(v, [f64::NEG_INFINITY, -1.0, 0.0, 2.5]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_sort_radix(&mut self)
    where
        T: RadixKey,
    {
        let _operation = operation();
        sort::par_sort_radix(self.as_parallel_slice_mut());
    }

    /// Sorts by the bits of a key, which is computed about once per element. Stable; as
    /// [`par_sort_radix`](Self::par_sort_radix). Extra memory: as much as the slice, and twice the keys, each with the
    /// position of its element. More than 2^32 elements are compared instead, and their keys computed for every comparison.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut v = ["pear", "fig", "apple"];
    /// v.par_sort_radix_by_key(|word| word.len());
    /// assert_eq!(v, ["fig", "pear", "apple"]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_sort_radix_by_key<K, F>(&mut self, f: F)
    where
        K: RadixKey,
        F: Fn(&T) -> K + Sync,
    {
        let _operation = operation();
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

    /// Reverses the order of the elements, in parallel and in place. Work O(n), span O(log n).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut v = [1, 2, 3];
    /// v.par_reverse();
    /// assert_eq!(v, [3, 2, 1]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_reverse(&mut self) {
        let _operation = operation();
        moves::reverse(self.as_parallel_slice_mut());
    }

    /// Moves the first `middle` elements behind the others, in parallel; as `<[T]>::rotate_left`.
    ///
    /// Long slices need memory for up to half of the elements if `middle` is near one of the ends. Work O(n), span
    /// O(log n) and a few stripes per thread.
    ///
    /// # Panics
    ///
    /// If `middle` is greater than the length.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut v = [1, 2, 3, 4];
    /// v.par_rotate_left(1);
    /// assert_eq!(v, [2, 3, 4, 1]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_rotate_left(&mut self, middle: usize) {
        let _operation = operation();
        moves::rotate_left(self.as_parallel_slice_mut(), middle);
    }

    /// Moves the last `count` elements before the others, in parallel; as `<[T]>::rotate_right`. As
    /// [`par_rotate_left`](Self::par_rotate_left) else.
    ///
    /// # Panics
    ///
    /// If `count` is greater than the length.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut v = [1, 2, 3, 4];
    /// v.par_rotate_right(1);
    /// assert_eq!(v, [4, 1, 2, 3]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_rotate_right(&mut self, count: usize) {
        let _operation = operation();
        let v = self.as_parallel_slice_mut();
        let middle = v.len().checked_sub(count);
        let middle = middle.expect("rotation by more elements than the slice has");
        moves::rotate_left(v, middle);
    }

    /// Replaces every element by a clone of `value`, in parallel; as `<[T]>::fill`. Work O(n), span O(log n).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut v = [0; 4];
    /// v.par_fill(7);
    /// assert_eq!(v, [7; 4]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_fill(&mut self, value: T)
    where
        T: Clone + Sync,
    {
        let _operation = operation();
        moves::fill(self.as_parallel_slice_mut(), value);
    }

    /// Copies all elements of `source`, in parallel; as `<[T]>::copy_from_slice`. Work O(n), span O(log n).
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut v = [0; 3];
    /// v.par_copy(&[1, 2, 3]);
    /// assert_eq!(v, [1, 2, 3]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_copy(&mut self, source: &[T])
    where
        T: Copy + Sync,
    {
        let _operation = operation();
        moves::copy(self.as_parallel_slice_mut(), source);
    }

    /// Brings the elements for which `predicate` holds before the others, in parallel, and returns how many there are. Both
    /// groups keep their order.
    ///
    /// The predicate is called once per element; if it panics, nothing has moved. Needs memory for a second slice and a
    /// byte per element. Work O(n), span O(log n) and one piece.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut v = [1, 2, 3, 4, 5];
    /// let even = v.par_partition(|x| x % 2 == 0);
    /// assert_eq!((even, v), (2, [2, 4, 1, 3, 5]));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_partition<F>(&mut self, predicate: F) -> usize
    where
        F: Fn(&T) -> bool + Sync,
    {
        let _operation = operation();
        keep::partition_stable(self.as_parallel_slice_mut(), &predicate)
    }

    /// As [`par_partition`](Self::par_partition), but in place: no memory is needed, and the order within the groups is not
    /// kept. Elements may be asked for more than once; if the predicate panics, they are in some order.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut v = [1, 2, 3, 4, 5];
    /// let even = v.par_partition_unstable(|x| x % 2 == 0);
    /// assert!(v[..even].iter().all(|x| x % 2 == 0) && v[even..].iter().all(|x| x % 2 == 1));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_partition_unstable<F>(&mut self, predicate: F) -> usize
    where
        F: Fn(&T) -> bool + Sync,
    {
        let _operation = operation();
        keep::partition_unstable(self.as_parallel_slice_mut(), &predicate)
    }

    /// Brings the element that a sort would put at `index` there, smaller ones before it and larger ones behind it, in parallel
    /// and in place; returns the three parts. As `<[T]>::select_nth_unstable`.
    ///
    /// Work O(n) expected, span O(log n) and a stripe per thread.
    ///
    /// # Panics
    ///
    /// If `index` is out of bounds.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut v = [9, 1, 8, 2, 7];
    /// let (_, median, _) = v.par_select_nth_unstable(2);
    /// assert_eq!(*median, 7);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_select_nth_unstable(&mut self, index: usize) -> (&mut [T], &mut T, &mut [T])
    where
        T: Ord + Sync,
    {
        let _operation = operation();
        self.par_select_nth_unstable_by(index, T::cmp)
    }

    /// As [`par_select_nth_unstable`](Self::par_select_nth_unstable), by a comparison.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut v = [2.5, 0.5, 1.5];
    /// assert_eq!(*v.par_select_nth_unstable_by(0, f64::total_cmp).1, 0.5);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_select_nth_unstable_by<F>(
        &mut self,
        index: usize,
        compare: F,
    ) -> (&mut [T], &mut T, &mut [T])
    where
        T: Sync,
        F: Fn(&T, &T) -> Ordering + Sync,
    {
        let _operation = operation();
        let v = self.as_parallel_slice_mut();
        sort::select_nth(v, index, &compare);
        let (smaller, rest) = v.split_at_mut(index);
        let (nth, larger) = rest.split_first_mut().expect("the index is in bounds");
        (smaller, nth, larger)
    }

    /// As [`par_select_nth_unstable`](Self::par_select_nth_unstable), by a key, which is computed for every comparison.
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut words = ["ccc", "a", "bb"];
    /// assert_eq!(*words.par_select_nth_unstable_by_key(1, |word| word.len()).1, "bb");
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn par_select_nth_unstable_by_key<K, F>(
        &mut self,
        index: usize,
        key: F,
    ) -> (&mut [T], &mut T, &mut [T])
    where
        T: Sync,
        K: Ord,
        F: Fn(&T) -> K + Sync,
    {
        let _operation = operation();
        self.par_select_nth_unstable_by(index, |a, b| key(a).cmp(&key(b)))
    }
}

impl<T: Send> ParallelSliceMut<T> for [T] {
    #[inline]
    fn as_parallel_slice_mut(&mut self) -> &mut [T] {
        self
    }
}
