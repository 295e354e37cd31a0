//! `zip` and `zip_eq`: two iterators side by side.

use super::IndexedParallelIterator;
use super::both::{BothCallback, wishes_of_both, with_both_producers};
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
    fn with_producer(self, callback) { with_both_producers(self.a, self.b, PairUp { callback }) }
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

struct PairUp<CB> {
    callback: CB,
}

impl<T, U, CB> BothCallback<T, U> for PairUp<CB>
where
    CB: ProducerCallback<(T, U)>,
{
    type Output = CB::Output;

    #[inline]
    fn callback<A, B>(self, a: A, b: B) -> CB::Output
    where
        A: Producer<Item = T>,
        B: Producer<Item = U>,
    {
        self.callback.callback(Pairs { a, b })
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

    const MAY_BE_LEFT: bool = A::MAY_BE_LEFT && B::MAY_BE_LEFT;

    wishes_of_both! { a: A, b: B }

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
