//! `for_each` and `count`: terminal operations without a combining closure.

use super::ParallelIterator;
use super::plumbing::Folder;
use super::recipe::{Everywhere, Recipe};
use crate::delegate::copied_as_it_is;

pub(super) fn for_each<I, F>(iter: I, op: &F)
where
    I: ParallelIterator,
    F: Fn(I::Item) + Sync,
{
    iter.drive_unindexed(Everywhere(Call { op }));
}

/// Calls `op` with every item; recipe and folder in one.
struct Call<'f, F> {
    op: &'f F,
}

copied_as_it_is! { Call<'_, F> }

impl<T, F> Recipe<T> for Call<'_, F>
where
    F: Fn(T) + Sync,
{
    type Result = ();
    type Folder = Self;

    #[inline]
    fn begin(self) -> Self {
        self
    }

    #[inline]
    fn combine(self, _left: (), _right: ()) {}
}

impl<T, F> Folder<T> for Call<'_, F>
where
    F: Fn(T),
{
    type Result = ();

    const MAY_BE_FULL: bool = false;

    #[inline]
    fn consume(self, item: T) -> Self {
        (self.op)(item);
        self
    }

    #[inline]
    fn consume_iter<I>(self, iter: I) -> Self
    where
        I: IntoIterator<Item = T>,
    {
        iter.into_iter().for_each(self.op);
        self
    }

    #[inline]
    fn complete(self) {}

    #[inline]
    fn full(&self) -> bool {
        false
    }
}

pub(super) fn count<I>(iter: I) -> usize
where
    I: ParallelIterator,
{
    iter.drive_unindexed(Everywhere(Count))
}

#[derive(Clone, Copy)]
struct Count;

impl<T> Recipe<T> for Count {
    type Result = usize;
    type Folder = Counted;

    #[inline]
    fn begin(self) -> Counted {
        Counted(0)
    }

    #[inline]
    fn combine(self, left: usize, right: usize) -> usize {
        left + right
    }
}

struct Counted(usize);

impl<T> Folder<T> for Counted {
    type Result = usize;

    const MAY_BE_FULL: bool = false;

    #[inline]
    fn consume(self, _item: T) -> Self {
        Counted(self.0 + 1)
    }

    #[inline]
    fn consume_iter<I>(self, iter: I) -> Self
    where
        I: IntoIterator<Item = T>,
    {
        Counted(self.0 + iter.into_iter().count())
    }

    #[inline]
    fn complete(self) -> usize {
        self.0
    }

    #[inline]
    fn full(&self) -> bool {
        false
    }
}
