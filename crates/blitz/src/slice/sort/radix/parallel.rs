//! Radix sort of a long slice on several threads: one stable pass over a [`Scale`], then every bucket by itself.
//!
//! [`buckets`] says how the pass deals elements out. Buckets that are themselves long go through the same pass again. So one crowded bucket
//! does not leave the other threads idle.

use super::super::buckets::{self, Stripe, each_stripe, stripes as stripes_of};
use super::super::raw::{Shared, copy_in_parallel};
use super::element::{Element, Places, Reading};
use super::scale::Scale;
use super::sequential::{self, Task};
use crate::engine::demand::join_in_operation;
use crate::engine::is_cancelled;
use crate::math::bucket_starts;

/// How a parallel radix sort cuts its work.
#[derive(Clone, Copy)]
pub(super) struct Cut {
    /// Slices up to this length are sorted by one thread; fits 32 bits.
    pub(super) alone: usize,
    /// Stripes of a parallel pass.
    pub(super) stripes: usize,
    /// May somebody stop the sort? Then the caller looks for that afterwards: what is left are the elements, in some order.
    pub(super) may_be_stopped: bool,
}

/// Stripes shorter than this spend more on their counters than on their elements.
const SHORTEST_STRIPE: usize = 8192;

/// Elements a bucket should have after the pass: what one thread then sorts within its nearest caches.
const BUCKET: usize = 4096;

/// Sorts the elements, stable, by their keys.
///
/// # Safety
/// The source holds elements, the other place is writable, they do not overlap, and nobody else touches them.
pub(super) unsafe fn sort<E: Element, R: Reading<E>>(places: Places<E>, task: Task<R>, cut: Cut) {
    if cut.may_be_stopped && is_cancelled() {
        // SAFETY: the caller's promise.
        unsafe { leave_unsorted(places, task.to_other) };
        return;
    }
    if places.len <= cut.alone {
        // SAFETY: the caller's promise.
        unsafe { sequential::sort(places, task) };
        return;
    }
    if task.levels == 0 {
        // SAFETY: the caller's promise.
        unsafe { sequential::sort_by_comparing(places, task) };
        return;
    }
    let width = (places.len / BUCKET).max(2).ilog2() + 1;
    let Task {
        reading,
        first_word,
        ..
    } = task;
    // SAFETY: the caller's promise; until the buckets are sorted, everybody only reads the elements.
    unsafe {
        let elements = &*places.elements();
        let Some(scale) = Scale::for_elements(elements, reading, first_word, width) else {
            return leave_unsorted(places, task.to_other);
        };
        let target = Shared::new(places.other);
        let starts = spread(elements, reading, target, scale, cut.stripes);
        let within = task.within(scale.word, true);
        sort_buckets(&starts[1..], 0, places.exchanged(), within, cut);
    }
}

/// Only brings the elements to where they are wanted.
///
/// # Safety
/// As for [`sort`].
unsafe fn leave_unsorted<E: Element>(places: Places<E>, to_other: bool) {
    if to_other {
        let (from, to) = (Shared::new(places.source), Shared::new(places.other));
        // SAFETY: the caller's promise.
        unsafe { copy_in_parallel(from, to, places.len) };
    }
}

/// Sorts neighbouring buckets. `ends` holds where each one ends, the first one starts at `start`.
///
/// # Safety
/// As for [`sort`], for the range that the buckets cover.
unsafe fn sort_buckets<E: Element, R: Reading<E>>(
    ends: &[usize],
    start: usize,
    places: Places<E>,
    task: Task<R>,
    cut: Cut,
) {
    /// Elements in neighbouring buckets that one thread sorts without offering some to others.
    const TOGETHER: usize = 8192;

    let Some(&end) = ends.last() else { return };
    if end - start <= TOGETHER || ends.len() == 1 {
        let mut from = start;
        for &to in ends {
            if to > from {
                // SAFETY: buckets are disjoint parts of the caller's range.
                unsafe { sort(places.part(from, to - from), task, cut) };
            }
            from = to;
        }
        return;
    }
    let (near, far, border) = buckets::halves(ends, start);
    // SAFETY: the two groups of buckets are disjoint.
    join_groups((near, start), (far, border), &|ends, start| unsafe {
        sort_buckets(ends, start, places, task, cut);
    });
}

/// Neighbouring buckets: where each one ends, and where the first one starts.
type Group<'a> = (&'a [usize], usize);

/// Runs `sort` on both groups, in parallel. Not generic: a join is some two thousand lines to compile, and what this one forks lasts microseconds at least.
fn join_groups(near: Group, far: Group, sort: &(dyn Fn(&[usize], usize) + Sync)) {
    join_in_operation(|| sort(near.0, near.1), || sort(far.0, far.1));
}

/// Copies every element to its bucket in `target`, keeping the order within buckets; returns where each bucket starts, and where
/// the last one ends.
///
/// # Safety
/// `target` is writable for all elements and overlaps nothing.
unsafe fn spread<E: Element, R: Reading<E>>(
    elements: &[E],
    reading: R,
    target: Shared<E>,
    scale: Scale,
    stripes: usize,
) -> Vec<usize> {
    let count = stripes.min(elements.len() / SHORTEST_STRIPE).max(1);
    let mut stripes = stripes_of(elements.len(), count, scale.buckets());
    each_stripe(&mut stripes, &|stripe| {
        let Stripe { range, places } = stripe;
        for element in &elements[range.clone()] {
            places[scale.of(element, reading)] += 1;
        }
    });
    let starts = bucket_starts(&mut stripes, scale.buckets());
    each_stripe(&mut stripes, &|stripe| {
        let (target, Stripe { range, places }) = (target.get(), stripe);
        for element in &elements[range.clone()] {
            let place = &mut places[scale.of(element, reading)];
            // SAFETY: the sums give every element of every stripe a place of its own below the number of elements. Scales are pure, so this is the place that was counted for it.
            unsafe { target.add(*place).write(*element) };
            *place += 1;
        }
    });
    starts
}
