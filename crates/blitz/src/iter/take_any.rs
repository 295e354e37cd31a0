//! `take_any` and `skip_any`: a number of items, whichever come first in time.

use super::ParallelIterator;
use super::plumbing::{Folder, UnindexedConsumer};
use super::stage::{Stage, Staged, its_own_plan};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Passes on some `n` items. Made by [`take_any`](super::ParallelIterator::take_any).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let some = (0..1000).into_par_iter().filter(|n| n % 2 == 0).take_any(5).count();
/// assert_eq!(some, 5);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct TakeAny<I> {
    base: I,
    count: usize,
}

impl<I> TakeAny<I> {
    pub(super) fn new(base: I, count: usize) -> Self {
        TakeAny { base, count }
    }
}

impl<I> ParallelIterator for TakeAny<I>
where
    I: ParallelIterator,
{
    type Item = I::Item;

    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<Self::Item>,
    {
        let left = AtomicUsize::new(self.count);
        self.base
            .drive_unindexed(Staged::new(consumer, Admit { left: &left }))
    }
}

/// Takes one off the count, if there is one. Nothing else hangs on the count, so relaxed is enough.
#[inline]
fn take_one(left: &AtomicUsize) -> bool {
    left.load(Relaxed) != 0
        && left
            .fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1))
            .is_ok()
}

/// Passes items on until the count is used up.
#[derive(Clone)]
struct Admit<'n> {
    left: &'n AtomicUsize,
}

its_own_plan! { ['n,] Admit<'n> }

impl<In> Stage<In> for Admit<'_> {
    type Out = In;

    #[inline]
    fn feed<F>(&mut self, folder: F, item: In) -> F
    where
        F: Folder<In>,
    {
        if take_one(self.left) {
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
        folder.consume_iter(iter.take_while(|_| take_one(self.left)))
    }

    const CAN_BE_FULL: bool = true;

    #[inline]
    fn full(&self) -> bool {
        self.left.load(Relaxed) == 0
    }
}

/// Passes on all but some `n` items. Made by [`skip_any`](super::ParallelIterator::skip_any).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let rest = (0..1000).into_par_iter().skip_any(300).count();
/// assert_eq!(rest, 700);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct SkipAny<I> {
    base: I,
    count: usize,
}

impl<I> SkipAny<I> {
    pub(super) fn new(base: I, count: usize) -> Self {
        SkipAny { base, count }
    }
}

impl<I> ParallelIterator for SkipAny<I>
where
    I: ParallelIterator,
{
    type Item = I::Item;

    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<Self::Item>,
    {
        let left = AtomicUsize::new(self.count);
        self.base
            .drive_unindexed(Staged::new(consumer, Refuse { left: &left }))
    }
}

/// Drops items until the count is used up, then passes all on.
#[derive(Clone)]
struct Refuse<'n> {
    left: &'n AtomicUsize,
}

its_own_plan! { ['n,] Refuse<'n> }

impl<In> Stage<In> for Refuse<'_> {
    type Out = In;

    #[inline]
    fn feed<F>(&mut self, folder: F, item: In) -> F
    where
        F: Folder<In>,
    {
        if take_one(self.left) {
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
        folder.consume_iter(iter.skip_while(|_| take_one(self.left)))
    }
}
