//! The trait of parallel iterators with a known length.

use super::ParallelIterator;
use super::plumbing::{Consumer, ProducerCallback};

/// A parallel iterator that knows how many items it has and can be cut at any of them.
#[expect(
    clippy::len_without_is_empty,
    reason = "a lazy sequence is not a container; rayon has none either"
)]
pub trait IndexedParallelIterator: ParallelIterator {
    /// How many items there are.
    fn len(&self) -> usize;

    /// Feeds all items to a consumer that wants to know positions.
    fn drive<C>(self, consumer: C) -> C::Result
    where
        C: Consumer<Self::Item>;

    /// Turns into a producer, for the duration of the callback.
    fn with_producer<CB>(self, callback: CB) -> CB::Output
    where
        CB: ProducerCallback<Self::Item>;
}
