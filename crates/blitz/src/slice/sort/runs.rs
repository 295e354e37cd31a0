//! Input that is already in order, or in exactly the opposite order, or starts in this way.
//!
//! The standard sorts notice a slice that is one run, and do nothing (or reverse it). So do ours, on several threads. A short check
//! from the front decides whether there may be a long run at all. Only then its end is searched in parallel, and nothing behind
//! the first break that is known is read. On random input this costs two or three comparisons. A run that makes up most
//! of the slice is worth keeping too: the rest is sorted and merged into it.
//!
//! A comparator that contradicts itself can at most make us call something a run that is none. Nothing moves but whole swaps, so
//! the slice stays a permutation whatever happens.

use super::fork::{both, both_moves};
use super::raw::Shared;
use crate::engine::checkpoint;
use std::slice;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Elements looked at on the calling thread before anyone else is asked.
const FIRST_LOOK: usize = 2048;

/// How many pairs are checked between two looks at the end that other parts have found.
const BLOCK: usize = 1024;

/// What the slice as a whole is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    /// Never `v[i + 1] < v[i]`.
    NonDescending,
    /// Always `v[i + 1] < v[i]`; reversing such a run keeps equal elements in order, since there are none.
    StrictlyDescending,
}

impl Direction {
    /// The direction of the run that `v`, of two elements at least, starts with.
    fn of<T>(v: &[T], is_less: &impl Fn(&T, &T) -> bool) -> Self {
        if is_less(&v[1], &v[0]) {
            Direction::StrictlyDescending
        } else {
            Direction::NonDescending
        }
    }
}

/// Puts the longest run at the front of `v` in order, ascending or strictly descending as it may be, and returns its length.
///
/// Safe for stable sorts. `pass` is how many elements one thread should check alone.
pub(crate) fn order_leading_run<T, F>(v: &mut [T], is_less: &F, pass: usize) -> usize
where
    T: Send,
    F: Fn(&T, &T) -> bool + Sync,
{
    if v.len() < 2 {
        return v.len();
    }
    let direction = Direction::of(v, is_less);
    let look = v.len().min(FIRST_LOOK);
    let mut len = run_len(&v[..look], is_less, direction);
    if len == look && look < v.len() {
        let end = AtomicUsize::new(v.len());
        let rest = Part {
            elements: &mut v[look - 1..],
            start: look - 1,
        };
        find_end(rest, is_less, direction, pass.max(BLOCK), &end);
        len = end.into_inner();
    }
    if direction == Direction::StrictlyDescending {
        reverse_in_parallel(&mut v[..len]);
    }
    len
}

/// Whether half of the slice or more looks like long runs, by the look of a few windows all over it.
///
/// In random order a window is given up after two or three comparisons, and the slice after half of the windows.
pub(super) fn is_mostly_runs<T>(v: &[T], is_less: &impl Fn(&T, &T) -> bool) -> bool {
    const WINDOWS: usize = 16;
    const WINDOW: usize = 128;

    let step = v.len() / WINDOWS;
    if step < 2 {
        return false;
    }
    let mut broken = 0;
    for window in v.chunks_exact(step).take(WINDOWS) {
        let window = &window[..step.min(WINDOW)];
        let len = run_len(window, is_less, Direction::of(window, is_less));
        broken += usize::from(len < window.len());
        if broken > WINDOWS / 2 {
            return false;
        }
    }
    true
}

/// The length of the run in `direction` that `v` starts with.
///
/// Pairs are checked several at a time without a branch in between, which lets the compiler use vector instructions where the
/// comparison is plain; only the first few are looked at one by one, because where there is no run they say so. Not inlined: that would be
/// eight copies of both directions.
#[inline(never)]
fn run_len<T>(v: &[T], is_less: &impl Fn(&T, &T) -> bool, direction: Direction) -> usize {
    match direction {
        Direction::NonDescending => leading_pairs(v, |a, b| !is_less(b, a)),
        Direction::StrictlyDescending => leading_pairs(v, |a, b| is_less(b, a)),
    }
}

/// How many elements at the front have the property that it `holds` for all their neighbours.
#[inline(always)]
fn leading_pairs<T>(v: &[T], holds: impl Fn(&T, &T) -> bool) -> usize {
    /// Pairs looked at one by one.
    const FIRST: usize = 8;
    /// Pairs looked at together.
    const TOGETHER: usize = 64;

    let one_by_one = |from: usize, to: usize| {
        let mut pairs = v[from..to].windows(2);
        let broken = pairs.position(|pair| !holds(&pair[0], &pair[1]));
        broken.map_or(to, |pair| from + pair + 1)
    };
    let first = v.len().min(FIRST + 1);
    let len = one_by_one(0, first);
    if len < first || first == v.len() {
        return len;
    }
    // Neighbouring blocks share one element.
    let mut start = FIRST;
    while let Some(block) = v[start..].first_chunk::<{ TOGETHER + 1 }>() {
        let mut all = true;
        for i in 0..TOGETHER {
            all &= holds(&block[i], &block[i + 1]);
        }
        if !all {
            break;
        }
        start += TOGETHER;
    }
    one_by_one(start, v.len())
}

/// Some elements of a slice, and the position of the first one there.
struct Part<'a, T> {
    elements: &'a mut [T],
    start: usize,
}

/// Lowers `end` to where the run in `direction` ends that `part` starts with, if it ends there. Parts behind an end that is known are
/// not looked at.
///
/// Takes the elements exclusively because they need not be `Sync`: none may be compared by two threads at once. The pair across the
/// cut is therefore compared before the halves part.
fn find_end<T, F>(
    part: Part<'_, T>,
    is_less: &F,
    direction: Direction,
    grain: usize,
    end: &AtomicUsize,
) where
    T: Send,
    F: Fn(&T, &T) -> bool + Sync,
{
    let Part { elements, start } = part;
    if elements.len() <= grain {
        // Neighbouring blocks share one element, so that the pair between them is checked too.
        let mut from = 0;
        while from + 1 < elements.len() && start + from < end.load(Ordering::Relaxed) {
            let to = elements.len().min(from + BLOCK + 1);
            let len = run_len(&elements[from..to], is_less, direction);
            if len < to - from {
                end.fetch_min(start + from + len, Ordering::Relaxed);
                return;
            }
            from = to - 1;
        }
        return;
    }
    if start >= end.load(Ordering::Relaxed) {
        return;
    }
    let middle = elements.len() / 2;
    if run_len(&elements[middle - 1..=middle], is_less, direction) < 2 {
        end.fetch_min(start + middle, Ordering::Relaxed);
    }
    let (left, right) = elements.split_at_mut(middle);
    let right = Part {
        elements: right,
        start: start + middle,
    };
    let left = Part {
        elements: left,
        start,
    };
    both(
        || find_end(left, is_less, direction, grain, end),
        || find_end(right, is_less, direction, grain, end),
    );
}

/// Reverses a slice, on several threads when it is long. It can be stopped.
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
        // Stopped here or not, each element is in the slice once.
        checkpoint();
        // SAFETY: the caller's promise; a bit for bit exchange leaves each element in one place.
        let (front, back) = unsafe {
            (
                slice::from_raw_parts_mut(front.get(), len),
                slice::from_raw_parts_mut(back.get(), len),
            )
        };
        // By index: the compiler vectorises this, and not two iterators in opposite directions.
        for i in 0..len {
            std::mem::swap(&mut front[i], &mut back[len - 1 - i]);
        }
        return;
    }
    let half = len / 2;
    // SAFETY: the outer `half` elements of the front mirror the outer `half` of the back, the inner ones mirror each other; the
    // four ranges are disjoint parts of the caller's two.
    unsafe {
        let (inner_front, outer_back) = (front.add(half), back.add(len - half));
        both_moves(
            || swap_mirrored(front, outer_back, half),
            || swap_mirrored(inner_front, back, len - half),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leading_run(v: &mut [u32]) -> usize {
        order_leading_run(v, &|a, b| a < b, 1000)
    }

    #[test]
    fn ascending_and_equal_slices_are_left_alone() {
        for len in [0, 1, 2, 3, 2047, 2048, 2049, 100_000] {
            let mut v: Vec<u32> = (0..len).map(|i| i / 3).collect();
            let before = v.clone();
            assert_eq!(leading_run(&mut v), len as usize);
            assert_eq!(v, before);
        }
    }

    #[test]
    fn strictly_descending_slices_are_reversed() {
        for len in [2, 3, 2047, 2048, 2049, 100_001] {
            let mut v: Vec<u32> = (0..len).rev().collect();
            assert_eq!(leading_run(&mut v), len as usize);
            assert!(v.iter().copied().eq(0..len));
        }
    }

    #[test]
    fn the_first_break_is_found_wherever_it_is() {
        for at in [
            2, 5, 8, 9, 72, 73, 2000, 2047, 2048, 2049, 3047, 3072, 50_000, 99_999,
        ] {
            for second in [at, (at + 7).min(99_999), 99_999] {
                let ascending: Vec<u32> = (1..=100_000).collect();
                let mut v = ascending.clone();
                v[at] = 0;
                v[second] = 0;
                assert_eq!(leading_run(&mut v), at, "a break at {at} was missed");
                assert_eq!(v[..at], ascending[..at]);
                let mut v: Vec<u32> = (1..=100_000).rev().collect();
                v[at] = 100_000;
                v[second] = 100_000;
                assert_eq!(
                    leading_run(&mut v),
                    at,
                    "a descending break at {at} was missed"
                );
                assert!(v[..at].is_sorted() && v[0] == 100_001 - at as u32);
            }
        }
    }

    #[test]
    fn runs_are_told_from_random_order() {
        let less = |a: &u32, b: &u32| a < b;
        let random: Vec<u32> = (0..100_000_u32)
            .map(|i| i.wrapping_mul(0x9e37_79b9).rotate_left(13))
            .collect();
        assert!(!is_mostly_runs(&random, &less));
        assert!(!is_mostly_runs(&random[..10], &less));
        let mut tail: Vec<u32> = (0..100_000).collect();
        tail[70_000..].copy_from_slice(&random[70_000..]);
        assert!(is_mostly_runs(&tail, &less));
        tail[..70_000].reverse();
        assert!(is_mostly_runs(&tail, &less));
    }
}
