//! Bringing some elements to the front: partitions, and dropping repeated elements.
//!
//! Stable partitions first ask for every element and write down one flag each. If that panics, nothing has moved. Then blocks
//! count their flags, so each block knows where its elements go. It moves them there through a scratch buffer, without any
//! user code in between.

use super::sort::partition::{partition, partition_in_parallel, swap_in_parallel};
use super::sort::raw::{Scratch, Shared, copy_in_parallel};
use crate::engine::current_num_threads;
use crate::engine::primitives::SyncPtr;
use crate::iter::{IntoParallelIterator, ParallelIterator};
use crate::math::stripe;
use crate::ops::build::build;
use crate::ops::pack::{block, block_starts};
use crate::ops::stopwatch::{Stopwatch, WORTH_HELP_NS};
use crate::slice::ParallelSliceMut;
use std::mem::needs_drop;
use std::ops::Range;
use std::ptr;

/// Brings the elements for which `predicate` holds before the others, both in their order; returns their number.
pub(super) fn partition_stable<T, F>(v: &mut [T], predicate: &F) -> usize
where
    T: Send,
    F: Fn(&T) -> bool + Sync,
{
    let all = SyncPtr::new(v);
    let keep = build(all.len(), |range, filler| {
        // SAFETY: pieces are disjoint parts of the slice, which is borrowed exclusively.
        let part = unsafe { all.slice_from(range.start, range.len()) };
        filler.push_all(part, predicate);
    });
    move_to_front(v, &keep)
}

/// Brings the flagged elements before the others, both in their order; returns their number.
fn move_to_front<T: Send>(v: &mut [T], keep: &[bool]) -> usize {
    let len = v.len();
    assert_eq!(len, keep.len(), "one flag per element");
    let starts = block_starts(keep);
    let kept = starts[starts.len() - 1];
    if kept == 0 || kept == len {
        return kept;
    }
    let mut scratch = Scratch::<T>::new(len);
    let target = Shared::new(scratch.as_mut_ptr());
    let source = Shared::new(v.as_mut_ptr());
    (0..starts.len() - 1).into_par_iter().for_each(|i| {
        let range = block(i, len);
        // As many others come before this block as elements that are not kept.
        let (mut front, mut back) = (starts[i], kept + range.start - starts[i]);
        for element in range {
            let keep = keep[element];
            let place = if keep { front } else { back };
            // SAFETY: the counts give every element a place of its own, below `len`; all of them are moved to the scratch.
            unsafe {
                ptr::copy_nonoverlapping(source.get().add(element), target.get().add(place), 1)
            };
            front += usize::from(keep);
            back += usize::from(!keep);
        }
    });
    // SAFETY: the scratch holds all elements, once, and the slice none; afterwards it is the other way round.
    unsafe { copy_in_parallel(target, source, len) };
    kept
}

/// Elements partitioned before the clock is read.
const FIRST: usize = 4096;

/// Nanoseconds of work that a stripe should have at least.
const STRIPE_NS: f64 = 25_000.0;

/// Brings the elements for which `predicate` holds before the others, in place and in any order; returns their number.
pub(super) fn partition_unstable<T, F>(v: &mut [T], predicate: &F) -> usize
where
    T: Send,
    F: Fn(&T) -> bool + Sync,
{
    let threads = current_num_threads();
    let first = (v.len() / 16).clamp(1, FIRST);
    if threads == 1 || v.len() <= first {
        return partition(v, &mut |x| predicate(x));
    }
    let (near, far) = v.split_at_mut(first);
    let clock = Stopwatch::start();
    let near_kept = partition(near, &mut |x| predicate(x));
    let ns = clock.ns() / first as f64 * far.len() as f64;
    let far_kept = if ns < WORTH_HELP_NS {
        partition(far, &mut |x| predicate(x))
    } else {
        // Stripes are exchanged pairwise afterwards, the more the more of them there are.
        let stripes = ((ns / STRIPE_NS) as usize).clamp(2, threads);
        partition_in_parallel(far, &mut vec![(); stripes], &|x, ()| predicate(x))
    };
    // [kept, others | kept, others]: exchange the inner two, as much as the shorter one has.
    let count = (first - near_kept).min(far_kept);
    swap_in_parallel(
        &mut near[near_kept..][..count],
        &mut far[far_kept - count..far_kept],
    );
    near_kept + far_kept
}

/// Comparisons that take less than this many nanoseconds are no match for moving the elements, which one thread does as fast as
/// memory allows.
const CHEAP_NS: f64 = 1.5;

/// Next to comparisons that take more than this, moving the elements does not count.
const DEAR_NS: f64 = 200.0;

/// Removes every element that is the `same` as the one before it.
///
/// The first comparisons are timed. If they are dear, the others are shared one by one. If not, the vector is cut into stripes, each
/// of which sorts out its repeated elements by itself; then what the stripes keep is moved together. Nothing is dropped before everything is in its place.
/// If `same` panics, elements are in some order; those that need no dropping may be gone.
pub(crate) fn dedup<T, F>(v: &mut Vec<T>, same: &F)
where
    T: Send,
    F: Fn(&T, &T) -> bool + Sync,
{
    let (len, threads) = (v.len(), current_num_threads());
    let first = (len / 16).clamp(1, FIRST);
    if threads == 1 || len <= 2 * first {
        return v.dedup_by(|x, before| same(before, x));
    }
    let clock = Stopwatch::start();
    let first_repeats = v[..=first].windows(2);
    let first_repeats: Vec<bool> = first_repeats.map(|pair| same(&pair[0], &pair[1])).collect();
    let ns_each = clock.ns() / first as f64;
    let ns = ns_each * len as f64;
    if ns < WORTH_HELP_NS.max(CHEAP_NS * len as f64) {
        return v.dedup_by(|x, before| same(before, x));
    }
    if ns_each > DEAR_NS {
        return dedup_dear(v, first_repeats, same);
    }
    let count = ((ns / STRIPE_NS) as usize).clamp(2, 4 * threads).min(len);
    // Whether the first element of a stripe goes is asked while its neighbour is still there.
    let starts: Vec<(usize, bool)> = (0..count)
        .map(|i| {
            let start = stripe(len, count, i).start;
            (start, i > 0 && same(&v[start - 1], &v[start]))
        })
        .collect();
    let plain = !needs_drop::<T>();
    if plain {
        // Plain data is copied, so that some of it is there twice in between. If `same` panics, none is.
        // SAFETY: no elements at all are always initialised, and what is forgotten needs no dropping.
        unsafe { v.set_len(0) };
    }
    // SAFETY: these are the elements of the vector, which is borrowed exclusively and not touched until this is done with.
    let all = unsafe { SyncPtr::from_raw_parts(v.as_mut_ptr(), len) };
    let kept: Vec<usize> = (0..count)
        .into_par_iter()
        .map(|i| {
            // SAFETY: stripes do not overlap, and the vector is borrowed exclusively.
            let stripe = unsafe { all.slice_from(starts[i].0, stripe(len, count, i).len()) };
            if plain {
                // SAFETY: the elements need no dropping, and nobody uses those behind the number returned.
                unsafe { copy_others_to_the_front(stripe, starts[i].1, same) }
            } else {
                repeats_to_the_back(stripe, starts[i].1, same)
            }
        })
        .collect();
    if plain {
        // SAFETY: no user code runs from here on; the parts that are kept hold each element once, and `truncate` cuts off
        // everything else.
        unsafe { v.set_len(len) };
    }
    let mut end = 0;
    for ((start, _), kept) in starts.into_iter().zip(kept) {
        move_forward(v, start..start + kept, end);
        end += kept;
    }
    v.truncate(end);
}

/// [`dedup`] for dear comparisons: each is made once, and nothing moves before all are. The first ones are made already.
fn dedup_dear<T, F>(v: &mut Vec<T>, first_repeats: Vec<bool>, same: &F)
where
    T: Send,
    F: Fn(&T, &T) -> bool + Sync,
{
    // Elements need not be `Sync`, so that at any time each is in one pair at most.
    let flags = |pairs: &mut [T]| -> Vec<bool> {
        let pairs = pairs.par_chunks_exact_mut(2);
        pairs.map(|pair| same(&pair[0], &pair[1])).collect()
    };
    let rest = &mut v[first_repeats.len()..];
    let odd = flags(rest);
    let even = flags(&mut rest[1..]);
    let rest_repeats = (0..odd.len() + even.len()).map(|i| match i % 2 {
        0 => odd[i / 2],
        _ => even[i / 2],
    });
    let mut repeats = std::iter::once(false)
        .chain(first_repeats)
        .chain(rest_repeats);
    v.retain(|_| repeats.next() == Some(false));
}

/// Brings repeated elements behind the others, which stay in order; returns the number of the others. The first element counts as
/// repeated if it `goes`.
///
/// Elements change places, so whatever `same` does, each of them stays in the slice once.
fn repeats_to_the_back<T>(v: &mut [T], goes: bool, same: &impl Fn(&T, &T) -> bool) -> usize {
    // The element before the current one is the last one that was kept, or equal to it; only at the beginning there is none.
    let mut kept = 1;
    for i in 1..v.len() {
        let keep = !same(&v[kept - 1], &v[i]);
        v.swap(kept, i);
        kept += usize::from(keep);
    }
    if goes {
        v[..kept].rotate_left(1);
        kept -= 1;
    }
    kept
}

/// The same for elements that need no dropping, by copying: faster, but copies of some elements are left behind.
///
/// # Safety
/// Elements need no dropping. Afterwards, also after a panic, only those before the number returned may be used.
unsafe fn copy_others_to_the_front<T>(
    v: &mut [T],
    goes: bool,
    same: &impl Fn(&T, &T) -> bool,
) -> usize {
    let start = v.as_mut_ptr();
    let mut kept = usize::from(!goes);
    for i in 1..v.len() {
        // SAFETY: in bounds, as `kept <= i`. The place before `i` still has its element: it was overwritten only if that is
        // where the element itself went.
        unsafe {
            let keep = !same(&*start.add(i - 1), &*start.add(i));
            ptr::copy(start.add(i), start.add(kept), 1);
            kept += usize::from(keep);
        }
    }
    kept
}

/// Moves a range of elements to an earlier place; what is there changes places with them, in any order.
fn move_forward<T>(v: &mut [T], range: Range<usize>, to: usize) {
    if range.start == to {
        return;
    }
    if !needs_drop::<T>() {
        // What is overwritten needs no dropping, and is cut off the vector afterwards.
        // SAFETY: source and target are ranges of the slice. Types that need no dropping may be copied bit by bit, as long as
        // only one of the copies is used; those behind the target are not.
        unsafe {
            ptr::copy(
                v.as_ptr().add(range.start),
                v.as_mut_ptr().add(to),
                range.len(),
            )
        };
        return;
    }
    for (i, from) in range.enumerate() {
        v.swap(to + i, from);
    }
}
