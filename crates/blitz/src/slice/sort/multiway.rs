//! Partitioning a slice into up to 256 buckets, in place, on one thread.
//!
//! For elements that own memory elsewhere, one pass over a tree of splitters replaces eight rounds of quicksort, and with them
//! seven visits to that memory. The elements go through small buffers, one block per bucket:
//! 1. *Classify.* Elements are read from the front and moved to the buffer of their bucket. A full buffer goes back as a block to the
//!    front of the slice, where there is room: more has been read than written.
//! 2. *Group.* The blocks are exchanged until each bucket's blocks are together.
//! 3. *Close up.* The buckets make room for what is left in the buffers, from the last bucket to the first.
//!
//! Extra memory: one block per bucket and a byte per block of the slice, together at most half a megabyte.
//!
//! User code runs in the first step only. If it panics, the buffers are emptied into the gap between what was written and what was
//! read, which is exactly as large. The splitters are elements of the slice; they stay where they are, at its end, until they are not
//! needed any more.

use super::leaf;
use super::order::Order;
use super::raw::Scratch;
use super::tree::{self, BATCH};
use super::unstable::gather_sample;
use std::marker::PhantomData;
use std::ptr;

/// Buckets at most; their numbers fit a byte.
const MOST_BUCKETS: usize = 256;

/// Sample elements per splitter.
const OVERSAMPLING: usize = 8;

/// Bytes of a block.
const BLOCK_BYTES: usize = 1024;

/// Bytes of elements that a bucket should hold.
const BUCKET_BYTES: usize = 64 << 10;

/// Blocks at most, each of which takes a byte of extra memory. Longer slices are halved first.
const MOST_BLOCKS: usize = 256 << 10;

/// Partitions `v` into buckets, each not above the next, and returns where they end; nothing if `v` is too short or too long, or if too
/// many of its elements look equal. Then it is only rearranged.
pub(super) fn partition<T, O: Order<T>>(v: &mut [T], order: &O) -> Option<Vec<usize>> {
    let wanted = v.len().saturating_mul(size_of::<T>()) / BUCKET_BYTES;
    let affordable = v.len() / (8 * OVERSAMPLING);
    let buckets = wanted.min(affordable).min(MOST_BUCKETS);
    if buckets < 8 || v.len() / block_len::<T>() > MOST_BLOCKS {
        return None;
    }
    let buckets = 1 << buckets.ilog2();
    let ids = prepare_splitters(v, buckets, order)?;

    let mut blocks = Blocks::new(v, buckets);
    blocks.classify(ids.len(), order);
    blocks.append(&ids);
    blocks.group();
    Some(blocks.close_up())
}

/// Elements per block.
const fn block_len<T>() -> usize {
    let fitting = BLOCK_BYTES / size_of::<T>();
    if fitting > 0 { fitting } else { 1 }
}

/// Moves a sample to the end of the slice, with the splitters as a tree at the very end, and returns the bucket of each sample element;
/// nothing if there are too many equal ones.
fn prepare_splitters<T, O: Order<T>>(v: &mut [T], buckets: usize, order: &O) -> Option<Vec<u8>> {
    let count = buckets * OVERSAMPLING;
    gather_sample(v, count);
    let (sample, rest) = v.split_at_mut(count);
    leaf::sort_unstable(sample, order);
    let splitter = |bucket: usize| bucket * OVERSAMPLING;
    let equal = (2..buckets)
        .filter(|&bucket| !order.is_less(&sample[splitter(bucket - 1)], &sample[splitter(bucket)]))
        .count();
    if equal > buckets / 8 {
        return None;
    }
    // Which rank goes where: all others first (the last of them in slot 0 of the tree, which is not looked at), then the splitters.
    let mut ranks: Vec<u32> = (0..count as u32)
        .filter(|rank| *rank == 0 || *rank as usize % OVERSAMPLING != 0)
        .collect();
    ranks.extend((1..buckets).map(|slot| splitter(tree::rank_of_slot(slot, buckets) + 1) as u32));
    let ids = ranks
        .iter()
        .map(|rank| (*rank as usize / OVERSAMPLING) as u8)
        .collect();
    // SAFETY: every rank is there once, either as a splitter's or among the others.
    unsafe { leaf::rearrange(sample, ranks) };
    let end = rest.len() - count;
    sample.swap_with_slice(&mut rest[end..]);
    Some(ids)
}

/// A slice on its way through the buffers.
///
/// In front are `written` elements in full blocks, then a gap of elements that are in the buffers, then from `read` on the rest.
struct Blocks<'a, T> {
    /// The slice. A raw pointer, because references to elements and to splitters are in use while others move.
    base: *mut T,
    len: usize,
    slice: PhantomData<&'a mut [T]>,
    written: usize,
    read: usize,
    /// Elements per block.
    block: usize,
    /// A block of memory per bucket.
    buffers: Scratch<T>,
    /// How many elements each buffer holds.
    filled: Vec<usize>,
    /// Of which bucket each full block is.
    block_ids: Vec<u8>,
}

impl<'a, T> Blocks<'a, T> {
    fn new(v: &'a mut [T], buckets: usize) -> Self {
        let block = block_len::<T>();
        Blocks {
            base: v.as_mut_ptr(),
            len: v.len(),
            slice: PhantomData,
            written: 0,
            read: 0,
            block,
            buffers: Scratch::new(buckets * block),
            filled: vec![0; buckets],
            block_ids: Vec::with_capacity(v.len() / block + 1),
        }
    }

    /// The full blocks.
    fn written(&mut self) -> &mut [T] {
        // SAFETY: the slice is borrowed for as long as this exists, and this part of it holds elements that are nowhere else.
        unsafe { std::slice::from_raw_parts_mut(self.base, self.written) }
    }

    fn buffer(&mut self, bucket: usize) -> *mut T {
        debug_assert!(bucket < self.filled.len());
        // SAFETY: there is a block for every bucket.
        unsafe { self.buffers.as_mut_ptr().add(bucket * self.block) }
    }

    /// Moves all elements but the last `sample` ones, which hold the splitters, to their buffers.
    fn classify<O: Order<T>>(&mut self, sample: usize, order: &O) {
        let buckets = self.filled.len();
        let end = self.len - sample;
        // SAFETY: the tree is the last `buckets` elements, which stay in their places while elements before `end` move.
        let slots = unsafe { self.base.add(self.len - buckets).cast_const() };
        let levels = buckets.ilog2();
        // SAFETY: as above; slot 0 is an element too.
        let splitters = unsafe { std::slice::from_raw_parts(slots, buckets) };
        let keys: Option<Vec<u64>> = splitters.iter().map(|x| order.bits(x)).collect();
        if let Some(keys) = keys {
            // Numbers to compare instead of elements: they lie close together.
            let bits = |x: &T| order.bits(x).unwrap_or_default();
            self.take_up_to(end, |elements| {
                let elements = elements.map(bits);
                // SAFETY: there are as many keys as slots.
                unsafe { tree::buckets(keys.as_ptr(), levels, elements.each_ref(), &|a, b| a < b) }
            });
        } else {
            let is_less = |a: &T, b: &T| order.is_less(a, b);
            // SAFETY: the slots hold splitters that nobody else looks at.
            self.take_up_to(end, |elements| unsafe {
                tree::buckets(slots, levels, elements, &is_less)
            });
        }
    }

    /// Moves the elements before `end` to their buffers; `ids` says which, for a batch at a time.
    #[inline(always)]
    fn take_up_to(&mut self, end: usize, ids: impl Fn([&T; BATCH]) -> [u8; BATCH]) {
        while self.read < end {
            // The last batch may be short: then its last element fills it up.
            let count = (end - self.read).min(BATCH);
            let first = self.read;
            // SAFETY: everything from `read` to `end` is in its place, and no reference lives on when elements move.
            let ids = ids(std::array::from_fn(|i| unsafe {
                &*self.base.add(first + i.min(count - 1))
            }));
            for id in &ids[..count] {
                self.take(usize::from(*id));
            }
        }
    }

    /// Moves the rest of the elements, whose buckets are known.
    fn append(&mut self, ids: &[u8]) {
        debug_assert_eq!(self.read + ids.len(), self.len);
        for &id in ids {
            self.take(usize::from(id));
        }
    }

    /// Moves the next element to the buffer of its bucket.
    #[inline(always)]
    fn take(&mut self, bucket: usize) {
        let filled = self.filled[bucket];
        // SAFETY: `read` is in bounds: as many elements are taken as there are. The buffer has room, because full ones are emptied at
        // once. A full buffer holds `block` elements that have been read and not written, so there is a gap for them.
        unsafe {
            debug_assert!(self.read < self.len);
            let buffer = self.buffer(bucket);
            ptr::copy_nonoverlapping(self.base.add(self.read), buffer.add(filled), 1);
            self.read += 1;
            if filled + 1 < self.block {
                self.filled[bucket] = filled + 1;
            } else {
                debug_assert!(self.written + self.block <= self.read);
                ptr::copy_nonoverlapping(buffer, self.base.add(self.written), self.block);
                self.written += self.block;
                self.filled[bucket] = 0;
                self.block_ids.push(bucket as u8);
            }
        }
    }

    /// Exchanges full blocks until those of each bucket are together, in the order of the buckets.
    fn group(&mut self) {
        let mut counts = vec![0; self.filled.len()];
        for &id in &self.block_ids {
            counts[usize::from(id)] += 1;
        }
        let mut next = Vec::with_capacity(counts.len());
        let mut start = 0;
        for count in &counts {
            next.push(start);
            start += count;
        }
        let mut end = 0;
        for bucket in 0..counts.len() {
            end += counts[bucket];
            while next[bucket] < end {
                let here = next[bucket];
                let owner = usize::from(self.block_ids[here]);
                let there = next[owner];
                next[owner] += 1;
                if owner != bucket {
                    self.block_ids.swap(here, there);
                    let block = self.block;
                    let (from, to) = (here * block, there * block);
                    let (front, back) = self.written().split_at_mut(from.max(to));
                    front[from.min(to)..][..block].swap_with_slice(&mut back[..block]);
                }
            }
        }
    }

    /// Moves the buckets apart and fills in what the buffers hold; returns where each bucket ends.
    fn close_up(mut self) -> Vec<usize> {
        debug_assert_eq!(self.read, self.len);
        let buckets = self.filled.len();
        let mut ends = vec![0; buckets];
        let mut blocks_end = self.block_ids.len();
        let mut in_buffers: usize = self.filled.iter().sum();
        debug_assert_eq!(self.written + in_buffers, self.len);
        for bucket in (0..buckets).rev() {
            let filled = std::mem::take(&mut self.filled[bucket]);
            let end = blocks_end * self.block + in_buffers;
            in_buffers -= filled;
            let blocks = self.block_ids[..blocks_end]
                .iter()
                .rev()
                .take_while(|id| usize::from(**id) == bucket)
                .count();
            blocks_end -= blocks;
            let (start, len) = (blocks_end * self.block, blocks * self.block);
            let buffer = self.buffer(bucket);
            // SAFETY: the bucket's blocks are at `start..start + len` and shall be at `start + in_buffers`, followed by the buffer's
            // content, up to `end`. What lies behind them has moved away already. The order within a bucket does not matter, so only
            // as many elements move as the shift is long; the two ranges do not overlap.
            unsafe {
                let moved = in_buffers.min(len);
                let to = start + len.max(in_buffers);
                ptr::copy_nonoverlapping(self.base.add(start), self.base.add(to), moved);
                ptr::copy_nonoverlapping(buffer, self.base.add(end - filled), filled);
            }
            ends[bucket] = end;
        }
        self.read = self.written;
        ends
    }
}

impl<T> Drop for Blocks<'_, T> {
    fn drop(&mut self) {
        // Only after a panic do the buffers still hold anything: put it into the gap.
        for bucket in 0..self.filled.len() {
            let filled = self.filled[bucket];
            let buffer = self.buffer(bucket);
            // SAFETY: what the buffers hold together is what was read and not written, so the gap is just large enough.
            unsafe { ptr::copy_nonoverlapping(buffer, self.base.add(self.written), filled) };
            self.written += filled;
        }
        debug_assert_eq!(self.written, self.read);
    }
}

#[cfg(test)]
mod tests {
    use super::super::order::{By, Natural};
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    fn wide(len: usize) -> Vec<[u64; 4]> {
        (0..len as u64)
            .map(|i| {
                [
                    i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23),
                    i,
                    i,
                    i,
                ]
            })
            .collect()
    }

    fn is_permutation_of_wide(mut v: Vec<[u64; 4]>) -> bool {
        let mut expected = wide(v.len());
        expected.sort_unstable();
        v.sort_unstable();
        v == expected
    }

    #[test]
    fn every_bucket_is_not_above_the_next() {
        for len in [20_000, 50_001, 123_456] {
            let mut v = wide(len);
            let ends = partition(&mut v, &Natural).expect("enough different elements");
            assert_eq!(ends.last(), Some(&len));
            assert!(ends.is_sorted());
            for end in &ends[..ends.len() - 1] {
                let (left, right) = v.split_at(*end);
                assert!(
                    left.is_empty() || right.is_empty() || left.iter().max() <= right.iter().min()
                );
            }
            assert!(is_permutation_of_wide(v));
        }
    }

    #[test]
    fn short_and_repetitive_slices_are_declined() {
        assert_eq!(partition(&mut wide(100), &Natural), None);
        assert_eq!(partition(&mut vec![[7_u64; 4]; 50_000], &Natural), None);
    }

    #[test]
    fn a_panic_while_classifying_loses_nothing() {
        for panic_at in [0, 10, 20_000, 60_000, 100_000, 200_000] {
            let mut v = wide(50_000);
            let calls = AtomicUsize::new(0);
            let order = By(|a: &[u64; 4], b: &[u64; 4]| {
                assert!(calls.fetch_add(1, Relaxed) != panic_at, "this one panics");
                a.cmp(b)
            });
            let _ = catch_unwind(AssertUnwindSafe(|| partition(&mut v, &order)));
            assert!(is_permutation_of_wide(v));
        }
    }
}
