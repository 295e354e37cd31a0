//! `by_exponential_blocks` and `by_uniform_blocks`: one block after the other, each in parallel.
//!
//! Useful when a search is expected to end early: blocks to the right of the hit are never begun.

use super::plumbing::{
    Folder, Producer, ProducerCallback, Reducer, UnindexedConsumer, bridge_producer_consumer,
};
use super::{IndexedParallelIterator, ParallelIterator};
use crate::engine::current_num_threads;

/// Runs blocks of doubling length one after the other. Made by
/// [`by_exponential_blocks`](super::IndexedParallelIterator::by_exponential_blocks).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let hit = (0..100_000).into_par_iter().by_exponential_blocks().find_first(|n| n * n > 200);
/// assert_eq!(hit, Some(15));
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct ExponentialBlocks<I> {
    base: I,
}

impl<I> ExponentialBlocks<I> {
    pub(super) fn new(base: I) -> Self {
        ExponentialBlocks { base }
    }
}

impl<I> ParallelIterator for ExponentialBlocks<I>
where
    I: IndexedParallelIterator,
{
    type Item = I::Item;

    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<Self::Item>,
    {
        let sizes = std::iter::successors(Some(current_num_threads()), |size| {
            Some(size.saturating_mul(2))
        });
        block_by_block(self.base, sizes, consumer)
    }
}

/// Runs blocks of a given length one after the other. Made by
/// [`by_uniform_blocks`](super::IndexedParallelIterator::by_uniform_blocks).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let total: u32 = (0..10u32).into_par_iter().by_uniform_blocks(4).sum();
/// assert_eq!(total, 45);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct UniformBlocks<I> {
    base: I,
    size: usize,
}

impl<I> UniformBlocks<I> {
    pub(super) fn new(base: I, size: usize) -> Self {
        UniformBlocks { base, size }
    }
}

impl<I> ParallelIterator for UniformBlocks<I>
where
    I: IndexedParallelIterator,
{
    type Item = I::Item;

    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<Self::Item>,
    {
        block_by_block(self.base, std::iter::repeat(self.size), consumer)
    }
}

fn block_by_block<I, S, C>(base: I, sizes: S, consumer: C) -> C::Result
where
    I: IndexedParallelIterator,
    S: Iterator<Item = usize>,
    C: UnindexedConsumer<I::Item>,
{
    let len = base.len();
    base.with_producer(BlockByBlock {
        sizes,
        len,
        consumer,
    })
}

struct BlockByBlock<S, C> {
    sizes: S,
    len: usize,
    consumer: C,
}

impl<T, S, C> ProducerCallback<T> for BlockByBlock<S, C>
where
    S: Iterator<Item = usize>,
    C: UnindexedConsumer<T>,
{
    type Output = C::Result;

    fn callback<P>(self, mut producer: P) -> C::Result
    where
        P: Producer<Item = T>,
    {
        let (mut len, mut consumer) = (self.len, self.consumer);
        let mut so_far: Option<(C::Result, C::Reducer)> = None;
        for size in self.sizes {
            if len == 0 || consumer.full() {
                break;
            }
            let size = size.min(len);
            let (block, rest) = producer.split_at(size);
            if C::HAS_OUTLET {
                if let Some(outlet) = consumer.outlet() {
                    outlet.in_turn();
                }
            }
            let (for_block, for_rest, reducer) = consumer.split_at(size);
            let result = bridge_producer_consumer(size, block, for_block);
            so_far = Some(match so_far {
                None => (result, reducer),
                Some((earlier, joint)) => (joint.reduce(earlier, result), reducer),
            });
            (producer, consumer, len) = (rest, for_rest, len - size);
        }
        match so_far {
            Some((result, _)) => result,
            None => consumer.into_folder().complete(),
        }
    }
}
