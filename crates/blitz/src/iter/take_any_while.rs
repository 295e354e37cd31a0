//! `take_any_while` and `skip_any_while`: up to, or from, the first failure anybody sees.

use super::ParallelIterator;
use super::plumbing::{Folder, UnindexedConsumer};
use super::stage::{Stage, Staged, debug_fields, plan_by_reference};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Passes items on until the predicate fails anywhere. Made by
/// [`take_any_while`](super::ParallelIterator::take_any_while).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let taken: Vec<i32> = (0..100).into_par_iter().take_any_while(|&n| n < 50).collect();
/// assert!(taken.iter().all(|&n| n < 50));
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Clone)]
pub struct TakeAnyWhile<I, P> {
    base: I,
    predicate: P,
}

impl<I, P> TakeAnyWhile<I, P> {
    pub(super) fn new(base: I, predicate: P) -> Self {
        TakeAnyWhile { base, predicate }
    }
}

debug_fields! { TakeAnyWhile[I, P] shows base: I }

impl<I, P> ParallelIterator for TakeAnyWhile<I, P>
where
    I: ParallelIterator,
    P: Fn(&I::Item) -> bool + Sync + Send,
{
    type Item = I::Item;

    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<Self::Item>,
    {
        let stage = AdmitWhile {
            predicate: &self.predicate,
            failed: &AtomicBool::new(false),
        };
        self.base.drive_unindexed(Staged::new(consumer, stage))
    }
}

/// Passes items on until the predicate has failed somewhere.
struct AdmitWhile<'p, P> {
    predicate: &'p P,
    failed: &'p AtomicBool,
}

plan_by_reference! { AdmitWhile<'p, P> { predicate, failed } }

impl<P> AdmitWhile<'_, P> {
    #[inline]
    fn admits<In>(&self, item: &In) -> bool
    where
        P: Fn(&In) -> bool,
    {
        if self.failed.load(Relaxed) {
            return false;
        }
        let passes = (self.predicate)(item);
        if !passes {
            self.failed.store(true, Relaxed);
        }
        passes
    }
}

impl<P, In> Stage<In> for AdmitWhile<'_, P>
where
    P: Fn(&In) -> bool,
{
    type Out = In;

    #[inline]
    fn feed<F>(&mut self, folder: F, item: In) -> F
    where
        F: Folder<In>,
    {
        if self.admits(&item) {
            folder.consume(item)
        } else {
            folder
        }
    }

    #[inline]
    fn feed_iter<F, I>(&mut self, folder: F, iter: I) -> F
    where
        F: Folder<In>,
        I: Iterator<Item = In>,
    {
        folder.consume_iter(iter.take_while(|item| self.admits(item)))
    }

    const CAN_BE_FULL: bool = true;

    #[inline]
    fn full(&self) -> bool {
        self.failed.load(Relaxed)
    }
}

/// Drops items until the predicate fails anywhere, then passes all on. Made by
/// [`skip_any_while`](super::ParallelIterator::skip_any_while).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let rest: Vec<i32> = (0..100).into_par_iter().skip_any_while(|&n| n < 50).collect();
/// assert!(rest.len() >= 50 && (50..100).all(|n| rest.contains(&n)));
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Clone)]
pub struct SkipAnyWhile<I, P> {
    base: I,
    predicate: P,
}

impl<I, P> SkipAnyWhile<I, P> {
    pub(super) fn new(base: I, predicate: P) -> Self {
        SkipAnyWhile { base, predicate }
    }
}

debug_fields! { SkipAnyWhile[I, P] shows base: I }

impl<I, P> ParallelIterator for SkipAnyWhile<I, P>
where
    I: ParallelIterator,
    P: Fn(&I::Item) -> bool + Sync + Send,
{
    type Item = I::Item;

    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<Self::Item>,
    {
        let stage = RefuseWhile {
            predicate: &self.predicate,
            failed: &AtomicBool::new(false),
        };
        self.base.drive_unindexed(Staged::new(consumer, stage))
    }
}

/// Drops items until the predicate has failed somewhere.
struct RefuseWhile<'p, P> {
    predicate: &'p P,
    failed: &'p AtomicBool,
}

plan_by_reference! { RefuseWhile<'p, P> { predicate, failed } }

impl<P> RefuseWhile<'_, P> {
    #[inline]
    fn refuses<In>(&self, item: &In) -> bool
    where
        P: Fn(&In) -> bool,
    {
        if self.failed.load(Relaxed) {
            return false;
        }
        let passes = (self.predicate)(item);
        if !passes {
            self.failed.store(true, Relaxed);
        }
        passes
    }
}

impl<P, In> Stage<In> for RefuseWhile<'_, P>
where
    P: Fn(&In) -> bool,
{
    type Out = In;

    #[inline]
    fn feed<F>(&mut self, folder: F, item: In) -> F
    where
        F: Folder<In>,
    {
        if self.refuses(&item) {
            folder
        } else {
            folder.consume(item)
        }
    }

    #[inline]
    fn feed_iter<F, I>(&mut self, folder: F, iter: I) -> F
    where
        F: Folder<In>,
        I: Iterator<Item = In>,
    {
        folder.consume_iter(iter.skip_while(|item| self.refuses(item)))
    }
}
