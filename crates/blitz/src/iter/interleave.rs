//! `interleave` and `interleave_shortest`: two iterators, turn by turn.
//!
//! The order is `a b a b …`. When one side runs out, the other continues alone. Everything below follows from that. Suppose that
//! `a_len` and `b_len` items are left, and that it is one side's turn. Then the first `n` items take `ceil(n / 2)` from that side,
//! and `floor(n / 2)` from the other, unless one of them has fewer.

use super::IndexedParallelIterator;
use super::both::{BothCallback, wishes_of_both, with_both_producers};
use super::plumbing::{Producer, ProducerCallback};
use super::skip_take::Take;
use crate::delegate::indexed_source;

/// Alternates between two iterators until both are used up. Made by
/// [`interleave`](super::IndexedParallelIterator::interleave).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let mixed: Vec<i32> = vec![1, 2].into_par_iter().interleave(vec![10, 20, 30, 40]).collect();
/// assert_eq!(mixed, [1, 10, 2, 20, 30, 40]);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct Interleave<I, J> {
    i: I,
    j: J,
}

impl<I, J> Interleave<I, J> {
    pub(super) fn new(i: I, j: J) -> Self {
        Interleave { i, j }
    }
}

indexed_source! {
    impl [
        I: IndexedParallelIterator, J: IndexedParallelIterator<Item = I::Item>
    ] Interleave<I, J> => I::Item;
    fn len(self) { self.i.len().checked_add(self.j.len()).expect("overflow") }
    fn with_producer(self, callback) {
        let lens = (self.i.len(), self.j.len());
        with_both_producers(self.i, self.j, Mix { callback, lens })
    }
}

/// Alternates between two iterators until the one whose turn it is has run out. Made by
/// [`interleave_shortest`](super::IndexedParallelIterator::interleave_shortest).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let mixed: Vec<i32> = vec![1, 2].into_par_iter().interleave_shortest(vec![10, 20, 30]).collect();
/// assert_eq!(mixed, [1, 10, 2, 20]);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct InterleaveShortest<I, J> {
    inner: Interleave<Take<I>, Take<J>>,
}

impl<I, J> InterleaveShortest<I, J>
where
    I: IndexedParallelIterator,
    J: IndexedParallelIterator<Item = I::Item>,
{
    pub(super) fn new(i: I, j: J) -> Self {
        // `i` goes first, so it may have one more.
        let j_len = j.len().min(i.len());
        let i_len = i.len().min(j.len().saturating_add(1));
        InterleaveShortest {
            inner: Interleave::new(Take::new(i, i_len), Take::new(j, j_len)),
        }
    }
}

indexed_source! {
    impl [
        I: IndexedParallelIterator, J: IndexedParallelIterator<Item = I::Item>
    ] InterleaveShortest<I, J> => I::Item;
    fn len(self) { self.inner.len() }
    fn with_producer(self, callback) { self.inner.with_producer(callback) }
}

struct Mix<CB> {
    callback: CB,
    lens: (usize, usize),
}

impl<T, CB> BothCallback<T, T> for Mix<CB>
where
    CB: ProducerCallback<T>,
{
    type Output = CB::Output;

    #[inline]
    fn callback<A, B>(self, a: A, b: B) -> CB::Output
    where
        A: Producer<Item = T>,
        B: Producer<Item = T>,
    {
        self.callback.callback(Interleaved {
            i: a,
            j: b,
            i_len: self.lens.0,
            j_len: self.lens.1,
            i_is_next: true,
        })
    }
}

/// Two producers, the lengths they do not know themselves, and whose turn it is.
struct Interleaved<I, J> {
    i: I,
    j: J,
    i_len: usize,
    j_len: usize,
    i_is_next: bool,
}

/// How many of the first `n` items come from `i` and how many from `j`.
fn shares(n: usize, i_len: usize, j_len: usize, i_is_next: bool) -> (usize, usize) {
    let (floor, ceil) = (n / 2, n.div_ceil(2));
    let (i, j) = if i_is_next {
        (ceil, floor)
    } else {
        (floor, ceil)
    };
    if i > i_len {
        (i_len, n - i_len)
    } else if j > j_len {
        (n - j_len, j_len)
    } else {
        (i, j)
    }
}

impl<I, J> Producer for Interleaved<I, J>
where
    I: Producer,
    J: Producer<Item = I::Item>,
{
    type Item = I::Item;
    type IntoIter = InterleaveIter<I::IntoIter, J::IntoIter>;

    fn into_iter(self) -> Self::IntoIter {
        InterleaveIter {
            i: self.i.into_iter(),
            j: self.j.into_iter(),
            i_is_next: self.i_is_next,
        }
    }

    wishes_of_both! { i: I, j: J }

    fn split_at(self, index: usize) -> (Self, Self) {
        let (i_share, j_share) = shares(index, self.i_len, self.j_len, self.i_is_next);
        let (i_left, i_right) = self.i.split_at(i_share);
        let (j_left, j_right) = self.j.split_at(j_share);
        let left = Interleaved {
            i: i_left,
            j: j_left,
            i_len: i_share,
            j_len: j_share,
            i_is_next: self.i_is_next,
        };
        let right = Interleaved {
            i: i_right,
            j: j_right,
            i_len: self.i_len - i_share,
            j_len: self.j_len - j_share,
            // If one side has run out the turn no longer matters.
            i_is_next: self.i_is_next ^ (index % 2 == 1),
        };
        (left, right)
    }
}

struct InterleaveIter<I, J> {
    i: I,
    j: J,
    i_is_next: bool,
}

impl<I, J> Iterator for InterleaveIter<I, J>
where
    I: ExactSizeIterator,
    J: ExactSizeIterator<Item = I::Item>,
{
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        self.i_is_next = !self.i_is_next;
        if self.i_is_next {
            // It was `j`'s turn.
            self.j.next().or_else(|| self.i.next())
        } else {
            self.i.next().or_else(|| self.j.next())
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.i.len() + self.j.len();
        (len, Some(len))
    }

    /// Pair by pair, so that nobody asks for each item whose turn it is.
    #[inline]
    fn fold<Acc, F>(mut self, init: Acc, mut fold: F) -> Acc
    where
        F: FnMut(Acc, I::Item) -> Acc,
    {
        let mut acc = init;
        if !self.i_is_next {
            if let Some(item) = self.j.next() {
                acc = fold(acc, item);
            }
        }
        let pairs = self.i.len().min(self.j.len());
        for (from_i, from_j) in self.i.by_ref().take(pairs).zip(self.j.by_ref()) {
            acc = fold(acc, from_i);
            acc = fold(acc, from_j);
        }
        let acc = self.i.fold(acc, &mut fold);
        self.j.fold(acc, fold)
    }
}

impl<I, J> DoubleEndedIterator for InterleaveIter<I, J>
where
    I: DoubleEndedIterator + ExactSizeIterator,
    J: DoubleEndedIterator<Item = I::Item> + ExactSizeIterator,
{
    #[inline]
    fn next_back(&mut self) -> Option<I::Item> {
        // The last item belongs to the side that has more; if they have the same, to the one whose turn it is not.
        let (i_len, j_len) = (self.i.len(), self.j.len());
        if i_len > j_len || (i_len == j_len && !self.i_is_next) {
            self.i.next_back()
        } else {
            self.j.next_back()
        }
    }
}

impl<I, J> ExactSizeIterator for InterleaveIter<I, J>
where
    I: ExactSizeIterator,
    J: ExactSizeIterator<Item = I::Item>,
{
}
