//! Parallel iterators over the value in an `Option`, and collecting into one.
//!
//! An option is a sequence of at most one item. There is nothing to divide, so driving one never leaves the calling thread;
//! the producer exists for `chain`, `zip` and friends, which split at arbitrary positions.

use crate::delegate::{clone_references, delegate_indexed};
use crate::iter::plumbing::{Consumer, Folder, Producer, ProducerCallback, UnindexedConsumer};
use crate::iter::{
    FromParallelIterator, IndexedParallelIterator, IntoParallelIterator, ParallelIterator,
};
use std::sync::atomic::{AtomicBool, Ordering};

/// Parallel iterator over the value of an `Option`, by value.
///
/// ```
/// use blitz::prelude::*;
///
/// let all: Vec<i32> = Some(1).into_par_iter().chain(None).chain(Some(3)).collect();
/// assert_eq!(all, [1, 3]);
/// ```
#[derive(Debug, Clone)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct IntoIter<T> {
    value: Option<T>,
}

/// Parallel iterator over the value of an `Option`, by reference.
///
/// ```
/// use blitz::prelude::*;
///
/// let name = Some(String::from("blitz"));
/// assert_eq!(name.par_iter().map(|name| name.len()).sum::<usize>(), 5);
/// ```
#[derive(Debug)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct Iter<'a, T> {
    inner: IntoIter<&'a T>,
}

/// Parallel iterator over the value of an `Option`, by exclusive reference.
///
/// ```
/// use blitz::prelude::*;
///
/// let mut level = Some(1);
/// level.par_iter_mut().for_each(|level| *level += 1);
/// assert_eq!(level, Some(2));
/// ```
#[derive(Debug)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct IterMut<'a, T> {
    inner: IntoIter<&'a mut T>,
}

clone_references! { Iter of T }

impl<T> IntoIter<T> {
    pub(crate) fn of(value: Option<T>) -> Self {
        IntoIter { value }
    }
}

impl<T: Send> IntoParallelIterator for Option<T> {
    type Item = T;
    type Iter = IntoIter<T>;

    fn into_par_iter(self) -> Self::Iter {
        IntoIter::of(self)
    }
}

impl<'a, T: Sync> IntoParallelIterator for &'a Option<T> {
    type Item = &'a T;
    type Iter = Iter<'a, T>;

    fn into_par_iter(self) -> Self::Iter {
        Iter {
            inner: self.as_ref().into_par_iter(),
        }
    }
}

impl<'a, T: Send> IntoParallelIterator for &'a mut Option<T> {
    type Item = &'a mut T;
    type Iter = IterMut<'a, T>;

    fn into_par_iter(self) -> Self::Iter {
        IterMut {
            inner: self.as_mut().into_par_iter(),
        }
    }
}

impl<T: Send> ParallelIterator for IntoIter<T> {
    type Item = T;

    fn drive_unindexed<C: UnindexedConsumer<T>>(self, consumer: C) -> C::Result {
        self.drive(consumer)
    }

    fn opt_len(&self) -> Option<usize> {
        Some(self.len())
    }

    const MAY_LACK_LEN: bool = false;
}

impl<T: Send> IndexedParallelIterator for IntoIter<T> {
    fn drive<C: Consumer<T>>(self, consumer: C) -> C::Result {
        let folder = consumer.into_folder();
        match self.value {
            Some(value) => folder.consume(value).complete(),
            None => folder.complete(),
        }
    }

    #[inline]
    fn len(&self) -> usize {
        usize::from(self.value.is_some())
    }

    fn with_producer<CB: ProducerCallback<T>>(self, callback: CB) -> CB::Output {
        callback.callback(OptionProducer(self.value))
    }
}

delegate_indexed! { impl ['a, T: Sync] Iter<'a, T> => &'a T }
delegate_indexed! { impl ['a, T: Send] IterMut<'a, T> => &'a mut T }

struct OptionProducer<T>(Option<T>);

impl<T: Send> Producer for OptionProducer<T> {
    type Item = T;
    type IntoIter = std::option::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        debug_assert!(index <= usize::from(self.0.is_some()));
        if index == 0 {
            (OptionProducer(None), self)
        } else {
            (self, OptionProducer(None))
        }
    }
}

/// Collects the values if all items are `Some`, and stops everybody at the first `None`, which is then the result.
///
/// ```
/// use blitz::prelude::*;
///
/// let halves = |v: &[u32]| v.par_iter().map(|x| (x % 2 == 0).then(|| x / 2)).collect::<Option<Vec<u32>>>();
/// assert_eq!(halves(&[2, 4, 6]), Some(vec![1, 2, 3]));
/// assert_eq!(halves(&[2, 3, 6]), None);
/// ```
impl<C, T> FromParallelIterator<Option<T>> for Option<C>
where
    C: FromParallelIterator<T>,
    T: Send,
{
    fn from_par_iter<I>(par_iter: I) -> Self
    where
        I: IntoParallelIterator<Item = Option<T>>,
    {
        // Relaxed is enough: whoever drives the iterator waits for all its parts, which orders their stores before the load.
        let found_none = AtomicBool::new(false);
        let collection = par_iter
            .into_par_iter()
            .inspect(|item| {
                if item.is_none() {
                    found_none.store(true, Ordering::Relaxed);
                }
            })
            .while_some()
            .collect();
        (!found_none.into_inner()).then_some(collection)
    }
}

#[cfg(test)]
mod tests {
    use crate::prelude::*;

    #[test]
    fn an_option_is_a_sequence_of_at_most_one_item() {
        let mut full = Some(5);
        let mut empty: Option<i32> = None;
        assert_eq!(full.par_iter().len(), 1);
        assert_eq!(empty.par_iter().opt_len(), Some(0));
        full.par_iter_mut()
            .chain(empty.par_iter_mut())
            .for_each(|x| *x += 1);
        assert_eq!((full, empty), (Some(6), None));
        assert_eq!(full.into_par_iter().clone().collect::<Vec<_>>(), [6]);
        assert_eq!(full.par_iter().clone().zip(empty.par_iter()).count(), 0);
        let both: Vec<_> = full.into_par_iter().chain(7..9).rev().collect();
        assert_eq!(both, [8, 7, 6]);
    }

    #[test]
    fn one_none_anywhere_makes_the_collection_none() {
        for len in [0usize, 1, 2, 3, 100, 5000] {
            let all: Vec<Option<usize>> = (0..len).map(Some).collect();
            let values = all.par_iter().copied().collect::<Option<Vec<_>>>();
            assert_eq!(values, Some((0..len).collect()));
            for hole in [0, len / 2, len.saturating_sub(1)]
                .into_iter()
                .filter(|&hole| hole < len)
            {
                let mut holed = all.clone();
                holed[hole] = None;
                assert_eq!(holed.into_par_iter().collect::<Option<Vec<_>>>(), None);
            }
        }
    }
}
