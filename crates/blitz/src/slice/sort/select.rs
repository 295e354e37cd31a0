//! Selection: the element that a sort would put at an index, without sorting.
//!
//! A round on a long slice works as follows (after Floyd and Rivest). A sorted sample says between which two of its elements the wanted one
//! lies, with a safety margin. Everything below the lower one and above the upper one is partitioned away, in parallel. What
//! is left is about a tenth of the slice. After two rounds at most, the standard library finishes alone.
//!
//! Many equal elements show in the sample. If the two pivots are equal, so is everything between them, and the search is done.
//!
//! Everything moves by swaps of whole elements, so panics and contradictory comparators leave a permutation, and the number of
//! rounds is bounded.

use super::partition::partition_in_parallel;
use super::plan::{Plan, plan};
use super::unstable::{gather_sample, move_upper_sample};
use crate::current_num_threads;
use std::cmp::Ordering;

/// Elements of the sample.
const SAMPLE: usize = 1024;

/// How far the pivots are from the estimated place, in the sample: three standard deviations of the estimate at most.
const MARGIN: usize = 48;

/// No more rounds than this: each should leave a tenth, so a comparator that makes it more is none.
const ROUNDS: usize = 8;

/// Brings the element that belongs at `index` there, smaller ones before it and larger ones behind it.
///
/// # Panics
/// When `index` is out of bounds, and with the panics of `compare`.
pub(crate) fn select_nth<T, F>(v: &mut [T], index: usize, compare: &F)
where
    T: Send + Sync,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    let len = v.len();
    assert!(
        index < len,
        "select_nth: index {index} is out of bounds of a slice of {len}"
    );
    let is_less = |a: &T, b: &T| compare(a, b).is_lt();
    let Plan::Parallel(grain) = plan(v, &is_less) else {
        v.select_nth_unstable_by(index, compare);
        return;
    };
    let alone = (8 * grain.pass).max(4 * SAMPLE);
    let (mut part, mut index) = (v, index);
    for _ in 0..ROUNDS {
        if part.len() <= alone {
            break;
        }
        let stripes = (part.len() / grain.pass).clamp(1, current_num_threads());
        let (from, to, all_equal) = narrow(part, index, stripes, compare);
        if all_equal {
            return;
        }
        part = &mut part[from..to];
        index -= from;
    }
    part.select_nth_unstable_by(index, compare);
}

/// One round: returns the range in which the wanted element lies, and whether all in it are equal. Elements before the range
/// are not greater than those in it, elements behind it not smaller.
fn narrow<T, F>(v: &mut [T], index: usize, stripes: usize, compare: &F) -> (usize, usize, bool)
where
    T: Send + Sync,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    let len = v.len();
    gather_sample(v, SAMPLE);
    v[..SAMPLE].sort_unstable_by(compare);
    let place = (index as u128 * SAMPLE as u128 / len as u128) as usize;
    // Near the ends there is nothing worth partitioning away.
    let low = place.checked_sub(MARGIN).filter(|low| *low > 0);
    let high = Some(place + MARGIN).filter(|high| *high < SAMPLE - 1);
    let pivots_are_equal = match (low, high) {
        (Some(low), Some(high)) => compare(&v[low], &v[high]).is_eq(),
        _ => false,
    };

    let first = low.unwrap_or(0);
    let from = match low {
        None => 0,
        Some(low) => split(
            v,
            SAMPLE,
            low,
            stripes,
            |x, low| compare(x, low).is_lt(),
            low,
        ),
    };
    if index < from {
        return (0, from, false);
    }
    let Some(high) = high else {
        return (from, len, false);
    };
    let rest = &mut v[from..];
    let not_greater = |x: &T, high: &T| compare(x, high).is_le();
    let to = from
        + split(
            rest,
            SAMPLE - first,
            high - first,
            stripes,
            not_greater,
            high - first + 1,
        );
    if index < to {
        (from, to, pivots_are_equal)
    } else {
        (to, len, false)
    }
}

/// `v` begins with a sorted sample. Brings those of the others that go left of the sample's element `pivot` before the rest, and
/// the sample from `upper` on between them. Returns where that begins.
fn split<T, F>(
    v: &mut [T],
    sample: usize,
    pivot: usize,
    stripes: usize,
    goes_left: F,
    upper: usize,
) -> usize
where
    T: Send + Sync,
    F: Fn(&T, &T) -> bool + Sync,
{
    let (front, others) = v.split_at_mut(sample);
    let pivot = &front[pivot];
    // One empty pivot per stripe: they all compare with the same one, since elements may be shared here.
    let mut stripes = vec![(); stripes];
    let lefts = partition_in_parallel(others, &mut stripes, &|x, ()| goes_left(x, pivot));
    move_upper_sample(v, upper, sample, lefts)
}
