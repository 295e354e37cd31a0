//! Sorted slices: is it one, merge two, search one for many values.

use super::sort::merge::co_rank;
use crate::iter::{IntoParallelRefIterator, ParallelIterator};
use crate::ops::build::{Filler, build};
use crate::ops::pieces::pieces;
use std::cmp::Ordering;

/// Is every piece of the slice sorted, as `is_sorted` judges? Pieces overlap by one element. Stops soon after the first that is not.
pub(super) fn all_pieces<T, F>(v: &[T], is_sorted: F) -> bool
where
    T: Sync,
    F: Fn(&[T]) -> bool + Sync + Send,
{
    // A piece of pairs, each named by its left element.
    let pairs = 0..v.len().saturating_sub(1);
    pieces(pairs).all(|part| is_sorted(&v[part.start..=part.end]))
}

/// Does `in_order` hold for all neighbours?
pub(super) fn is_sorted_by<T>(v: &[T], in_order: &impl Fn(&T, &T) -> bool) -> bool {
    /// Pairs that are looked at in one go, without a branch for each.
    const PAIRS: usize = 32;
    let mut left = v;
    while left.len() > PAIRS {
        let pairs = left[..=PAIRS].windows(2);
        if !pairs.fold(true, |so_far, pair| so_far & in_order(&pair[0], &pair[1])) {
            return false;
        }
        left = &left[PAIRS..];
    }
    left.is_sorted_by(in_order)
}

/// The elements of two sorted slices in order; of equal ones, those of `left` come first.
///
/// Every piece of the result finds out by itself where in the two slices it begins.
pub(super) fn merge<T, F>(left: &[T], right: &[T], compare: &F) -> Vec<T>
where
    T: Clone + Send + Sync,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    build(left.len() + right.len(), |range, filler| {
        let from_left = co_rank(left.len(), right.len(), range.start, |r, l| {
            compare(&right[r], &left[l]).is_lt()
        });
        let (left, right) = (&left[from_left..], &right[range.start - from_left..]);
        merge_some(left, right, range.len(), compare, filler);
    })
}

/// Pushes the first `count` elements of the merged slices; there are as many.
fn merge_some<T, F>(left: &[T], right: &[T], count: usize, compare: &F, filler: &mut Filler<'_, T>)
where
    T: Clone,
    F: Fn(&T, &T) -> Ordering,
{
    let (mut l, mut r) = (0, 0);
    let mut ahead = count;
    // No branch depends on the comparison: which head is taken is arithmetic.
    while ahead > 0 && l < left.len() && r < right.len() {
        let take_right = compare(&right[r], &left[l]).is_lt();
        let head = if take_right { &right[r] } else { &left[l] };
        filler.push(head.clone());
        r += usize::from(take_right);
        l += usize::from(!take_right);
        ahead -= 1;
    }
    let rest = if l < left.len() {
        &left[l..]
    } else {
        &right[r..]
    };
    filler.push_all(&rest[..ahead], T::clone);
}

/// Where each of the queries is in a sorted slice, or could be inserted.
pub(super) fn binary_search_batch<T>(v: &[T], queries: &[T]) -> Vec<Result<usize, usize>>
where
    T: Ord + Sync,
{
    let found = queries.par_iter().map(|query| v.binary_search(query));
    found.collect()
}
