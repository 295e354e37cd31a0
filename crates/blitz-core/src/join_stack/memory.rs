//! The memory of a join stack: made with it, freed with it.

use super::{CAPACITY, FIRST_BEAT, Flaw, JoinStack, OwnerLine, SharedLine, Slot};
use crate::sync::{AtomicPtr, AtomicU32};
use blitz_primitives::fence;
use blitz_primitives::flaw::Flaws;
use crossbeam_utils::CachePadded;
#[cfg(not(loom))]
use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::cell::Cell;
use std::ptr;

/// One with these slots, and nothing in them: `const` where atomics are.
macro_rules! empty {
    ($slots:expr, $border:expr, $flaws:expr) => {
        JoinStack {
            shared: CachePadded::new(SharedLine {
                lock: AtomicU32::new(0),
                limit: AtomicPtr::new(ptr::null_mut()),
                top: AtomicPtr::new($slots),
                low: AtomicPtr::new($slots),
                border: AtomicPtr::new($border),
            }),
            owner: OwnerLine {
                bottom: AtomicPtr::new($slots),
                beat: Cell::new(FIRST_BEAT),
                slots: $slots,
                kept: Cell::new(None),
                flaws: $flaws,
            },
        }
    };
}

impl JoinStack {
    /// The stack of threads that have no seat: every push takes the slow path and changes nothing.
    #[cfg(not(loom))]
    pub(crate) const fn unseated() -> Self {
        empty!(ptr::null_mut(), ptr::null_mut(), Flaws::NONE)
    }

    /// An empty stack.
    pub(crate) fn new() -> Self {
        Self::with_flaws(Flaws::NONE)
    }

    pub(super) fn with_flaws(flaws: Flaws<Flaw>) -> Self {
        let slots = Box::into_raw(Slot::many(flaws)).cast::<Slot>();
        let above_every_slot = ptr::without_provenance_mut(usize::MAX);
        let free = fence::light_is_free();
        empty!(slots, if free { slots } else { above_every_slot }, flaws)
    }
}

impl Drop for JoinStack {
    fn drop(&mut self) {
        if !self.owner.slots.is_null() {
            let slots = ptr::slice_from_raw_parts_mut(self.owner.slots, CAPACITY + 1);
            // SAFETY: made by `Box::into_raw` of a slice of this length in `new`.
            drop(unsafe { Box::from_raw(slots) });
        }
    }
}

impl Slot {
    /// `CAPACITY + 1` of them. All zeros, which the allocator gets from the kernel for nothing: most stacks use a few, and the others take no memory.
    #[cfg(not(loom))]
    fn many(_flaws: Flaws<Flaw>) -> Box<[Slot]> {
        let layout = Layout::array::<Slot>(CAPACITY + 1).expect("a few pages");
        // SAFETY: not empty, and what is freed as a box is allocated as one. All zeros are null pointers, a state that is `FREE`, a
        // context without a parent, and no flaws, which take no room.
        unsafe {
            let slots = alloc_zeroed(layout).cast::<Slot>();
            if slots.is_null() {
                handle_alloc_error(layout);
            }
            Box::from_raw(ptr::slice_from_raw_parts_mut(slots, CAPACITY + 1))
        }
    }

    #[cfg(loom)]
    fn many(flaws: Flaws<Flaw>) -> Box<[Slot]> {
        (0..=CAPACITY).map(|_| Slot::new(flaws)).collect()
    }

    #[cfg(loom)]
    fn new(flaws: Flaws<Flaw>) -> Self {
        Slot {
            job: AtomicPtr::new(ptr::null_mut()),
            state: AtomicU32::new(super::thief::state::FREE),
            level: AtomicU32::new(0),
            begins: AtomicPtr::new(ptr::null_mut()),
            context: crate::context::Context::new(ptr::null()),
            flaws,
        }
    }
}
