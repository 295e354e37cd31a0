//! Radix sort of a long slice on several threads: one stable pass over a [`Scale`], then every bucket by itself.
//!
//! The pass cuts the slice into stripes. Each stripe counts its elements per bucket. The counts are added up bucket by bucket and stripe
//! by stripe, which gives every stripe its own places in every bucket. So all stripes write at once without asking each other, and
//! elements of a bucket keep their order. Buckets that are themselves long go through the same pass again. So one crowded bucket
//! does not leave the other threads idle.

use super::super::raw::{Shared, copy_in_parallel};
use super::element::{Element, Places, Reading};
use super::scale::Scale;
use super::sequential::{self, Task};
use crate::engine::demand::join_in_operation;
use crate::engine::is_cancelled;
use std::ops::Range;

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
        let ends = spread(elements, reading, target, scale, cut.stripes);
        let within = task.within(scale.word, true);
        sort_buckets(&ends, 0, places.exchanged(), within, cut);
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
    // Cut where half of the elements are, but leave at least one bucket on each side.
    let middle = ends
        .partition_point(|&at| at <= start + (end - start) / 2)
        .clamp(1, ends.len() - 1);
    let (near, far) = ends.split_at(middle);
    let border = near[middle - 1];
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

/// Copies every element to its bucket in `target`, keeping the order within buckets; returns where each bucket ends.
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
    let mut stripes = Stripe::cut(elements.len(), stripes);
    each_stripe(&mut stripes, &|stripe| {
        stripe.count(elements, reading, scale)
    });
    let mut next = 0;
    let ends = (0..scale.buckets())
        .map(|bucket| {
            for stripe in &mut stripes {
                next += std::mem::replace(&mut stripe.places[bucket], next);
            }
            next
        })
        .collect();
    // SAFETY: the sums give every element of every stripe a place of its own below the number of elements.
    each_stripe(&mut stripes, &|stripe| unsafe {
        stripe.spread(elements, reading, scale, target)
    });
    ends
}

/// A part of the slice and, per bucket, first the number of its elements, then the next free place for them.
struct Stripe {
    range: Range<usize>,
    places: Vec<usize>,
}

impl Stripe {
    /// Equal stripes of a slice of `len` elements, at most `count`.
    fn cut(len: usize, count: usize) -> Vec<Stripe> {
        let count = count.min(len / SHORTEST_STRIPE).max(1);
        let position = |i: usize| (len as u128 * i as u128 / count as u128) as usize;
        (0..count)
            .map(|i| Stripe {
                range: position(i)..position(i + 1),
                places: Vec::new(),
            })
            .collect()
    }

    fn count<E, R: Reading<E>>(&mut self, elements: &[E], reading: R, scale: Scale) {
        let mut counts = vec![0; scale.buckets()];
        for element in &elements[self.range.clone()] {
            counts[scale.of(element, reading)] += 1;
        }
        self.places = counts;
    }

    /// # Safety
    /// The places are those set aside for this stripe's elements in `target`, by the same scale.
    unsafe fn spread<E: Element, R: Reading<E>>(
        &mut self,
        elements: &[E],
        reading: R,
        scale: Scale,
        target: Shared<E>,
    ) {
        let target = target.get();
        let places = &mut *self.places;
        for element in &elements[self.range.clone()] {
            let place = &mut places[scale.of(element, reading)];
            // SAFETY: scales are pure, so this is the place that was counted for the element.
            unsafe { target.add(*place).write(*element) };
            *place += 1;
        }
    }
}

/// Runs `work` on every stripe, in parallel.
fn each_stripe(stripes: &mut [Stripe], work: &(dyn Fn(&mut Stripe) + Sync)) {
    if let [stripe] = stripes {
        work(stripe);
        return;
    }
    let (near, far) = stripes.split_at_mut(stripes.len() / 2);
    join_in_operation(|| each_stripe(near, work), || each_stripe(far, work));
}
