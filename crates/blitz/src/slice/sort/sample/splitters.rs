//! Splitters for a multiway partition on several threads, when elements may not be shared between threads.
//!
//! A sample of the slice is sorted, and `k - 1` evenly spaced ranks cut the order into `k` buckets. Elements are `Send` but not `Sync`, so
//! two threads must not compare against the same element. Therefore the slice is cut into stripes, and every stripe has splitters of
//! its own. Around each rank, neighbouring sample elements are dealt out, *the largest to the first stripe*. So a stripe further back
//! cuts a little lower. This keeps equal elements in order: of two equal ones, the one in front never lands in a later bucket.
//! Elements about which the stripes disagree lie between neighbours of a large sample. They are merged when the buckets are sorted.
//!
//! A splitter is an element of the slice. While its stripe uses it, it lives in the stripe's tree, and nobody reads its place in the
//! slice. When the tree is dropped the element goes back, with whatever the comparator may have done to it.

use super::super::raw::Shared;
use super::super::tree::{self, BATCH};
use std::mem::MaybeUninit;
use std::ptr;

/// The splitters of one stripe as a search tree.
pub(super) struct Tree<T> {
    slots: Vec<MaybeUninit<T>>,
    /// Where in the slice each splitter comes from.
    homes: Vec<usize>,
    base: Shared<T>,
    levels: u32,
}

impl<T> Tree<T> {
    /// Takes the splitters at `ranked`, positions in the slice from the smallest splitter to the largest, one fewer than a power of
    /// two.
    ///
    /// # Safety
    /// The positions lie within the slice at `base`, they are distinct, and nobody else uses them while the tree exists.
    pub(super) unsafe fn new(base: Shared<T>, ranked: &[usize]) -> Self {
        let size = ranked.len() + 1;
        debug_assert!(size.is_power_of_two());
        let mut homes = vec![0; size];
        for (slot, home) in homes.iter_mut().enumerate().skip(1) {
            *home = ranked[tree::rank_of_slot(slot, size)];
        }
        let mut slots = Vec::with_capacity(size);
        slots.push(MaybeUninit::uninit());
        for &home in &homes[1..] {
            let mut slot = MaybeUninit::uninit();
            // SAFETY: the position is valid and ours; the bits move here until the tree is dropped.
            unsafe { ptr::copy_nonoverlapping(base.get().add(home), slot.as_mut_ptr(), 1) };
            slots.push(slot);
        }
        Tree {
            slots,
            homes,
            base,
            levels: size.ilog2(),
        }
    }

    /// The splitters with their positions.
    pub(super) fn splitters(&self) -> impl Iterator<Item = (usize, &T)> {
        (1..self.homes.len()).map(|slot| {
            // SAFETY: all slots but the first are initialised.
            let splitter = unsafe { self.slots[slot].assume_init_ref() };
            (self.homes[slot], splitter)
        })
    }

    /// The bucket of one element: how many splitters are not above it.
    #[inline]
    pub(super) fn bucket(&self, element: &T, is_less: &impl Fn(&T, &T) -> bool) -> u8 {
        let [bucket] = self.buckets([element], is_less);
        bucket
    }

    #[inline(always)]
    fn buckets<const N: usize>(
        &self,
        elements: [&T; N],
        is_less: &impl Fn(&T, &T) -> bool,
    ) -> [u8; N] {
        // SAFETY: there are `2^levels` slots, and all but the first hold splitters, which are this tree's alone.
        unsafe { tree::buckets(self.slots.as_ptr().cast(), self.levels, elements, is_less) }
    }

    /// Writes the bucket of every element to `ids`.
    pub(super) fn classify(
        &self,
        elements: &[T],
        ids: &mut [u8],
        is_less: &impl Fn(&T, &T) -> bool,
    ) {
        let mut batches = elements.chunks_exact(BATCH);
        let mut id_batches = ids.chunks_exact_mut(BATCH);
        for (batch, ids) in (&mut batches).zip(&mut id_batches) {
            let elements: [&T; BATCH] = std::array::from_fn(|i| &batch[i]);
            ids.copy_from_slice(&self.buckets(elements, is_less));
        }
        for (element, id) in batches.remainder().iter().zip(id_batches.into_remainder()) {
            *id = self.bucket(element, is_less);
        }
    }
}

impl<T> Drop for Tree<T> {
    fn drop(&mut self) {
        for (slot, &home) in self.slots.iter().zip(&self.homes).skip(1) {
            // SAFETY: the splitter came from there, and nobody has used the place since.
            unsafe { ptr::copy_nonoverlapping(slot.as_ptr(), self.base.get().add(home), 1) };
        }
    }
}
