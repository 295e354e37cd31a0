//! In which context each fork of a join stack was made, and how many forks lie between it and its task.
//!
//! A slot says what began when it was the next free one. Contexts nest as forks do: what holds for a fork does not change while it is on the stack.

use super::{JoinStack, Slot};
use crate::context::Context;
use crate::sync::Ordering;
use std::ptr;

/// What began in a slot before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Began {
    pub(super) context: *mut Context,
    pub(super) level: u32,
}

impl JoinStack {
    /// Declares that what the owner forks from now on belongs to `context`, and that the first fork has this level. Returns what to give to
    /// [`JoinStack::end_context`].
    ///
    /// # Safety
    /// The caller occupies this stack's seat.
    #[inline]
    pub(crate) unsafe fn begin_context(&self, context: *const Context, level: u32) -> Began {
        // SAFETY: there is one slot more than `bottom` can pass. Readers look only at slots at or
        // below a public fork, and no fork at or above this slot exists yet.
        let slot = unsafe { &*self.owner.bottom.load(Ordering::Relaxed) };
        let before = Began {
            context: slot.begins.load(Ordering::Relaxed),
            level: slot.level.load(Ordering::Relaxed),
        };
        slot.begins.store(context.cast_mut(), Ordering::Relaxed);
        slot.level.store(level, Ordering::Relaxed);
        before
    }

    /// What the owner forks from now on belongs to `context` instead of the one that has begun here.
    ///
    /// # Safety
    /// As there; `bottom` is where it was then.
    #[inline]
    pub(crate) unsafe fn continue_context(&self, context: *const Context) {
        // SAFETY: as in `begin_context`.
        let slot = unsafe { &*self.owner.bottom.load(Ordering::Relaxed) };
        debug_assert!(!slot.begins.load(Ordering::Relaxed).is_null());
        slot.begins.store(context.cast_mut(), Ordering::Relaxed);
    }

    /// Undoes the matching [`JoinStack::begin_context`].
    ///
    /// # Safety
    /// As there; `bottom` is where it was then.
    #[inline]
    pub(crate) unsafe fn end_context(&self, before: Began) {
        // SAFETY: as in `begin_context`.
        let slot = unsafe { &*self.owner.bottom.load(Ordering::Relaxed) };
        slot.begins.store(before.context, Ordering::Relaxed);
        slot.level.store(before.level, Ordering::Relaxed);
    }

    /// The level of the next fork.
    ///
    /// # Safety
    /// The caller occupies this stack's seat.
    pub(crate) unsafe fn level(&self) -> u32 {
        let bottom = self.owner.bottom.load(Ordering::Relaxed);
        // SAFETY: a slot, or the one behind the last; and the owner alone changes what begins where.
        let (_, level) = unsafe { self.made_in(bottom) };
        level
    }

    /// The nearest context that began at `slot` or below, and the level of a fork there. That cannot change while there is a fork in the slot, because contexts
    /// nest like the forks do.
    ///
    /// # Safety
    /// `slot` is one of the slots and not above `low`, and the caller holds the lock; or it is not above `bottom`, and the caller is the owner.
    pub(super) unsafe fn made_in(&self, slot: *mut Slot) -> (*const Context, u32) {
        let mut at = slot;
        let mut above = 0;
        loop {
            // SAFETY: between the first slot and `slot`.
            let begins = unsafe { (*at).begins.load(Ordering::Relaxed) };
            if !begins.is_null() {
                // SAFETY: as above.
                let level = unsafe { (*at).level.load(Ordering::Relaxed) };
                return (begins, level + above);
            }
            if at == self.owner.slots {
                return (ptr::null(), above);
            }
            // SAFETY: above the first slot, so there is one below.
            at = unsafe { at.sub(1) };
            above += 1;
        }
    }
}
