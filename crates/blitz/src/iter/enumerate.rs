//! `enumerate`: each item with its index.

use super::IndexedParallelIterator;
use super::plumbing::{Folder, Producer};
use crate::delegate::{forward_to_base, indexed_source, wrapping_callback};

/// Pairs each item with its index. Made by [`enumerate`](super::IndexedParallelIterator::enumerate).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let marked: Vec<(usize, char)> = vec!['x', 'y'].into_par_iter().enumerate().collect();
/// assert_eq!(marked, [(0, 'x'), (1, 'y')]);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct Enumerate<I> {
    base: I,
}

impl<I> Enumerate<I> {
    pub(super) fn new(base: I) -> Self {
        Enumerate { base }
    }
}

indexed_source! {
    impl [I: IndexedParallelIterator] Enumerate<I> => (usize, I::Item);
    fn len(self) { self.base.len() }
    fn with_producer(self, callback) { self.base.with_producer(Number { callback }) }
}

wrapping_callback! {
    struct Number {};
    fn wrap(self, base: T) -> (usize, T) { Numbered { base, first: 0 } }
}

/// A producer whose first item has the index `first`.
struct Numbered<P> {
    base: P,
    first: usize,
}

impl<P> Producer for Numbered<P>
where
    P: Producer,
{
    type Item = (usize, P::Item);
    type IntoIter = std::iter::Zip<std::ops::Range<usize>, P::IntoIter>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        // A bounded range, because zipping from the back needs equal lengths.
        let base = self.base.into_iter();
        (self.first..self.first + base.len()).zip(base)
    }

    const MAY_BE_LEFT: bool = P::MAY_BE_LEFT;

    forward_to_base! { min_len max_len wishes }

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self) {
        let (left, right) = self.base.split_at(index);
        (
            Numbered {
                base: left,
                first: self.first,
            },
            Numbered {
                base: right,
                first: self.first + index,
            },
        )
    }

    #[inline]
    fn fold_with<F>(self, folder: F) -> F
    where
        F: Folder<Self::Item>,
    {
        let folder = NumberFolder {
            base: folder,
            next: self.first,
        };
        self.base.fold_with(folder).base
    }
}

struct NumberFolder<F> {
    base: F,
    next: usize,
}

impl<T, F> Folder<T> for NumberFolder<F>
where
    F: Folder<(usize, T)>,
{
    type Result = F::Result;

    const MAY_BE_FULL: bool = F::MAY_BE_FULL;

    #[inline]
    fn consume(self, item: T) -> Self {
        NumberFolder {
            base: self.base.consume((self.next, item)),
            next: self.next + 1,
        }
    }

    #[inline]
    fn consume_iter<I>(self, iter: I) -> Self
    where
        I: IntoIterator<Item = T>,
    {
        let mut next = self.next;
        let base = self.base.consume_iter(iter.into_iter().map(|item| {
            let index = next;
            next += 1;
            (index, item)
        }));
        NumberFolder { base, next }
    }

    #[inline]
    fn complete(self) -> F::Result {
        self.base.complete()
    }

    forward_to_base! { full }
}
