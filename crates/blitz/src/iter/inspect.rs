//! `inspect`: a look at each item as it passes.

use super::plumbing::Folder;
use super::stage::{IndexedPlan, Stage, debug_fields, plan_by_reference, staged_adaptor};

/// Shows each item to a closure and passes it on. Made by [`inspect`](super::ParallelIterator::inspect).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
/// let seen = AtomicU32::new(0);
/// let total: i32 = (0..5).into_par_iter().inspect(|_| { seen.fetch_add(1, Relaxed); }).sum();
/// assert_eq!((total, seen.into_inner()), (10, 5));
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Clone)]
pub struct Inspect<I, F> {
    base: I,
    op: F,
}

impl<I, F> Inspect<I, F> {
    pub(super) fn new(base: I, op: F) -> Self {
        Inspect { base, op }
    }
}

debug_fields! { Inspect[I, F] shows base: I }

staged_adaptor! {
    impl [I, F] Inspect<I, F> => I::Item, keeps the length
    where [F: Fn(&I::Item) + Sync + Send];
    fn plan(self) { Look { op: &self.op } }
}

/// Shows each item to `op` before passing it on.
struct Look<'f, F> {
    op: &'f F,
}

plan_by_reference! { Look<'f, F> { op } }

impl<F, In> Stage<In> for Look<'_, F>
where
    F: Fn(&In),
{
    type Out = In;

    #[inline]
    fn feed<G>(&mut self, folder: G, item: In) -> G
    where
        G: Folder<In>,
    {
        (self.op)(&item);
        folder.consume(item)
    }

    #[inline]
    fn feed_iter<G, I>(&mut self, folder: G, iter: I) -> G
    where
        G: Folder<In>,
        I: Iterator<Item = In>,
    {
        folder.consume_iter(iter.inspect(self.op))
    }
}

impl<'f, F, In> IndexedPlan<In> for Look<'f, F>
where
    F: Fn(&In) + Sync,
{
    type Iter<I>
        = std::iter::Inspect<I, &'f F>
    where
        I: Iterator<Item = In> + DoubleEndedIterator + ExactSizeIterator;

    #[inline]
    fn over<I>(self, iter: I) -> Self::Iter<I>
    where
        I: Iterator<Item = In> + DoubleEndedIterator + ExactSizeIterator,
    {
        iter.inspect(self.op)
    }
}
