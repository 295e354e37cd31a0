//! `flat_map_iter` and `flatten_iter`: each item opened into a sequential iterator.

use super::plumbing::Folder;
use super::stage::{Stage, debug_fields, its_own_plan, plan_by_reference, staged_adaptor};

/// Passes on everything in the sequential iterators a closure makes. Made by
/// [`flat_map_iter`](super::ParallelIterator::flat_map_iter).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let digits: Vec<u32> = [12, 345].par_iter()
///     .flat_map_iter(|n: &u32| n.to_string().into_bytes().into_iter().map(|b| (b - b'0') as u32))
///     .collect();
/// assert_eq!(digits, [1, 2, 3, 4, 5]);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Clone)]
pub struct FlatMapIter<I, F> {
    base: I,
    op: F,
}

impl<I, F> FlatMapIter<I, F> {
    pub(super) fn new(base: I, op: F) -> Self {
        FlatMapIter { base, op }
    }
}

debug_fields! { FlatMapIter[I, F] shows base: I }

staged_adaptor! {
    impl [I, F, SI] FlatMapIter<I, F> => SI::Item
    where [F: Fn(I::Item) -> SI + Sync + Send, SI: IntoIterator<Item: Send>];
    fn plan(self) { OpenWith { op: &self.op } }
}

/// Passes on what is in the iterator that `op` makes of each item.
struct OpenWith<'f, F> {
    op: &'f F,
}

plan_by_reference! { OpenWith<'f, F> { op } }

impl<F, In, SI> Stage<In> for OpenWith<'_, F>
where
    F: Fn(In) -> SI,
    SI: IntoIterator,
{
    type Out = SI::Item;

    const KEEPS_BACK: bool = true;

    #[inline]
    fn feed<G>(&mut self, folder: G, item: In) -> G
    where
        G: Folder<SI::Item>,
    {
        folder.consume_iter((self.op)(item))
    }

    #[inline]
    fn feed_iter<G, I>(&mut self, folder: G, iter: I) -> G
    where
        G: Folder<SI::Item>,
        I: Iterator<Item = In>,
    {
        folder.consume_iter(iter.flat_map(self.op))
    }
}

/// Passes on everything in its items, which are sequential iterators. Made by
/// [`flatten_iter`](super::ParallelIterator::flatten_iter).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let rows = vec![vec![1, 2], vec![], vec![3]];
/// let flat: Vec<i32> = rows.into_par_iter().flatten_iter().collect();
/// assert_eq!(flat, [1, 2, 3]);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct FlattenIter<I> {
    base: I,
}

impl<I> FlattenIter<I> {
    pub(super) fn new(base: I) -> Self {
        FlattenIter { base }
    }
}

staged_adaptor! {
    impl [I] FlattenIter<I> => <I::Item as IntoIterator>::Item
    where [I: super::ParallelIterator<Item: IntoIterator<Item: Send>>];
    fn plan(self) { Open }
}

/// Passes on what is in each item.
#[derive(Clone)]
struct Open;

its_own_plan! { [] Open }

impl<In> Stage<In> for Open
where
    In: IntoIterator,
{
    type Out = In::Item;

    const KEEPS_BACK: bool = true;

    #[inline]
    fn feed<F>(&mut self, folder: F, item: In) -> F
    where
        F: Folder<In::Item>,
    {
        folder.consume_iter(item)
    }

    #[inline]
    fn feed_iter<F, I>(&mut self, folder: F, iter: I) -> F
    where
        F: Folder<In::Item>,
        I: Iterator<Item = In>,
    {
        folder.consume_iter(iter.flatten())
    }
}
