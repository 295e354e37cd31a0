//! `zip` and `zip_eq`: two iterators side by side.

use super::IndexedParallelIterator;
use super::plumbing::{Producer, ProducerCallback};
use crate::delegate::indexed_source;

/// Pairs the items of two iterators, as far as the shorter reaches. Made by
/// [`zip`](super::IndexedParallelIterator::zip).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let dot: i32 = [1, 2, 3].par_iter().zip(&[4, 5, 6]).map(|(a, b)| a * b).sum();
/// assert_eq!(dot, 32);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct Zip<A, B> {
    a: A,
    b: B,
}

impl<A, B> Zip<A, B> {
    pub(super) fn new(a: A, b: B) -> Self {
        Zip { a, b }
    }
}

indexed_source! {
    impl [A: IndexedParallelIterator, B: IndexedParallelIterator] Zip<A, B> => (A::Item, B::Item);
    fn len(self) { self.a.len().min(self.b.len()) }
    fn with_producer(self, callback) { self.a.with_producer(First { callback, b: self.b }) }
}

/// Pairs the items of two iterators known to be equally long. Made by
/// [`zip_eq`](super::IndexedParallelIterator::zip_eq).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let sums: Vec<i32> = [1, 2].par_iter().zip_eq(&[10, 20]).map(|(a, b)| a + b).collect();
/// assert_eq!(sums, [11, 22]);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct ZipEq<A, B> {
    zip: Zip<A, B>,
}

impl<A, B> ZipEq<A, B> {
    pub(super) fn new(a: A, b: B) -> Self {
        ZipEq {
            zip: Zip::new(a, b),
        }
    }
}

indexed_source! {
    impl [A: IndexedParallelIterator, B: IndexedParallelIterator] ZipEq<A, B> => (A::Item, B::Item);
    fn len(self) { self.zip.len() }
    fn with_producer(self, callback) { self.zip.with_producer(callback) }
}

/// Receives the producer of the first side and asks for the second.
struct First<CB, B> {
    callback: CB,
    b: B,
}

impl<T, CB, B> ProducerCallback<T> for First<CB, B>
where
    B: IndexedParallelIterator,
    CB: ProducerCallback<(T, B::Item)>,
{
    type Output = CB::Output;

    #[inline]
    fn callback<P>(self, a: P) -> CB::Output
    where
        P: Producer<Item = T>,
    {
        self.b.with_producer(Second {
            callback: self.callback,
            a,
        })
    }
}

/// Receives the producer of the second side.
struct Second<CB, P> {
    callback: CB,
    a: P,
}

impl<T, CB, A> ProducerCallback<T> for Second<CB, A>
where
    A: Producer,
    CB: ProducerCallback<(A::Item, T)>,
{
    type Output = CB::Output;

    #[inline]
    fn callback<P>(self, b: P) -> CB::Output
    where
        P: Producer<Item = T>,
    {
        self.callback.callback(Pairs { a: self.a, b })
    }
}

/// Two producers cut at the same places. What the longer one has over stays with the last piece, where the sequential
/// `zip` leaves it out.
struct Pairs<A, B> {
    a: A,
    b: B,
}

impl<A, B> Producer for Pairs<A, B>
where
    A: Producer,
    B: Producer,
{
    type Item = (A::Item, B::Item);
    type IntoIter = std::iter::Zip<A::IntoIter, B::IntoIter>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.a.into_iter().zip(self.b.into_iter())
    }

    #[inline]
    fn min_len(&self) -> usize {
        self.a.min_len().max(self.b.min_len())
    }

    #[inline]
    fn max_len(&self) -> usize {
        self.a.max_len().min(self.b.max_len())
    }

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self) {
        let (a_left, a_right) = self.a.split_at(index);
        let (b_left, b_right) = self.b.split_at(index);
        (
            Pairs {
                a: a_left,
                b: b_left,
            },
            Pairs {
                a: a_right,
                b: b_right,
            },
        )
    }
}
