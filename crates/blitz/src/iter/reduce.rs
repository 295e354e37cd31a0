//! `reduce` and `reduce_with`: items put together two by two, in order; `min_by` and `max_by`.
//!
//! Each block is handed to the iterator's own `fold`, `min_by` or `max_by`, which compiles to the loop of sequential code. For
//! extremes that makes a difference: `std` branches where a fold with a closure would select, and a new extreme is rare.

use super::ParallelIterator;
use super::plumbing::Folder;
use super::recipe::{Everywhere, Recipe};
use crate::delegate::copied_as_it_is;
use std::cmp::Ordering;
use std::marker::PhantomData;

pub(super) fn reduce<I, ID, F>(iter: I, identity: ID, op: F) -> I::Item
where
    I: ParallelIterator,
    ID: Fn() -> I::Item + Sync,
    F: Fn(I::Item, I::Item) -> I::Item + Sync,
{
    iter.drive_unindexed(Everywhere(Reduce {
        identity: &identity,
        op: &op,
    }))
}

struct Reduce<'f, ID, F> {
    identity: &'f ID,
    op: &'f F,
}

copied_as_it_is! { Reduce<'_, ID, F> }

impl<'f, T, ID, F> Recipe<T> for Reduce<'f, ID, F>
where
    T: Send,
    ID: Fn() -> T + Sync,
    F: Fn(T, T) -> T + Sync,
{
    type Result = T;
    type Folder = Reduced<'f, T, F>;

    #[inline]
    fn begin(self) -> Self::Folder {
        Reduced {
            value: (self.identity)(),
            op: self.op,
        }
    }

    #[inline]
    fn combine(self, left: T, right: T) -> T {
        (self.op)(left, right)
    }
}

struct Reduced<'f, T, F> {
    value: T,
    op: &'f F,
}

impl<T, F> Folder<T> for Reduced<'_, T, F>
where
    F: Fn(T, T) -> T,
{
    type Result = T;

    const MAY_BE_FULL: bool = false;

    #[inline]
    fn consume(self, item: T) -> Self {
        Reduced {
            value: (self.op)(self.value, item),
            op: self.op,
        }
    }

    #[inline]
    fn consume_iter<I>(self, iter: I) -> Self
    where
        I: IntoIterator<Item = T>,
    {
        Reduced {
            value: iter.into_iter().fold(self.value, self.op),
            op: self.op,
        }
    }

    #[inline]
    fn complete(self) -> T {
        self.value
    }

    #[inline]
    fn full(&self) -> bool {
        false
    }
}

pub(super) fn reduce_with<I, F>(iter: I, op: F) -> Option<I::Item>
where
    I: ParallelIterator,
    F: Fn(I::Item, I::Item) -> I::Item + Sync,
{
    iter.drive_unindexed(Everywhere(ReduceWith { op: &op }))
}

struct ReduceWith<'f, F> {
    op: &'f F,
}

copied_as_it_is! { ReduceWith<'_, F> }

impl<'f, T, F> Recipe<T> for ReduceWith<'f, F>
where
    T: Send,
    F: Fn(T, T) -> T + Sync,
{
    type Result = Option<T>;
    type Folder = ReducedWith<'f, T, F>;

    #[inline]
    fn begin(self) -> Self::Folder {
        ReducedWith {
            value: None,
            op: self.op,
        }
    }

    #[inline]
    fn combine(self, left: Option<T>, right: Option<T>) -> Option<T> {
        match (left, right) {
            (Some(left), Some(right)) => Some((self.op)(left, right)),
            (left, right) => left.or(right),
        }
    }
}

struct ReducedWith<'f, T, F> {
    value: Option<T>,
    op: &'f F,
}

impl<T, F> Folder<T> for ReducedWith<'_, T, F>
where
    F: Fn(T, T) -> T,
{
    type Result = Option<T>;

    const MAY_BE_FULL: bool = false;

    #[inline]
    fn consume(self, item: T) -> Self {
        let value = match self.value {
            Some(value) => (self.op)(value, item),
            None => item,
        };
        ReducedWith {
            value: Some(value),
            op: self.op,
        }
    }

    #[inline]
    fn consume_iter<I>(self, iter: I) -> Self
    where
        I: IntoIterator<Item = T>,
    {
        let mut iter = iter.into_iter();
        let value = match self.value {
            Some(value) => Some(iter.fold(value, self.op)),
            None => match iter.next() {
                Some(first) => Some(iter.fold(first, self.op)),
                None => None,
            },
        };
        ReducedWith { value, op: self.op }
    }

    #[inline]
    fn complete(self) -> Option<T> {
        self.value
    }

    #[inline]
    fn full(&self) -> bool {
        false
    }
}

pub(super) fn min_by<I, F>(iter: I, compare: F) -> Option<I::Item>
where
    I: ParallelIterator,
    F: Fn(&I::Item, &I::Item) -> Ordering + Sync,
{
    extreme::<Least, _, _>(iter, compare)
}

pub(super) fn max_by<I, F>(iter: I, compare: F) -> Option<I::Item>
where
    I: ParallelIterator,
    F: Fn(&I::Item, &I::Item) -> Ordering + Sync,
{
    extreme::<Greatest, _, _>(iter, compare)
}

fn extreme<W, I, F>(iter: I, compare: F) -> Option<I::Item>
where
    W: Which,
    I: ParallelIterator,
    F: Fn(&I::Item, &I::Item) -> Ordering + Sync,
{
    iter.drive_unindexed(Everywhere(Extreme::<W, F> {
        compare: &compare,
        which: PhantomData,
    }))
}

/// Which extreme is wanted. Of equal items `std` prefers the first for the least and the last for the greatest.
trait Which {
    fn of<I, F>(iter: I, compare: &F) -> Option<I::Item>
    where
        I: Iterator,
        F: Fn(&I::Item, &I::Item) -> Ordering;
}

struct Least;

impl Which for Least {
    #[inline]
    fn of<I, F>(iter: I, compare: &F) -> Option<I::Item>
    where
        I: Iterator,
        F: Fn(&I::Item, &I::Item) -> Ordering,
    {
        iter.min_by(compare)
    }
}

struct Greatest;

impl Which for Greatest {
    #[inline]
    fn of<I, F>(iter: I, compare: &F) -> Option<I::Item>
    where
        I: Iterator,
        F: Fn(&I::Item, &I::Item) -> Ordering,
    {
        iter.max_by(compare)
    }
}

struct Extreme<'f, W, F> {
    compare: &'f F,
    which: PhantomData<fn() -> W>,
}

copied_as_it_is! { Extreme<'_, W, F> }

impl<'f, T, W, F> Recipe<T> for Extreme<'f, W, F>
where
    T: Send,
    W: Which,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    type Result = Option<T>;
    type Folder = ExtremeSoFar<'f, T, W, F>;

    #[inline]
    fn begin(self) -> Self::Folder {
        ExtremeSoFar {
            item: None,
            recipe: self,
        }
    }

    #[inline]
    fn combine(self, left: Option<T>, right: Option<T>) -> Option<T> {
        W::of(left.into_iter().chain(right), self.compare)
    }
}

struct ExtremeSoFar<'f, T, W, F> {
    item: Option<T>,
    recipe: Extreme<'f, W, F>,
}

impl<T, W, F> Folder<T> for ExtremeSoFar<'_, T, W, F>
where
    W: Which,
    F: Fn(&T, &T) -> Ordering,
{
    type Result = Option<T>;

    const MAY_BE_FULL: bool = false;

    #[inline]
    fn consume(self, item: T) -> Self {
        self.consume_iter(Some(item))
    }

    #[inline]
    fn consume_iter<I>(mut self, iter: I) -> Self
    where
        I: IntoIterator<Item = T>,
    {
        let compare = self.recipe.compare;
        let here = W::of(iter.into_iter(), compare);
        self.item = match (self.item, here) {
            (Some(before), Some(here)) => W::of([before, here].into_iter(), compare),
            (before, here) => before.or(here),
        };
        self
    }

    #[inline]
    fn complete(self) -> Option<T> {
        self.item
    }

    #[inline]
    fn full(&self) -> bool {
        false
    }
}
