//! Brings producers and consumers together.

use super::demand_loop::{self, Bounds};
use super::outlet::{Pour, PourUnindexed};
use super::unindexed_loop;
use super::wishes::Grant;
use super::{Consumer, Producer, ProducerCallback, UnindexedConsumer, UnindexedProducer};
use crate::iter::IndexedParallelIterator;

/// Drives an indexed parallel iterator into a consumer: what most implementations of
/// [`IndexedParallelIterator::drive`] consist of.
///
/// # Examples
///
/// ```
/// use blitz::iter::plumbing::{Consumer, ProducerCallback, UnindexedConsumer, bridge};
/// use blitz::prelude::*;
///
/// /// The numbers of a deck of cards, as an indexed parallel iterator.
/// struct Deck;
///
/// impl ParallelIterator for Deck {
///     type Item = u8;
///     fn drive_unindexed<C: UnindexedConsumer<u8>>(self, consumer: C) -> C::Result {
///         bridge(self, consumer)
///     }
///     fn opt_len(&self) -> Option<usize> { Some(52) }
/// }
///
/// impl IndexedParallelIterator for Deck {
///     fn len(&self) -> usize { 52 }
///     fn drive<C: Consumer<u8>>(self, consumer: C) -> C::Result { bridge(self, consumer) }
///     fn with_producer<CB: ProducerCallback<u8>>(self, callback: CB) -> CB::Output {
///         (0..52).into_par_iter().with_producer(callback)
///     }
/// }
///
/// assert_eq!(Deck.max(), Some(51));
/// ```
#[inline]
pub fn bridge<I, C>(par_iter: I, consumer: C) -> C::Result
where
    I: IndexedParallelIterator,
    C: Consumer<I::Item>,
{
    struct Drive<C> {
        len: usize,
        consumer: C,
    }

    impl<C, T> ProducerCallback<T> for Drive<C>
    where
        C: Consumer<T>,
    {
        type Output = C::Result;

        #[inline(always)]
        fn callback<P>(self, producer: P) -> C::Result
        where
            P: Producer<Item = T>,
        {
            bridge_producer_consumer(self.len, producer, self.consumer)
        }
    }

    let len = par_iter.len();
    par_iter.with_producer(Drive { len, consumer })
}

/// Drives `len` items of `producer` into `consumer`.
///
/// Pieces are at least `producer.min_len()` and at most `producer.max_len()` long; within these bounds the loop is cut only
/// where another thread took part.
///
/// # Examples
///
/// ```
/// use blitz::iter::plumbing::{Producer, ProducerCallback, bridge_producer_consumer};
/// # use blitz::iter::plumbing::{Consumer, Folder, Reducer};
/// # struct Count; struct Sum(usize); struct Add;
/// # impl<T> Consumer<T> for Count {
/// #     type Folder = Sum; type Reducer = Add; type Result = usize;
/// #     fn split_at(self, _: usize) -> (Self, Self, Add) { (Count, Count, Add) }
/// #     fn into_folder(self) -> Sum { Sum(0) }
/// #     fn full(&self) -> bool { false }
/// # }
/// # impl<T> Folder<T> for Sum {
/// #     type Result = usize;
/// #     fn consume(self, _: T) -> Self { Sum(self.0 + 1) }
/// #     fn complete(self) -> usize { self.0 }
/// #     fn full(&self) -> bool { false }
/// # }
/// # impl Reducer<usize> for Add {
/// #     fn reduce(self, left: usize, right: usize) -> usize { left + right }
/// # }
/// use blitz::prelude::*;
///
/// struct Into<C>(usize, C);
/// impl<T, C: Consumer<T>> ProducerCallback<T> for Into<C> {
///     type Output = C::Result;
///     fn callback<P: Producer<Item = T>>(self, producer: P) -> C::Result {
///         bridge_producer_consumer(self.0, producer, self.1)
///     }
/// }
///
/// // `Count` is a consumer that counts.
/// assert_eq!((5..15).into_par_iter().with_producer(Into(10, Count)), 10);
/// ```
#[inline]
pub fn bridge_producer_consumer<P, C>(len: usize, producer: P, consumer: C) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    if let Some(grant) = Grant::LOOP {
        return grant(len, producer, consumer);
    }
    let (producer, consumer) = match Pour::LOOP {
        None => (producer, consumer),
        Some(pour) => match pour(len, producer, consumer) {
            Ok(result) => return result,
            Err(back) => back,
        },
    };
    let bounds = Bounds::of(&producer);
    demand_loop::run(len, bounds, producer, consumer)
}

/// Drives a producer of unknown length into a consumer.
///
/// # Examples
///
/// ```
/// use blitz::iter::plumbing::{Folder, UnindexedConsumer, UnindexedProducer, bridge_unindexed};
/// use blitz::prelude::*;
///
/// /// The numbers of a range, without saying how many.
/// struct Numbers(std::ops::Range<u32>);
///
/// impl UnindexedProducer for Numbers {
///     type Item = u32;
///     fn split(self) -> (Self, Option<Self>) {
///         let middle = self.0.start.midpoint(self.0.end);
///         if middle == self.0.start {
///             return (self, None);
///         }
///         (Numbers(self.0.start..middle), Some(Numbers(middle..self.0.end)))
///     }
///     fn fold_with<F: Folder<u32>>(self, folder: F) -> F { folder.consume_iter(self.0) }
/// }
///
/// impl ParallelIterator for Numbers {
///     type Item = u32;
///     fn drive_unindexed<C: UnindexedConsumer<u32>>(self, consumer: C) -> C::Result {
///         bridge_unindexed(self, consumer)
///     }
/// }
///
/// assert_eq!(Numbers(0..1024).sum::<u32>(), 523_776);
/// ```
pub fn bridge_unindexed<P, C>(producer: P, consumer: C) -> C::Result
where
    P: UnindexedProducer,
    C: UnindexedConsumer<P::Item>,
{
    bridge_unindexed_sized(1, producer, consumer)
}

/// As [`bridge_unindexed`], for producers that know how much they have to go through, if not how many items that makes. What is
/// learnt about a short text then says something about a long one.
pub(crate) fn bridge_unindexed_sized<P, C>(size: usize, producer: P, consumer: C) -> C::Result
where
    P: UnindexedProducer,
    C: UnindexedConsumer<P::Item>,
{
    let (producer, consumer) = match PourUnindexed::LOOP {
        None => (producer, consumer),
        Some(pour) => match pour(producer, consumer) {
            Ok(result) => return result,
            Err(back) => back,
        },
    };
    unindexed_loop::run_unindexed(size.max(1) as f32, producer, consumer)
}
