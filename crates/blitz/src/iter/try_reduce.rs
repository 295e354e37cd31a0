//! `try_reduce` and `try_reduce_with`: reductions that stop at a failure.
//!
//! A failure anywhere raises a flag that makes everybody full. If several pieces fail, the leftmost failure that was
//! reached is the result.

use super::ParallelIterator;
use super::find::{LOOK_UP_AFTER, fold_until};
use super::plumbing::Folder;
use super::recipe::{Everywhere, Recipe};
use super::try_result::Try;
use crate::delegate::copied_as_it_is;
use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub(super) fn try_reduce<I, ID, F, T>(iter: I, identity: ID, op: F) -> T
where
    I: ParallelIterator<Item = T>,
    ID: Fn() -> T::Output + Sync,
    F: Fn(T::Output, T::Output) -> T + Sync,
    T: Try + Send,
{
    iter.drive_unindexed(Everywhere(TryReduce {
        identity: &identity,
        op: &op,
        failed: &AtomicBool::new(false),
    }))
}

struct TryReduce<'f, ID, F> {
    identity: &'f ID,
    op: &'f F,
    failed: &'f AtomicBool,
}

copied_as_it_is! { TryReduce<'_, ID, F> }

impl<'f, T, ID, F> Recipe<T> for TryReduce<'f, ID, F>
where
    T: Try + Send,
    ID: Fn() -> T::Output + Sync,
    F: Fn(T::Output, T::Output) -> T + Sync,
{
    type Result = T;
    type Folder = TryReduced<'f, T, F>;

    fn begin(self) -> Self::Folder {
        TryReduced {
            state: Continue((self.identity)()),
            op: self.op,
            failed: self.failed,
        }
    }

    fn combine(self, left: T, right: T) -> T {
        both(left, right, self.op)
    }

    const CAN_BE_FULL: bool = true;

    #[inline]
    fn full(self) -> bool {
        self.failed.load(Relaxed)
    }
}

/// What two results amount to: the first failure, or what `op` makes of two successes.
fn both<T, F>(left: T, right: T, op: F) -> T
where
    T: Try,
    F: Fn(T::Output, T::Output) -> T,
{
    match (left.branch(), right.branch()) {
        (Continue(left), Continue(right)) => op(left, right),
        (Break(residual), _) | (_, Break(residual)) => T::from_residual(residual),
    }
}

struct TryReduced<'f, T, F>
where
    T: Try,
{
    state: ControlFlow<T::Residual, T::Output>,
    op: &'f F,
    failed: &'f AtomicBool,
}

impl<T, F> Folder<T> for TryReduced<'_, T, F>
where
    T: Try,
    F: Fn(T::Output, T::Output) -> T,
{
    type Result = T;

    #[inline]
    fn consume(mut self, item: T) -> Self {
        self.state = match (self.state, item.branch()) {
            (Continue(value), Continue(item)) => (self.op)(value, item).branch(),
            (state @ Break(_), _) | (_, state @ Break(_)) => state,
        };
        if self.state.is_break() {
            self.failed.store(true, Relaxed);
        }
        self
    }

    #[inline]
    fn consume_iter<I>(mut self, iter: I) -> Self
    where
        I: IntoIterator<Item = T>,
    {
        let Continue(value) = self.state else {
            return self;
        };
        let step = |value, item: T| match item.branch() {
            Continue(item) => (self.op)(value, item).branch(),
            Break(residual) => Break(residual),
        };
        self.state = fold_until(iter.into_iter(), value, step, LOOK_UP_AFTER, || {
            self.failed.load(Relaxed)
        });
        if self.state.is_break() {
            self.failed.store(true, Relaxed);
        }
        self
    }

    fn complete(self) -> T {
        match self.state {
            Continue(value) => T::from_output(value),
            Break(residual) => T::from_residual(residual),
        }
    }

    #[inline]
    fn full(&self) -> bool {
        self.state.is_break() || self.failed.load(Relaxed)
    }
}

pub(super) fn try_reduce_with<I, F, T>(iter: I, op: F) -> Option<T>
where
    I: ParallelIterator<Item = T>,
    F: Fn(T::Output, T::Output) -> T + Sync,
    T: Try + Send,
{
    iter.drive_unindexed(Everywhere(TryReduceWith {
        op: &op,
        failed: &AtomicBool::new(false),
    }))
}

struct TryReduceWith<'f, F> {
    op: &'f F,
    failed: &'f AtomicBool,
}

copied_as_it_is! { TryReduceWith<'_, F> }

impl<'f, T, F> Recipe<T> for TryReduceWith<'f, F>
where
    T: Try + Send,
    F: Fn(T::Output, T::Output) -> T + Sync,
{
    type Result = Option<T>;
    type Folder = TryReducedWith<'f, T, F>;

    fn begin(self) -> Self::Folder {
        TryReducedWith {
            state: None,
            op: self.op,
            failed: self.failed,
        }
    }

    fn combine(self, left: Option<T>, right: Option<T>) -> Option<T> {
        match (left, right) {
            (Some(left), Some(right)) => Some(both(left, right, self.op)),
            (left, right) => left.or(right),
        }
    }

    const CAN_BE_FULL: bool = true;

    #[inline]
    fn full(self) -> bool {
        self.failed.load(Relaxed)
    }
}

struct TryReducedWith<'f, T, F>
where
    T: Try,
{
    state: Option<ControlFlow<T::Residual, T::Output>>,
    op: &'f F,
    failed: &'f AtomicBool,
}

impl<T, F> Folder<T> for TryReducedWith<'_, T, F>
where
    T: Try,
    F: Fn(T::Output, T::Output) -> T,
{
    type Result = Option<T>;

    #[inline]
    fn consume(mut self, item: T) -> Self {
        let state = match (self.state, item.branch()) {
            (None, state) => state,
            (Some(Continue(value)), Continue(item)) => (self.op)(value, item).branch(),
            (Some(state @ Break(_)), _) | (_, state @ Break(_)) => state,
        };
        if state.is_break() {
            self.failed.store(true, Relaxed);
        }
        self.state = Some(state);
        self
    }

    fn complete(self) -> Option<T> {
        Some(match self.state? {
            Continue(value) => T::from_output(value),
            Break(residual) => T::from_residual(residual),
        })
    }

    #[inline]
    fn full(&self) -> bool {
        self.failed.load(Relaxed)
    }
}
