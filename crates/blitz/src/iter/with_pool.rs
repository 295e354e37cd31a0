//! `with_pool`: the loop runs in a pool of the caller's choice.

use super::ParallelIterator;
use super::plumbing::UnindexedConsumer;
use crate::engine::ThreadPool;

/// Runs in a given pool. Made by [`with_pool`](super::ParallelIterator::with_pool).
///
/// It has no positions (no `zip`, no `enumerate`): what is driven by position runs wherever it is driven. The number of items
/// is kept, so that `collect` writes them straight to their places.
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let pool = blitz::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
/// let threads: Vec<usize> = (0..4).into_par_iter().with_pool(&pool).map(|_| blitz::current_num_threads()).collect();
/// assert_eq!(threads, [3, 3, 3, 3]);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct WithPool<'p, I> {
    base: I,
    pool: &'p ThreadPool,
}

impl<'p, I> WithPool<'p, I> {
    pub(super) fn new(base: I, pool: &'p ThreadPool) -> Self {
        WithPool { base, pool }
    }
}

impl<I> ParallelIterator for WithPool<'_, I>
where
    I: ParallelIterator,
{
    type Item = I::Item;

    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<Self::Item>,
    {
        let base = self.base;
        if C::HAS_OUTLET {
            if let Some(outlet) = consumer.outlet() {
                outlet.run_in(self.pool);
                return base.drive_unindexed(consumer);
            }
        }
        self.pool.install(move || base.drive_unindexed(consumer))
    }

    fn opt_len(&self) -> Option<usize> {
        self.base.opt_len()
    }
}
