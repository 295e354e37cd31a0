//! The stable comparison sort: pieces sorted by the standard library, merged pairwise with exact splitting.
//!
//! Elements live in the slice or, bit by bit, in a scratch buffer of the same length; a merge moves a region from one to the other.
//! Neighbouring regions that are already in order are joined without moving anything, which makes long runs free.
//!
//! Why a panicking comparator always leaves a permutation in the slice: a [`Region`] knows which of the two places holds its
//! elements, and its destructor brings them home. A merge only reads its source, so until it has returned normally the source is
//! complete and stays the owner. The regions of both halves live in the frame that forked them, not in what `join` returns, so
//! they come home whichever half panicked.

use super::fork::both_of;
use super::leaf;
use super::merge::{Run, merge_in_parallel};
use super::order::Order;
use super::plan::Grain;
use super::raw::{Scratch, Shared, copy_in_parallel};
use std::ptr;

/// Sorts `v`, stable. Allocates memory for `v.len()` elements, and the standard library's sort allocates up to a piece per thread.
pub(crate) fn merge_sort<T, O>(v: &mut [T], order: &O, grain: Grain)
where
    T: Send,
    O: Order<T>,
{
    // Every level of merging moves the elements from one place to the other: with an even number of levels they end up at home.
    let pieces = v.len().div_ceil(grain.leaf.max(1)).next_power_of_two();
    let levels = pieces.ilog2().next_multiple_of(2);
    let grain = Grain {
        leaf: (v.len() >> levels) + 1,
        ..grain
    };
    let mut scratch = Scratch::new(v.len());
    // SAFETY: the scratch buffer is as long as the slice, which is borrowed exclusively, and both outlive the region.
    let mut all = unsafe { Region::covering(v, &mut scratch) };
    sort_region(&mut all, order, grain);
    all.bring_home();
}

/// Merges two sorted neighbours, `v[..at]` and `v[at..]`, stable. Allocates memory for the elements that have to move.
pub(super) fn merge_neighbours<T, O>(v: &mut [T], at: usize, order: &O, grain: Grain)
where
    T: Send,
    O: Order<T>,
{
    // What is in its place already: the left ones that belong before all of the right, and the right ones behind all of the left.
    let (left, right) = v.split_at(at);
    let (Some(last_left), Some(first_right)) = (left.last(), right.first()) else {
        return;
    };
    let start = left.partition_point(|x| !order.is_less(first_right, x));
    let end = at + right.partition_point(|x| order.is_less(x, last_left));
    let v = &mut v[start..end];
    let at = at - start;
    if at == 0 || at == v.len() {
        return;
    }
    let mut scratch = Scratch::new(v.len());
    // SAFETY: the scratch buffer is as long as the slice, which is borrowed exclusively, and both outlive the region.
    let mut all = unsafe { Region::covering(v, &mut scratch) };
    let (left, right) = all.split_at(at);
    all.is_away = merge_halves(&left, &right, order, grain);
    all.bring_home();
}

/// Some elements of the slice, which at any moment are either there or at the same offset of the scratch buffer.
pub(super) struct Region<T: Send> {
    home: Shared<T>,
    away: Shared<T>,
    len: usize,
    is_away: bool,
}

impl<T: Send> Region<T> {
    /// # Safety
    /// Both ranges are valid for `len` elements, disjoint, and this region's alone for as long as it exists. The elements are in the
    /// one that `is_away` says; what the other one holds is nobody's.
    pub(super) unsafe fn new(home: Shared<T>, away: Shared<T>, len: usize, is_away: bool) -> Self {
        Region {
            home,
            away,
            len,
            is_away,
        }
    }

    /// A region for all of `v`, whose elements are at home.
    ///
    /// # Safety
    /// The scratch buffer is as long as the slice, and until the region is gone nobody else touches either.
    unsafe fn covering(v: &mut [T], scratch: &mut Scratch<T>) -> Self {
        Region {
            home: Shared::new(v.as_mut_ptr()),
            away: Shared::new(scratch.as_mut_ptr()),
            len: v.len(),
            is_away: false,
        }
    }

    /// Two regions that cover this one and take charge of its elements: this one holds none until they are done.
    pub(super) fn split_at(&mut self, at: usize) -> (Region<T>, Region<T>) {
        assert!(at <= self.len);
        let is_away = std::mem::replace(&mut self.is_away, false);
        // SAFETY: `at` is at most the length of both ranges.
        let (home, away) = unsafe { (self.home.add(at), self.away.add(at)) };
        (
            Region {
                home: self.home,
                away: self.away,
                len: at,
                is_away,
            },
            Region {
                home,
                away,
                len: self.len - at,
                is_away,
            },
        )
    }

    /// The elements, sorted, wherever they are.
    fn as_run(&self) -> Run<T> {
        Run::new(if self.is_away { self.away } else { self.home }, self.len)
    }

    /// Copies the elements back into the slice if they are away, and shows them.
    pub(super) fn bring_home(&mut self) -> &mut [T] {
        if self.is_away {
            // SAFETY: the scratch range holds the elements, the slice's range is as long and disjoint from it, and this region is
            // the only one that covers them.
            unsafe { copy_in_parallel(self.away, self.home, self.len) };
            self.is_away = false;
        }
        // SAFETY: the elements are at home, and this region is the only one that covers them.
        unsafe { std::slice::from_raw_parts_mut(self.home.get(), self.len) }
    }
}

impl<T: Send> Drop for Region<T> {
    fn drop(&mut self) {
        if self.is_away {
            // SAFETY: as in `bring_home`. A plain copy: this runs while a panic unwinds.
            unsafe { ptr::copy_nonoverlapping(self.away.get(), self.home.get(), self.len) };
        }
    }
}

/// Sorts a region whose elements are at home; afterwards they are sorted, at home or away.
fn sort_region<T, O>(region: &mut Region<T>, order: &O, grain: Grain)
where
    T: Send,
    O: Order<T>,
{
    if region.len <= grain.leaf {
        leaf::sort_stable(region.bring_home(), order);
        return;
    }
    let (mut left, mut right) = region.split_at(region.len / 2);
    both_of(
        grain.expected,
        || sort_region(&mut left, order, grain),
        || sort_region(&mut right, order, grain),
    );
    if left.is_away != right.is_away {
        left.bring_home();
        right.bring_home();
    }
    region.is_away = merge_halves(&left, &right, order, grain);
    // Ownership has passed to `region`, so the halves must not move anything any more.
    left.is_away = false;
    right.is_away = false;
}

/// Joins two sorted neighbours, both at home or both away; says whether the result is away.
fn merge_halves<T, O>(left: &Region<T>, right: &Region<T>, order: &O, grain: Grain) -> bool
where
    T: Send,
    O: Order<T>,
{
    let (left_run, right_run) = (left.as_run(), right.as_run());
    // SAFETY: neither half is empty, since a region is only halved when it has more than one element; this thread has them alone.
    let in_order = unsafe { !order.is_less(right_run.first(), left_run.last()) };
    if in_order {
        return left.is_away;
    }
    let target = if left.is_away { left.home } else { left.away };
    // SAFETY: both runs are on one side and the target is the same range of the other side; this thread has both regions alone.
    // On a panic the halves still say where the elements are.
    unsafe {
        merge_in_parallel(
            left_run,
            right_run,
            target,
            &|a, b| order.is_less(a, b),
            grain.pass,
        )
    };
    !left.is_away
}
