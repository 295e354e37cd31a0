//! `chunks`, `fold_chunks` and `fold_chunks_with`: a fixed number of items at a time.
//!
//! All three cut the producer into producers of `size` items (the last may have fewer) and turn each into one item: a
//! vector of its items, or the result of folding them.

use super::IndexedParallelIterator;
use super::plumbing::{Producer, ProducerCallback, Wishes};
use super::stage::debug_fields;
use crate::delegate::indexed_source;

/// Yields vectors of `size` items. Made by [`chunks`](super::IndexedParallelIterator::chunks).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let rows: Vec<Vec<i32>> = (0..5).into_par_iter().chunks(2).collect();
/// assert_eq!(rows, [vec![0, 1], vec![2, 3], vec![4]]);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct Chunks<I> {
    base: I,
    size: usize,
}

impl<I> Chunks<I> {
    pub(super) fn new(base: I, size: usize) -> Self {
        Chunks { base, size }
    }
}

indexed_source! {
    impl [I: IndexedParallelIterator] Chunks<I> => Vec<I::Item>;
    fn len(self) { self.base.len().div_ceil(self.size) }
    fn with_producer(self, callback) {
        let len = self.base.len();
        self.base.with_producer(Cut { callback, size: self.size, len, make: Gather })
    }
}

/// Yields the fold of each `size` items, starting from what a closure makes. Made by
/// [`fold_chunks`](super::IndexedParallelIterator::fold_chunks).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let sums: Vec<i32> = (1..6).into_par_iter().fold_chunks(2, || 0, |sum, n| sum + n).collect();
/// assert_eq!(sums, [3, 7, 5]);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Clone)]
pub struct FoldChunks<I, ID, F> {
    base: I,
    size: usize,
    identity: ID,
    op: F,
}

impl<I, ID, F> FoldChunks<I, ID, F> {
    pub(super) fn new(base: I, size: usize, identity: ID, op: F) -> Self {
        FoldChunks {
            base,
            size,
            identity,
            op,
        }
    }
}

debug_fields! { FoldChunks[I, ID, F] shows base: I }

indexed_source! {
    impl [
        I: IndexedParallelIterator, ID: Fn() -> U + Send + Sync, F: Fn(U, I::Item) -> U + Send + Sync, U: Send
    ] FoldChunks<I, ID, F> => U;
    fn len(self) { self.base.len().div_ceil(self.size) }
    fn with_producer(self, callback) {
        let len = self.base.len();
        let make = FoldFromMade { identity: &self.identity, op: &self.op };
        self.base.with_producer(Cut { callback, size: self.size, len, make })
    }
}

/// Yields the fold of each `size` items, starting from a clone of a given value. Made by
/// [`fold_chunks_with`](super::IndexedParallelIterator::fold_chunks_with).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let text: Vec<String> = vec!['a', 'b', 'c'].into_par_iter()
///     .fold_chunks_with(2, String::from(">"), |mut line, letter| { line.push(letter); line })
///     .collect();
/// assert_eq!(text, [">ab", ">c"]);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Clone)]
pub struct FoldChunksWith<I, U, F> {
    base: I,
    size: usize,
    value: U,
    op: F,
}

impl<I, U, F> FoldChunksWith<I, U, F> {
    pub(super) fn new(base: I, size: usize, value: U, op: F) -> Self {
        FoldChunksWith {
            base,
            size,
            value,
            op,
        }
    }
}

debug_fields! { FoldChunksWith[I, U, F] shows base: I, value: U }

indexed_source! {
    impl [
        I: IndexedParallelIterator, U: Send + Clone, F: Fn(U, I::Item) -> U + Send + Sync
    ] FoldChunksWith<I, U, F> => U;
    fn len(self) { self.base.len().div_ceil(self.size) }
    fn with_producer(self, callback) {
        let len = self.base.len();
        let make = FoldFromGiven { value: self.value, op: &self.op };
        self.base.with_producer(Cut { callback, size: self.size, len, make })
    }
}

/// What becomes of one chunk.
trait Make<T>: Clone + Send {
    type Made;
    fn make<I>(&self, chunk: I) -> Self::Made
    where
        I: Iterator<Item = T>;
}

#[derive(Clone)]
struct Gather;

impl<T> Make<T> for Gather {
    type Made = Vec<T>;

    #[inline]
    fn make<I>(&self, chunk: I) -> Vec<T>
    where
        I: Iterator<Item = T>,
    {
        chunk.collect()
    }
}

struct FoldFromMade<'f, ID, F> {
    identity: &'f ID,
    op: &'f F,
}

impl<ID, F> Clone for FoldFromMade<'_, ID, F> {
    fn clone(&self) -> Self {
        FoldFromMade { ..*self }
    }
}

impl<T, U, ID, F> Make<T> for FoldFromMade<'_, ID, F>
where
    ID: Fn() -> U + Sync,
    F: Fn(U, T) -> U + Sync,
{
    type Made = U;

    #[inline]
    fn make<I>(&self, chunk: I) -> U
    where
        I: Iterator<Item = T>,
    {
        chunk.fold((self.identity)(), self.op)
    }
}

struct FoldFromGiven<'f, U, F> {
    value: U,
    op: &'f F,
}

impl<U, F> Clone for FoldFromGiven<'_, U, F>
where
    U: Clone,
{
    fn clone(&self) -> Self {
        FoldFromGiven {
            value: self.value.clone(),
            op: self.op,
        }
    }
}

impl<T, U, F> Make<T> for FoldFromGiven<'_, U, F>
where
    U: Clone + Send,
    F: Fn(U, T) -> U + Sync,
{
    type Made = U;

    #[inline]
    fn make<I>(&self, chunk: I) -> U
    where
        I: Iterator<Item = T>,
    {
        chunk.fold(self.value.clone(), self.op)
    }
}

struct Cut<CB, M> {
    callback: CB,
    size: usize,
    len: usize,
    make: M,
}

impl<T, CB, M> ProducerCallback<T> for Cut<CB, M>
where
    M: Make<T, Made: Send>,
    CB: ProducerCallback<M::Made>,
{
    type Output = CB::Output;

    #[inline]
    fn callback<P>(self, base: P) -> CB::Output
    where
        P: Producer<Item = T>,
    {
        self.callback.callback(InChunks {
            base,
            len: self.len,
            size: self.size,
            make: self.make,
        })
    }
}

/// A producer of chunks; `len` counts the items of the base.
struct InChunks<P, M> {
    base: P,
    len: usize,
    size: usize,
    make: M,
}

impl<P, M> Producer for InChunks<P, M>
where
    P: Producer,
    M: Make<P::Item>,
{
    type Item = M::Made;
    type IntoIter = ChunkIter<P, M>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        ChunkIter {
            base: (self.len > 0).then_some(self.base),
            len: self.len,
            size: self.size,
            make: self.make,
        }
    }

    const HAS_WISHES: bool = P::HAS_WISHES;

    #[inline]
    fn wishes(&self) -> Wishes<'_> {
        self.base.wishes().per(self.size)
    }

    #[inline]
    fn min_len(&self) -> usize {
        self.base.min_len().div_ceil(self.size)
    }

    #[inline]
    fn max_len(&self) -> usize {
        self.base.max_len() / self.size
    }

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self) {
        let cut = self.len.min(index.saturating_mul(self.size));
        let (left, right) = self.base.split_at(cut);
        (
            InChunks {
                base: left,
                len: cut,
                size: self.size,
                make: self.make.clone(),
            },
            InChunks {
                base: right,
                len: self.len - cut,
                size: self.size,
                make: self.make,
            },
        )
    }
}

/// The sequential iterator over chunks. `base` is `None` when no item is left.
struct ChunkIter<P, M> {
    base: Option<P>,
    len: usize,
    size: usize,
    make: M,
}

impl<P, M> Iterator for ChunkIter<P, M>
where
    P: Producer,
    M: Make<P::Item>,
{
    type Item = M::Made;

    #[inline]
    fn next(&mut self) -> Option<M::Made> {
        let base = self.base.take()?;
        let chunk = if self.len > self.size {
            let (chunk, rest) = base.split_at(self.size);
            self.base = Some(rest);
            self.len -= self.size;
            chunk
        } else {
            self.len = 0;
            base
        };
        Some(self.make.make(chunk.into_iter()))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.len.div_ceil(self.size);
        (len, Some(len))
    }
}

impl<P, M> DoubleEndedIterator for ChunkIter<P, M>
where
    P: Producer,
    M: Make<P::Item>,
{
    #[inline]
    fn next_back(&mut self) -> Option<M::Made> {
        let base = self.base.take()?;
        let chunk = if self.len > self.size {
            let last = match self.len % self.size {
                0 => self.size,
                short => short,
            };
            self.len -= last;
            let (rest, chunk) = base.split_at(self.len);
            self.base = Some(rest);
            chunk
        } else {
            self.len = 0;
            base
        };
        Some(self.make.make(chunk.into_iter()))
    }
}

impl<P, M> ExactSizeIterator for ChunkIter<P, M>
where
    P: Producer,
    M: Make<P::Item>,
{
}
