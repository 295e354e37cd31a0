//! `with_pool`: the loop runs in a pool of the caller's choice.

use super::plumbing::{Consumer, Folder, Producer, ProducerCallback, UnindexedConsumer, Wishes};
use super::{IndexedParallelIterator, ParallelIterator};
use crate::delegate::forward_to_base;
use crate::engine::ThreadPool;

/// Runs in a given pool. Made by [`with_pool`](super::ParallelIterator::with_pool).
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

    /// Drives the base in the pool; or here, if the loop will be handed out.
    fn drive_there<T, C>(self, consumer: C, drive: fn(I, C) -> C::Result) -> C::Result
    where
        I: Send,
        C: Consumer<T>,
    {
        let base = self.base;
        if C::HAS_OUTLET {
            if let Some(outlet) = consumer.outlet() {
                // SAFETY: this drives, and `self` has borrowed the pool.
                unsafe { outlet.run_in(self.pool) };
                return drive(base, consumer);
            }
        }
        self.pool.install(move || drive(base, consumer))
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
        self.drive_there(consumer, I::drive_unindexed)
    }

    forward_to_base! { opt_len }
}

impl<I> IndexedParallelIterator for WithPool<'_, I>
where
    I: IndexedParallelIterator,
{
    fn drive<C>(self, consumer: C) -> C::Result
    where
        C: Consumer<Self::Item>,
    {
        self.drive_there(consumer, I::drive)
    }

    fn len(&self) -> usize {
        self.base.len()
    }

    fn with_producer<CB>(self, callback: CB) -> CB::Output
    where
        CB: ProducerCallback<Self::Item>,
    {
        with_wishes(self.base, Wishes::of_pool(self.pool), callback)
    }
}

struct Wish<'p, CB> {
    callback: CB,
    wishes: Wishes<'p>,
}

impl<T, CB> ProducerCallback<T> for Wish<'_, CB>
where
    CB: ProducerCallback<T>,
{
    type Output = CB::Output;

    fn callback<P>(self, base: P) -> CB::Output
    where
        P: Producer<Item = T>,
    {
        let Wish { callback, wishes } = self;
        callback.callback(Wishing { base, wishes })
    }
}

/// `with_producer` for an iterator that passes on what `base` yields, and asks for something.
pub(super) fn with_wishes<I, CB>(base: I, wishes: Wishes<'_>, callback: CB) -> CB::Output
where
    I: IndexedParallelIterator,
    CB: ProducerCallback<I::Item>,
{
    base.with_producer(Wish { callback, wishes })
}

/// A producer that asks for something.
struct Wishing<'p, P> {
    base: P,
    wishes: Wishes<'p>,
}

impl<P> Producer for Wishing<'_, P>
where
    P: Producer,
{
    type Item = P::Item;
    type IntoIter = P::IntoIter;

    const HAS_WISHES: bool = true;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.base.into_iter()
    }

    forward_to_base! { min_len max_len }

    #[inline]
    fn wishes(&self) -> Wishes<'_> {
        self.base.wishes().or(self.wishes)
    }

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.base.split_at(index);
        let of = |base| Wishing {
            base,
            wishes: self.wishes,
        };
        (of(left), of(right))
    }

    #[inline]
    fn fold_with<F>(self, folder: F) -> F
    where
        F: Folder<Self::Item>,
    {
        self.base.fold_with(folder)
    }
}
