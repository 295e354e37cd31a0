//! Input that is nearly sorted: a few elements are out of place, maybe far away from where they belong.
//!
//! One pass from left to right keeps what is in order and drops what is not: kept elements stay in front, dropped ones form a pile
//! behind them. The pile is sorted and merged back from the end. So the cost is that of the pass, of the pile, and of moving every
//! element once; if the pile grows too large, the pass gives up and the slice is only rearranged.
//!
//! What to drop when the order breaks? Either the new element is too small or the last kept one was too large. If the new one fits
//! behind the last but one, and so does its successor, the last kept one goes. And when many new ones have been dropped in a row,
//! too large ones may have been kept: the end of the kept part goes until the new one fits, unless that is much.
//!
//! Extra memory: the pile, at most [`PILE_BYTES`]. Elements move by swaps until the pile is merged; then [`Merge`] knows what lies
//! where and, if a comparison panics, puts the rest of the pile into the gap that it leaves.

use super::leaf;
use super::order::Order;
use super::raw::Scratch;
use super::runs;
use std::ptr;

/// Shorter slices are not worth a look.
const SHORTEST: usize = 4096;

/// The largest pile in bytes.
const PILE_BYTES: usize = 256 << 10;

/// The largest pile as a part of the slice.
const PILE_PART: usize = 16;

/// How many elements in a row are dropped before kept ones are suspected.
const MANY_DROPPED: usize = 8;

/// How many kept elements are dropped after all for the sake of one.
const MOST_TAKEN_BACK: usize = 1024;

/// Whether the slice looks sorted but for a few elements.
pub(super) fn looks_nearly_sorted<T>(v: &[T], is_less: &impl Fn(&T, &T) -> bool) -> bool {
    const WINDOWS: usize = 64;
    const WINDOW: usize = 16;
    /// Breaks of the order that an element out of place or two cause in their window.
    const FEW_BREAKS: usize = 3;
    /// Windows with more breaks that are put down to chance.
    const FEW_WINDOWS: usize = 4;

    if v.len() < SHORTEST {
        return false;
    }
    let mut broken = 0;
    for start in (0..v.len() - WINDOW).step_by(v.len() / WINDOWS) {
        let pairs = v[start..start + WINDOW].windows(2);
        let breaks = pairs.filter(|pair| is_less(&pair[1], &pair[0])).count();
        broken += usize::from(breaks > FEW_BREAKS);
        if broken > FEW_WINDOWS {
            return false;
        }
    }
    true
}

/// Sorts the slice, not stable, if it is nearly sorted; says whether it did.
pub(super) fn sort<T: Send, O: Order<T>>(v: &mut [T], order: &O) -> bool {
    let is_less = |a: &T, b: &T| order.is_less(a, b);
    if !looks_nearly_sorted(v, &is_less) {
        return false;
    }
    if runs::order_leading_run(v, &is_less, usize::MAX) == v.len() {
        return true;
    }
    let most = (v.len() / PILE_PART).min(PILE_BYTES / size_of::<T>().max(1));
    let Some(kept) = drop_misplaced(v, most, &is_less) else {
        return false;
    };
    leaf::sort_unstable(&mut v[kept..], order);
    Merge::new(v, kept).run(&is_less);
    true
}

/// Moves elements that are out of order behind the others, which stay in order; returns the number of those. Gives up when more
/// than `most` elements are out of order.
fn drop_misplaced<T>(v: &mut [T], most: usize, is_less: &impl Fn(&T, &T) -> bool) -> Option<usize> {
    let mut kept = 1;
    let mut dropped_in_a_row = 0;
    // `v[..kept]` is in order, `v[kept..next]` is the pile.
    for next in 1..v.len() {
        if !is_less(&v[next], &v[kept - 1]) {
            v.swap(kept, next);
            kept += 1;
            dropped_in_a_row = 0;
            continue;
        }
        let fits_before_last = kept >= 2
            && !is_less(&v[next], &v[kept - 2])
            && v.get(next + 1)
                .is_some_and(|successor| is_less(successor, &v[kept - 1]));
        if fits_before_last {
            v.swap(kept - 1, next);
        } else if dropped_in_a_row < MANY_DROPPED {
            dropped_in_a_row += 1;
        } else {
            dropped_in_a_row = 0;
            let too_large = count_above(&v[..kept], &v[next], is_less);
            if too_large <= MOST_TAKEN_BACK {
                kept -= too_large;
                v.swap(kept, next);
                kept += 1;
            }
        }
        if next + 1 - kept > most {
            return None;
        }
    }
    Some(kept)
}

/// Merges the sorted end of a slice into its sorted front.
///
/// The end was moved to `pile`, bit by bit. What is left of the front is `base[..front]`, then comes a gap just large enough for what
/// is left of the pile, and everything behind the gap is in its final place.
struct Merge<'a, T> {
    base: &'a mut [T],
    front: usize,
    pile: Scratch<T>,
    left: usize,
}

impl<'a, T> Merge<'a, T> {
    fn new(v: &'a mut [T], front: usize) -> Self {
        let left = v.len() - front;
        let mut pile = Scratch::new(left);
        // SAFETY: the end of the slice is `left` elements long, and the pile has room for them. From here on the pile owns them.
        unsafe { ptr::copy_nonoverlapping(v.as_ptr().add(front), pile.as_mut_ptr(), left) };
        Merge {
            base: v,
            front,
            pile,
            left,
        }
    }

    fn run(mut self, is_less: &impl Fn(&T, &T) -> bool) {
        while self.left > 0 {
            // SAFETY: the pile's first `left` elements are alive.
            let largest = unsafe { &*self.pile.as_mut_ptr().add(self.left - 1) };
            let above = count_above(&self.base[..self.front], largest, is_less);
            let base = self.base.as_mut_ptr();
            // SAFETY: behind the front is a gap of `left` elements. The end of the front moves to the end of the gap, which may overlap
            // with where it was, and the largest of the pile goes before it. Then the gap is one shorter and lies further in front.
            unsafe {
                let from = self.front - above;
                ptr::copy(base.add(from), base.add(from + self.left), above);
                ptr::copy_nonoverlapping(largest, base.add(from + self.left - 1), 1);
                self.front = from;
                self.left -= 1;
            }
        }
    }
}

impl<T> Drop for Merge<'_, T> {
    fn drop(&mut self) {
        // SAFETY: the gap behind the front is just as long as what is left of the pile. Without a panic that is nothing.
        unsafe {
            let gap = self.base.as_mut_ptr().add(self.front);
            ptr::copy_nonoverlapping(self.pile.as_mut_ptr(), gap, self.left);
        }
    }
}

/// How many elements at the end of a sorted slice are above `x`: doubling steps from the end, then bisection. At most all of them,
/// whatever `is_less` answers.
fn count_above<T>(sorted: &[T], x: &T, is_less: &impl Fn(&T, &T) -> bool) -> usize {
    let len = sorted.len();
    let mut step = 1;
    while step <= len && is_less(x, &sorted[len - step]) {
        step *= 2;
    }
    let (surely, maybe) = (step / 2, step.min(len + 1) - 1);
    let unknown = &sorted[len - maybe..len - surely];
    surely + unknown.len() - unknown.partition_point(|y| !is_less(x, y))
}

#[cfg(test)]
mod tests {
    use super::super::order::By;
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    /// A number that owns memory, so that a lost or doubled one crashes.
    #[derive(PartialEq, Eq, PartialOrd, Ord)]
    struct Owned(Box<usize>);

    /// Every hundredth one has changed places with another.
    fn nearly_sorted(len: usize) -> Vec<Owned> {
        let mut v: Vec<_> = (0..len).map(|i| Owned(Box::new(i))).collect();
        for i in (0..len).step_by(200) {
            let other = i.wrapping_mul(0x9e37_79b9) % len;
            v.swap(i, other);
        }
        v
    }

    #[test]
    fn nearly_sorted_slices_are_sorted() {
        for len in [SHORTEST, 10_000, 100_000] {
            let order = By(Owned::cmp);
            let mut v = nearly_sorted(len);
            assert!(sort(&mut v, &order), "{len} elements were declined");
            assert!(v.iter().map(|x| *x.0).eq(0..len));
            assert!(sort(&mut v, &order), "a sorted slice was declined");
            // Too large ones in a row, far in front, and too small ones at the end.
            v[100..110].iter_mut().for_each(|x| *x.0 += len);
            v[len - 100..].iter_mut().for_each(|x| *x.0 /= 3);
            assert!(sort(&mut v, &order));
            assert!(v.is_sorted());
        }
    }

    #[test]
    fn other_slices_are_declined() {
        let order = By(u32::cmp);
        let random: Vec<u32> = (0..50_000_u32)
            .map(|i| i.wrapping_mul(0x9e37_79b9).rotate_left(13))
            .collect();
        assert!(!sort(&mut random.clone(), &order));
        let mut tail: Vec<u32> = (0..50_000).collect();
        tail[45_000..].copy_from_slice(&random[45_000..]);
        assert!(!sort(&mut tail, &order));
        // Looks sorted wherever one looks, and is not.
        let mut hidden: Vec<u32> = (0..65_536).collect();
        for block in hidden.chunks_mut(1024) {
            block[100..1000].reverse();
        }
        let mut expected = hidden.clone();
        assert!(!sort(&mut hidden, &order));
        hidden.sort_unstable();
        expected.sort_unstable();
        assert_eq!(hidden, expected);
    }

    #[test]
    fn panics_and_lies_lose_nothing() {
        let len = 10_000;
        for fail_at in [0, 500, 5_000, 10_500, 11_000, 11_500, 12_000, 12_500] {
            for lie in [false, true] {
                let calls = AtomicUsize::new(0);
                let order = By(|a: &Owned, b: &Owned| {
                    let call = calls.fetch_add(1, Relaxed);
                    assert!(lie || call != fail_at, "this comparison panics");
                    if lie && call > fail_at && call.is_multiple_of(7) {
                        b.cmp(a)
                    } else {
                        a.cmp(b)
                    }
                });
                let mut v = nearly_sorted(len);
                let _ = catch_unwind(AssertUnwindSafe(|| sort(&mut v, &order)));
                v.sort_unstable();
                assert!(v.iter().map(|x| *x.0).eq(0..len));
            }
        }
    }

    #[test]
    fn what_is_above_is_counted_from_the_end() {
        let sorted: Vec<u32> = (0..100).map(|i| i / 3).collect();
        for x in 0..40 {
            let expected = sorted.iter().filter(|y| **y > x).count();
            for len in [0, 1, 2, 3, 50, 100] {
                let part = &sorted[..len];
                let count = part.iter().filter(|y| **y > x).count();
                assert_eq!(count_above(part, &x, &|a, b| a < b), count);
            }
            assert_eq!(count_above(&sorted, &x, &|a, b| a < b), expected);
        }
    }
}
