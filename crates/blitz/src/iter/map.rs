//! `map`: each item replaced by what a closure makes of it.

use super::plumbing::Folder;
use super::stage::{IndexedPlan, Stage, debug_fields, plan_by_reference, staged_adaptor};

/// Passes each item through a closure. Made by [`map`](super::ParallelIterator::map).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let squares: blitz::iter::Map<_, _> = (1..4).into_par_iter().map(|n| n * n);
/// assert_eq!(squares.collect::<Vec<_>>(), [1, 4, 9]);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Clone)]
pub struct Map<I, F> {
    base: I,
    op: F,
}

impl<I, F> Map<I, F> {
    pub(super) fn new(base: I, op: F) -> Self {
        Map { base, op }
    }
}

debug_fields! { Map[I, F] shows base: I }

staged_adaptor! {
    impl [I, F, R] Map<I, F> => R, keeps the length
    where [F: Fn(I::Item) -> R + Sync + Send, R: Send];
    fn plan(self) { Apply { op: &self.op } }
}

/// Replaces each item by what `op` makes of it.
struct Apply<'f, F> {
    op: &'f F,
}

plan_by_reference! { Apply<'f, F> { op } }

impl<F, In, R> Stage<In> for Apply<'_, F>
where
    F: Fn(In) -> R,
{
    type Out = R;

    #[inline]
    fn feed<G>(&mut self, folder: G, item: In) -> G
    where
        G: Folder<R>,
    {
        folder.consume((self.op)(item))
    }

    #[inline]
    fn feed_iter<G, I>(&mut self, folder: G, iter: I) -> G
    where
        G: Folder<R>,
        I: Iterator<Item = In>,
    {
        folder.consume_iter(iter.map(self.op))
    }
}

impl<'f, F, In, R> IndexedPlan<In> for Apply<'f, F>
where
    F: Fn(In) -> R + Sync,
{
    type Iter<I>
        = std::iter::Map<I, &'f F>
    where
        I: Iterator<Item = In> + DoubleEndedIterator + ExactSizeIterator;

    #[inline]
    fn over<I>(self, iter: I) -> Self::Iter<I>
    where
        I: Iterator<Item = In> + DoubleEndedIterator + ExactSizeIterator,
    {
        iter.map(self.op)
    }
}
