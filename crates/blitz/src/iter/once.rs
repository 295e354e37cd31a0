//! `once`: exactly one item.

use super::plumbing::{Consumer, Folder, Producer, ProducerCallback, UnindexedConsumer};
use super::{IndexedParallelIterator, ParallelIterator};

/// A parallel iterator over one item.
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let line: Vec<i32> = blitz::iter::once(0).chain(5..8).collect();
/// assert_eq!(line, [0, 5, 6, 7]);
/// ```
pub fn once<T>(item: T) -> Once<T>
where
    T: Send,
{
    Once { item }
}

/// Yields one item. Made by [`once`].
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let single: blitz::iter::Once<char> = blitz::iter::once('!');
/// assert_eq!(single.count(), 1);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Clone, Debug)]
pub struct Once<T> {
    item: T,
}

impl<T> ParallelIterator for Once<T>
where
    T: Send,
{
    type Item = T;

    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<T>,
    {
        self.drive(consumer)
    }

    fn opt_len(&self) -> Option<usize> {
        Some(1)
    }

    const MAY_LACK_LEN: bool = false;
}

impl<T> IndexedParallelIterator for Once<T>
where
    T: Send,
{
    fn drive<C>(self, consumer: C) -> C::Result
    where
        C: Consumer<T>,
    {
        if consumer.full() {
            return consumer.into_folder().complete();
        }
        consumer.into_folder().consume(self.item).complete()
    }

    fn len(&self) -> usize {
        1
    }

    fn with_producer<CB>(self, callback: CB) -> CB::Output
    where
        CB: ProducerCallback<T>,
    {
        callback.callback(AtMostOne(Some(self.item)))
    }
}

struct AtMostOne<T>(Option<T>);

impl<T> Producer for AtMostOne<T>
where
    T: Send,
{
    type Item = T;
    type IntoIter = std::option::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        if index == 0 {
            (AtMostOne(None), self)
        } else {
            (self, AtMostOne(None))
        }
    }
}
