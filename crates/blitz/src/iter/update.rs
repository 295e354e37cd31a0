//! `update`: each item changed in place as it passes.

use super::plumbing::Folder;
use super::stage::{IndexedPlan, Stage, debug_fields, plan_by_reference, staged_adaptor};

/// Lets a closure change each item in place, then passes it on. Made by [`update`](super::ParallelIterator::update).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let rounded: Vec<u32> = vec![17, 23].into_par_iter().update(|n| *n -= *n % 10).collect();
/// assert_eq!(rounded, [10, 20]);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Clone)]
pub struct Update<I, F> {
    base: I,
    op: F,
}

impl<I, F> Update<I, F> {
    pub(super) fn new(base: I, op: F) -> Self {
        Update { base, op }
    }
}

debug_fields! { Update[I, F] shows base: I }

staged_adaptor! {
    impl [I, F] Update<I, F> => I::Item, keeps the length
    where [F: Fn(&mut I::Item) + Send + Sync];
    fn plan(self) { Change { op: &self.op } }
}

/// Lets `op` change each item before passing it on.
struct Change<'f, F> {
    op: &'f F,
}

plan_by_reference! { Change<'f, F> { op } }

/// `op` as a function from item to item.
#[inline]
fn changed<T>(op: impl Fn(&mut T)) -> impl FnMut(T) -> T {
    move |mut item| {
        op(&mut item);
        item
    }
}

impl<F, In> Stage<In> for Change<'_, F>
where
    F: Fn(&mut In),
{
    type Out = In;

    #[inline]
    fn feed<G>(&mut self, folder: G, mut item: In) -> G
    where
        G: Folder<In>,
    {
        (self.op)(&mut item);
        folder.consume(item)
    }

    #[inline]
    fn feed_iter<G, I>(&mut self, folder: G, iter: I) -> G
    where
        G: Folder<In>,
        I: Iterator<Item = In>,
    {
        folder.consume_iter(iter.map(changed(self.op)))
    }
}

impl<'f, F, In> IndexedPlan<In> for Change<'f, F>
where
    F: Fn(&mut In) + Sync,
{
    type Iter<I>
        = Changed<'f, I, F>
    where
        I: Iterator<Item = In> + DoubleEndedIterator + ExactSizeIterator;

    #[inline]
    fn over<I>(self, iter: I) -> Self::Iter<I>
    where
        I: Iterator<Item = In> + DoubleEndedIterator + ExactSizeIterator,
    {
        Changed {
            base: iter,
            op: self.op,
        }
    }
}

/// The sequential iterator: `std` has no adaptor of this kind.
struct Changed<'f, I, F> {
    base: I,
    op: &'f F,
}

impl<I, F> Iterator for Changed<'_, I, F>
where
    I: Iterator,
    F: Fn(&mut I::Item),
{
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        let mut item = self.base.next()?;
        (self.op)(&mut item);
        Some(item)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.base.size_hint()
    }

    #[inline]
    fn fold<B, G>(self, init: B, fold: G) -> B
    where
        G: FnMut(B, I::Item) -> B,
    {
        self.base.map(changed(self.op)).fold(init, fold)
    }
}

impl<I, F> DoubleEndedIterator for Changed<'_, I, F>
where
    I: DoubleEndedIterator,
    F: Fn(&mut I::Item),
{
    #[inline]
    fn next_back(&mut self) -> Option<I::Item> {
        let mut item = self.base.next_back()?;
        (self.op)(&mut item);
        Some(item)
    }
}

impl<I, F> ExactSizeIterator for Changed<'_, I, F>
where
    I: ExactSizeIterator,
    F: Fn(&mut I::Item),
{
    #[inline]
    fn len(&self) -> usize {
        self.base.len()
    }
}
