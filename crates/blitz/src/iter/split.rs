//! `split`: any data that a closure can cut in two.

use super::plumbing::{Folder, UnindexedProducer};
use super::stage::debug_fields;
use crate::delegate::unindexed_source;

/// A parallel iterator over the pieces of `data`, cut by `splitter` as often as there is use for it.
///
/// The splitter returns both halves, or the whole and `None` when the data should not be cut further. Each piece that is
/// left in the end is one item. How far it is cut depends on who is there to help, so the number of items varies.
///
/// # Examples
///
/// A sum over the halves of a range:
///
/// ```
/// use blitz::prelude::*;
/// use std::ops::Range;
///
/// fn halves(range: Range<u64>) -> (Range<u64>, Option<Range<u64>>) {
///     if range.end - range.start < 10 {
///         return (range, None);
///     }
///     let middle = (range.start + range.end) / 2;
///     (range.start..middle, Some(middle..range.end))
/// }
///
/// let total: u64 = blitz::iter::split(0..1000, halves).map(|piece| piece.sum::<u64>()).sum();
/// assert_eq!(total, 499_500);
/// ```
pub fn split<D, S>(data: D, splitter: S) -> Split<D, S>
where
    D: Send,
    S: Fn(D) -> (D, Option<D>) + Sync,
{
    Split { data, splitter }
}

/// Yields the pieces into which a closure cuts some data. Made by [`split`].
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let whole: blitz::iter::Split<i32, _> = blitz::iter::split(5, |n| (n, None));
/// assert_eq!(whole.collect::<Vec<_>>(), [5]);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Clone)]
pub struct Split<D, S> {
    data: D,
    splitter: S,
}

debug_fields! { Split[D, S] shows data: D }

unindexed_source! {
    impl [D: Send, S: Fn(D) -> (D, Option<D>) + Sync + Send] Split<D, S> => D;
    fn size(_this) { 1 }
    fn producer(self) { Piece { data: self.data, splitter: &self.splitter } }
}

struct Piece<'s, D, S> {
    data: D,
    splitter: &'s S,
}

impl<D, S> UnindexedProducer for Piece<'_, D, S>
where
    D: Send,
    S: Fn(D) -> (D, Option<D>) + Sync,
{
    type Item = D;

    fn split(self) -> (Self, Option<Self>) {
        let splitter = self.splitter;
        let (left, right) = splitter(self.data);
        (
            Piece {
                data: left,
                splitter,
            },
            right.map(|data| Piece { data, splitter }),
        )
    }

    fn fold_with<F>(self, folder: F) -> F
    where
        F: Folder<D>,
    {
        folder.consume(self.data)
    }
}
