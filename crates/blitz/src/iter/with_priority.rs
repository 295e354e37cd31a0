//! `with_priority`: the loop can wait, or cannot.

use super::ParallelIterator;
use super::plumbing::UnindexedConsumer;
use crate::delegate::forward_to_base;
use crate::engine::{Priority, with_priority};

/// Runs with a given priority. Made by [`with_priority`](super::ParallelIterator::with_priority).
///
/// It has no positions (no `zip`, no `enumerate`): what is driven by position runs as it is driven. The number of items is kept.
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// use blitz::{Priority, current_priority};
/// let seen: Vec<_> = (0..3).into_par_iter().with_priority(Priority::Background).map(|_| current_priority()).collect();
/// assert_eq!(seen, [Priority::Background; 3]);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct WithPriority<I> {
    base: I,
    priority: Priority,
}

impl<I> WithPriority<I> {
    pub(super) fn new(base: I, priority: Priority) -> Self {
        WithPriority { base, priority }
    }
}

impl<I> ParallelIterator for WithPriority<I>
where
    I: ParallelIterator,
{
    type Item = I::Item;

    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<Self::Item>,
    {
        let base = self.base;
        with_priority(self.priority, move || base.drive_unindexed(consumer))
    }

    forward_to_base! { opt_len }
}
