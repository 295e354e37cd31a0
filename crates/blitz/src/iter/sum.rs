//! `sum` and `product`.
//!
//! Each block is handed to the type's own `Sum` or `Product`, so that a block of integers is added up as fast as the
//! sequential loop would.
//!
//! Some types do not need all items: a `Result` is complete with the first error. Such a `Sum` leaves its iterator before the end,
//! and the piece is over. Other pieces continue. So the error of the first item that has one comes out, as if the items had been added
//! up one after the other.

use super::ParallelIterator;
use super::plumbing::Folder;
use super::recipe::{Everywhere, Recipe};
use crate::delegate::copied_as_it_is;
use std::iter::{Product, Sum};
use std::marker::PhantomData;

pub(super) fn sum<I, S>(iter: I) -> S
where
    I: ParallelIterator,
    S: Send + Sum<I::Item> + Sum<S>,
{
    iter.drive_unindexed(Everywhere(Total::<S, Added>::new()))
}

pub(super) fn product<I, P>(iter: I) -> P
where
    I: ParallelIterator,
    P: Send + Product<I::Item> + Product<P>,
{
    iter.drive_unindexed(Everywhere(Total::<P, Multiplied>::new()))
}

/// How values of type `S` are made from an iterator of `T`s.
trait Totals<T, S> {
    fn of<I>(iter: I) -> S
    where
        I: Iterator<Item = T>;
}

struct Added;

impl<T, S> Totals<T, S> for Added
where
    S: Sum<T>,
{
    #[inline]
    fn of<I>(iter: I) -> S
    where
        I: Iterator<Item = T>,
    {
        iter.sum()
    }
}

struct Multiplied;

impl<T, S> Totals<T, S> for Multiplied
where
    S: Product<T>,
{
    #[inline]
    fn of<I>(iter: I) -> S
    where
        I: Iterator<Item = T>,
    {
        iter.product()
    }
}

struct Total<S, K> {
    kind: PhantomData<fn(K) -> S>,
}

impl<S, K> Total<S, K> {
    fn new() -> Self {
        Total { kind: PhantomData }
    }
}

copied_as_it_is! { Total<S, K> }

impl<T, S, K> Recipe<T> for Total<S, K>
where
    S: Send,
    K: Totals<T, S> + Totals<S, S>,
{
    type Result = S;
    type Folder = Running<S, K>;

    #[inline]
    fn begin(self) -> Running<S, K> {
        Running {
            total: <K as Totals<T, S>>::of(std::iter::empty()),
            full: false,
            kind: PhantomData,
        }
    }

    #[inline]
    fn combine(self, left: S, right: S) -> S {
        <K as Totals<S, S>>::of([left, right].into_iter())
    }
}

struct Running<S, K> {
    total: S,
    /// The type's own `Sum` or `Product` has left an iterator before its end: it wants no more.
    full: bool,
    kind: PhantomData<K>,
}

impl<T, S, K> Folder<T> for Running<S, K>
where
    K: Totals<T, S> + Totals<S, S>,
{
    type Result = S;

    #[inline]
    fn consume(self, item: T) -> Self {
        self.consume_iter(Some(item))
    }

    #[inline]
    fn consume_iter<I>(self, iter: I) -> Self
    where
        I: IntoIterator<Item = T>,
    {
        // Who asks for items behind the last one has seen the end. To ask for one more item here would tell as well, but make an
        // item that nobody wants.
        let mut ended = false;
        let end = std::iter::from_fn(|| {
            ended = true;
            None
        });
        let more = <K as Totals<T, S>>::of(iter.into_iter().chain(end));
        Running {
            total: <K as Totals<S, S>>::of([self.total, more].into_iter()),
            full: self.full || !ended,
            kind: PhantomData,
        }
    }

    #[inline]
    fn complete(self) -> S {
        self.total
    }

    #[inline]
    fn full(&self) -> bool {
        self.full
    }
}
