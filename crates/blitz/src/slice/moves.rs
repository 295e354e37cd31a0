//! Reversing, rotating, filling and copying: nothing but moves.
//!
//! Elements are moved bit by bit, and no user code runs in between (except `clone` in `fill`, which works on whole elements). So
//! every element is in its slice exactly once at the end, and nothing can panic halfway. Where stopping halfway would lose elements, nothing is stopped
//! either ([`uncancelled`]).

use super::sort::partition::swap_in_parallel;
use super::sort::raw::Scratch;
use super::sort::runs::reverse_in_parallel;
use crate::engine::primitives::SyncPtr;
use crate::engine::{current_num_threads, uncancelled};
use crate::iter::{IntoParallelIterator, ParallelIterator};
use crate::math::stripe;
use crate::ops::pieces::for_each_part;
use std::ops::Range;
use std::ptr;

/// Slices of fewer bytes are left to the standard library: nobody would come to help in time.
const SHORT_BYTES: usize = 128 << 10;

fn is_short<T>(v: &[T]) -> bool {
    size_of_val(v) <= SHORT_BYTES || current_num_threads() == 1
}

pub(super) fn reverse<T: Send>(v: &mut [T]) {
    if is_short(v) {
        return v.reverse();
    }
    reverse_in_parallel(v);
}

pub(super) fn fill<T: Clone + Send + Sync>(v: &mut [T], value: T) {
    for_each_part(v, |_, part| part.fill(value.clone()));
}

pub(super) fn copy<T: Copy + Send + Sync>(v: &mut [T], source: &[T]) {
    assert_eq!(
        v.len(),
        source.len(),
        "par_copy: source and target must have the same length"
    );
    for_each_part(v, |start, part| {
        part.copy_from_slice(&source[start..start + part.len()]);
    });
}

/// Moves the first `middle` elements behind the others.
///
/// As long as both sides are long, the shorter one changes places with as many elements at the other end, which brings these to
/// where they belong. Once one side is short, everything else moves over by its length: stripe by stripe at the same time,
/// after every stripe's edge has been put aside for its neighbour.
pub(super) fn rotate_left<T: Send>(mut v: &mut [T], mut middle: usize) {
    let len = v.len();
    assert!(
        middle <= len,
        "rotation by {middle} is beyond a slice of {len}"
    );
    loop {
        let (left, right) = (middle, v.len() - middle);
        if left == 0 || right == 0 {
            return;
        }
        if is_short(v) {
            return v.rotate_left(middle);
        }
        if left.min(right) < v.len() / 8 {
            return shift(v, left, right);
        }
        if left <= right {
            let (rest, end) = v.split_at_mut(right);
            swap_in_parallel(&mut rest[..left], end);
            v = rest;
        } else {
            let (start, rest) = v.split_at_mut(right);
            let end = rest.len() - right;
            swap_in_parallel(start, &mut rest[end..]);
            (v, middle) = (rest, left - right);
        }
    }
}

/// Rotates by the shorter of the two sides, which is less than an eighth of the slice and not empty.
fn shift<T: Send>(v: &mut [T], left: usize, right: usize) {
    let (len, by, to_the_left) = (v.len(), left.min(right), left <= right);
    // Stripes are at least four times as long as what moves across their edges.
    let stripes = (len / (4 * by)).min(4 * current_num_threads()).max(2);
    let stripe = |i: usize| stripe(len, stripes, i);
    // The edge that leaves a stripe: its first elements if everything moves to the left, else its last.
    let edge = |i: usize| match to_the_left {
        true => stripe(i).start,
        false => stripe(i).end - by,
    };
    let mut scratch = Scratch::<T>::new(stripes * by);
    // SAFETY: memory for that many elements that nobody else knows of and that lives longer than the pointer.
    let aside = unsafe { SyncPtr::from_raw_parts(scratch.as_mut_ptr(), stripes * by) };
    let all = SyncPtr::new(v);
    // SAFETY: every stripe is at least `by` long and every call touches its own edge and its own part of the scratch. The edges
    // are moved out, and are overwritten below.
    (0..stripes).into_par_iter().for_each(|i| unsafe {
        ptr::copy_nonoverlapping(all.ptr_at(edge(i)), aside.ptr_at(i * by), by);
    });
    // SAFETY: every call touches its own stripe, whose elements move over by the edge that has been moved out; the gap is
    // filled with the edge of the neighbour from which elements come, each of them used once. So all elements are in the
    // slice again, once.
    let move_over = |i| unsafe {
        let Range { start, end } = stripe(i);
        let kept = end - start - by;
        if to_the_left {
            ptr::copy(all.ptr_at(start + by), all.ptr_at(start), kept);
            let from = aside.ptr_at((i + 1) % stripes * by);
            ptr::copy_nonoverlapping(from, all.ptr_at(end - by), by);
        } else {
            ptr::copy(all.ptr_at(start), all.ptr_at(start + by), kept);
            let from = aside.ptr_at((i + stripes - 1) % stripes * by);
            ptr::copy_nonoverlapping(from, all.ptr_at(start), by);
        }
    };
    uncancelled(|| (0..stripes).into_par_iter().for_each(move_over));
}
