//! How tasks keep their scheduler alive without a counter that all threads fight over.
//!
//! Every task *holds* its scheduler from the moment it is made until its memory is freed, by whoever drops the last waker or handle, also long
//! after the runtime has ended. One counter for that would be written by every thread at each spawn and at each end of a task. So the
//! count is in pieces: each worker has a *stripe* that only it writes, with plain loads and stores, and everybody else shares the *common* part.
//! A task may be counted in one piece and off in another: only the sum means something, and a piece may be negative.
//!
//! # When the last hold goes
//! While a stripe is open the common part contains [`OPEN`], more than there can be tasks: it cannot be zero, and needs not be, since
//! the worker itself keeps the scheduler alive. A worker that ends adds its stripe to the common part and takes [`OPEN`] out in one step.
//! With all stripes closed the common part is the number of holds, exactly. So:
//!
//! *zero* means: no stripe is open, and no task is left. All holds together keep one strong reference to the scheduler for as long as the
//! common part is not zero: whoever makes it something else than zero adds that reference, whoever makes it zero drops it. Both
//! happen outside of the atomic step. That is safe:
//! * who adds it has a reference of its own meanwhile (it spawns, or starts as a worker), and its own hold keeps the part from zero until it is through; so
//!   it is never dropped before it is added, and those who rely on it earlier are covered by the adder's own;
//! * who drops it does not touch the scheduler after its step unless it got zero, and then the reference is still there.
//!
//! # Orderings
//! The steps on the common part are AcqRel: what everybody did with the scheduler comes before its end. A stripe is its
//! owner's; the step that closes it publishes it.

use crate::primitives::{AtomicU64, Ordering};
use blitz_core::checking::Flaws;

/// What an open stripe adds to the common part.
const OPEN: u64 = 1 << 48;

/// What the models break on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "constructed by loom models only")]
pub(crate) enum Flaw {
    /// An open stripe is not in the common part.
    OpensSilently,
    /// A stripe is closed in two steps.
    ClosesInTwoSteps,
    RelaxedSteps,
}

/// The common part. Two's complement: it may be "negative" by what is in the stripes.
#[derive(Debug)]
pub(crate) struct Holds {
    common: AtomicU64,
    flaws: Flaws<Flaw>,
}

/// The part of one worker.
#[derive(Debug)]
pub(crate) struct Stripe {
    /// Written by the owner only.
    count: AtomicU64,
    open: AtomicU64,
}

impl Stripe {
    /// A stripe that is not open.
    pub(crate) fn new() -> Self {
        Stripe {
            count: AtomicU64::new(0),
            open: AtomicU64::new(0),
        }
    }

    /// For the owner: can it be counted here?
    #[inline]
    fn is_open(&self) -> bool {
        self.open.load(Ordering::Relaxed) != 0
    }

    #[inline]
    fn add(&self, change: u64) {
        let now = self.count.load(Ordering::Relaxed);
        self.count
            .store(now.wrapping_add(change), Ordering::Relaxed);
    }
}

impl Holds {
    pub(crate) fn new() -> Self {
        Self::with_flaws(Flaws::NONE)
    }

    pub(crate) fn with_flaws(flaws: Flaws<Flaw>) -> Self {
        Holds {
            common: AtomicU64::new(0),
            flaws,
        }
    }

    /// One more, counted in the caller's own stripe if it has one. `true`: the caller adds the strong reference, before anything else.
    #[inline]
    #[must_use]
    pub(crate) fn take(&self, own: Option<&Stripe>) -> bool {
        match own {
            Some(stripe) if stripe.is_open() => {
                stripe.add(1);
                false
            }
            _ => self.step(1).0,
        }
    }

    /// One less. `true`: the caller drops the strong reference. Otherwise the scheduler may be gone.
    #[inline]
    #[must_use]
    pub(crate) fn give(&self, own: Option<&Stripe>) -> bool {
        match own {
            Some(stripe) if stripe.is_open() => {
                stripe.add(1u64.wrapping_neg());
                false
            }
            _ => self.step(1u64.wrapping_neg()).1,
        }
    }

    /// The caller becomes a worker. As for [`Holds::take`].
    #[must_use]
    pub(crate) fn open(&self, own: &Stripe) -> bool {
        debug_assert!(!own.is_open(), "a stripe has one owner");
        own.open.store(1, Ordering::Relaxed);
        !self.flaws.has(Flaw::OpensSilently) && self.step(OPEN).0
    }

    /// And is none any more. As for [`Holds::give`].
    #[must_use]
    pub(crate) fn close(&self, own: &Stripe) -> bool {
        own.open.store(0, Ordering::Relaxed);
        let count = own.count.load(Ordering::Relaxed);
        own.count.store(0, Ordering::Relaxed);
        if self.flaws.has(Flaw::OpensSilently) {
            return self.step(count).1;
        }
        if self.flaws.has(Flaw::ClosesInTwoSteps) {
            return self.step(OPEN.wrapping_neg()).1 | self.step(count).1;
        }
        self.step(count.wrapping_sub(OPEN)).1
    }

    /// Changes the common part. Returns whether it was, and whether it is now, zero.
    #[inline]
    fn step(&self, change: u64) -> (bool, bool) {
        let order = self.flaws.relax(Flaw::RelaxedSteps, Ordering::AcqRel);
        let before = self.common.fetch_add(change, order);
        (before == 0, before.wrapping_add(change) == 0)
    }
}

#[cfg(all(test, loom))]
mod models;
