//! The stable sort for elements that are far apart: one multiway partition into buckets that fit the cache, then each bucket.
//!
//! Merging takes a pass over the elements for every doubling of the runs; for strings, every comparison of every pass fetches text
//! from somewhere else in memory. Here each element meets the splitters once, in one go, and they stay in the cache. What follows
//! happens within buckets.
//!
//! 1. *Classify* (parallel): every element's bucket is written down, one byte each. Nothing moves.
//! 2. *Spread* (parallel): elements are copied to their buckets in the scratch buffer, in order. No user code.
//! 3. *Sort* (parallel): every bucket is brought home and sorted by the standard library. Where neighbouring buckets overlap (see
//!    [`splitters`]), the overlap is merged.
//!
//! A panic in step 1 finds everything in place but the splitters, which their trees bring back. From step 2 on, [`Region`]s know where
//! the elements are and bring them home. The last step is right whatever the splitters are: it merges all that is out of order.

mod splitters;

use self::splitters::Tree;
use super::buckets::{self, Stripe, each_stripe};
use super::fork::both;
use super::leaf;
use super::order::{By, Order};
use super::plan::Grain;
use super::raw::{Scratch, Shared};
use super::runs;
use super::stable::{Region, merge_sort};
use super::unstable::stitch;
use crate::current_num_threads;
use crate::math::{bucket_starts, stripe};
use std::cmp::Ordering;
use std::ops::Range;
use std::ptr;

/// Buckets at most; their numbers fit a byte.
const MOST_BUCKETS: usize = 256;

/// Sample elements per bucket and stripe. One part in this many of a bucket is what two stripes disagree about.
const SAMPLE_RATE: usize = 12;

/// Bytes of elements that a bucket should hold.
const BUCKET_BYTES: usize = 48 << 10;

/// How the slice is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cut {
    len: usize,
    /// Parts that are classified independently, each with splitters of its own.
    stripes: usize,
    /// A power of two.
    buckets: usize,
}

impl Cut {
    /// Nothing if the slice is too short to be worth it.
    fn choose<T>(len: usize, threads: usize) -> Option<Cut> {
        /// Fewer buckets than this are better made by merging.
        const FEWEST_BUCKETS: usize = 8;
        /// Elements that a stripe should have at least.
        const SHORTEST_STRIPE: usize = 16 << 10;

        // Slices that fit the caches are merged as fast. Elements with a destructor usually own memory elsewhere, so they fill the
        // caches sooner than their size says.
        let owns_memory = std::mem::needs_drop::<T>();
        let smallest: usize = if owns_memory { 1 << 20 } else { 12 << 20 };
        let bytes = len.saturating_mul(size_of::<T>());
        if bytes < smallest {
            return None;
        }
        let stripes = threads.min(len / SHORTEST_STRIPE).max(1);
        let wanted = bytes / BUCKET_BYTES;
        // The sample is at most an eighth of the slice.
        let affordable = len / (8 * SAMPLE_RATE * stripes);
        let buckets = wanted.min(affordable).min(MOST_BUCKETS);
        (buckets >= FEWEST_BUCKETS).then(|| Cut {
            len,
            stripes,
            buckets: 1 << buckets.ilog2(),
        })
    }

    fn sample_len(self) -> usize {
        self.buckets * self.stripes * SAMPLE_RATE
    }

    fn stripe(self, index: usize) -> Range<usize> {
        stripe(self.len, self.stripes, index)
    }

    /// Rank, in the sorted sample, of a stripe's splitter in front of `bucket`: the first stripe has the largest.
    fn rank(self, stripe: usize, bucket: usize) -> usize {
        bucket * self.stripes * SAMPLE_RATE + self.stripes / 2 - stripe
    }
}

/// Sorts `v`, stable, if its elements look well mixed and mostly different; says whether it did.
pub(super) fn sort<T, O>(v: &mut [T], order: &O, grain: Grain) -> bool
where
    T: Send,
    O: Order<T>,
{
    let Some(cut) = Cut::choose::<T>(v.len(), current_num_threads()) else {
        return false;
    };
    if runs::is_mostly_runs(v, &|a, b| order.is_less(a, b)) {
        return false;
    }
    let ranked = ranked_sample(v, cut, order);
    if looks_repetitive(v, &ranked, cut, order) {
        return false;
    }
    let mut ids = vec![0; v.len()];
    classify(v, &ranked, cut, &mut ids, order);

    let mut stripes = buckets::stripes(v.len(), cut.stripes, MOST_BUCKETS);
    each_stripe(&mut stripes, &|Stripe { range, places }| {
        for &id in &ids[range.clone()] {
            places[usize::from(id)] += 1;
        }
    });
    let starts = bucket_starts(&mut stripes, cut.buckets);
    let mut scratch = Scratch::new(v.len());
    let (home, away) = (
        Shared::new(v.as_mut_ptr()),
        Shared::new(scratch.as_mut_ptr()),
    );
    // SAFETY: the places are those of `ids`, which has a bucket for every element of `v`; the scratch buffer is as long as `v`. Then
    // all elements are in the scratch buffer, each one once.
    let mut all = unsafe {
        spread(&mut stripes, home, &ids, away);
        Region::new(home, away, v.len(), true)
    };
    drop(ids);
    sort_buckets(&mut all, &starts[1..], 0, order, grain);
    true
}

/// Positions all over the slice, in the order of their elements.
fn ranked_sample<T, O>(v: &mut [T], cut: Cut, order: &O) -> Vec<usize>
where
    T: Send,
    O: Order<T>,
{
    let mut positions: Vec<usize> = buckets::sample(v.len(), cut.sample_len()).collect();
    let base = Shared::new(v.as_mut_ptr());
    // SAFETY: positions are within the slice and distinct, one per part. The sort gives every position to one thread at a time, so no
    // element is visible to two; `v` is borrowed exclusively.
    let element = |position: &usize| unsafe { &*base.get().add(*position) };
    sort_positions(&mut positions, &|a, b| {
        order.is_less(element(a), element(b))
    });
    positions
}

/// Sorts the sample. Behind a pointer, so that this sort within the sort is compiled once and not for every order; the sample's elements are
/// all over memory, so looking at two of them takes longer than the call.
fn sort_positions(positions: &mut [usize], is_less: &(dyn Fn(&usize, &usize) -> bool + Sync)) {
    super::sort_unstable(
        positions,
        &By(|a: &usize, b: &usize| {
            if is_less(a, b) {
                Ordering::Less
            } else {
                Ordering::Greater
            }
        }),
    );
}

/// Whether many splitters would be equal: then many elements are, and merging is as good.
fn looks_repetitive<T, O: Order<T>>(v: &[T], ranked: &[usize], cut: Cut, order: &O) -> bool {
    let splitter = |bucket: usize| &v[ranked[cut.rank(0, bucket)]];
    let equal = (2..cut.buckets)
        .filter(|&bucket| !order.is_less(splitter(bucket - 1), splitter(bucket)))
        .count();
    equal > cut.buckets / 8
}

/// Writes the bucket of every element to `ids`.
fn classify<T, O>(v: &mut [T], ranked: &[usize], cut: Cut, ids: &mut [u8], order: &O)
where
    T: Send,
    O: Order<T>,
{
    let base = Shared::new(v.as_mut_ptr());
    let is_less = |a: &T, b: &T| order.is_less(a, b);
    let mut taken = Vec::new();
    let mut trees: Vec<Tree<T>> = (0..cut.stripes)
        .map(|stripe| {
            let splitters: Vec<usize> = (1..cut.buckets)
                .map(|bucket| ranked[cut.rank(stripe, bucket)])
                .collect();
            taken.extend_from_slice(&splitters);
            // SAFETY: sample positions are distinct and so are ranks, so every splitter is in one tree only; the places they came from
            // are in `taken` and looked at by nobody before the trees are gone.
            unsafe { Tree::new(base, &splitters) }
        })
        .collect();
    super::sort_places(&mut taken);
    classify_stripes(base, 0, &mut trees, &taken, cut, ids, &is_less);

    // The splitters themselves, each by the tree of the stripe that it lies in. This thread has them all now.
    for tree in &trees {
        for (home, splitter) in tree.splitters() {
            let stripe = (0..cut.stripes)
                .find(|&stripe| cut.stripe(stripe).contains(&home))
                .unwrap_or_default();
            ids[home] = trees[stripe].bucket(splitter, &is_less);
        }
    }
}

/// Classifies the stripes from number `first` on, one per tree, all but the positions in `taken`. `ids` starts with the first stripe.
fn classify_stripes<T, F>(
    base: Shared<T>,
    first: usize,
    trees: &mut [Tree<T>],
    taken: &[usize],
    cut: Cut,
    ids: &mut [u8],
    is_less: &F,
) where
    T: Send,
    F: Fn(&T, &T) -> bool + Sync,
{
    if let [tree] = trees {
        let range = cut.stripe(first);
        let inside = taken.partition_point(|at| *at < range.start)
            ..taken.partition_point(|at| *at < range.end);
        let mut from = range.start;
        for &to in taken[inside].iter().chain([&range.end]) {
            // SAFETY: within this stripe and between splitters, which nobody else looks at.
            let elements = unsafe { std::slice::from_raw_parts(base.get().add(from), to - from) };
            tree.classify(
                elements,
                &mut ids[from - range.start..to - range.start],
                is_less,
            );
            from = to + 1;
        }
        return;
    }
    let half = trees.len() / 2;
    let (near, far) = trees.split_at_mut(half);
    let (near_ids, far_ids) =
        ids.split_at_mut(cut.stripe(first + half).start - cut.stripe(first).start);
    both(
        || classify_stripes(base, first, near, taken, cut, near_ids, is_less),
        || classify_stripes(base, first + half, far, taken, cut, far_ids, is_less),
    );
}

/// Copies every element to its place.
///
/// # Safety
/// The stripes have a place for each element of each of these ids; both memories have room for all elements and are nobody else's.
unsafe fn spread<T: Send>(stripes: &mut [Stripe], from: Shared<T>, ids: &[u8], to: Shared<T>) {
    each_stripe(stripes, &|Stripe { range, places }| {
        for position in range.clone() {
            let place = &mut places[usize::from(ids[position])];
            // SAFETY: every element of every stripe has a place of its own.
            unsafe { ptr::copy_nonoverlapping(from.get().add(position), to.get().add(*place), 1) };
            *place += 1;
        }
    });
}

/// Sorts the buckets of a region that is away; `ends` says where each one ends, the region starts at `start`. Then it is at home.
fn sort_buckets<T, O>(region: &mut Region<T>, ends: &[usize], start: usize, order: &O, grain: Grain)
where
    T: Send,
    O: Order<T>,
{
    if ends.len() <= 1 {
        let bucket = region.bring_home();
        if bucket.len() <= grain.leaf {
            leaf::sort_stable(bucket, order)
        } else {
            merge_sort(bucket, order, grain)
        }
        return;
    }
    let (near, far, border) = buckets::halves(ends, start);
    let (mut left, mut right) = region.split_at(border - start);
    both(
        || sort_buckets(&mut left, near, start, order, grain),
        || sort_buckets(&mut right, far, border, order, grain),
    );
    stitch(
        region.bring_home(),
        border - start,
        order,
        leaf::sort_stable,
    );
}
