//! Partitioning a slice in place, on one thread or on several.
//!
//! **One thread** ([`partition`]): blocks from both ends are scanned first, writing down which elements are on the wrong side,
//! without a branch that depends on the answer; then wrong elements are exchanged in pairs. User code runs only while scanning,
//! when nothing is out of place, so a panic needs no clean-up.
//!
//! **Several threads** ([`partition_in_parallel`]): each thread partitions a stripe of its own, then the misplaced middle parts are
//! exchanged. The trouble is the pivot: elements are `Send`, not `Sync`, so two threads must not compare against the same element.
//! Each stripe therefore gets *its own* pivot, neighbours in a sorted sample. Stripes then disagree about the few elements between
//! the smallest and the largest of these pivots; the caller repairs that after sorting, see `unstable.rs`.

use super::fork::{both, both_moves};
use std::ptr;

/// Elements scanned at a time on each side. Offsets within a block fit a byte.
const BLOCK: usize = 128;

/// Brings the elements for which `goes_left` holds before the others; returns their number.
pub(crate) fn partition<T>(v: &mut [T], goes_left: &mut impl FnMut(&T) -> bool) -> usize {
    let mut left_wrong = Misplaced::new();
    let mut right_wrong = Misplaced::new();
    // Everything before `left` goes left and everything from `right` on goes right.
    let (mut left, mut right) = (0, v.len());
    while right - left >= 2 * BLOCK {
        if left_wrong.is_empty() {
            let block = &v[left..left + BLOCK];
            left_wrong.scan(block.iter(), |x| !goes_left(x));
        }
        if right_wrong.is_empty() {
            let block = &v[right - BLOCK..right];
            right_wrong.scan(block.iter().rev(), &mut *goes_left);
        }
        exchange(&mut v[left..right], &mut left_wrong, &mut right_wrong);
        if left_wrong.is_empty() {
            left += BLOCK;
        }
        if right_wrong.is_empty() {
            right -= BLOCK;
        }
    }
    // What is left is less than two blocks, maybe half exchanged; look at all of it once more.
    let rest = &mut v[left..right];
    let mut boundary = 0;
    for i in 0..rest.len() {
        let to_left = goes_left(&rest[i]);
        rest.swap(boundary, i);
        boundary += usize::from(to_left);
    }
    left + boundary
}

/// Offsets, within a block, of the elements that are on the wrong side.
struct Misplaced {
    offsets: [u8; BLOCK],
    next: usize,
    end: usize,
}

impl Misplaced {
    fn new() -> Self {
        Misplaced {
            offsets: [0; BLOCK],
            next: 0,
            end: 0,
        }
    }

    fn is_empty(&self) -> bool {
        self.next == self.end
    }

    /// Notes the positions, in order of iteration, of the elements for which `is_wrong` holds.
    #[inline(always)]
    fn scan<'a, T: 'a>(
        &mut self,
        block: impl Iterator<Item = &'a T>,
        mut is_wrong: impl FnMut(&T) -> bool,
    ) {
        self.next = 0;
        let mut end = 0;
        for (i, x) in block.enumerate() {
            // `end <= i < BLOCK`; the mask tells the compiler so.
            self.offsets[end % BLOCK] = i as u8;
            end += usize::from(is_wrong(x));
        }
        self.end = end;
    }
}

/// Exchanges as many misplaced pairs as both sides have. Left offsets count from the front of `v`, right offsets from its back.
fn exchange<T>(v: &mut [T], left: &mut Misplaced, right: &mut Misplaced) {
    let count = (left.end - left.next).min(right.end - right.next);
    if count == 0 {
        return;
    }
    let lefts = &left.offsets[left.next..left.next + count];
    let rights = &right.offsets[right.next..right.next + count];
    let base = v.as_mut_ptr();
    let last = v.len() - 1;
    // SAFETY: `v` has at least two blocks and offsets are below the block length, so all places are in bounds, and left places
    // differ from right places. Offsets within a side are distinct, so the moves form one cycle over distinct places: each place is
    // read before it is overwritten, and the element held in `first` fills the last gap. No user code runs in between.
    unsafe {
        let left_at = |i: usize| base.add(usize::from(lefts[i]));
        let right_at = |i: usize| base.add(last - usize::from(rights[i]));
        let first = ptr::read(left_at(0));
        ptr::copy_nonoverlapping(right_at(0), left_at(0), 1);
        for i in 1..count {
            ptr::copy_nonoverlapping(left_at(i), right_at(i - 1), 1);
            ptr::copy_nonoverlapping(right_at(i), left_at(i), 1);
        }
        ptr::write(right_at(count - 1), first);
    }
    left.next += count;
    right.next += count;
}

/// Brings the elements that go left of "their" pivot to the front and returns their number. `v` is cut into one stripe per
/// pivot; `goes_left(element, pivot)` decides.
///
/// # Panics
/// When there is no pivot, or when `goes_left` panics.
pub(crate) fn partition_in_parallel<T, P, F>(v: &mut [T], pivots: &mut [P], goes_left: &F) -> usize
where
    T: Send,
    P: Send,
    F: Fn(&T, &P) -> bool + Sync,
{
    if let [pivot] = pivots {
        return partition(v, &mut |x| goes_left(x, pivot));
    }
    let stripes = pivots.len();
    let (near_pivots, far_pivots) = pivots.split_at_mut(stripes / 2);
    let cut = (v.len() as u128 * near_pivots.len() as u128 / stripes as u128) as usize;
    let (near, far) = v.split_at_mut(cut);
    let (mut near_lefts, mut far_lefts) = (0, 0);
    both(
        || near_lefts = partition_in_parallel(near, near_pivots, goes_left),
        || far_lefts = partition_in_parallel(far, far_pivots, goes_left),
    );
    // [left, right | left, right]: exchange the right part of the near side with the left part of the far side, as much as the
    // shorter one has; taking it from the outer ends leaves the rest where it belongs.
    let count = (near.len() - near_lefts).min(far_lefts);
    swap_in_parallel(
        &mut near[near_lefts..][..count],
        &mut far[far_lefts - count..far_lefts],
    );
    near_lefts + far_lefts
}

/// Exchanges two slices of the same length, on several threads when they are long.
pub(crate) fn swap_in_parallel<T: Send>(a: &mut [T], b: &mut [T]) {
    /// Bytes on each side that one thread swaps alone.
    const GRAIN_BYTES: usize = 64 << 10;
    if size_of_val(a) <= GRAIN_BYTES {
        a.swap_with_slice(b);
        return;
    }
    let half = a.len() / 2;
    let ((a_near, a_far), (b_near, b_far)) = (a.split_at_mut(half), b.split_at_mut(half));
    both_moves(
        || swap_in_parallel(a_near, b_near),
        || swap_in_parallel(a_far, b_far),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(len: usize) -> Vec<u32> {
        (0..len as u32)
            .map(|i| i.wrapping_mul(0x9e37_79b9) >> 8)
            .collect()
    }

    fn check(len: usize, stripes: usize, limit: u32) {
        let mut v = numbers(len);
        let mut pivots = vec![limit; stripes];
        let boundary = partition_in_parallel(&mut v, &mut pivots, &|x, pivot| x < pivot);
        assert!(
            v[..boundary].iter().all(|x| *x < limit),
            "{len} elements, {stripes} stripes"
        );
        assert!(
            v[boundary..].iter().all(|x| *x >= limit),
            "{len} elements, {stripes} stripes"
        );
        v.sort_unstable();
        let mut expected = numbers(len);
        expected.sort_unstable();
        assert_eq!(v, expected);
    }

    #[test]
    fn both_sides_hold_what_they_should() {
        for len in [0, 1, 2, 100, 255, 256, 257, 511, 512, 1000, 100_000] {
            for stripes in [1, 2, 3, 7] {
                for limit in [0, 1 << 10, 1 << 23, (1 << 24) - 100, u32::MAX] {
                    check(len, stripes, limit);
                }
            }
        }
    }

    #[test]
    fn a_lying_predicate_loses_nothing() {
        let mut v = numbers(10_000);
        let mut turn = 1u32;
        partition(&mut v, &mut |_| {
            turn = turn.wrapping_mul(0x9e37_79b9).wrapping_add(1);
            turn >> 31 == 0
        });
        v.sort_unstable();
        let mut expected = numbers(10_000);
        expected.sort_unstable();
        assert_eq!(v, expected);
    }
}
