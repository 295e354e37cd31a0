//! `filter` and `filter_map`: some items left out.

use super::plumbing::Folder;
use super::stage::{Stage, debug_fields, plan_by_reference, staged_adaptor};

/// Passes on the items that satisfy a predicate. Made by [`filter`](super::ParallelIterator::filter).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let even: Vec<i32> = (0..7).into_par_iter().filter(|n| n % 2 == 0).collect();
/// assert_eq!(even, [0, 2, 4, 6]);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Clone)]
pub struct Filter<I, P> {
    base: I,
    predicate: P,
}

impl<I, P> Filter<I, P> {
    pub(super) fn new(base: I, predicate: P) -> Self {
        Filter { base, predicate }
    }
}

debug_fields! { Filter[I, P] shows base: I }

staged_adaptor! {
    impl [I, P] Filter<I, P> => I::Item
    where [P: Fn(&I::Item) -> bool + Sync + Send];
    fn plan(self) { Keep { predicate: &self.predicate } }
}

/// Keeps what satisfies the predicate.
struct Keep<'p, P> {
    predicate: &'p P,
}

plan_by_reference! { Keep<'p, P> { predicate } }

impl<P, In> Stage<In> for Keep<'_, P>
where
    P: Fn(&In) -> bool,
{
    type Out = In;

    const KEEPS_BACK: bool = true;

    #[inline]
    fn feed<F>(&mut self, folder: F, item: In) -> F
    where
        F: Folder<In>,
    {
        if (self.predicate)(&item) {
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
        folder.consume_iter(iter.filter(self.predicate))
    }
}

/// Passes on what a closure makes of items, where it makes something. Made by
/// [`filter_map`](super::ParallelIterator::filter_map).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let words = ["7", "seven", "8"];
/// let numbers: Vec<u8> = words.par_iter().filter_map(|word| word.parse().ok()).collect();
/// assert_eq!(numbers, [7, 8]);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Clone)]
pub struct FilterMap<I, P> {
    base: I,
    op: P,
}

impl<I, P> FilterMap<I, P> {
    pub(super) fn new(base: I, op: P) -> Self {
        FilterMap { base, op }
    }
}

debug_fields! { FilterMap[I, P] shows base: I }

staged_adaptor! {
    impl [I, P, R] FilterMap<I, P> => R
    where [P: Fn(I::Item) -> Option<R> + Sync + Send, R: Send];
    fn plan(self) { KeepSome { op: &self.op } }
}

/// Keeps what `op` makes something of.
struct KeepSome<'p, P> {
    op: &'p P,
}

plan_by_reference! { KeepSome<'p, P> { op } }

impl<P, In, R> Stage<In> for KeepSome<'_, P>
where
    P: Fn(In) -> Option<R>,
{
    type Out = R;

    const KEEPS_BACK: bool = true;

    #[inline]
    fn feed<F>(&mut self, folder: F, item: In) -> F
    where
        F: Folder<R>,
    {
        match (self.op)(item) {
            Some(made) => folder.consume(made),
            None => folder,
        }
    }

    #[inline]
    fn feed_iter<F, I>(&mut self, folder: F, iter: I) -> F
    where
        F: Folder<R>,
        I: Iterator<Item = In>,
    {
        folder.consume_iter(iter.filter_map(self.op))
    }
}
