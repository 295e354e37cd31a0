//! The join stack: the right halves of the joins that one thread is inside of.
//!
//! Joins nest, so their right halves form a stack, and a stack needs no ring and no growth: one slot
//! per level of nesting, in memory that is never given back while the pool lives.
//!
//! ```text
//!   slots   [ 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 ...
//!             top^        ^low        ^bottom
//!             [ public    )[ private  )
//! ```
//!
//! * `[top, low)` is **public**: thieves take from it, and the owner takes back from it, under `lock`.
//! * `[low, bottom)` is **private**: the owner's alone, pushed and popped without a lock, a fence
//!   that costs anything, or a read-modify-write.
//!
//! Who may call what: the *owner* (the thread that occupies the seat this stack belongs to) pushes
//! and pops; anybody may call the methods of [`Thief`].
//!
//! # Exposure
//! Private forks become public in three ways, so that every fork can be stolen at any time:
//! 1. whenever the public part is empty, `limit` is null, the next push takes its slow path, and
//!    everything including the new fork becomes public. So the outermost fork is public at once, and
//!    after a theft the owner's next push shares all older forks;
//! 2. a thief who finds nothing public while the owner sits in a long leaf *forces* exposure
//!    ([`Thief::force`]);
//! 3. an owner that does not fork, because there would be enough to steal, sees that there is nothing any more and [shows](JoinStack::show) what it has.
//!
//! Invariant, under the lock: `limit` is null if and only if the public part is empty.
//!
//! # Why it is correct
//! * **Public slots** change hands only under `lock`: a slot is claimed by writing `STOLEN` into its
//!   state, and the owner's `pop` of a public slot looks at that state under the same lock.
//! * **Private slots** are touched by the owner alone, as long as owner and forcing thief agree where
//!   the border is. The owner's pop stores `bottom = b`, passes a light fence, loads `low`; the forcing
//!   thief stores `low`, passes a heavy fence, loads `bottom`. One of the two sees the other's store.
//!   If the owner sees the new `low`, it goes through the lock. If it does not, the thief sees
//!   `bottom <= b` and takes the border back below `b` before it releases the lock.
//!   (`Release`/`Acquire` alone would allow both to miss each other: the loom model with the fence
//!   removed runs one fork twice.) An owner that pops and pushes again at the same index is no
//!   exception: if its pop missed the new `low`, the thief's load returns that pop's `bottom` or a
//!   later value, and any such value carries (`Release`/`Acquire`) the contents of the slots below.
//! * **The job's frame** may die as soon as its owner sees `DONE`. The completion word therefore
//!   lives in the slot, which never dies, and a thief touches nothing of the frame after it.
//! * **Contents** reach the thief through the lock (slow push) or through `bottom` (forced).
//!   Results come back through the `AcqRel` swap to `DONE`.

use crate::sync::{AtomicPtr, AtomicU32, Ordering, spin_loop, yield_now};
use blitz_primitives::fence;
use blitz_primitives::flaw::Flaws;
use crossbeam_utils::CachePadded;
use std::cell::Cell;
use std::ptr;
use thief::state;

pub(crate) use thief::{Slot, Stolen, Thief};
#[cfg(not(loom))]
pub(crate) use {contexts::Began, thief::MAX_SEATS};

mod contexts;
mod exposure;
mod memory;
mod thief;

/// The type-erased head of a forked job: the function that runs it on a thief.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Job {
    /// Runs the job found at this address and stores its result there. Never unwinds.
    pub(crate) execute: unsafe fn(*const Job),
}

/// How deep joins may nest before further right halves simply run in place: 4096 with pointers of 64 bits, twice that with 32. So much at once an
/// allocator gets from the kernel, zeroed; less it might have to clear itself, and then all of it would take memory.
#[cfg(not(loom))]
pub(crate) const CAPACITY: usize = (128 << 10) / size_of::<Slot>();
#[cfg(loom)]
pub(crate) const CAPACITY: usize = 3;

/// Joins until the first look at the clock (see `wake`).
pub(crate) const FIRST_BEAT: u32 = 64;

/// What the models break on purpose; see [`Flaws`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "constructed by loom models only")]
enum Flaw {
    NoLightFence,
    NoSecondLook,
    ForceUnfenced,
    PopIgnoresThief,
    LimitStays,
    ShowUnlocked,
    RelaxedUnlock,
    RelaxedPut,
    RelaxedPop,
    RelaxedComplete,
    CompleteForgetsParked,
    ParkWithoutLooking,
}

/// Where a fork is on its stack.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(crate) struct Place(*mut Slot);

/// What a push or a beat found out.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(crate) enum Pushed {
    /// The fork is on the stack and just became public: somebody may want to know.
    Public,
    /// The fork is alone on the stack, and private, since it is of the kind that [`JoinStack::keep_private`] was told.
    Kept,
    /// The fork is on the stack, and it is time to look at the clock.
    Beat,
    /// No room: run both halves here.
    Full,
}

/// What `pop` found.
#[derive(Debug, PartialEq, Eq, Clone, Copy)]
pub(crate) enum Popped {
    /// The fork is ours again, and was private all the time: run it.
    Ours,
    /// The fork is ours again, but was public: run it.
    Retaken,
    /// A thief has it: wait for its slot, then call [`JoinStack::reclaim`].
    Stolen,
}

/// Touched by the owner all the time.
#[derive(Debug)]
struct OwnerLine {
    /// One past the newest fork. Stored by the owner only.
    bottom: AtomicPtr<Slot>,
    /// Pushes until the next beat.
    beat: Cell<u32>,
    /// `CAPACITY + 1` slots (the last one only ever `begins` a context).
    slots: *mut Slot,
    /// What runs the forks that stay private as long as they are alone.
    kept: Cell<Option<unsafe fn(*const Job)>>,
    flaws: Flaws<Flaw>,
}

/// Written by thieves, and by the owner on its slow paths; read by the owner all the time.
#[derive(Debug)]
struct SharedLine {
    lock: AtomicU32,
    /// Pushes at or beyond this take the slow path: the end of the slots, or null.
    limit: AtomicPtr<Slot>,
    /// No unstolen public fork below this. Written under `lock`.
    top: AtomicPtr<Slot>,
    /// The border between public and private. Written under `lock`.
    low: AtomicPtr<Slot>,
    /// What `pop` compares with: `low` if light fences cost nothing, else above every slot, so that
    /// `pop` goes out of line for its fence. Saves the fast path a look at the mode.
    border: AtomicPtr<Slot>,
}

/// See the module's documentation.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct JoinStack {
    shared: CachePadded<SharedLine>,
    /// Last and without padding: whatever else belongs to the owner shares its cache line.
    owner: OwnerLine,
}

// SAFETY: the owner-only parts (`beat`, the storing side of `bottom`) are used by one thread at a
// time, which is the contract of the `unsafe` owner methods; everything else is atomic.
unsafe impl Sync for JoinStack {}
// SAFETY: as above; nothing is tied to the thread that created the stack.
unsafe impl Send for JoinStack {}

impl JoinStack {
    fn end(&self) -> *mut Slot {
        // SAFETY: `slots` points to CAPACITY + 1 slots.
        unsafe { self.owner.slots.add(CAPACITY) }
    }

    // ---- the owner's side -------------------------------------------------------------------

    /// Puts a fork on the stack: two loads, two stores and a countdown. Returns where it is, and
    /// `Some` when the slow path has something to report.
    ///
    /// # Safety
    /// The caller occupies this stack's seat (or the stack is [`JoinStack::unseated`]). `job` stays
    /// valid until the matching [`JoinStack::pop`] says that it is ours or the slot is done.
    #[inline(always)]
    pub(crate) unsafe fn push(&self, job: *const Job) -> (Place, Option<Pushed>) {
        let bottom = self.owner.bottom.load(Ordering::Relaxed);
        let place = Place(bottom);
        if bottom >= self.shared.limit.load(Ordering::Relaxed) {
            // SAFETY: passed on.
            return (place, Some(unsafe { self.push_slow(job) }));
        }
        // SAFETY: `bottom` is below `limit`, hence inside the slots, and at or above `low`, hence
        // ours alone.
        unsafe { self.put(bottom, job) };
        let beat = self.owner.beat.get() - 1;
        self.owner.beat.set(beat);
        (place, if beat == 0 { Some(self.beat()) } else { None })
    }

    /// # Safety
    /// `bottom` is this stack's bottom and inside the slots.
    #[inline(always)]
    unsafe fn put(&self, bottom: *mut Slot, job: *const Job) {
        // Release: a forcing thief that reads this `bottom` must see the job and its closure.
        let order = self.owner.flaws.relax(Flaw::RelaxedPut, Ordering::Release);
        // SAFETY: inside the slots. Nobody else looks at a slot at or above `bottom`.
        unsafe {
            (*bottom).job.store(job.cast_mut(), Ordering::Relaxed);
            self.owner.bottom.store(bottom.add(1), order);
        }
    }

    #[cold]
    fn beat(&self) -> Pushed {
        self.set_beat(FIRST_BEAT);
        Pushed::Beat
    }

    /// Asks for the next [`Pushed::Beat`] after this many fast pushes, at least one. Owner only.
    pub(crate) fn set_beat(&self, pushes: u32) {
        self.owner.beat.set(pushes);
    }

    #[cold]
    #[inline(never)]
    unsafe fn push_slow(&self, job: *const Job) -> Pushed {
        let bottom = self.owner.bottom.load(Ordering::Relaxed);
        if self.owner.slots.is_null() || bottom == self.end() {
            return Pushed::Full;
        }
        // SAFETY: not at the end, so inside the slots.
        unsafe { self.put(bottom, job) };
        // SAFETY: the caller's job is alive.
        if bottom == self.owner.slots && unsafe { self.is_kept(job) } {
            return Pushed::Kept;
        }
        let _lock = self.lock();
        // SAFETY: `bottom` is not the end, so one further is at most the end.
        self.set_low(unsafe { bottom.add(1) });
        self.shared.limit.store(self.end(), Ordering::Relaxed);
        Pushed::Public
    }

    /// Takes the newest fork back. It is at `place`, so `bottom` need not be loaded: a load would have
    /// to wait for the store of the pop before it.
    ///
    /// # Safety
    /// The caller occupies this stack's seat, and its newest push that is not yet matched by a pop was
    /// successful and returned `place`.
    #[inline(always)]
    pub(crate) unsafe fn pop(&self, place: Place) -> Popped {
        let Place(bottom) = place;
        // Release, although nothing new is published: a forcing thief may read this very store, and must then
        // see the slots below, which an earlier push has published.
        let order = self.owner.flaws.relax(Flaw::RelaxedPop, Ordering::Release);
        self.owner.bottom.store(bottom, order);
        self.owner
            .flaws
            .unless(Flaw::NoLightFence, fence::light_if_free);
        // Relaxed: what matters is the order against the store above, which is the fence's work.
        if self.shared.border.load(Ordering::Relaxed) <= bottom {
            Popped::Ours
        } else {
            // SAFETY: passed on.
            unsafe { self.pop_slow(bottom) }
        }
    }

    #[cold]
    #[inline(never)]
    unsafe fn pop_slow(&self, bottom: *mut Slot) -> Popped {
        if !fence::light_is_free() {
            self.owner.flaws.unless(Flaw::NoLightFence, fence::light);
            if self.shared.low.load(Ordering::Relaxed) <= bottom {
                return Popped::Ours;
            }
        }
        let _lock = self.lock();
        // SAFETY: inside the slots. Its state cannot change while we hold the lock, except from
        // STOLEN to DONE.
        let word = unsafe { (*bottom).state.load(Ordering::Relaxed) };
        if word == state::FREE || self.owner.flaws.has(Flaw::PopIgnoresThief) {
            self.retreat(bottom);
            Popped::Retaken
        } else {
            // The slot stays ours to wait on: forks made while we help go above it.
            // SAFETY: it was pushed, so one further is at most the end.
            self.owner
                .bottom
                .store(unsafe { bottom.add(1) }, Ordering::Release);
            Popped::Stolen
        }
    }

    /// Ends the public part at `bottom`, under the lock.
    fn retreat(&self, bottom: *mut Slot) {
        if self.shared.low.load(Ordering::Relaxed) > bottom {
            self.set_low(bottom);
        }
        if self.shared.top.load(Ordering::Relaxed) > bottom {
            self.shared.top.store(bottom, Ordering::Relaxed);
        }
        self.restore_limit();
    }

    /// Moves the border, under the lock.
    fn set_low(&self, low: *mut Slot) {
        self.shared.low.store(low, Ordering::Relaxed);
        if fence::light_is_free() {
            self.shared.border.store(low, Ordering::Relaxed);
        }
    }

    /// Re-establishes the invariant between `limit` and the public part, under the lock.
    fn restore_limit(&self) {
        let empty =
            self.shared.top.load(Ordering::Relaxed) >= self.shared.low.load(Ordering::Relaxed);
        let limit = if empty && !self.owner.flaws.has(Flaw::LimitStays) {
            ptr::null_mut()
        } else {
            self.end()
        };
        self.shared.limit.store(limit, Ordering::Relaxed);
    }

    /// The newest slot, which a thief has: what [`Popped::Stolen`] speaks of.
    ///
    /// # Safety
    /// The caller occupies this stack's seat and its last `pop` returned `Stolen`.
    pub(crate) unsafe fn stolen_slot(&self) -> &Slot {
        // SAFETY: by contract there is a slot below `bottom`.
        unsafe { &*self.owner.bottom.load(Ordering::Relaxed).sub(1) }
    }

    /// Frees the slot of a stolen fork whose thief is done.
    ///
    /// # Safety
    /// The caller occupies this stack's seat, its last `pop` returned `Stolen`, and the slot is done.
    pub(crate) unsafe fn reclaim(&self) {
        // SAFETY: by contract there is a slot below `bottom`.
        let slot = unsafe { self.owner.bottom.load(Ordering::Relaxed).sub(1) };
        let _lock = self.lock();
        // SAFETY: the thief is done with the slot, and other thieves need the lock.
        unsafe { (*slot).state.store(state::FREE, Ordering::Relaxed) };
        self.owner.bottom.store(slot, Ordering::Release);
        self.retreat(slot);
    }

    /// How many forks are on the stack. Exact for the owner, a hint for others.
    #[inline]
    pub(crate) fn depth(&self) -> usize {
        let bottom = self.owner.bottom.load(Ordering::Relaxed) as usize;
        bottom.saturating_sub(self.owner.slots as usize) / size_of::<Slot>()
    }

    /// The depth at which the fork in `slot`, one of this stack's, was pushed.
    #[cfg(not(loom))]
    pub(crate) fn place_of(&self, slot: &Slot) -> usize {
        (ptr::from_ref(slot).addr() - self.owner.slots.addr()) / size_of::<Slot>()
    }

    // ---- the lock ---------------------------------------------------------------------------

    fn lock(&self) -> Locked<'_> {
        let mut spins = 0_u32;
        while !self.try_acquire() {
            spins += 1;
            // The holder is a thief in the middle of a few loads and stores, unless the kernel has
            // taken its CPU away.
            if spins % 64 == 0 {
                yield_now();
            } else {
                spin_loop();
            }
        }
        Locked { stack: self }
    }

    fn try_acquire(&self) -> bool {
        let lock = &self.shared.lock;
        lock.load(Ordering::Relaxed) == 0
            && lock
                .compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed)
                .is_ok()
    }

    /// Everybody else's side.
    pub(crate) fn thief(&self) -> Thief<'_> {
        Thief { stack: self }
    }
}

/// Releases the lock on drop.
struct Locked<'a> {
    stack: &'a JoinStack,
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        let flaws = &self.stack.owner.flaws;
        let order = flaws.relax(Flaw::RelaxedUnlock, Ordering::Release);
        self.stack.shared.lock.store(0, order);
    }
}

#[cfg(all(test, loom))]
mod models;

#[cfg(all(test, not(loom)))]
mod tests;
