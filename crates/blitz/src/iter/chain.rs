//! `chain`: one iterator after another.

use super::both::{BothCallback, wishes_of_both, with_both_producers};
use super::plumbing::{
    Consumer, Folder, Producer, ProducerCallback, Reducer, UnindexedConsumer, drive_in_turn,
};
use super::{IndexedParallelIterator, ParallelIterator};
use crate::engine::demand::join_in_operation;

/// Yields all items of one iterator, then all of another. Made by [`chain`](super::ParallelIterator::chain).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let all: Vec<i32> = (0..2).into_par_iter().chain(vec![7, 8]).collect();
/// assert_eq!(all, [0, 1, 7, 8]);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct Chain<A, B> {
    a: A,
    b: B,
}

impl<A, B> Chain<A, B> {
    pub(super) fn new(a: A, b: B) -> Self {
        Chain { a, b }
    }
}

impl<A, B> ParallelIterator for Chain<A, B>
where
    A: ParallelIterator,
    B: ParallelIterator<Item = A::Item>,
{
    type Item = A::Item;

    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<Self::Item>,
    {
        let Chain { a, b } = self;
        let in_turn = is_handed_out(&consumer);
        // If the length of the first part is known the consumer may depend on it: it is how `collect` finds the place
        // of the second part.
        let (left, right, reducer) = match a.opt_len() {
            Some(len) => consumer.split_at(len),
            None => {
                let reducer = consumer.to_reducer();
                (consumer.split_off_left(), consumer, reducer)
            }
        };
        if in_turn {
            return drive_in_turn(
                || a.drive_unindexed(left),
                right,
                |right| b.drive_unindexed(right),
            );
        }
        let (left, right) =
            join_in_operation(|| a.drive_unindexed(left), || b.drive_unindexed(right));
        reducer.reduce(left, right)
    }

    fn opt_len(&self) -> Option<usize> {
        self.a.opt_len()?.checked_add(self.b.opt_len()?)
    }
}

impl<A, B> IndexedParallelIterator for Chain<A, B>
where
    A: IndexedParallelIterator,
    B: IndexedParallelIterator<Item = A::Item>,
{
    fn drive<C>(self, consumer: C) -> C::Result
    where
        C: Consumer<Self::Item>,
    {
        let Chain { a, b } = self;
        let in_turn = is_handed_out(&consumer);
        let (left, right, reducer) = consumer.split_at(a.len());
        if in_turn {
            return drive_in_turn(|| a.drive(left), right, |right| b.drive(right));
        }
        let (left, right) = join_in_operation(|| a.drive(left), || b.drive(right));
        reducer.reduce(left, right)
    }

    fn len(&self) -> usize {
        self.a.len().checked_add(self.b.len()).expect("overflow")
    }

    fn with_producer<CB>(self, callback: CB) -> CB::Output
    where
        CB: ProducerCallback<Self::Item>,
    {
        let a_len = self.a.len();
        with_both_producers(self.a, self.b, Link { callback, a_len })
    }
}

/// The loop is not run where it is driven, but handed out: its parts one after the other.
#[inline]
fn is_handed_out<T, C: Consumer<T>>(consumer: &C) -> bool {
    let outlet = if C::HAS_OUTLET {
        consumer.outlet()
    } else {
        None
    };
    outlet.inspect(|outlet| outlet.in_turn()).is_some()
}

struct Link<CB> {
    callback: CB,
    a_len: usize,
}

impl<T, CB> BothCallback<T, T> for Link<CB>
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
        self.callback.callback(Chained {
            a,
            a_len: self.a_len,
            b,
        })
    }
}

/// One producer after another, and where the second begins.
struct Chained<A, B> {
    a: A,
    a_len: usize,
    b: B,
}

impl<A, B> Producer for Chained<A, B>
where
    A: Producer,
    B: Producer<Item = A::Item>,
{
    type Item = A::Item;
    type IntoIter = ChainIter<A::IntoIter, B::IntoIter>;

    fn into_iter(self) -> Self::IntoIter {
        ChainIter {
            a: self.a.into_iter(),
            b: self.b.into_iter(),
        }
    }

    wishes_of_both! { a: A, b: B }

    fn split_at(self, index: usize) -> (Self, Self) {
        let in_a = index.min(self.a_len);
        let (a_left, a_right) = self.a.split_at(in_a);
        let (b_left, b_right) = self.b.split_at(index - in_a);
        (
            Chained {
                a: a_left,
                a_len: in_a,
                b: b_left,
            },
            Chained {
                a: a_right,
                a_len: self.a_len - in_a,
                b: b_right,
            },
        )
    }

    #[inline]
    fn fold_with<F>(self, folder: F) -> F
    where
        F: Folder<Self::Item>,
    {
        let folder = self.a.fold_with(folder);
        if folder.full() {
            folder
        } else {
            self.b.fold_with(folder)
        }
    }
}

/// Like `std`'s chain, but it knows its length.
struct ChainIter<A, B> {
    a: A,
    b: B,
}

impl<A, B> Iterator for ChainIter<A, B>
where
    A: ExactSizeIterator,
    B: ExactSizeIterator<Item = A::Item>,
{
    type Item = A::Item;

    #[inline]
    fn next(&mut self) -> Option<A::Item> {
        self.a.next().or_else(|| self.b.next())
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = self.a.len() + self.b.len();
        (len, Some(len))
    }

    #[inline]
    fn fold<Acc, F>(self, init: Acc, mut fold: F) -> Acc
    where
        F: FnMut(Acc, A::Item) -> Acc,
    {
        let acc = self.a.fold(init, &mut fold);
        self.b.fold(acc, fold)
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<A::Item> {
        let in_a = self.a.len();
        if n < in_a {
            self.a.nth(n)
        } else {
            // Uses up the first part, which must not be asked again.
            if in_a > 0 {
                self.a.nth(in_a - 1);
            }
            self.b.nth(n - in_a)
        }
    }
}

impl<A, B> DoubleEndedIterator for ChainIter<A, B>
where
    A: DoubleEndedIterator + ExactSizeIterator,
    B: DoubleEndedIterator<Item = A::Item> + ExactSizeIterator,
{
    #[inline]
    fn next_back(&mut self) -> Option<A::Item> {
        self.b.next_back().or_else(|| self.a.next_back())
    }

    #[inline]
    fn rfold<Acc, F>(self, init: Acc, mut fold: F) -> Acc
    where
        F: FnMut(Acc, A::Item) -> Acc,
    {
        let acc = self.b.rfold(init, &mut fold);
        self.a.rfold(acc, fold)
    }
}

impl<A, B> ExactSizeIterator for ChainIter<A, B>
where
    A: ExactSizeIterator,
    B: ExactSizeIterator<Item = A::Item>,
{
}
