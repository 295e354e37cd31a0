//! The trait of all parallel iterators.

use super::plumbing::UnindexedConsumer;

/// A lazy sequence whose items may be produced and consumed by several threads.
pub trait ParallelIterator: Sized + Send {
    /// What this iterator yields.
    type Item: Send;

    /// Feeds all items to `consumer`; the one method an implementor must write.
    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<Self::Item>;

    /// The exact number of items, if it is known beforehand.
    ///
    /// An implementor that returns `Some` must drive by position, through `bridge` or the `drive` of its parts.
    fn opt_len(&self) -> Option<usize> {
        None
    }
}
