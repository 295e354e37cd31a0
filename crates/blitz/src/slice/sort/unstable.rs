//! The unstable comparison sort: quicksort in place, whose large partitions run on several threads. The standard
//! library sorts the leaves. What a thread sorts alone may be nearly sorted ([`nearly`]), or have elements that are expensive to compare ([`multiway`]) or to move
//! ([`leaf`]). Extra memory: up to a megabyte per thread, however long the slice is.
//!
//! One round on a long slice:
//! 1. A sample is swapped to the front and sorted. Its middle elements become the pivots, one per stripe, so that no two threads
//!    ever compare against the same element (elements need not be `Sync`).
//! 2. The rest is partitioned in parallel, and the upper half of the sample joins the right side.
//! 3. Both sides are sorted in parallel.
//! 4. *Stitching.* Left elements are below the largest pivot, right ones not below the smallest. Between the two, the stripes may have
//!    disagreed. As both sides are sorted now, those elements are the end of the left side and the start of the right side; they
//!    are sorted once more. The pivots are neighbours in the sample, so this concerns about one element in a thousand.
//!
//! Many equal elements show in the sample. Then the pivots are taken among the equal ones, so all stripes agree, and a second
//! partition splits off everything equal to them, which needs no further sorting.
//!
//! Everything moves by swaps of whole elements; user code runs only between them. So panics and contradictory comparators leave a
//! permutation. The number of rounds is bounded, so a comparator that always says "less" ends too.

use super::fork::{both, both_of};
use super::order::Order;
use super::partition::{partition, partition_in_parallel};
use super::plan::{Grain, is_worth_sharing};
use super::{buckets, leaf, multiway, nearly};
use crate::current_num_threads;

/// Sample elements per stripe: the disputed zone is about one part in this many.
const SAMPLE_PER_STRIPE: usize = 256;

/// The sample of a short slice is this part of it.
const SAMPLE_PART: usize = 64;

/// Sorts `v`, not stable, in place, on this thread.
pub(super) fn sort_at_once<T: Send, O: Order<T>>(v: &mut [T], order: &O) {
    if !nearly::sort(v, order) {
        sort_alone(v, order, 2 * v.len().max(1).ilog2());
    }
}

/// Sorts `v`, not stable, in place.
pub(crate) fn quicksort<T, O>(v: &mut [T], order: &O, grain: Grain)
where
    T: Send,
    O: Order<T>,
{
    let rounds = 2 * v.len().max(1).ilog2();
    let threads = current_num_threads();
    sort_rounds(v, order, grain, threads, rounds);
}

/// `threads` is how many threads this slice may count on: it sets the number of stripes.
fn sort_rounds<T, O>(v: &mut [T], order: &O, grain: Grain, threads: usize, rounds: u32)
where
    T: Send,
    O: Order<T>,
{
    // What is nearly sorted takes one thread as long as two levels of partitions do.
    let is_quick_alone = threads as u32 <= v.len().max(1).ilog2() / 2 || v.len() <= grain.leaf;
    if is_quick_alone && nearly::sort(v, order) {
        return;
    }
    // Elements that own memory elsewhere are better dealt out in one pass, by each thread for itself.
    if const { std::mem::needs_drop::<T>() } && rounds > 0 && threads <= 1 {
        if let Some(ends) = multiway::partition(v, order) {
            sort_buckets(v, &ends, 0, order, grain, rounds / 2);
            return;
        }
    }
    if v.len() <= grain.leaf || rounds == 0 || v.len() < 32 {
        sort_alone(v, order, rounds);
        return;
    }
    let stripes = (v.len() / grain.pass.max(1))
        .clamp(1, threads.max(1))
        .min(v.len() / 32);
    let sample_len = (v.len() / SAMPLE_PART).clamp(4 * stripes, stripes * SAMPLE_PER_STRIPE);
    gather_sample(v, sample_len);
    leaf::sort_unstable(&mut v[..sample_len], order);

    // A few values take as many levels as can tell them apart, and that may be too little to be shared.
    let sample = v[..sample_len].windows(2);
    let values = 1 + sample.filter(|x| order.is_less(&x[0], &x[1])).count();
    let levels = (values.ilog2() + 1).min(v.len().ilog2());
    if 2 * values <= sample_len
        && !is_worth_sharing(grain.expected / u64::from(v.len().ilog2()) * u64::from(levels))
    {
        sort_alone(v, order, rounds);
        return;
    }

    let middle = sample_len / 2;
    let (first_equal, past_equal) = equal_range(&v[..sample_len], middle, order);
    let many_equal = past_equal - first_equal >= (sample_len / 8).max(stripes);
    let first_pivot = if many_equal {
        first_equal
    } else {
        middle.saturating_sub(stripes / 2)
    };

    let right_start = {
        let (sample, rest) = v.split_at_mut(sample_len);
        let pivots = &mut sample[first_pivot..first_pivot + stripes];
        let lefts = partition_in_parallel(rest, pivots, &|x, pivot| order.is_less(x, pivot));
        move_upper_sample(v, first_pivot, sample_len, lefts)
    };
    let (left, right) = v.split_at_mut(right_start);

    if many_equal {
        // The right side starts with the equal part of the sample. Everything not above it is equal to it: done.
        let (pivots, others) = right.split_at_mut(stripes);
        let equals =
            stripes + partition_in_parallel(others, pivots, &|x, pivot| !order.is_less(pivot, x));
        let above = &mut right[equals..];
        sort_both(left, above, order, grain, threads, rounds - 1);
    } else {
        sort_both(left, right, order, grain, threads, rounds - 1);
        stitch(v, right_start, order, leaf::sort_unstable);
    }
}

/// Sorts on this thread. Wide elements are cut to pieces that fit the cache first: those are sorted by position.
fn sort_alone<T, O: Order<T>>(mut v: &mut [T], order: &O, mut rounds: u32) {
    const SAMPLE: usize = 31;
    while const { leaf::is_wide::<T>() }
        && v.len() > leaf::longest_piece::<T>().max(16 * SAMPLE)
        && rounds > 0
    {
        rounds -= 1;
        gather_sample(v, SAMPLE);
        leaf::sort_unstable(&mut v[..SAMPLE], order);
        let middle = SAMPLE / 2;
        let (first_equal, past_equal) = equal_range(&v[..SAMPLE], middle, order);
        if past_equal - first_equal > SAMPLE / 8 {
            break;
        }
        let (sample, rest) = v.split_at_mut(SAMPLE);
        let pivot = &sample[middle];
        let lefts = partition(rest, &mut |x| order.is_less(x, pivot));
        let right_start = move_upper_sample(v, middle, SAMPLE, lefts);
        let (left, right) = v.split_at_mut(right_start);
        sort_alone(left, order, rounds);
        v = right;
    }
    leaf::sort_unstable(v, order);
}

/// Sorts buckets in parallel; `ends` says where each one ends, `v` starts at `start`.
fn sort_buckets<T, O>(
    v: &mut [T],
    ends: &[usize],
    start: usize,
    order: &O,
    grain: Grain,
    rounds: u32,
) where
    T: Send,
    O: Order<T>,
{
    if ends.len() <= 1 {
        sort_rounds(v, order, grain, 1, rounds);
        return;
    }
    let (near, far, border) = buckets::halves(ends, start);
    let (left, right) = v.split_at_mut(border - start);
    both(
        || sort_buckets(left, near, start, order, grain, rounds),
        || sort_buckets(right, far, border, order, grain, rounds),
    );
}

fn sort_both<T, O>(
    left: &mut [T],
    right: &mut [T],
    order: &O,
    grain: Grain,
    threads: usize,
    rounds: u32,
) where
    T: Send,
    O: Order<T>,
{
    // Threads are shared out by length, so the number of stripes shrinks with the slices.
    let total = (left.len() + right.len()).max(1);
    let share = |len: usize| ((threads * len + total / 2) / total).max(1);
    let (for_left, for_right) = (share(left.len()), share(right.len()));
    both_of(
        grain.expected,
        || sort_rounds(left, order, grain, for_left, rounds),
        || sort_rounds(right, order, grain, for_right, rounds),
    );
}

/// Swaps `count` elements from all over the slice to its front: one from a pseudo-random place in each of `count` equal parts.
pub(super) fn gather_sample<T>(v: &mut [T], count: usize) {
    for (i, place) in buckets::sample(v.len(), count).enumerate() {
        // At or after `i`, and in a part that no earlier sample came from.
        v.swap(i, place);
    }
}

/// The range of elements of a sorted sample that are equal to the one at `at`.
fn equal_range<T, O: Order<T>>(sample: &[T], at: usize, order: &O) -> (usize, usize) {
    let pivot = &sample[at];
    let first = sample[..at].partition_point(|x| order.is_less(x, pivot));
    let past = at + 1 + sample[at + 1..].partition_point(|x| !order.is_less(pivot, x));
    (first, past)
}

/// `v` is a sorted sample, then `lefts` elements that go left, then those that go right. Moves the sample from `first_upper` on
/// to the start of the right side; returns where that side starts now.
pub(super) fn move_upper_sample<T>(
    v: &mut [T],
    first_upper: usize,
    sample_len: usize,
    lefts: usize,
) -> usize {
    let upper = sample_len - first_upper;
    let right_start = first_upper + lefts;
    if lefts >= upper {
        let (front, left_end) = v.split_at_mut(right_start);
        front[first_upper..sample_len].swap_with_slice(&mut left_end[..upper]);
    } else {
        v[first_upper..sample_len + lefts].rotate_left(upper);
    }
    right_start
}

/// Makes one sorted slice of two sorted sides, of which only neighbours of the border are out of order: finds them and sorts them
/// with `sort`. Stable if `sort` is.
pub(super) fn stitch<T, O: Order<T>>(
    v: &mut [T],
    border: usize,
    order: &O,
    sort: fn(&mut [T], &O),
) {
    let (left, right) = v.split_at(border);
    let (Some(last), Some(first)) = (left.last(), right.first()) else {
        return;
    };
    if !order.is_less(first, last) {
        return;
    }
    let start = left.partition_point(|x| !order.is_less(first, x));
    let end = border + right.partition_point(|x| order.is_less(x, last));
    sort(&mut v[start..end], order);
}
