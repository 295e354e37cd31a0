//! Stable merging of two sorted runs into other memory, cut exactly in half as often as there are threads to use.
//!
//! * **Exact splitting.** [`co_rank`] finds how many elements of each run make up the first `k` of the result. Cutting there gives
//!   two independent merges of equal length, however the values are distributed. Every element belongs to one merge only, and
//!   the search is over before the parts start. So no element is ever visible to two threads (elements need not be `Sync`).
//! * **Two chains.** One thread merges two such parts in one loop. A merge step depends on the step before it; two independent
//!   chains keep the processor busy while each waits for its comparison.
//! * **Galloping.** When a stretch of steps took everything from one run, the end of the stretch is searched with doubling steps
//!   and copied in one piece, so merging long or few-valued runs costs little more than copying.
//!
//! Safety does not depend on the comparator. A step takes the head of a run that is not empty. So whatever the answers are, every
//! element is copied exactly once, after the last time it was compared. The source is the owner, and complete, until the caller declares
//! the target to be the owner. A panic in the comparator does not change that.

use super::fork::both;
use super::raw::Shared;
use crate::delegate::copied_as_it_is;
use std::ptr;

/// A sorted run: `len` elements from `start` on.
pub(crate) struct Run<T> {
    start: Shared<T>,
    len: usize,
}

copied_as_it_is! { Run<T> }

impl<T> Run<T> {
    pub(crate) fn new(start: Shared<T>, len: usize) -> Self {
        Run { start, len }
    }

    /// # Safety
    /// The run is not empty, and this thread may read it.
    pub(crate) unsafe fn first<'a>(self) -> &'a T {
        // SAFETY: the caller's promise.
        unsafe { &*self.start.get() }
    }

    /// # Safety
    /// The run is not empty, and this thread may read it.
    pub(crate) unsafe fn last<'a>(self) -> &'a T {
        // SAFETY: the caller's promise.
        unsafe { &*self.start.get().add(self.len - 1) }
    }

    /// # Safety
    /// `at <= self.len`, and the run is valid memory.
    unsafe fn split_at(self, at: usize) -> (Self, Self) {
        // SAFETY: `at` is at most the length, so the second part starts inside the run or one past its end.
        let rest = unsafe { self.start.add(at) };
        (
            Run {
                start: self.start,
                len: at,
            },
            Run {
                start: rest,
                len: self.len - at,
            },
        )
    }
}

/// How many elements of `left` are among the first `k` of the merge of `left` and `right`, which are so long; `k` is at most the total. `comes_first(r, l)` says whether the
/// element at `r` of `right` belongs before the one at `l` of `left`: in a stable merge, if it is less. `O(log(min(left, right)))` questions.
///
/// Whatever the answers are, neither side is asked for more than it has, nor about elements that it has not.
pub(crate) fn co_rank(
    left: usize,
    right: usize,
    k: usize,
    comes_first: impl Fn(usize, usize) -> bool,
) -> usize {
    let (mut low, mut high) = (k.saturating_sub(right), k.min(left));
    while low < high {
        let from_left = low + (high - low) / 2;
        if comes_first(k - from_left - 1, from_left) {
            high = from_left;
        } else {
            low = from_left + 1;
        }
    }
    low
}

/// Cuts both runs in two: the first `k` elements of their merge come from the first parts.
///
/// # Safety
/// Both runs are initialised, accessible to this thread alone, and `k` is at most their total length.
unsafe fn cut<T>(
    left: Run<T>,
    right: Run<T>,
    k: usize,
    is_less: &impl Fn(&T, &T) -> bool,
) -> [(Run<T>, Run<T>); 2] {
    // SAFETY: the question is about elements of the runs, and what comes of it is at most as much as they have.
    unsafe {
        let from_left = co_rank(left.len, right.len, k, |r, l| {
            is_less(&*right.start.get().add(r), &*left.start.get().add(l))
        });
        [left.split_at(from_left), right.split_at(k - from_left)]
    }
}

/// Merges `left` and `right` into `target`, on several threads while more than `grain` elements remain.
///
/// # Safety
/// Both runs are initialised and the target is valid for writing their total length; the three ranges are disjoint, and the calling
/// thread may touch them alone. The elements are copied bit by bit: after a normal return exactly one of source and target may be
/// treated as owner; after a panic the source is the owner, unchanged but for what the comparator itself did to it.
pub(crate) unsafe fn merge_in_parallel<T, F>(
    left: Run<T>,
    right: Run<T>,
    target: Shared<T>,
    is_less: &F,
    grain: usize,
) where
    T: Send,
    F: Fn(&T, &T) -> bool + Sync,
{
    let total = left.len + right.len;
    if total <= grain.max(2) {
        // SAFETY: the caller's promise, handed on.
        unsafe { merge(left, right, target.get(), is_less) };
        return;
    }
    let k = total / 2;
    // SAFETY: the four parts and the two halves of the target are disjoint pieces of the caller's ranges.
    unsafe {
        let [(left_a, left_b), (right_a, right_b)] = cut(left, right, k, is_less);
        let target_b = target.add(k);
        both(
            || merge_in_parallel(left_a, right_a, target, is_less, grain),
            || merge_in_parallel(left_b, right_b, target_b, is_less, grain),
        );
    }
}

/// Merges two runs into `target` on the calling thread.
///
/// # Safety
/// As for [`merge_in_parallel`].
unsafe fn merge<T>(left: Run<T>, right: Run<T>, target: *mut T, is_less: &impl Fn(&T, &T) -> bool) {
    /// Shorter merges are not worth a search for their middle.
    const WORTH_TWO_CHAINS: usize = 64;

    let total = left.len + right.len;
    if total < WORTH_TWO_CHAINS {
        // SAFETY: the caller's promise, handed on.
        unsafe { Chain::new(left, right, target).finish(is_less) };
        return;
    }
    let k = total / 2;
    // SAFETY: as in `merge_in_parallel`, the cut yields disjoint parts. `steps_left` bounds how often a chain may step before
    // either of its runs can be empty.
    unsafe {
        let [(left_a, left_b), (right_a, right_b)] = cut(left, right, k, is_less);
        let mut a = Chain::new(left_a, right_a, target);
        let mut b = Chain::new(left_b, right_b, target.add(k));
        loop {
            let steps = a.steps_left().min(b.steps_left()).min(STRETCH);
            if steps < 8 {
                break;
            }
            let (left_of_a, left_of_b) = (a.left, b.left);
            for _ in 0..steps {
                a.step(is_less);
                b.step(is_less);
            }
            a.gallop_if_one_sided(left_of_a, steps, is_less);
            b.gallop_if_one_sided(left_of_b, steps, is_less);
        }
        a.finish(is_less);
        b.finish(is_less);
    }
}

/// Steps between two looks at how the merge is going.
const STRETCH: usize = 64;

/// One merge in progress: what is left of both runs, and where the next element goes.
struct Chain<T> {
    left: *const T,
    left_end: *const T,
    right: *const T,
    right_end: *const T,
    target: *mut T,
}

impl<T> Chain<T> {
    /// # Safety
    /// Both runs and the target are valid for the merge, as for [`merge_in_parallel`].
    #[inline]
    unsafe fn new(left: Run<T>, right: Run<T>, target: *mut T) -> Self {
        // SAFETY: one past the end of a run is a valid address for it.
        let (left_end, right_end) = unsafe {
            (
                left.start.get().add(left.len),
                right.start.get().add(right.len),
            )
        };
        Chain {
            left: left.start.get(),
            left_end,
            right: right.start.get(),
            right_end,
            target,
        }
    }

    /// How many steps are possible before one of the runs may be used up.
    #[inline]
    fn steps_left(&self) -> usize {
        // SAFETY: each pair of pointers belongs to one run, start before end.
        unsafe { distance(self.left, self.left_end).min(distance(self.right, self.right_end)) }
    }

    /// Moves the smaller head to the target, the left one if they are equal. No branch depends on the comparison.
    ///
    /// # Safety
    /// Neither run is empty.
    #[inline(always)]
    unsafe fn step(&mut self, is_less: &impl Fn(&T, &T) -> bool) {
        // SAFETY: both heads exist, the target has room for everything that is left in the runs, and it does not overlap them.
        unsafe {
            let take_right = is_less(&*self.right, &*self.left);
            let source = if take_right { self.right } else { self.left };
            ptr::copy_nonoverlapping(source, self.target, 1);
            self.target = self.target.add(1);
            self.right = self.right.add(usize::from(take_right));
            self.left = self.left.add(usize::from(!take_right));
        }
    }

    /// After `steps` steps that began with the left run at `left_before`: if all of them took from one run, moves everything
    /// that run still has before the other's head.
    ///
    /// # Safety
    /// `left_before` is what `self.left` was `steps` steps ago.
    #[inline]
    unsafe fn gallop_if_one_sided(
        &mut self,
        left_before: *const T,
        steps: usize,
        is_less: &impl Fn(&T, &T) -> bool,
    ) {
        // SAFETY: the pointer only moved forward within the left run.
        let from_left = unsafe { distance(left_before, self.left) };
        if from_left == steps || from_left == 0 {
            // SAFETY: no assumption beyond a valid chain.
            unsafe { self.gallop(from_left != 0, is_less) };
        }
    }

    /// Moves all heads of one run that come before the other run's head.
    ///
    /// # Safety
    /// The chain is valid; empty runs are fine.
    #[cold]
    unsafe fn gallop(&mut self, take_left: bool, is_less: &impl Fn(&T, &T) -> bool) {
        if self.left == self.left_end || self.right == self.right_end {
            return;
        }
        // SAFETY: neither run is empty, so both heads can be read; `first_not` returns at most the length of the run it searches,
        // and the target has room for all that is left.
        unsafe {
            if take_left {
                let head = &*self.right;
                let len = distance(self.left, self.left_end);
                let count = first_not(self.left, len, |x| !is_less(head, x));
                ptr::copy_nonoverlapping(self.left, self.target, count);
                self.left = self.left.add(count);
                self.target = self.target.add(count);
            } else {
                let head = &*self.left;
                let len = distance(self.right, self.right_end);
                let count = first_not(self.right, len, |x| is_less(x, head));
                ptr::copy_nonoverlapping(self.right, self.target, count);
                self.right = self.right.add(count);
                self.target = self.target.add(count);
            }
        }
    }

    /// Merges what is left.
    ///
    /// # Safety
    /// The chain is valid; empty runs are fine.
    unsafe fn finish(mut self, is_less: &impl Fn(&T, &T) -> bool) {
        // SAFETY: a step happens only while both runs have a head. Afterwards at most one of the two copies moves anything, and
        // the target has room for it.
        unsafe {
            loop {
                let steps = self.steps_left().min(STRETCH);
                if steps == 0 {
                    break;
                }
                let left_before = self.left;
                for _ in 0..steps {
                    self.step(is_less);
                }
                if steps >= 8 {
                    self.gallop_if_one_sided(left_before, steps, is_less);
                }
            }
            let lefts = distance(self.left, self.left_end);
            ptr::copy_nonoverlapping(self.left, self.target, lefts);
            self.target = self.target.add(lefts);
            let rights = distance(self.right, self.right_end);
            ptr::copy_nonoverlapping(self.right, self.target, rights);
        }
    }
}

/// How many elements there are from `start` to `end`. The standard library has it since Rust 1.87.
///
/// # Safety
/// As for `offset_from`, and `end` is not before `start`.
#[inline(always)]
unsafe fn distance<T>(start: *const T, end: *const T) -> usize {
    // SAFETY: passed on.
    unsafe { end.offset_from(start) as usize }
}

/// Index of the first element for which `holds` is false, given that it holds for a prefix: doubling steps, then bisection.
/// Always at most `len`, whatever `holds` answers.
///
/// # Safety
/// `len` elements from `start` on can be read.
unsafe fn first_not<T>(start: *const T, len: usize, holds: impl Fn(&T) -> bool) -> usize {
    let mut low = 0;
    let mut step = 1;
    // SAFETY: every index read is below `len`.
    unsafe {
        while low + step <= len && holds(&*start.add(low + step - 1)) {
            low += step;
            step *= 2;
        }
        let mut high = len.min(low + step - 1);
        while low < high {
            let middle = low + (high - low) / 2;
            if holds(&*start.add(middle)) {
                low = middle + 1
            } else {
                high = middle
            }
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Merges copies of the two runs and returns the result; checks stability through the tags.
    fn merged(left: &[(u32, u32)], right: &[(u32, u32)], grain: usize) -> Vec<(u32, u32)> {
        let (mut left, mut right) = (left.to_vec(), right.to_vec());
        let mut target = vec![(0, 0); left.len() + right.len()];
        // SAFETY: three separate vectors of the right lengths, and plain data.
        unsafe {
            merge_in_parallel(
                Run::new(Shared::new(left.as_mut_ptr()), left.len()),
                Run::new(Shared::new(right.as_mut_ptr()), right.len()),
                Shared::new(target.as_mut_ptr()),
                &|a, b| a.0 < b.0,
                grain,
            );
        }
        target
    }

    fn run(len: usize, modulus: u32, tag: u32) -> Vec<(u32, u32)> {
        let mut state = len as u32 ^ modulus.rotate_left(7) ^ tag.rotate_left(13) ^ 0x9e37_79b9;
        let mut keys: Vec<u32> = (0..len)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 17;
                state ^= state << 5;
                state % modulus
            })
            .collect();
        keys.sort_unstable();
        keys.into_iter()
            .enumerate()
            .map(|(i, key)| (key, tag + i as u32))
            .collect()
    }

    #[test]
    fn merging_equals_a_stable_sort_of_the_concatenation() {
        for (left_len, right_len) in [
            (0, 0),
            (0, 5),
            (5, 0),
            (1, 1),
            (63, 1),
            (100, 100),
            (1000, 37),
            (37, 1000),
            (5000, 5001),
        ] {
            for modulus in [1, 2, 16, 1000, u32::MAX] {
                for grain in [0, 7, 100, usize::MAX] {
                    let (left, right) =
                        (run(left_len, modulus, 0), run(right_len, modulus, 1 << 20));
                    let mut expected = [left.clone(), right.clone()].concat();
                    expected.sort_by_key(|x| x.0);
                    assert_eq!(
                        merged(&left, &right, grain),
                        expected,
                        "{left_len} + {right_len} values below {modulus}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_lying_comparator_still_copies_every_element_once() {
        let (mut left, mut right): (Vec<u32>, Vec<u32>) =
            ((0..3000).collect(), (3000..5000).collect());
        let mut target = vec![u32::MAX; 5000];
        let turn = std::sync::atomic::AtomicU32::new(1);
        let lie = |_: &u32, _: &u32| {
            turn.fetch_add(0x9e37_79b9, std::sync::atomic::Ordering::Relaxed) >> 30 == 1
        };
        // SAFETY: three separate vectors of the right lengths, and plain data.
        unsafe {
            merge_in_parallel(
                Run::new(Shared::new(left.as_mut_ptr()), left.len()),
                Run::new(Shared::new(right.as_mut_ptr()), right.len()),
                Shared::new(target.as_mut_ptr()),
                &lie,
                100,
            );
        }
        target.sort_unstable();
        assert!(target.into_iter().eq(0..5000));
    }
}
