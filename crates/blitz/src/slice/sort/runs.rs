//! Input that is already in order, or in exactly the opposite order.
//!
//! The standard sorts notice a slice that is one run and do nothing (or reverse it). So do ours, on several threads: a short look
//! from the front decides whether the slice may be one run at all, and only then the rest is checked in parallel, giving up as
//! soon as any part finds a break. On random input this costs two or three comparisons.
//!
//! A comparator that contradicts itself can at most make us call something a run that is none. Nothing moves but whole swaps, so
//! the slice stays a permutation whatever happens.

use super::raw::Shared;
use crate::join;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

/// Elements looked at on the calling thread before anyone else is asked.
const FIRST_LOOK: usize = 2048;

/// How many pairs are checked between two looks at the flag that says another part has found a break.
const BLOCK: usize = 1024;

/// What the slice as a whole is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    /// Never `v[i + 1] < v[i]`.
    NonDescending,
    /// Always `v[i + 1] < v[i]`; reversing such a run keeps equal elements in order, since there are none.
    StrictlyDescending,
}

/// Puts `v` in order if it is a single run, ascending or strictly descending; says whether it was.
///
/// Safe for stable sorts. `pass` is how many elements one thread should check alone.
pub(crate) fn finish_if_single_run<T, F>(v: &mut [T], is_less: &F, pass: usize) -> bool
where
    T: Send,
    F: Fn(&T, &T) -> bool + Sync,
{
    if v.len() < 2 {
        return true;
    }
    let direction = if is_less(&v[1], &v[0]) {
        Direction::StrictlyDescending
    } else {
        Direction::NonDescending
    };
    let look = v.len().min(FIRST_LOOK);
    if !is_run(&v[..look], is_less, direction) {
        return false;
    }
    if look < v.len() {
        let broken = AtomicBool::new(false);
        check_in_parallel(
            &mut v[look - 1..],
            is_less,
            direction,
            pass.max(BLOCK),
            &broken,
        );
        if broken.into_inner() {
            return false;
        }
    }
    if direction == Direction::StrictlyDescending {
        reverse_in_parallel(v);
    }
    true
}

/// Whether `v` is one run in `direction`.
///
/// Pairs are checked several at a time without a branch in between, which lets the compiler use vector instructions where the
/// comparison is plain; only the first few are looked at one by one, because where there is no run they say so.
#[inline]
fn is_run<T>(v: &[T], is_less: &impl Fn(&T, &T) -> bool, direction: Direction) -> bool {
    match direction {
        Direction::NonDescending => all_pairs(v, |a, b| !is_less(b, a)),
        Direction::StrictlyDescending => all_pairs(v, |a, b| is_less(b, a)),
    }
}

/// Whether `holds` for all neighbours.
#[inline(always)]
fn all_pairs<T>(v: &[T], holds: impl Fn(&T, &T) -> bool) -> bool {
    /// Pairs looked at one by one.
    const FIRST: usize = 8;
    /// Pairs looked at together.
    const TOGETHER: usize = 64;

    let one_by_one = |v: &[T]| v.windows(2).all(|pair| holds(&pair[0], &pair[1]));
    let mut rest = v;
    if v.len() > FIRST {
        if !one_by_one(&v[..=FIRST]) {
            return false;
        }
        rest = &v[FIRST..];
    }
    // Neighbouring blocks share one element.
    while let Some(block) = rest.first_chunk::<{ TOGETHER + 1 }>() {
        let mut all = true;
        for i in 0..TOGETHER {
            all &= holds(&block[i], &block[i + 1]);
        }
        if !all {
            return false;
        }
        rest = &rest[TOGETHER..];
    }
    one_by_one(rest)
}

/// Sets `broken` if `v` is not one run in `direction`.
///
/// Takes the slice exclusively because elements need not be `Sync`: no element may be compared by two threads at once. The pair
/// across the cut is therefore compared before the halves part.
fn check_in_parallel<T, F>(
    v: &mut [T],
    is_less: &F,
    direction: Direction,
    grain: usize,
    broken: &AtomicBool,
) where
    T: Send,
    F: Fn(&T, &T) -> bool + Sync,
{
    if broken.load(Ordering::Relaxed) {
        return;
    }
    if v.len() <= grain {
        // Neighbouring blocks share one element, so that the pair between them is checked too.
        let mut start = 0;
        while start + 1 < v.len() && !broken.load(Ordering::Relaxed) {
            let end = v.len().min(start + BLOCK + 1);
            if !is_run(&v[start..end], is_less, direction) {
                broken.store(true, Ordering::Relaxed);
            }
            start = end - 1;
        }
        return;
    }
    let middle = v.len() / 2;
    if !is_run(&v[middle - 1..=middle], is_less, direction) {
        broken.store(true, Ordering::Relaxed);
        return;
    }
    let (left, right) = v.split_at_mut(middle);
    join(
        || check_in_parallel(left, is_less, direction, grain, broken),
        || check_in_parallel(right, is_less, direction, grain, broken),
    );
}

/// Reverses a slice, on several threads when it is long.
pub(crate) fn reverse_in_parallel<T: Send>(v: &mut [T]) {
    let half = v.len() / 2;
    let len = v.len();
    let base = v.as_mut_ptr();
    // SAFETY: the front `half` elements and the back `half` elements of `v` do not overlap, and `v` is borrowed exclusively.
    unsafe { swap_mirrored(Shared::new(base), Shared::new(base.add(len - half)), half) };
}

/// Swaps `front[i]` with `back[len - 1 - i]` for every `i`.
///
/// # Safety
/// Both ranges are valid for `len` elements, disjoint, and nobody else's.
unsafe fn swap_mirrored<T: Send>(front: Shared<T>, back: Shared<T>, len: usize) {
    /// Bytes on each side that one thread swaps alone.
    const GRAIN_BYTES: usize = 64 << 10;
    if len.saturating_mul(size_of::<T>()) <= GRAIN_BYTES {
        let (front, back) = (front.get(), back.get());
        for i in 0..len {
            // SAFETY: `i < len` keeps both sides in their ranges, which are disjoint.
            unsafe { ptr::swap_nonoverlapping(front.add(i), back.add(len - 1 - i), 1) };
        }
        return;
    }
    let half = len / 2;
    // SAFETY: the outer `half` elements of the front mirror the outer `half` of the back, the inner ones mirror each other; the
    // four ranges are disjoint parts of the caller's two.
    unsafe {
        let (inner_front, outer_back) = (front.add(half), back.add(len - half));
        join(
            || swap_mirrored(front, outer_back, half),
            || swap_mirrored(inner_front, back, len - half),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finish(v: &mut [u32]) -> bool {
        finish_if_single_run(v, &|a, b| a < b, 1000)
    }

    #[test]
    fn ascending_and_equal_slices_are_left_alone() {
        for len in [0, 1, 2, 3, 2047, 2048, 2049, 100_000] {
            let mut v: Vec<u32> = (0..len).map(|i| i / 3).collect();
            let before = v.clone();
            assert!(finish(&mut v));
            assert_eq!(v, before);
        }
    }

    #[test]
    fn strictly_descending_slices_are_reversed() {
        for len in [2, 3, 2047, 2048, 2049, 100_001] {
            let mut v: Vec<u32> = (0..len).rev().collect();
            assert!(finish(&mut v));
            assert!(v.iter().copied().eq(0..len));
        }
    }

    #[test]
    fn one_break_anywhere_is_noticed() {
        for at in [1, 2000, 2047, 2048, 2049, 3000, 3047, 3072, 50_000, 99_999] {
            let mut v: Vec<u32> = (1..=100_000).collect();
            v[at] = 0;
            assert!(!finish(&mut v), "a break at {at} was missed");
            let mut v: Vec<u32> = (1..=100_000).rev().collect();
            v[at] = 100_000;
            assert!(!finish(&mut v), "a descending break at {at} was missed");
        }
    }
}
