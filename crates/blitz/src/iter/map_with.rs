//! `map_with` and `map_init`: a mapping that carries a value along.
//!
//! Each piece has one carried value and shows it to every call. `map_with` clones a given value for each piece;
//! `map_init` makes one where the piece begins, so that it need not even be `Send`. A loop that splits only on demand
//! has few pieces, hence few clones: one if no thread came to help, and two or three more each time one did.

use super::fold::{Given, Make, Start};
use super::originals::Originals;
use super::plumbing::Folder;
use super::stage::{IndexedPlan, Plan, Stage, debug_fields, staged_adaptor};

/// Passes each item through a closure that also gets a cloned value. Made by
/// [`map_with`](super::ParallelIterator::map_with).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let (sender, receiver) = std::sync::mpsc::channel();
/// let sent: Vec<bool> = (0..3).into_par_iter().map_with(sender, |s, n| s.send(n).is_ok()).collect();
/// assert_eq!(sent, [true; 3]);
/// assert_eq!(receiver.iter().sum::<i32>(), 3);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Clone)]
pub struct MapWith<I, T, F> {
    base: I,
    value: T,
    op: F,
}

impl<I, T, F> MapWith<I, T, F> {
    pub(super) fn new(base: I, value: T, op: F) -> Self {
        MapWith { base, value, op }
    }
}

debug_fields! { MapWith[I, T, F] shows base: I, value: T }

staged_adaptor! {
    impl [I, T, F, R] MapWith<I, T, F> => R, keeps the length
    where [T: Send + Clone, F: Fn(&mut T, I::Item) -> R + Sync + Send, R: Send];
    fn plan(self) { StartThenApply { start: Given { originals: &Originals::new(self.value) }, op: &self.op } }
}

/// Applies `op` to the carried value and each item.
struct ApplyWith<'f, T, F> {
    value: T,
    op: &'f F,
}

impl<T, F, In, R> Stage<In> for ApplyWith<'_, T, F>
where
    F: Fn(&mut T, In) -> R,
{
    type Out = R;

    #[inline]
    fn feed<G>(&mut self, folder: G, item: In) -> G
    where
        G: Folder<R>,
    {
        folder.consume((self.op)(&mut self.value, item))
    }

    #[inline]
    fn feed_iter<G, I>(&mut self, folder: G, iter: I) -> G
    where
        G: Folder<R>,
        I: Iterator<Item = In>,
    {
        folder.consume_iter(iter.map(|item| (self.op)(&mut self.value, item)))
    }
}

/// Passes each item through a closure that also gets a value made on the spot. Made by
/// [`map_init`](super::ParallelIterator::map_init).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// // One scratch buffer per piece, not one per item.
/// let lengths: Vec<usize> = (0..4u32).into_par_iter()
///     .map_init(String::new, |buffer, n| {
///         buffer.clear();
///         (0..n).for_each(|_| buffer.push('x'));
///         buffer.len()
///     })
///     .collect();
/// assert_eq!(lengths, [0, 1, 2, 3]);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Clone)]
pub struct MapInit<I, INIT, F> {
    base: I,
    init: INIT,
    op: F,
}

impl<I, INIT, F> MapInit<I, INIT, F> {
    pub(super) fn new(base: I, init: INIT, op: F) -> Self {
        MapInit { base, init, op }
    }
}

debug_fields! { MapInit[I, INIT, F] shows base: I }

staged_adaptor! {
    impl [I, INIT, T, F, R] MapInit<I, INIT, F> => R, keeps the length
    where [INIT: Fn() -> T + Sync + Send, F: Fn(&mut T, I::Item) -> R + Sync + Send, R: Send];
    fn plan(self) { StartThenApply { start: Make(&self.init), op: &self.op } }
}

/// Gets the value to carry where a piece begins, then applies `op` to it and each item.
struct StartThenApply<'f, S, F> {
    start: S,
    op: &'f F,
}

impl<S, F> Clone for StartThenApply<'_, S, F>
where
    S: Clone,
{
    #[inline]
    fn clone(&self) -> Self {
        StartThenApply {
            start: self.start.clone(),
            op: self.op,
        }
    }
}

impl<'f, S, F, In, R> Plan<In> for StartThenApply<'f, S, F>
where
    S: Start,
    F: Fn(&mut S::Value, In) -> R + Sync,
{
    type Stage = ApplyWith<'f, S::Value, F>;

    #[inline]
    fn begin(self) -> Self::Stage {
        ApplyWith {
            value: self.start.value(),
            op: self.op,
        }
    }
}

impl<'f, S, F, In, R> IndexedPlan<In> for StartThenApply<'f, S, F>
where
    S: Start,
    F: Fn(&mut S::Value, In) -> R + Sync,
{
    type Iter<I>
        = AppliedWith<'f, I, S::Value, F>
    where
        I: Iterator<Item = In> + DoubleEndedIterator + ExactSizeIterator;

    #[inline]
    fn over<I>(self, iter: I) -> Self::Iter<I>
    where
        I: Iterator<Item = In> + DoubleEndedIterator + ExactSizeIterator,
    {
        AppliedWith {
            base: iter,
            value: self.start.value(),
            op: self.op,
        }
    }
}

/// The sequential iterator, which owns the carried value.
struct AppliedWith<'f, I, T, F> {
    base: I,
    value: T,
    op: &'f F,
}

impl<I, T, F, R> Iterator for AppliedWith<'_, I, T, F>
where
    I: Iterator,
    F: Fn(&mut T, I::Item) -> R,
{
    type Item = R;

    #[inline]
    fn next(&mut self) -> Option<R> {
        let item = self.base.next()?;
        Some((self.op)(&mut self.value, item))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.base.size_hint()
    }

    #[inline]
    fn fold<B, G>(mut self, init: B, mut fold: G) -> B
    where
        G: FnMut(B, R) -> B,
    {
        self.base.fold(init, |acc, item| {
            fold(acc, (self.op)(&mut self.value, item))
        })
    }
}

impl<I, T, F, R> DoubleEndedIterator for AppliedWith<'_, I, T, F>
where
    I: DoubleEndedIterator,
    F: Fn(&mut T, I::Item) -> R,
{
    #[inline]
    fn next_back(&mut self) -> Option<R> {
        let item = self.base.next_back()?;
        Some((self.op)(&mut self.value, item))
    }
}

impl<I, T, F, R> ExactSizeIterator for AppliedWith<'_, I, T, F>
where
    I: ExactSizeIterator,
    F: Fn(&mut T, I::Item) -> R,
{
    #[inline]
    fn len(&self) -> usize {
        self.base.len()
    }
}
