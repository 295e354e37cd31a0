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

use crate::context::Context;
use crate::sync::{AtomicPtr, AtomicU32, Ordering, spin_loop, yield_now};
use blitz_primitives::fence;
use blitz_primitives::flaw::Flaws;
use crossbeam_utils::CachePadded;
#[cfg(not(loom))]
use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::cell::Cell;
use std::ptr;

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

/// The life of a stolen slot, in one word: phase, "the owner is parked", and who stole it.
mod state {
    pub(super) const FREE: u32 = 0;
    pub(super) const STOLEN: u32 = 1;
    pub(super) const DONE: u32 = 2;
    const PHASE: u32 = 3;
    pub(super) const PARKED: u32 = 4;
    const THIEF_SHIFT: u32 = 8;

    pub(super) fn stolen_by(thief: usize) -> u32 {
        STOLEN | (thief as u32) << THIEF_SHIFT
    }

    pub(super) fn phase(word: u32) -> u32 {
        word & PHASE
    }

    pub(super) fn thief(word: u32) -> usize {
        (word >> THIEF_SHIFT) as usize
    }
}

/// The largest thief index that fits into a slot's state.
pub(crate) const MAX_SEATS: usize = 1 << 16;

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

/// One level of nesting.
#[derive(Debug)]
pub(crate) struct Slot {
    job: AtomicPtr<Job>,
    state: AtomicU32,
    /// The level of a fork in this slot, if a context begins here. See [`Stolen::level`].
    level: AtomicU32,
    /// The context that began on this thread when this was the next free slot, if any.
    begins: AtomicPtr<Context>,
    /// What runs in the thief's hands runs in this context.
    context: Context,
    flaws: Flaws<Flaw>,
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

/// A fork that a thief has taken.
#[derive(Debug)]
pub(crate) struct Stolen<'a> {
    pub(crate) slot: &'a Slot,
    pub(crate) job: *const Job,
    /// How many forks lie between it and the task that it is a part of, whoever made them: more than between that and what it was forked from.
    pub(crate) level: u32,
}

/// What began in a slot before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Began {
    context: *mut Context,
    level: u32,
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
    /// The stack of threads that have no seat: every push takes the slow path and changes nothing.
    #[cfg(not(loom))]
    pub(crate) const fn unseated() -> Self {
        JoinStack {
            shared: CachePadded::new(SharedLine {
                lock: AtomicU32::new(0),
                limit: AtomicPtr::new(ptr::null_mut()),
                top: AtomicPtr::new(ptr::null_mut()),
                low: AtomicPtr::new(ptr::null_mut()),
                border: AtomicPtr::new(ptr::null_mut()),
            }),
            owner: OwnerLine {
                bottom: AtomicPtr::new(ptr::null_mut()),
                beat: Cell::new(FIRST_BEAT),
                slots: ptr::null_mut(),
                kept: Cell::new(None),
                flaws: Flaws::NONE,
            },
        }
    }

    /// An empty stack.
    pub(crate) fn new() -> Self {
        Self::with_flaws(Flaws::NONE)
    }

    fn with_flaws(flaws: Flaws<Flaw>) -> Self {
        let slots = Box::into_raw(Slot::many(flaws)).cast::<Slot>();
        JoinStack {
            shared: CachePadded::new(SharedLine {
                lock: AtomicU32::new(0),
                limit: AtomicPtr::new(ptr::null_mut()),
                top: AtomicPtr::new(slots),
                low: AtomicPtr::new(slots),
                border: AtomicPtr::new(if fence::light_is_free() {
                    slots
                } else {
                    ptr::without_provenance_mut(usize::MAX)
                }),
            }),
            owner: OwnerLine {
                bottom: AtomicPtr::new(slots),
                beat: Cell::new(FIRST_BEAT),
                slots,
                kept: Cell::new(None),
                flaws,
            },
        }
    }

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

    /// From now on, a fork that is the only one and run by this is not made public: it is taken back so soon that it would be for nothing. Whatever is forked above it
    /// makes it public, and so may a thief, as with any private fork. Returns whether there was such a kind before. Owner only.
    pub(crate) fn keep_private(&self, execute: Option<unsafe fn(*const Job)>) -> bool {
        self.owner.kept.replace(execute).is_some()
    }

    /// # Safety
    /// `job` is alive.
    unsafe fn is_kept(&self, job: *const Job) -> bool {
        // SAFETY: by contract.
        let execute = unsafe { (*job).execute };
        let kept = self.owner.kept.get();
        kept.is_some_and(|kept| kept as usize == execute as usize)
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
        if !self.owner.flaws.has(Flaw::NoLightFence) {
            fence::light_if_free();
        }
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
            if !self.owner.flaws.has(Flaw::NoLightFence) {
                fence::light();
            }
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
    unsafe fn made_in(&self, slot: *mut Slot) -> (*const Context, u32) {
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

    /// Is a fork on the stack that thieves see and have not taken? A hint, even for the owner: one may be taking it. By the invariant it is one load.
    #[inline]
    pub(crate) fn shows_work(&self) -> bool {
        !self.shared.limit.load(Ordering::Relaxed).is_null()
    }

    /// Are there private forks? Exact for the owner.
    #[inline]
    pub(crate) fn hides_work(&self) -> bool {
        self.owner.bottom.load(Ordering::Relaxed) > self.shared.low.load(Ordering::Relaxed)
    }

    /// Makes all private forks public: what a push does when nothing is, without one.
    ///
    /// # Safety
    /// The caller occupies this stack's seat.
    #[cold]
    #[inline(never)]
    pub(crate) unsafe fn show(&self) {
        let bottom = self.owner.bottom.load(Ordering::Relaxed);
        // Its release publishes the forks, as in a slow push.
        let _lock = (!self.owner.flaws.has(Flaw::ShowUnlocked)).then(|| self.lock());
        if self.shared.low.load(Ordering::Relaxed) < bottom {
            self.set_low(bottom);
            self.restore_limit();
        }
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

impl Drop for JoinStack {
    fn drop(&mut self) {
        if !self.owner.slots.is_null() {
            let slots = ptr::slice_from_raw_parts_mut(self.owner.slots, CAPACITY + 1);
            // SAFETY: made by `Box::into_raw` of a slice of this length in `new`.
            drop(unsafe { Box::from_raw(slots) });
        }
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

/// What threads other than the owner may do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Thief<'a> {
    stack: &'a JoinStack,
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
        // Acquire: pairs with `put` and `pop`, so that the slots below it are visible.
        let bottom_now = if self.stack.owner.flaws.has(Flaw::NoSecondLook) {
            bottom
        } else {
            self.stack.owner.bottom.load(Ordering::Acquire)
        };
        let low = bottom.min(bottom_now).max(old);
        self.stack.set_low(low);
        self.stack.restore_limit();
        low > old
    }
}

#[cfg(all(test, loom))]
mod models;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::rules;

    unsafe fn never(_job: *const Job) {}

    #[test]
    fn a_look_in_vain_asks_once_for_each_context_however_many_forks_there_are() {
        const FORKS: usize = 4000;
        let stack = JoinStack::new();
        let job = Job { execute: never };
        let contexts = [const { Context::new(ptr::null()) }; 2];
        let mut places = Vec::new();
        for at in 0..FORKS {
            if at == 0 || at == FORKS / 2 {
                // SAFETY: nobody else is here.
                unsafe { stack.begin_context(&raw const contexts[usize::from(at > 0)], 0) };
            }
            // SAFETY: as above, and the job outlives the stack.
            places.push(unsafe { stack.push(&raw const job).0 });
        }
        assert!(stack.thief().force());
        let mut asked = Vec::new();
        let stolen = stack.thief().steal(1, |context| {
            asked.push(context);
            false
        });
        assert!(stolen.is_none());
        assert_eq!(asked, contexts.each_ref().map(ptr::from_ref));
        // Each fork is found in its context, the oldest first.
        let stolen = stack
            .thief()
            .steal(1, |context| ptr::eq(context, &raw const contexts[1]));
        let slot = stolen.unwrap().slot;
        assert!(ptr::eq(slot, places[FORKS / 2].0));
        assert!(ptr::eq(slot.context().parent(), &raw const contexts[1]));
    }

    #[test]
    fn a_fork_made_in_a_stolen_one_has_a_higher_level_and_lower_ones_are_left_alone() {
        let job = Job { execute: never };
        let contexts = [const { Context::new(ptr::null()) }; 2];
        let [owner, thief] = [JoinStack::new(), JoinStack::new()];
        let push = |stack: &JoinStack| {
            // SAFETY: nobody else is here, and the job outlives the stack.
            unsafe { stack.push(&raw const job) };
        };
        // SAFETY: as above.
        unsafe { owner.begin_context(&raw const contexts[0], 0) };
        (0..3).for_each(|_| push(&owner));
        assert!(owner.thief().force());
        let stolen = owner.thief().steal(1, |_| true).unwrap();
        assert_eq!(stolen.level, 0);
        // What the thief forks is behind the fork that it has, wherever it lies on the thief's stack.
        push(&thief);
        // SAFETY: as above.
        let before = unsafe { thief.begin_context(stolen.slot.context(), stolen.level + 1) };
        (0..2).for_each(|_| push(&thief));
        assert!(thief.thief().force());
        let in_stolen = |context| ptr::eq(context, stolen.slot.context());
        let taken = thief.thief().steal(2, in_stolen).unwrap();
        assert_eq!(taken.level, 1);
        // SAFETY: as above.
        assert_eq!(unsafe { thief.level() }, 3);
        // Of the owner's other two, which have levels 1 and 2, the second.
        let taken = owner.thief().steal_from_level(2, 2, |_| true).unwrap();
        assert_eq!(taken.level, 2);
        assert!(owner.thief().steal_from_level(2, 2, |_| true).is_none());
        assert_eq!(owner.thief().steal(2, |_| true).unwrap().level, 1);
        let _ = before;
    }

    #[test]
    fn a_fork_that_is_kept_private_is_so_only_alone_and_if_it_is_of_that_kind() {
        unsafe fn other(_job: *const Job) {
            unreachable!("nobody runs it");
        }
        let context = Context::new(ptr::null());
        let [job, another] = [Job { execute: never }, Job { execute: other }];
        let stack = JoinStack::new();
        // SAFETY: here and below: nobody else is here, and jobs and context outlive the stack.
        unsafe { stack.begin_context(&raw const context, 0) };
        stack.keep_private(Some(never));
        // SAFETY: as above.
        let push = |job: &Job| unsafe { stack.push(job) };
        // SAFETY: as above, and the newest is popped.
        let pop = |place| unsafe { stack.pop(place) };
        let (place, pushed) = push(&another);
        assert_eq!(
            (pushed, pop(place)),
            (Some(Pushed::Public), Popped::Retaken)
        );
        let (place, pushed) = push(&job);
        assert_eq!((pushed, pop(place)), (Some(Pushed::Kept), Popped::Ours));
        // One above it shows both.
        let (below, pushed) = push(&job);
        assert_eq!(pushed, Some(Pushed::Kept));
        assert!(!stack.thief().sees_work() && stack.thief().sees_private());
        let (above, pushed) = push(&job);
        assert_eq!(pushed, Some(Pushed::Public));
        assert!(stack.thief().sees_work() && !stack.thief().sees_private());
        assert_eq!((pop(above), pop(below)), (Popped::Retaken, Popped::Retaken));
        // And so does a thief.
        let (place, pushed) = push(&job);
        assert_eq!(pushed, Some(Pushed::Kept));
        assert!(stack.thief().force() && stack.thief().sees_work());
        assert_eq!(pop(place), Popped::Retaken);
        stack.keep_private(None);
        assert_eq!(push(&job).1, Some(Pushed::Public));
    }

    /// The simulator follows `rules::Stack`; this follows both.
    #[test]
    fn the_rules_as_plain_code_say_what_the_stack_does() {
        let mut rng = blitz_primitives::XorShift64Star::new(7);
        for _ in 0..200 {
            let job = Job { execute: never };
            let context = Context::new(ptr::null());
            let real = JoinStack::new();
            // SAFETY: nobody else is here.
            unsafe { real.begin_context(&raw const context, 0) };
            let mut told = rules::Stack::default();
            let mut places = Vec::new();
            for _ in 0..200 {
                match rng.below(10) {
                    0..4 => {
                        // SAFETY: as above, and the job outlives the stack.
                        let (place, pushed) = unsafe { real.push(&raw const job) };
                        places.push(place);
                        assert_eq!(told.push(), pushed == Some(Pushed::Public));
                    }
                    4..7 => {
                        let Some(place) = places.pop() else { continue };
                        // SAFETY: as above; it is the newest.
                        let popped = unsafe { real.pop(place) };
                        let expected = match popped {
                            Popped::Ours => rules::Popped::Ours,
                            Popped::Retaken => rules::Popped::Retaken,
                            Popped::Stolen => rules::Popped::Stolen,
                        };
                        assert_eq!(told.pop(), expected);
                        if popped == Popped::Stolen {
                            // SAFETY: as above.
                            unsafe {
                                real.stolen_slot().complete();
                                real.reclaim();
                            }
                            told.reclaim();
                        }
                    }
                    7 if rng.below(2) == 0 => assert_eq!(told.force(), real.thief().force()),
                    7 => {
                        // SAFETY: as above.
                        unsafe { real.show() };
                        told.force();
                    }
                    _ => {
                        let lowest = rng.below(4);
                        let stolen = real.thief().steal_from_level(lowest as u32, 1, |_| true);
                        let level = stolen.map(|stolen| stolen.level as usize);
                        assert_eq!(told.steal(|slot| slot >= lowest), level);
                    }
                }
                assert_eq!(told.depth(), real.depth());
                assert_eq!(told.sees_work(), real.thief().sees_work());
                assert_eq!(told.sees_private(), real.thief().sees_private());
                assert_eq!(told.sees_work(), real.shows_work());
                assert_eq!(told.sees_private(), real.hides_work());
            }
        }
    }
}
