//! What thieves touch of a join stack: the slots of its public part, and the word of each that says who has the fork.
//!
//! The word is here, and not in the fork's frame, which may die as soon as the owner sees `DONE`: a thief touches nothing of the frame after that.

use super::{Flaw, Job, JoinStack, Locked};
use crate::context::Context;
use crate::sync::{AtomicPtr, AtomicU32, Ordering};
use blitz_primitives::fence;
use blitz_primitives::flaw::Flaws;

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
    pub(super) flaws: Flaws<Flaw>,
}

impl Slot {
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

/// A fork that a thief has taken.
#[derive(Debug)]
pub(crate) struct Stolen<'a> {
    pub(crate) slot: &'a Slot,
    pub(crate) job: *const Job,
    /// How many forks lie between it and the task that it is a part of, whoever made them: more than between that and what it was forked from.
    pub(crate) level: u32,
}

/// What threads other than the owner may do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Thief<'a> {
    pub(super) stack: &'a JoinStack,
}

impl<'a> Thief<'a> {
    /// Is something public? Touches only the shared line. A hint: the answer may be stale.
    pub(crate) fn sees_work(self) -> bool {
        let shared = &self.stack.shared;
        // Acquire: a sleeper's last look must not be satisfied from before its announcement; the
        // fence in the sleep protocol does the ordering, this only keeps the loads fresh.
        shared.top.load(Ordering::Acquire) < shared.low.load(Ordering::Acquire)
    }

    /// Are there private forks, which [`Thief::force`] could expose? Touches the owner's line.
    pub(crate) fn sees_private(self) -> bool {
        let low = self.stack.shared.low.load(Ordering::Relaxed);
        self.stack.owner.bottom.load(Ordering::Relaxed) > low && !fence::heavy_is_refused()
    }

    /// The level of the oldest public fork, or of the oldest private one if none is public. A hint.
    pub(crate) fn level(self) -> u32 {
        let top = self.stack.shared.top.load(Ordering::Relaxed);
        // SAFETY: a slot, or the one behind the last. Without the lock what is found there may be of another moment; nothing of it is followed.
        unsafe { self.stack.made_in(top) }.1
    }

    /// Takes the oldest public fork that `wanted` accepts (it is given the context the fork was made
    /// in) for the thread in seat `thief`. Gives up at once if the lock is taken.
    pub(crate) fn steal(
        self,
        thief: usize,
        wanted: impl FnMut(*const Context) -> bool,
    ) -> Option<Stolen<'a>> {
        self.steal_from_level(0, thief, wanted)
    }

    /// The same, if its level is at least `lowest`.
    pub(crate) fn steal_from_level(
        self,
        lowest: u32,
        thief: usize,
        mut wanted: impl FnMut(*const Context) -> bool,
    ) -> Option<Stolen<'a>> {
        if !self.sees_work() || !self.stack.try_acquire() {
            return None;
        }
        let _lock = Locked { stack: self.stack };
        let shared = &self.stack.shared;
        let low = shared.low.load(Ordering::Relaxed);
        let mut slot = shared.top.load(Ordering::Relaxed);
        // SAFETY: we hold the lock.
        let (mut context, mut level) = unsafe { self.stack.made_in(slot) };
        // What `wanted` says of it, once we asked. A look in vain asks once for each context, and takes a step for each fork.
        let mut accepted = None;
        let mut taken = None;
        // Still true while no unstolen fork has been left behind.
        let mut contiguous = true;
        while slot < low {
            // SAFETY: between `top` and `low`, hence inside the slots; public, and we hold the lock.
            let this = unsafe { &*slot };
            // SAFETY: as above, at most `low`.
            let next = unsafe { slot.add(1) };
            let begins = this.begins.load(Ordering::Relaxed);
            if !begins.is_null() {
                context = begins;
                level = this.level.load(Ordering::Relaxed);
                accepted = None;
            }
            if this.state.load(Ordering::Relaxed) == state::FREE {
                // Public and not taken, and we hold the lock: the fork exists, and so does the context it was made in.
                if level >= lowest && *accepted.get_or_insert_with(|| wanted(context)) {
                    this.context.set_parent(context);
                    this.state.store(state::stolen_by(thief), Ordering::Relaxed);
                    taken = Some(Stolen {
                        slot: this,
                        job: this.job.load(Ordering::Relaxed),
                        level,
                    });
                    if contiguous {
                        shared.top.store(next, Ordering::Relaxed);
                    }
                    break;
                }
                contiguous = false;
            } else if contiguous {
                shared.top.store(next, Ordering::Relaxed);
            }
            slot = next;
            level += 1;
        }
        self.stack.restore_limit();
        taken
    }

    /// Makes all private forks public although the owner has not been asked, by way of the heavy
    /// fence. Returns whether anything became public. Costs microseconds; the caller rations it. Where the kernel refuses the fence,
    /// forks become public by the owner's pushes only.
    pub(crate) fn force(self) -> bool {
        if !self.stack.try_acquire() {
            return false;
        }
        let _lock = Locked { stack: self.stack };
        let shared = &self.stack.shared;
        let old = shared.low.load(Ordering::Relaxed);
        let bottom = self.stack.owner.bottom.load(Ordering::Relaxed);
        if bottom <= old {
            return false;
        }
        self.stack.set_low(bottom);
        if !fence::heavy() && !self.stack.owner.flaws.has(Flaw::ForceUnfenced) {
            // Who can say which of the private forks the owner has popped meanwhile? Nothing becomes public. An owner that has
            // seen the border up there waits for the lock, and finds its fork as it was.
            self.stack.set_low(old);
            return false;
        }
        let owner = &self.stack.owner;
        let mut bottom_now = bottom;
        // Acquire: pairs with `put` and `pop`, so that the slots below it are visible.
        let look_again = || bottom_now = owner.bottom.load(Ordering::Acquire);
        owner.flaws.unless(Flaw::NoSecondLook, look_again);
        let low = bottom.min(bottom_now).max(old);
        self.stack.set_low(low);
        self.stack.restore_limit();
        low > old
    }
}
