//! The trait of parallel iterators with a known length.

use super::plumbing::{Consumer, ProducerCallback};
use super::{
    Chunks, Enumerate, ExponentialBlocks, FoldChunks, FoldChunksWith, Interleave,
    InterleaveShortest, IntoParallelIterator, MaxLen, MinLen, ParallelIterator, Positions, Rev,
    Skip, Splitter, StepBy, Take, UniformBlocks, WithSplitter, Zip, ZipEq, collect,
};
use crate::engine::operation;
use std::cmp::Ordering;

/// A parallel iterator that knows how many items it has and can be cut at any of them.
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let image = vec![0u8; 64];
/// let rows: Vec<usize> = image.par_chunks(16).enumerate().map(|(y, row)| y * row.len()).collect();
/// assert_eq!(rows, [0, 16, 32, 48]);
/// ```
#[expect(
    clippy::len_without_is_empty,
    reason = "a lazy sequence is not a container; `ExactSizeIterator` has none either"
)]
pub trait IndexedParallelIterator: ParallelIterator {
    /// Runs blocks of doubling length one after the other, each in parallel.
    ///
    /// For searches that are expected to end early, and for results that should become available in order.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let hit = (0..1_000_000).into_par_iter().by_exponential_blocks().find_any(|n| *n >= 300);
    /// assert!(hit.is_some());
    /// ```
    fn by_exponential_blocks(self) -> ExponentialBlocks<Self> {
        ExponentialBlocks::new(self)
    }

    /// Runs blocks of `block_size` items one after the other, each in parallel.
    ///
    /// # Panics
    ///
    /// If `block_size` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let sum: u32 = (0..100u32).into_par_iter().by_uniform_blocks(16).sum();
    /// assert_eq!(sum, 4950);
    /// ```
    #[track_caller]
    fn by_uniform_blocks(self, block_size: usize) -> UniformBlocks<Self> {
        assert!(block_size != 0, "block_size must not be zero");
        UniformBlocks::new(self, block_size)
    }

    /// Replaces the contents of `target` by the items, reusing its allocation.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let mut buffer = Vec::with_capacity(100);
    /// (0..3).into_par_iter().map(|n| n * 10).collect_into_vec(&mut buffer);
    /// assert_eq!(buffer, [0, 10, 20]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn collect_into_vec(self, target: &mut Vec<Self::Item>) {
        let _operation = operation();
        collect::collect_into_vec(self, target);
    }

    /// Replaces the contents of two vectors by the halves of the pairs, reusing their allocations.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let (mut numbers, mut names) = (vec![], vec![]);
    /// (1..3).into_par_iter().map(|n| (n, n.to_string())).unzip_into_vecs(&mut numbers, &mut names);
    /// assert_eq!((numbers, names), (vec![1, 2], vec!["1".to_string(), "2".to_string()]));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn unzip_into_vecs<A, B>(self, left: &mut Vec<A>, right: &mut Vec<B>)
    where
        Self: IndexedParallelIterator<Item = (A, B)>,
        A: Send,
        B: Send,
    {
        let _operation = operation();
        collect::unzip_into_vecs(self, left, right);
    }

    /// Pairs the items with those of another iterator, as far as the shorter reaches.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let mut sums = [0; 3];
    /// sums.par_iter_mut().zip(&[1, 2, 3]).zip(&[10, 20, 30]).for_each(|((sum, a), b)| *sum = a + b);
    /// assert_eq!(sums, [11, 22, 33]);
    /// ```
    fn zip<Z>(self, zip_op: Z) -> Zip<Self, Z::Iter>
    where
        Z: IntoParallelIterator<Iter: IndexedParallelIterator>,
    {
        Zip::new(self, zip_op.into_par_iter())
    }

    /// Pairs the items with those of another iterator of the same length.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let dot: f64 = [1.0, 2.0].par_iter().zip_eq(&[3.0, 4.0]).map(|(a, b)| a * b).sum();
    /// assert_eq!(dot, 11.0);
    /// ```
    #[track_caller]
    fn zip_eq<Z>(self, zip_op: Z) -> ZipEq<Self, Z::Iter>
    where
        Z: IntoParallelIterator<Iter: IndexedParallelIterator>,
    {
        let other = zip_op.into_par_iter();
        assert_eq!(
            self.len(),
            other.len(),
            "iterators must have the same length"
        );
        ZipEq::new(self, other)
    }

    /// Alternates with another iterator; when one ends, the other goes on alone.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let mixed: Vec<i32> = (0..2).into_par_iter().interleave(10..14).collect();
    /// assert_eq!(mixed, [0, 10, 1, 11, 12, 13]);
    /// ```
    fn interleave<I>(self, other: I) -> Interleave<Self, I::Iter>
    where
        I: IntoParallelIterator<Item = Self::Item, Iter: IndexedParallelIterator>,
    {
        Interleave::new(self, other.into_par_iter())
    }

    /// Alternates with another iterator until the one whose turn it is has ended.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let mixed: Vec<i32> = (0..2).into_par_iter().interleave_shortest(10..14).collect();
    /// assert_eq!(mixed, [0, 10, 1, 11]);
    /// ```
    fn interleave_shortest<I>(self, other: I) -> InterleaveShortest<Self, I::Iter>
    where
        I: IntoParallelIterator<Item = Self::Item, Iter: IndexedParallelIterator>,
    {
        InterleaveShortest::new(self, other.into_par_iter())
    }

    /// Yields vectors of `chunk_size` items; the last may be shorter. For slices, `par_chunks` copies nothing.
    ///
    /// # Panics
    ///
    /// If `chunk_size` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let batches: Vec<Vec<i32>> = (0..5).into_par_iter().chunks(3).collect();
    /// assert_eq!(batches, [vec![0, 1, 2], vec![3, 4]]);
    /// ```
    #[track_caller]
    fn chunks(self, chunk_size: usize) -> Chunks<Self> {
        assert!(chunk_size != 0, "chunk_size must not be zero");
        Chunks::new(self, chunk_size)
    }

    /// Yields the fold of each `chunk_size` items, starting from `identity()`.
    ///
    /// # Panics
    ///
    /// If `chunk_size` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let sums: Vec<i32> = (1..5).into_par_iter().fold_chunks(2, || 0, |sum, n| sum + n).collect();
    /// assert_eq!(sums, [3, 7]);
    /// ```
    #[track_caller]
    fn fold_chunks<T, ID, F>(
        self,
        chunk_size: usize,
        identity: ID,
        fold_op: F,
    ) -> FoldChunks<Self, ID, F>
    where
        ID: Fn() -> T + Send + Sync,
        F: Fn(T, Self::Item) -> T + Send + Sync,
        T: Send,
    {
        assert!(chunk_size != 0, "chunk_size must not be zero");
        FoldChunks::new(self, chunk_size, identity, fold_op)
    }

    /// Yields the fold of each `chunk_size` items, starting from a clone of `init`.
    ///
    /// # Panics
    ///
    /// If `chunk_size` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let best: Vec<u32> = [3u32, 9, 4].into_par_iter().fold_chunks_with(2, 0, u32::max).collect();
    /// assert_eq!(best, [9, 4]);
    /// ```
    #[track_caller]
    fn fold_chunks_with<T, F>(
        self,
        chunk_size: usize,
        init: T,
        fold_op: F,
    ) -> FoldChunksWith<Self, T, F>
    where
        T: Send + Clone,
        F: Fn(T, Self::Item) -> T + Send + Sync,
    {
        assert!(chunk_size != 0, "chunk_size must not be zero");
        FoldChunksWith::new(self, chunk_size, init, fold_op)
    }

    /// Compares two sequences: by the first items that differ, else by length.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// use std::cmp::Ordering;
    /// assert_eq!([1, 2].par_iter().cmp(&[1, 3]), Ordering::Less);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn cmp<I>(self, other: I) -> Ordering
    where
        I: IntoParallelIterator<Item = Self::Item, Iter: IndexedParallelIterator>,
        Self::Item: Ord,
    {
        let _operation = operation();
        let other = other.into_par_iter();
        let by_length = self.len().cmp(&other.len());
        self.zip(other)
            .map(|(a, b)| Ord::cmp(&a, &b))
            .find_first(|order| order.is_ne())
            .unwrap_or(by_length)
    }

    /// Compares two sequences whose items may be incomparable.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert_eq!([1.0, f64::NAN].par_iter().partial_cmp(&[1.0, 2.0]), None);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn partial_cmp<I>(self, other: I) -> Option<Ordering>
    where
        I: IntoParallelIterator<Iter: IndexedParallelIterator>,
        Self::Item: PartialOrd<I::Item>,
    {
        let _operation = operation();
        let other = other.into_par_iter();
        let by_length = self.len().cmp(&other.len());
        self.zip(other)
            .map(|(a, b)| PartialOrd::partial_cmp(&a, &b))
            .find_first(|&order| order != Some(Ordering::Equal))
            .unwrap_or(Some(by_length))
    }

    /// Are the two sequences equal?
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert!((0..3).into_par_iter().eq(vec![0, 1, 2]));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn eq<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator<Iter: IndexedParallelIterator>,
        Self::Item: PartialEq<I::Item>,
    {
        let _operation = operation();
        let other = other.into_par_iter();
        self.len() == other.len() && self.zip(other).all(|(a, b)| a == b)
    }

    /// Do the two sequences differ?
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert!((0..3).into_par_iter().ne(0..4));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn ne<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator<Iter: IndexedParallelIterator>,
        Self::Item: PartialEq<I::Item>,
    {
        let _operation = operation();
        !self.eq(other)
    }

    /// Is this sequence less than the other?
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert!([1, 2].par_iter().lt(&[1, 2, 0]));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn lt<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator<Iter: IndexedParallelIterator>,
        Self::Item: PartialOrd<I::Item>,
    {
        let _operation = operation();
        self.partial_cmp(other).is_some_and(Ordering::is_lt)
    }

    /// Is this sequence less than or equal to the other?
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert!([1, 2].par_iter().le(&[1, 2]));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn le<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator<Iter: IndexedParallelIterator>,
        Self::Item: PartialOrd<I::Item>,
    {
        let _operation = operation();
        self.partial_cmp(other).is_some_and(Ordering::is_le)
    }

    /// Is this sequence greater than the other?
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert!([2].par_iter().gt(&[1, 9]));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn gt<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator<Iter: IndexedParallelIterator>,
        Self::Item: PartialOrd<I::Item>,
    {
        let _operation = operation();
        self.partial_cmp(other).is_some_and(Ordering::is_gt)
    }

    /// Is this sequence greater than or equal to the other?
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert!([2].par_iter().ge(&[2]));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn ge<I>(self, other: I) -> bool
    where
        I: IntoParallelIterator<Iter: IndexedParallelIterator>,
        Self::Item: PartialOrd<I::Item>,
    {
        let _operation = operation();
        self.partial_cmp(other).is_some_and(Ordering::is_ge)
    }

    /// Pairs each item with its index.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let mut ranks = [0; 3];
    /// ranks.par_iter_mut().enumerate().for_each(|(index, rank)| *rank = index + 1);
    /// assert_eq!(ranks, [1, 2, 3]);
    /// ```
    fn enumerate(self) -> Enumerate<Self> {
        Enumerate::new(self)
    }

    /// Yields the first item and every `step`-th after it.
    ///
    /// # Panics
    /// If `step` is 0.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let thirds: Vec<i32> = (0..8).into_par_iter().step_by(3).collect();
    /// assert_eq!(thirds, [0, 3, 6]);
    /// ```
    #[track_caller]
    fn step_by(self, step: usize) -> StepBy<Self> {
        StepBy::new(self, step)
    }

    /// Yields all but the first `n` items.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert_eq!((0..5).into_par_iter().skip(2).collect::<Vec<_>>(), [2, 3, 4]);
    /// ```
    fn skip(self, n: usize) -> Skip<Self> {
        Skip::new(self, n)
    }

    /// Yields the first `n` items.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert_eq!((0..5).into_par_iter().take(2).collect::<Vec<_>>(), [0, 1]);
    /// ```
    fn take(self, n: usize) -> Take<Self> {
        Take::new(self, n)
    }

    /// The index of some item that satisfies the predicate, whichever is found first in time.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let place = [4, 7, 9].par_iter().position_any(|&n| n > 5);
    /// assert!(place == Some(1) || place == Some(2));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn position_any<P>(self, predicate: P) -> Option<usize>
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        let _operation = operation();
        let hit = self.map(predicate).enumerate().find_any(|&(_, hit)| hit);
        hit.map(|(index, _)| index)
    }

    /// The index of the first item that satisfies the predicate.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert_eq!([4, 7, 9].par_iter().position_first(|&n| n > 5), Some(1));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn position_first<P>(self, predicate: P) -> Option<usize>
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        let _operation = operation();
        let hit = self.map(predicate).enumerate().find_first(|&(_, hit)| hit);
        hit.map(|(index, _)| index)
    }

    /// The index of the last item that satisfies the predicate. The search begins at the end.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert_eq!([4, 7, 9].par_iter().position_last(|&n| n < 8), Some(1));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn position_last<P>(self, predicate: P) -> Option<usize>
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        let _operation = operation();
        let last = self.len().checked_sub(1)?;
        self.rev()
            .position_first(predicate)
            .map(|from_end| last - from_end)
    }

    #[doc(hidden)]
    #[deprecated(
        note = "does not search in order; say which is meant: `position_any`, `position_first` or `position_last`"
    )]
    #[cfg_attr(feature = "sites", track_caller)]
    fn position<P>(self, predicate: P) -> Option<usize>
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        let _operation = operation();
        self.position_any(predicate)
    }

    /// Yields the index of each item that satisfies the predicate.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let zeros: Vec<usize> = [0, 1, 0].par_iter().positions(|&n| n == 0).collect();
    /// assert_eq!(zeros, [0, 2]);
    /// ```
    fn positions<P>(self, predicate: P) -> Positions<Self, P>
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        Positions::new(self, predicate)
    }

    /// Yields the items in reverse order.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert_eq!((0..3).into_par_iter().rev().collect::<Vec<_>>(), [2, 1, 0]);
    /// ```
    fn rev(self) -> Rev<Self> {
        Rev::new(self)
    }

    /// No piece shall be shorter than `min` items.
    ///
    /// Rarely needed: a loop is cut only where another thread takes part, and never into pieces too short to pay.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let shortest = (0..1_000_000).into_par_iter().with_min_len(1000).fold(|| 0, |n, _| n + 1).min();
    /// assert!(shortest >= Some(1000));
    /// ```
    fn with_min_len(self, min: usize) -> MinLen<Self> {
        MinLen::new(self, min)
    }

    /// No piece shall be longer than `max` items: forces cuts even if nobody takes part.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let longest = (0..1000).into_par_iter().with_max_len(50).fold(|| 0, |n, _| n + 1).max();
    /// assert!(longest <= Some(50));
    /// ```
    fn with_max_len(self, max: usize) -> MaxLen<Self> {
        MaxLen::new(self, max)
    }

    /// How many items there are.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert_eq!((0..10).into_par_iter().zip(0..7).len(), 7);
    /// ```
    fn len(&self) -> usize;

    /// Feeds all items to a consumer that wants to know positions. Usually [`bridge`](super::plumbing::bridge). See [`Consumer`] for an example.
    fn drive<C>(self, consumer: C) -> C::Result
    where
        C: Consumer<Self::Item>;

    /// Turns into a producer, for the duration of the callback. See [`ProducerCallback`] for an example.
    fn with_producer<CB>(self, callback: CB) -> CB::Output
    where
        CB: ProducerCallback<Self::Item>;

    /// Some item that satisfies the predicate, whichever is found first in time, with its index.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let (index, value) = [4, 7, 9].par_iter().find_any_indexed(|n| **n > 5).unwrap();
    /// assert!((index, *value) == (1, 7) || (index, *value) == (2, 9));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn find_any_indexed<P>(self, predicate: P) -> Option<(usize, Self::Item)>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        let _operation = operation();
        self.enumerate().find_any(|(_, item)| predicate(item))
    }

    /// The first item that satisfies the predicate, with its index.
    ///
    /// Like [`find_first`](ParallelIterator::find_first), it gives up everything to the right of the best hit.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert_eq!([4, 7, 9].par_iter().find_first_indexed(|n| **n > 5), Some((1, &7)));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn find_first_indexed<P>(self, predicate: P) -> Option<(usize, Self::Item)>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        let _operation = operation();
        self.enumerate().find_first(|(_, item)| predicate(item))
    }

    /// The last item that satisfies the predicate, with its index. The search begins at the end and gives up everything to
    /// the left of the best hit.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert_eq!([4, 7, 9, 2].par_iter().find_last_indexed(|n| **n > 5), Some((2, &9)));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn find_last_indexed<P>(self, predicate: P) -> Option<(usize, Self::Item)>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        let _operation = operation();
        let last = self.len().checked_sub(1)?;
        self.rev()
            .find_first_indexed(predicate)
            .map(|(from_end, item)| (last - from_end, item))
    }

    /// Cuts the loop by a rule instead of where somebody helps.
    ///
    /// Each piece is folded in one go, by one thread: `fold` yields one value per piece, `map_init` calls its closure once per
    /// piece. Pieces are never shorter than [`with_min_len`](Self::with_min_len) says, and pieces of a given length never longer than
    /// [`with_max_len`](Self::with_max_len) says, before or after this call. Positions are kept: `zip`, `enumerate` and the like can follow.
    ///
    /// # Cost
    ///
    /// Rules other than [`Splitter::adaptive`] fork at every cut: about two nanoseconds each if nobody takes the fork.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::Splitter;
    /// use blitz::prelude::*;
    /// let sums: Vec<i32> = (1..7).into_par_iter()
    ///     .with_splitter(Splitter::pieces(3))
    ///     .fold(|| 0, |sum, n| sum + n)
    ///     .collect();
    /// assert_eq!(sums, [3, 7, 11]);
    /// ```
    fn with_splitter(self, splitter: Splitter) -> WithSplitter<Self> {
        WithSplitter::new(self, splitter)
    }

    /// Cuts the loop into at most `n` pieces of about the same length: a limit to how many threads take part. There are fewer if there are fewer items, or if pieces would be shorter
    /// than [`with_min_len`](Self::with_min_len) allows. Short for [`with_splitter`](Self::with_splitter) with [`Splitter::pieces`].
    ///
    /// # Panics
    ///
    /// If `n` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let pieces = (0..1000).into_par_iter().with_max_chunks(4).fold(|| 0, |n, _| n + 1).count();
    /// assert!(pieces <= 4);
    /// let long = (0..2000).into_par_iter().with_min_len(1000).with_max_chunks(8).fold(|| 0, |n, _| n + 1);
    /// assert_eq!(long.collect::<Vec<_>>(), [1000, 1000]);
    /// ```
    #[track_caller]
    fn with_max_chunks(self, n: usize) -> WithSplitter<Self> {
        assert!(n != 0, "with_max_chunks needs at least one chunk");
        self.with_splitter(Splitter::pieces(n))
    }

    /// Makes `sum`, `reduce`, `fold` and their relatives independent of the number of threads and of who did what, bit for
    /// bit.
    ///
    /// Float addition is not associative, so the result of a parallel sum usually depends on where the loop was cut. Here it
    /// is cut into blocks that depend on the number of items only, each block is folded from left to right, and the results
    /// are put together two by two in a fixed tree. The result is the same on one thread and on sixty, today and tomorrow.
    /// (It differs from that of the sequential loop, and is usually closer to the exact one, because the tree adds numbers of
    /// similar size. Rust does not specify the bits of a NaN.)
    ///
    /// Only an indexed iterator can be cut by position, so call it *before* `filter`, `flat_map_iter` and other adaptors that
    /// change the number of items; they keep it. What it cannot reach is a parallel iterator *inside*: the ones that
    /// `flat_map` makes are cut by demand. The closures must give the same answers in every run, of course.
    ///
    /// # Cost
    ///
    /// A few nanoseconds per block. Up to 64 items, each is a block of its own; up to a quarter of a million, there are between
    /// 33 and 64 blocks; beyond, a block has 4096 items. They are shared with other threads when that pays, as in any loop.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let values: Vec<f64> = (1..100_000).map(|n| 1.0 / n as f64).collect();
    /// let sum = |threads| -> f64 {
    ///     let pool = blitz::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    ///     values.par_iter().reproducible().with_pool(&pool).filter(|x| **x < 0.5).sum()
    /// };
    /// assert_eq!(sum(1).to_bits(), sum(4).to_bits());
    /// ```
    fn reproducible(self) -> WithSplitter<Self> {
        self.with_splitter(Splitter::reproducible())
    }
}
