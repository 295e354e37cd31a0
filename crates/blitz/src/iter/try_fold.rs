//! `try_fold` and `try_fold_with`: each piece folded to one value, or to its first failure.

use super::ParallelIterator;
use super::find::{LOOK_UP_AFTER, fold_until};
use super::fold::{Given, Make, Start};
use super::originals::Originals;
use super::plumbing::{Consumer, Folder, UnindexedConsumer};
use super::stage::debug_fields;
use super::try_result::Try;
use crate::delegate::forward_to_base;
use std::marker::PhantomData;
use std::ops::ControlFlow::{self, Break, Continue};

/// Folds each piece until it fails, starting from what a closure makes. Made by
/// [`try_fold`](super::ParallelIterator::try_fold).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let total = [200u8, 100].par_iter()
///     .try_fold(|| 0u8, |sum, &n| sum.checked_add(n))
///     .try_reduce(|| 0, |a, b| a.checked_add(b));
/// assert_eq!(total, None);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
pub struct TryFold<I, U, ID, F> {
    base: I,
    identity: ID,
    op: F,
    item: PhantomData<U>,
}

impl<I, U, ID, F> TryFold<I, U, ID, F> {
    pub(super) fn new(base: I, identity: ID, op: F) -> Self {
        TryFold {
            base,
            identity,
            op,
            item: PhantomData,
        }
    }
}

impl<I, U, ID, F> Clone for TryFold<I, U, ID, F>
where
    I: Clone,
    ID: Clone,
    F: Clone,
{
    fn clone(&self) -> Self {
        TryFold::new(self.base.clone(), self.identity.clone(), self.op.clone())
    }
}

debug_fields! { TryFold[I, U, ID, F] shows base: I }

impl<U, I, ID, F> ParallelIterator for TryFold<I, U, ID, F>
where
    I: ParallelIterator,
    F: Fn(U::Output, I::Item) -> U + Sync + Send,
    ID: Fn() -> U::Output + Sync + Send,
    U: Try + Send,
{
    type Item = U;

    const MAY_HAVE_LEN: bool = false;

    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<U>,
    {
        self.base.drive_unindexed(TryFoldFrom {
            base: consumer,
            start: Make(&self.identity),
            op: &self.op,
            item: PhantomData,
        })
    }
}

/// Folds each piece until it fails, starting from a clone of a given value. Made by
/// [`try_fold_with`](super::ParallelIterator::try_fold_with).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let total = [20u8, 30].par_iter()
///     .try_fold_with(0u8, |sum, &n| sum.checked_add(n))
///     .try_reduce(|| 0, |a, b| a.checked_add(b));
/// assert_eq!(total, Some(50));
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
pub struct TryFoldWith<I, U, F>
where
    U: Try,
{
    base: I,
    value: U::Output,
    op: F,
}

impl<I, U, F> TryFoldWith<I, U, F>
where
    U: Try,
{
    pub(super) fn new(base: I, value: U::Output, op: F) -> Self {
        TryFoldWith { base, value, op }
    }
}

impl<I, U, F> Clone for TryFoldWith<I, U, F>
where
    U: Try<Output: Clone>,
    I: Clone,
    F: Clone,
{
    fn clone(&self) -> Self {
        TryFoldWith::new(self.base.clone(), self.value.clone(), self.op.clone())
    }
}

impl<I, U, F> std::fmt::Debug for TryFoldWith<I, U, F>
where
    I: std::fmt::Debug,
    U: Try<Output: std::fmt::Debug>,
{
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TryFoldWith")
            .field("base", &self.base)
            .field("value", &self.value)
            .finish()
    }
}

impl<U, I, F> ParallelIterator for TryFoldWith<I, U, F>
where
    I: ParallelIterator,
    F: Fn(U::Output, I::Item) -> U + Sync + Send,
    U: Try<Output: Clone + Send> + Send,
{
    type Item = U;

    const MAY_HAVE_LEN: bool = false;

    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<U>,
    {
        self.base.drive_unindexed(TryFoldFrom {
            base: consumer,
            start: Given {
                originals: &Originals::new(self.value),
            },
            op: &self.op,
            item: PhantomData,
        })
    }
}

/// The consumer that folds its piece and passes on one value or one failure.
struct TryFoldFrom<'f, C, S, F, U> {
    base: C,
    start: S,
    op: &'f F,
    item: PhantomData<fn() -> U>,
}

impl<'f, C, S, F, U> TryFoldFrom<'f, C, S, F, U> {
    /// The same fold, for another base.
    #[inline]
    fn onto(&self, base: C) -> Self
    where
        S: Clone,
    {
        TryFoldFrom {
            base,
            start: self.start.clone(),
            op: self.op,
            item: PhantomData,
        }
    }
}

impl<'f, T, C, S, F, U> Consumer<T> for TryFoldFrom<'f, C, S, F, U>
where
    U: Try,
    S: Start<Value = U::Output>,
    C: Consumer<U>,
    F: Fn(U::Output, T) -> U + Sync,
{
    type Folder = TryFoldFolder<'f, C::Folder, U, F>;
    type Reducer = C::Reducer;
    type Result = C::Result;

    const MAY_SEARCH: bool = C::MAY_SEARCH;

    forward_to_base! { outlet }

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self, C::Reducer) {
        let TryFoldFrom {
            base, start, op, ..
        } = self;
        let (left, right, reducer) = base.split_at(index);
        let right = TryFoldFrom {
            base: right,
            start,
            op,
            item: PhantomData,
        };
        (right.onto(left), right, reducer)
    }

    #[inline]
    fn into_folder(self) -> Self::Folder {
        TryFoldFolder {
            base: self.base.into_folder(),
            state: Continue(self.start.value()),
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
        TryFoldFolder {
            base: self.base.resume(folder.base),
            ..folder
        }
    }
}

impl<T, C, S, F, U> UnindexedConsumer<T> for TryFoldFrom<'_, C, S, F, U>
where
    U: Try,
    S: Start<Value = U::Output>,
    C: UnindexedConsumer<U>,
    F: Fn(U::Output, T) -> U + Sync,
{
    #[inline]
    fn split_off_left(&self) -> Self {
        self.onto(self.base.split_off_left())
    }

    #[inline]
    fn to_reducer(&self) -> C::Reducer {
        self.base.to_reducer()
    }
}

struct TryFoldFolder<'f, G, U, F>
where
    U: Try,
{
    base: G,
    state: ControlFlow<U::Residual, U::Output>,
    op: &'f F,
}

impl<T, G, U, F> Folder<T> for TryFoldFolder<'_, G, U, F>
where
    U: Try,
    G: Folder<U>,
    F: Fn(U::Output, T) -> U,
{
    type Result = G::Result;

    #[inline]
    fn consume(mut self, item: T) -> Self {
        if let Continue(value) = self.state {
            self.state = (self.op)(value, item).branch();
        }
        self
    }

    #[inline]
    fn consume_iter<I>(mut self, iter: I) -> Self
    where
        I: IntoIterator<Item = T>,
    {
        if let Continue(value) = self.state {
            let step = |value, item| (self.op)(value, item).branch();
            self.state = fold_until(iter.into_iter(), value, step, LOOK_UP_AFTER, || {
                self.base.full()
            });
        }
        self
    }

    #[inline]
    fn complete(self) -> G::Result {
        let item = match self.state {
            Continue(value) => U::from_output(value),
            Break(residual) => U::from_residual(residual),
        };
        self.base.consume(item).complete()
    }

    #[inline]
    fn full(&self) -> bool {
        self.state.is_break() || self.base.full()
    }
}
