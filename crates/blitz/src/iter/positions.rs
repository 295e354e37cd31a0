//! `positions`: the indices of the items that satisfy a predicate.

use super::plumbing::UnindexedConsumer;
use super::stage::debug_fields;
use super::{IndexedParallelIterator, ParallelIterator};

/// Yields the index of each item that satisfies a predicate. Made by
/// [`positions`](super::IndexedParallelIterator::positions).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let gaps: Vec<usize> = "a b c".as_bytes().par_iter().positions(|&byte| byte == b' ').collect();
/// assert_eq!(gaps, [1, 3]);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Clone)]
pub struct Positions<I, P> {
    base: I,
    predicate: P,
}

impl<I, P> Positions<I, P> {
    pub(super) fn new(base: I, predicate: P) -> Self {
        Positions { base, predicate }
    }
}

debug_fields! { Positions[I, P] shows base: I }

impl<I, P> ParallelIterator for Positions<I, P>
where
    I: IndexedParallelIterator,
    P: Fn(I::Item) -> bool + Sync + Send,
{
    type Item = usize;

    const MAY_HAVE_LEN: bool = false;

    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<usize>,
    {
        let predicate = self.predicate;
        self.base
            .enumerate()
            .filter_map(|(index, item)| predicate(item).then_some(index))
            .drive_unindexed(consumer)
    }
}
