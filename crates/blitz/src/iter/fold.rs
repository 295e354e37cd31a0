//! `fold` and `fold_with`: each piece folded to one value, which is then the item.
//!
//! How many values come out depends on how often the loop was cut, which depends on who came to help: at least one per
//! piece, in order. A loop nobody helped with yields exactly one.

use super::ParallelIterator;
use super::originals::Originals;
use super::plumbing::{Consumer, Folder, UnindexedConsumer};
use super::stage::debug_fields;
use crate::delegate::forward_to_base;

/// Folds each piece, starting from what a closure makes. Made by [`fold`](super::ParallelIterator::fold).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let letters: String = ["a", "b", "c"].par_iter()
///     .fold(String::new, |text, letter| text + letter)
///     .reduce(String::new, |left, right| left + &right);
/// assert_eq!(letters, "abc");
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Clone)]
pub struct Fold<I, ID, F> {
    base: I,
    identity: ID,
    op: F,
}

impl<I, ID, F> Fold<I, ID, F> {
    pub(super) fn new(base: I, identity: ID, op: F) -> Self {
        Fold { base, identity, op }
    }
}

debug_fields! { Fold[I, ID, F] shows base: I }

impl<U, I, ID, F> ParallelIterator for Fold<I, ID, F>
where
    I: ParallelIterator,
    F: Fn(U, I::Item) -> U + Sync + Send,
    ID: Fn() -> U + Sync + Send,
    U: Send,
{
    type Item = U;

    const MAY_HAVE_LEN: bool = false;

    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<U>,
    {
        self.base.drive_unindexed(FoldFrom {
            base: consumer,
            start: Make(&self.identity),
            op: &self.op,
        })
    }
}

/// Folds each piece, starting from a clone of a given value. Made by
/// [`fold_with`](super::ParallelIterator::fold_with).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let total: i32 = (1..=4).into_par_iter().fold_with(0, |sum, n| sum + n * n).sum();
/// assert_eq!(total, 30);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Clone)]
pub struct FoldWith<I, U, F> {
    base: I,
    value: U,
    op: F,
}

impl<I, U, F> FoldWith<I, U, F> {
    pub(super) fn new(base: I, value: U, op: F) -> Self {
        FoldWith { base, value, op }
    }
}

debug_fields! { FoldWith[I, U, F] shows base: I, value: U }

impl<U, I, F> ParallelIterator for FoldWith<I, U, F>
where
    I: ParallelIterator,
    F: Fn(U, I::Item) -> U + Sync + Send,
    U: Send + Clone,
{
    type Item = U;

    const MAY_HAVE_LEN: bool = false;

    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<U>,
    {
        self.base.drive_unindexed(FoldFrom {
            base: consumer,
            start: Given {
                originals: &Originals::new(self.value),
            },
            op: &self.op,
        })
    }
}

/// Where the value comes from that a piece starts with.
pub(super) trait Start: Clone + Send {
    type Value;
    fn value(self) -> Self::Value;
}

/// A clone of a given value.
///
/// The clone is made where a piece begins, not where the consumer is cut: most cuts are taken back.
pub(super) struct Given<'g, U> {
    pub(super) originals: &'g Originals<U>,
}

impl<U> Clone for Given<'_, U> {
    #[inline]
    fn clone(&self) -> Self {
        Given {
            originals: self.originals,
        }
    }
}

impl<U> Start for Given<'_, U>
where
    U: Clone + Send,
{
    type Value = U;

    fn value(self) -> U {
        self.originals.copy()
    }
}

/// Whatever a closure makes.
pub(super) struct Make<'m, ID>(pub(super) &'m ID);

impl<ID> Clone for Make<'_, ID> {
    #[inline]
    fn clone(&self) -> Self {
        Make(self.0)
    }
}

impl<ID, U> Start for Make<'_, ID>
where
    ID: Fn() -> U + Sync,
{
    type Value = U;

    #[inline]
    fn value(self) -> U {
        (self.0)()
    }
}

/// The consumer that folds its piece and passes one value on.
struct FoldFrom<'f, C, S, F> {
    base: C,
    start: S,
    op: &'f F,
}

impl<'f, T, C, S, F> Consumer<T> for FoldFrom<'f, C, S, F>
where
    S: Start,
    C: Consumer<S::Value>,
    F: Fn(S::Value, T) -> S::Value + Sync,
{
    type Folder = FoldFolder<'f, C::Folder, S::Value, F>;
    type Reducer = C::Reducer;
    type Result = C::Result;

    const MAY_SEARCH: bool = C::MAY_SEARCH;

    forward_to_base! { outlet }

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self, C::Reducer) {
        let (left, right, reducer) = self.base.split_at(index);
        let left = FoldFrom {
            base: left,
            start: self.start.clone(),
            op: self.op,
        };
        let right = FoldFrom {
            base: right,
            start: self.start,
            op: self.op,
        };
        (left, right, reducer)
    }

    #[inline]
    fn into_folder(self) -> Self::Folder {
        FoldFolder {
            may_stop: !self.base.is_never_full(),
            base: self.base.into_folder(),
            value: self.start.value(),
            op: self.op,
        }
    }

    forward_to_base! { full is_never_full is_search }

    #[inline]
    fn can_resume(&self, folder: &Self::Folder) -> bool {
        // The base sees nothing before the end of the piece, so if it may have enough soon, pieces must not get longer.
        !self.base.is_search() && self.base.can_resume(&folder.base)
    }

    #[inline]
    fn resume(self, folder: Self::Folder) -> Self::Folder {
        FoldFolder {
            base: self.base.resume(folder.base),
            ..folder
        }
    }
}

impl<T, C, S, F> UnindexedConsumer<T> for FoldFrom<'_, C, S, F>
where
    S: Start,
    C: UnindexedConsumer<S::Value>,
    F: Fn(S::Value, T) -> S::Value + Sync,
{
    #[inline]
    fn split_off_left(&self) -> Self {
        FoldFrom {
            base: self.base.split_off_left(),
            start: self.start.clone(),
            op: self.op,
        }
    }

    #[inline]
    fn to_reducer(&self) -> C::Reducer {
        self.base.to_reducer()
    }
}

struct FoldFolder<'f, G, U, F> {
    base: G,
    value: U,
    op: &'f F,
    /// Whether the base can have enough.
    may_stop: bool,
}

impl<T, G, U, F> Folder<T> for FoldFolder<'_, G, U, F>
where
    G: Folder<U>,
    F: Fn(U, T) -> U,
{
    type Result = G::Result;

    const MAY_BE_FULL: bool = G::MAY_BE_FULL;

    #[inline]
    fn consume(self, item: T) -> Self {
        FoldFolder {
            value: (self.op)(self.value, item),
            ..self
        }
    }

    #[inline]
    fn consume_iter<I>(self, iter: I) -> Self
    where
        I: IntoIterator<Item = T>,
    {
        let (iter, op) = (iter.into_iter(), self.op);
        // A loop that may end before its iterator carries a large value through memory, with every item.
        let value = if self.may_stop {
            iter.take_while(|_| !self.base.full()).fold(self.value, op)
        } else {
            iter.fold(self.value, op)
        };
        FoldFolder { value, ..self }
    }

    #[inline]
    fn complete(self) -> G::Result {
        self.base.consume(self.value).complete()
    }

    forward_to_base! { full }
}
