//! `empty`: no items at all.

use super::plumbing::{Consumer, Folder, Producer, ProducerCallback, UnindexedConsumer};
use super::{IndexedParallelIterator, ParallelIterator};
use std::fmt;
use std::marker::PhantomData;

/// A parallel iterator without items.
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// assert_eq!(blitz::iter::empty::<i32>().max(), None);
/// ```
pub fn empty<T>() -> Empty<T>
where
    T: Send,
{
    Empty { item: PhantomData }
}

/// Yields nothing. Made by [`empty`].
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let nothing: blitz::iter::Empty<char> = blitz::iter::empty();
/// assert_eq!(nothing.len(), 0);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
pub struct Empty<T> {
    item: PhantomData<T>,
}

impl<T> Clone for Empty<T> {
    fn clone(&self) -> Self {
        Empty { item: PhantomData }
    }
}

impl<T> fmt::Debug for Empty<T>
where
    T: Send,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Empty")
    }
}

impl<T> ParallelIterator for Empty<T>
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
        Some(0)
    }

    const MAY_LACK_LEN: bool = false;
}

impl<T> IndexedParallelIterator for Empty<T>
where
    T: Send,
{
    fn drive<C>(self, consumer: C) -> C::Result
    where
        C: Consumer<T>,
    {
        consumer.into_folder().complete()
    }

    fn len(&self) -> usize {
        0
    }

    fn with_producer<CB>(self, callback: CB) -> CB::Output
    where
        CB: ProducerCallback<T>,
    {
        callback.callback(NoItems(PhantomData))
    }
}

struct NoItems<T>(PhantomData<T>);

impl<T> Producer for NoItems<T>
where
    T: Send,
{
    type Item = T;
    type IntoIter = std::iter::Empty<T>;

    fn into_iter(self) -> Self::IntoIter {
        std::iter::empty()
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        debug_assert_eq!(index, 0);
        (self, NoItems(PhantomData))
    }

    fn fold_with<F>(self, folder: F) -> F
    where
        F: Folder<T>,
    {
        folder
    }
}
