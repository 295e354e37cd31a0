//! What a thread can wait for, and how the end of it reaches the thread.
//!
//! *The frame is gone.* What is awaited mostly lies in the frame of whoever waits, who leaves it as soon as the end shows: whoever brings it about touches nothing of the frame afterwards. A
//! stolen half says so in its slot, which never dies; everything else by [`Completion::set`], which reads the parker, which is never freed, before it sets the latch.

use crate::context::Context;
use crate::join::Within;
use crate::join_stack::Slot;
use blitz_primitives::{CoreLatch, Parker};

/// Something a thread can wait for.
pub(crate) trait Awaited {
    /// What the waiting thread may run descends from this.
    fn context(&self) -> *const Context;
    /// Is it over?
    fn is_done(&self) -> bool;
    /// The waiter is about to park; from now on completion unparks it. `false`: it is over.
    fn announce_parked(&self) -> bool;
    /// The waiter does not park any more.
    fn announce_awake(&self);
    /// The seat where it runs, if it is one.
    fn runs_at(&self) -> Option<usize> {
        None
    }
    /// The loop that it is a part of, and its level: other forks of the loop may be run, if their level is not lower.
    fn part_of(&self) -> Option<(*const Context, u32)> {
        None
    }
    /// May it depend on tasks in queues that nobody else is bound to run?
    fn waits_for_tasks(&self) -> bool {
        true
    }
}

/// The right half of a join, which a thief has.
pub(crate) struct Half<'a> {
    pub(crate) slot: &'a Slot,
    /// The loop that it is a part of, if it is one, and its level there.
    pub(crate) within: Within,
    pub(crate) level: u32,
}

impl Awaited for Half<'_> {
    fn context(&self) -> *const Context {
        self.slot.context()
    }

    fn is_done(&self) -> bool {
        self.slot.is_done()
    }

    fn announce_parked(&self) -> bool {
        self.slot.announce_parked()
    }

    fn announce_awake(&self) {
        self.slot.announce_awake();
    }

    fn runs_at(&self) -> Option<usize> {
        Some(self.slot.thief())
    }

    fn part_of(&self) -> Option<(*const Context, u32)> {
        let loop_level = (self.within.0, self.level);
        self.within.is_loop().then_some(loop_level)
    }

    fn waits_for_tasks(&self) -> bool {
        // The thief runs, or waits for and finds, whatever the fork needs.
        false
    }
}

/// The end of what runs in a context, for one thread that waits for it.
#[derive(Debug)]
pub(crate) struct Completion {
    pub(crate) context: Context,
    latch: CoreLatch,
    pub(crate) waiter: &'static Parker,
}

impl Completion {
    /// What is to end runs in a child of `parent`; the thread of `waiter` waits.
    #[inline]
    pub(crate) fn new(parent: *const Context, waiter: &'static Parker) -> Self {
        Completion {
            context: Context::new(parent),
            latch: CoreLatch::new(),
            waiter,
        }
    }

    /// It has ended.
    ///
    /// # Safety
    /// `this` is alive until the latch is set; afterwards it may be gone. Called once.
    #[inline]
    pub(crate) unsafe fn set(this: *const Self) {
        // SAFETY: by contract. The parker is for ever.
        unsafe {
            let waiter = (*this).waiter;
            if (*this).latch.set() {
                waiter.unpark();
            }
        }
    }
}

impl Awaited for Completion {
    fn context(&self) -> *const Context {
        &raw const self.context
    }

    fn is_done(&self) -> bool {
        self.latch.probe()
    }

    fn announce_parked(&self) -> bool {
        self.latch.get_sleepy() && self.latch.fall_asleep()
    }

    fn announce_awake(&self) {
        self.latch.wake_up();
    }
}
