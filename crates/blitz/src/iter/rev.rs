//! `rev`: the same items from the back.

use super::IndexedParallelIterator;
use super::plumbing::Producer;
use crate::delegate::{forward_to_base, indexed_source, wrapping_callback};

/// Yields the items in reverse order. Made by [`rev`](super::IndexedParallelIterator::rev).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let countdown: Vec<i32> = (1..4).into_par_iter().rev().collect();
/// assert_eq!(countdown, [3, 2, 1]);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct Rev<I> {
    base: I,
}

impl<I> Rev<I> {
    pub(super) fn new(base: I) -> Self {
        Rev { base }
    }
}

indexed_source! {
    impl [I: IndexedParallelIterator] Rev<I> => I::Item;
    fn len(self) { self.base.len() }
    fn with_producer(self, callback) {
        let len = self.base.len();
        self.base.with_producer(Reverse { callback, len })
    }
}

wrapping_callback! {
    struct Reverse { len: usize };
    fn wrap(self, base: T) -> T { Reversed { base, len: self.len } }
}

/// A producer read from the back. The base does not know its length, so it is kept here.
struct Reversed<P> {
    base: P,
    len: usize,
}

impl<P> Producer for Reversed<P>
where
    P: Producer,
{
    type Item = P::Item;
    type IntoIter = std::iter::Rev<P::IntoIter>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.base.into_iter().rev()
    }

    const MAY_BE_LEFT: bool = P::MAY_BE_LEFT;

    forward_to_base! { min_len max_len wishes }

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self) {
        let (front, back) = self.base.split_at(self.len - index);
        (
            Reversed {
                base: back,
                len: index,
            },
            Reversed {
                base: front,
                len: self.len - index,
            },
        )
    }
}
