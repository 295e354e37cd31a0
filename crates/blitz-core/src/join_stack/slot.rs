//! One level of nesting on a join stack: the fork, and the word that says who has it.
//!
//! The word is here, and not in the fork's frame, which may die as soon as the owner sees `DONE`: a thief touches nothing of the frame after that.

use super::{CAPACITY, Flaw, Job};
use crate::context::Context;
use crate::sync::{AtomicPtr, AtomicU32, Ordering};
use blitz_primitives::flaw::Flaws;
#[cfg(not(loom))]
use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::ptr;

/// The life of a stolen slot, in one word: phase, "the owner is parked", and who stole it.
pub(super) mod state {
    pub(in crate::join_stack) const FREE: u32 = 0;
    pub(in crate::join_stack) const STOLEN: u32 = 1;
    pub(in crate::join_stack) const DONE: u32 = 2;
    const PHASE: u32 = 3;
    pub(in crate::join_stack) const PARKED: u32 = 4;
    const THIEF_SHIFT: u32 = 8;

    pub(in crate::join_stack) fn stolen_by(thief: usize) -> u32 {
        STOLEN | (thief as u32) << THIEF_SHIFT
    }

    pub(in crate::join_stack) fn phase(word: u32) -> u32 {
        word & PHASE
    }

    pub(in crate::join_stack) fn thief(word: u32) -> usize {
        (word >> THIEF_SHIFT) as usize
    }
}

/// The largest thief index that fits into a slot's state.
pub(crate) const MAX_SEATS: usize = 1 << 16;

/// One level of nesting.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(super) job: AtomicPtr<Job>,
    pub(super) state: AtomicU32,
    /// The level of a fork in this slot, if a context begins here. See [`Stolen::level`].
    pub(super) level: AtomicU32,
    /// The context that began on this thread when this was the next free slot, if any.
    pub(super) begins: AtomicPtr<Context>,
    /// What runs in the thief's hands runs in this context.
    pub(super) context: Context,
    flaws: Flaws<Flaw>,
}

impl Slot {
    /// `CAPACITY + 1` of them. All zeros, which the allocator gets from the kernel for nothing: most stacks use a few, and the others take no memory.
    #[cfg(not(loom))]
    pub(super) fn many(_flaws: Flaws<Flaw>) -> Box<[Slot]> {
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
    pub(super) fn many(flaws: Flaws<Flaw>) -> Box<[Slot]> {
        (0..=CAPACITY).map(|_| Slot::new(flaws)).collect()
    }

    #[cfg(loom)]
    fn new(flaws: Flaws<Flaw>) -> Self {
        Slot {
            job: AtomicPtr::new(ptr::null_mut()),
            state: AtomicU32::new(state::FREE),
            level: AtomicU32::new(0),
            begins: AtomicPtr::new(ptr::null_mut()),
            context: Context::new(ptr::null()),
            flaws,
        }
    }

    /// The context in which a thief runs this slot's job: what its owner waits for.
    pub(crate) fn context(&self) -> &Context {
        &self.context
    }

    /// Has the thief finished?
    pub(crate) fn is_done(&self) -> bool {
        // Acquire: the result in the frame happens before `DONE`.
        state::phase(self.state.load(Ordering::Acquire)) == state::DONE
    }

    /// Who has it.
    pub(crate) fn thief(&self) -> usize {
        state::thief(self.state.load(Ordering::Relaxed))
    }

    /// The owner announces that it parks. `false`: the thief has finished meanwhile.
    pub(crate) fn announce_parked(&self) -> bool {
        let before = self.state.fetch_or(state::PARKED, Ordering::AcqRel);
        state::phase(before) != state::DONE || self.flaws.has(Flaw::ParkWithoutLooking)
    }

    /// The owner is awake again.
    pub(crate) fn announce_awake(&self) {
        self.state.fetch_and(!state::PARKED, Ordering::AcqRel);
    }

    /// The thief publishes the result. Returns whether the owner is parked and must be woken.
    ///
    /// After this call the job's frame may be gone.
    pub(crate) fn complete(&self) -> bool {
        // Release: the result before `DONE`. Acquire: the parked owner before its wake.
        let order = self.flaws.relax(Flaw::RelaxedComplete, Ordering::AcqRel);
        let before = self.state.swap(state::DONE, order);
        before & state::PARKED != 0 && !self.flaws.has(Flaw::CompleteForgetsParked)
    }
}
