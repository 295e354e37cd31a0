//! The consumer that lets items come and drops them.

use super::plumbing::{Consumer, Folder, Reducer, UnindexedConsumer};

/// Drops every item; consumer, folder and reducer in one.
#[derive(Clone, Copy)]
pub(super) struct Nothing;

impl<T> Consumer<T> for Nothing {
    type Folder = Nothing;
    type Reducer = Nothing;
    type Result = ();

    #[inline]
    fn split_at(self, _index: usize) -> (Self, Self, Self) {
        (self, self, self)
    }

    #[inline]
    fn into_folder(self) -> Self {
        self
    }

    #[inline]
    fn full(&self) -> bool {
        false
    }

    #[inline]
    fn is_never_full(&self) -> bool {
        true
    }

    const MAY_SEARCH: bool = false;

    #[inline]
    fn can_resume(&self, _folder: &Self) -> bool {
        true
    }
}

impl<T> UnindexedConsumer<T> for Nothing {
    #[inline]
    fn split_off_left(&self) -> Self {
        *self
    }

    #[inline]
    fn to_reducer(&self) -> Self {
        *self
    }
}

impl<T> Folder<T> for Nothing {
    type Result = ();

    const MAY_BE_FULL: bool = false;

    #[inline]
    fn consume(self, _item: T) -> Self {
        self
    }

    #[inline]
    fn consume_iter<I>(self, iter: I) -> Self
    where
        I: IntoIterator<Item = T>,
    {
        iter.into_iter().for_each(drop);
        self
    }

    #[inline]
    fn complete(self) {}

    #[inline]
    fn full(&self) -> bool {
        false
    }
}

impl Reducer<()> for Nothing {
    #[inline]
    fn reduce(self, _left: (), _right: ()) {}
}
