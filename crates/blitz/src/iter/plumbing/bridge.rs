//! Brings producers and consumers together.

use super::{
    Consumer, Folder, Producer, ProducerCallback, Reducer, UnindexedConsumer, UnindexedProducer,
};
use crate::engine::{current_num_threads, join_context};
use crate::iter::IndexedParallelIterator;

/// Drives an indexed parallel iterator into a consumer: what [`IndexedParallelIterator::drive`] usually does.
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

        #[inline]
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
pub fn bridge_producer_consumer<P, C>(len: usize, producer: P, consumer: C) -> C::Result
where
    P: Producer,
    C: Consumer<P::Item>,
{
    fn halve<P, C>(
        len: usize,
        depth: usize,
        min: usize,
        max: usize,
        producer: P,
        consumer: C,
    ) -> C::Result
    where
        P: Producer,
        C: Consumer<P::Item>,
    {
        if consumer.full() {
            return consumer.into_folder().complete();
        }
        if len / 2 < min || (depth == 0 && len <= max) {
            return producer.fold_with(consumer.into_folder()).complete();
        }
        let depth = depth.saturating_sub(1);
        let middle = len / 2;
        let (left_items, right_items) = producer.split_at(middle);
        let (left, right, reducer) = consumer.split_at(middle);
        let (left, right) = join_context(
            |_| halve(middle, depth, min, max, left_items, left),
            |_| halve(len - middle, depth, min, max, right_items, right),
        );
        reducer.reduce(left, right)
    }

    let min = producer.min_len().max(1);
    let max = producer.max_len().max(1);
    let depth = current_num_threads().ilog2() as usize + 2;
    halve(len, depth, min, max, producer, consumer)
}

/// Drives a producer of unknown length into a consumer.
pub fn bridge_unindexed<P, C>(producer: P, consumer: C) -> C::Result
where
    P: UnindexedProducer,
    C: UnindexedConsumer<P::Item>,
{
    fn halve<P, C>(depth: usize, producer: P, consumer: C) -> C::Result
    where
        P: UnindexedProducer,
        C: UnindexedConsumer<P::Item>,
    {
        if consumer.full() {
            return consumer.into_folder().complete();
        }
        if depth == 0 {
            return producer.fold_with(consumer.into_folder()).complete();
        }
        match producer.split() {
            (producer, None) => producer.fold_with(consumer.into_folder()).complete(),
            (left_items, Some(right_items)) => {
                let reducer = consumer.to_reducer();
                let (left, right) = (consumer.split_off_left(), consumer);
                let (left, right) = join_context(
                    |_| halve(depth - 1, left_items, left),
                    |_| halve(depth - 1, right_items, right),
                );
                reducer.reduce(left, right)
            }
        }
    }

    halve(
        current_num_threads().ilog2() as usize + 2,
        producer,
        consumer,
    )
}
