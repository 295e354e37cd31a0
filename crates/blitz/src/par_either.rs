//! `Either` as a parallel iterator and as a target of `par_extend`.
//!
//! Both sides have the same item type, so everything is passed on to whichever side is there.

use crate::iter::plumbing::{Consumer, ProducerCallback, UnindexedConsumer};
use crate::iter::{
    Either, IndexedParallelIterator, IntoParallelIterator, ParallelExtend, ParallelIterator,
};

impl<L, R> ParallelIterator for Either<L, R>
where
    L: ParallelIterator,
    R: ParallelIterator<Item = L::Item>,
{
    type Item = L::Item;

    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<Self::Item>,
    {
        match self {
            Either::Left(left) => left.drive_unindexed(consumer),
            Either::Right(right) => right.drive_unindexed(consumer),
        }
    }

    fn opt_len(&self) -> Option<usize> {
        match self {
            Either::Left(left) => left.opt_len(),
            Either::Right(right) => right.opt_len(),
        }
    }
}

impl<L, R> IndexedParallelIterator for Either<L, R>
where
    L: IndexedParallelIterator,
    R: IndexedParallelIterator<Item = L::Item>,
{
    fn drive<C>(self, consumer: C) -> C::Result
    where
        C: Consumer<Self::Item>,
    {
        match self {
            Either::Left(left) => left.drive(consumer),
            Either::Right(right) => right.drive(consumer),
        }
    }

    fn len(&self) -> usize {
        match self {
            Either::Left(left) => left.len(),
            Either::Right(right) => right.len(),
        }
    }

    fn with_producer<CB>(self, callback: CB) -> CB::Output
    where
        CB: ProducerCallback<Self::Item>,
    {
        match self {
            Either::Left(left) => left.with_producer(callback),
            Either::Right(right) => right.with_producer(callback),
        }
    }
}

/// Extends whichever collection is there.
impl<L, R, T> ParallelExtend<T> for Either<L, R>
where
    L: ParallelExtend<T>,
    R: ParallelExtend<T>,
    T: Send,
{
    fn par_extend<I>(&mut self, par_iter: I)
    where
        I: IntoParallelIterator<Item = T>,
    {
        match self {
            Either::Left(left) => left.par_extend(par_iter),
            Either::Right(right) => right.par_extend(par_iter),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::iter::Either;
    use crate::prelude::*;
    use std::collections::{BTreeSet, LinkedList};

    #[test]
    fn either_side_behaves_as_the_iterator_it_holds() {
        for reversed in [false, true] {
            let numbers = (0..1000).into_par_iter();
            let iter = if reversed {
                Either::Right(numbers.rev())
            } else {
                Either::Left(numbers)
            };
            assert_eq!(iter.len(), 1000);
            assert_eq!(iter.opt_len(), Some(1000));
            let first = iter.clone().zip(["first"]).collect::<Vec<_>>();
            assert_eq!(first, [(if reversed { 999 } else { 0 }, "first")]);
            let seen: Vec<i32> = iter.filter(|x| x % 2 == 0).collect();
            assert!(seen.is_sorted_by(|a, b| (a < b) != reversed));
            assert_eq!(seen.len(), 500);
        }
    }

    #[test]
    fn either_collection_can_be_extended() {
        let mut set: Either<BTreeSet<i32>, LinkedList<i32>> = Either::Left(BTreeSet::new());
        let mut list = set.clone().flip();
        set.par_extend([3, 1, 3]);
        assert_eq!(set, Either::Left(BTreeSet::from([1, 3])));
        list.par_extend([3, 1, 3]);
        assert_eq!(list, Either::Right(BTreeSet::from([1, 3])));
        let mut list: Either<BTreeSet<i32>, LinkedList<i32>> = Either::Right(LinkedList::new());
        list.par_extend([3, 1, 3]);
        assert_eq!(list, Either::Right(LinkedList::from([3, 1, 3])));
    }
}
