//! One timer: what the wheel links, inside the future that waits.
//!
//! An entry is part of a pinned future, so a timer costs no allocation. Its one atomic word says who may touch the
//! rest of it:
//!
//! | state | meaning | the fields belong to |
//! |---|---|---|
//! | `IDLE` | in no wheel | the owner of the future |
//! | `ARMED` | linked into its shard's wheel | whoever holds the shard's lock |
//! | `FIRED` | time is up | the owner of the future |
//!
//! The owner moves it `IDLE -> ARMED` and back `ARMED -> IDLE`, and the driver moves it `ARMED -> FIRED`, always under the
//! shard's lock. Setting `FIRED` is the driver's last access to an entry. So an owner that reads it
//! (acquire) may free the entry without the lock. An owner that reads `ARMED` has to take the lock and read again.
//!
//! Most timers are timeouts that are never armed. So the fields are written only when a timer is armed ([`Entry::prepare`]). An entry that is not armed has no waker
//! in them: the thread that takes it out of the wheel takes the waker.

use crate::primitives::{AtomicU32, Ordering, UnsafeCell};
use blitz_core::checking::Flaws;
use std::marker::PhantomPinned;
use std::mem::MaybeUninit;
use std::ptr;
use std::task::Waker;

const IDLE: u32 = 0;
const ARMED: u32 = 1;
const FIRED: u32 = 2;

/// What a model gets wrong on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(all(test, loom)), allow(dead_code))]
pub(super) enum Flaw {
    /// Nothing orders what the driver did to an entry before what its owner does next.
    FiresRelaxed,
    /// The driver takes the waker after it has let go.
    LetsGoTooEarly,
    /// The owner believes what it read before it had the lock.
    TrustsOldState,
}

/// A timer. Has to be cancelled in its shard before it is dropped.
#[derive(Debug)]
pub(super) struct Entry {
    state: AtomicU32,
    /// Written by [`prepare`](Self::prepare), before it is armed for the first time.
    fields: UnsafeCell<MaybeUninit<Fields>>,
    pub(super) flaws: Flaws<Flaw>,
    /// The wheel has the address of an armed entry.
    _pinned: PhantomPinned,
}

/// What the wheel and the owner share.
#[derive(Debug)]
pub(super) struct Fields {
    /// The tick at which it fires.
    pub(super) when: u64,
    /// The index of its list in the wheel.
    pub(super) slot: u16,
    pub(super) next: *const Entry,
    pub(super) previous: *const Entry,
    pub(super) waker: Option<Waker>,
}

// SAFETY: the raw pointers are only followed by whoever the table above gives the fields to.
unsafe impl Send for Entry {}
// SAFETY: as for `Send`; through a shared reference only the atomic word is read without the lock.
unsafe impl Sync for Entry {}

impl Entry {
    #[inline]
    pub(super) fn new() -> Self {
        Self::with_flaws(Flaws::NONE)
    }

    #[inline]
    pub(super) fn with_flaws(flaws: Flaws<Flaw>) -> Self {
        Self {
            flaws,
            state: AtomicU32::new(IDLE),
            fields: UnsafeCell::new(MaybeUninit::uninit()),
            _pinned: PhantomPinned,
        }
    }

    /// Makes it ready for the wheel, with this waker.
    ///
    /// # Safety
    /// The caller is the owner, and it is not armed.
    pub(super) unsafe fn prepare(&self, waker: Option<Waker>) {
        let fields = Fields {
            when: 0,
            slot: 0,
            next: ptr::null(),
            previous: ptr::null(),
            waker,
        };
        // SAFETY: the fields are the owner's, and have no waker that would be lost.
        self.fields
            .with_mut(|place| unsafe { (*place).write(fields) });
    }

    /// Whether its time is up. If so, the driver has let go of it.
    pub(super) fn has_fired(&self) -> bool {
        self.state.load(Ordering::Acquire) == FIRED
    }

    /// Whether the driver may know of it.
    #[inline]
    pub(super) fn may_be_armed(&self) -> bool {
        self.state.load(Ordering::Acquire) == ARMED
    }

    /// Whether the wheel links it; exact, since its caller holds the lock.
    pub(super) fn is_armed_under_lock(&self) -> bool {
        self.state.load(Ordering::Relaxed) == ARMED || self.flaws.has(Flaw::TrustsOldState)
    }

    /// The owner gives it to the wheel.
    pub(super) fn set_armed(&self) {
        self.state.store(ARMED, Ordering::Relaxed);
    }

    /// The owner has it back, or starts anew.
    pub(super) fn set_idle(&self) {
        self.state.store(IDLE, Ordering::Relaxed);
    }

    /// The driver lets go of it: the caller must not touch it any more.
    pub(super) fn set_fired(&self) {
        let order = self.flaws.relax(Flaw::FiresRelaxed, Ordering::Release);
        self.state.store(FIRED, order);
    }

    /// Its fields.
    ///
    /// # Safety
    /// The caller has the right to them according to the table above, the entry has been [prepared](Self::prepare), and `access` does not call this
    /// again for the same entry.
    pub(super) unsafe fn fields<R>(&self, access: impl FnOnce(&mut Fields) -> R) -> R {
        // SAFETY: exclusive and written, as the caller promises.
        self.fields
            .with_mut(|fields| access(unsafe { (*fields).assume_init_mut() }))
    }
}
