//! Who waits for what, and who is told: how a thread parks in a wait, and how tasks reach it.
//!
//! This is the part of [`crate::wait`] and [`crate::pool`] that several threads take part in. It knows neither seats nor queues, so the model checker runs it as it
//! is. `docs/internals/waiting.md` has the argument at length.
//!
//! # Post against park
//! | who posts a task | who waits for it |
//! |---|---|
//! | makes it visible | [`Waiters::park`]: announces what it waits for |
//! | full fence ([`Sleep::post`](crate::sleep::Sleep::post)) | full fence |
//! | [`Waiters::tell`]: unparks whoever has announced an ancestor | last look, at every task in every queue; if there is none for it, blocks |
//!
//! Of the two fences one comes first: either the last look finds the task, or the poster finds the announcement.
//!
//! # Stranger in hand
//! A task that a waiter has taken out of a queue and may not run is invisible until it is back, and two waiters may hold each other's. So it goes back under a lock that announcing
//! takes, too ([`Waiters::put_back`]): whoever has announced before is told, whoever announces later looks when it is back.
//!
//! # The last one asks
//! If everybody is parked and none may run what is queued, another thread has to be started ([`crate::rescue`]). Whoever makes it so asks ([`Waiters::is_stuck`]), after it has made its own
//! part visible: of all their fences one is the last, and behind that one everything is seen.

use crate::context::{Context, descends_from};
use crate::lease::Lease;
use crate::sync::ignore_poison;
use crate::sync::{AtomicBool, AtomicPtr, AtomicUsize, Mutex, Ordering};
use blitz_primitives::Parker;
use blitz_primitives::flaw::Flaws;
use std::ptr;

/// What the models break on purpose; see [`Flaws`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "constructed by loom models only")]
enum Flaw {
    /// Strangers go back without a word.
    ReturnSilently,
    /// Strangers go back and their waiters are told, but announcements may fall in between.
    ReturnOutOfOrder,
    NoWaiterFence,
    NoFenceBeforeStuck,
    /// A token in the parker of somebody who does not sleep there counts as a wake-up.
    AnyToken,
    /// The mark of who sleeps elsewhere comes after the question whether the pool is stuck.
    MarksLate,
    /// A guest leaves without a look at the seat's thread.
    LeavesBlindly,
    /// A thread that is parked beside its seat is taken for one that comes back.
    NobodyIsBeside,
    /// Nothing is between a guest's leaving and its look.
    NoLeaverFence,
}

/// The occupant of one seat, as far as its waiting concerns others. What says "occupant" here is called by the occupant only.
#[derive(Debug)]
pub(crate) struct Waiter {
    /// What the occupant waits for, from its announcement on; null when it does not park.
    waits_for: AtomicPtr<Context>,
    /// The occupant has looked at everything and found nothing, or sleeps elsewhere.
    parked: AtomicBool,
    /// The occupant sleeps in something that is not the engine's: a token in its parker wakes nobody.
    sleeps_elsewhere: AtomicBool,
    /// That of the extra seat in which this seat's thread serves the companion, since a guest has, or had, this one; null: none.
    beside: AtomicPtr<Waiter>,
    parker: Lease,
    flaws: Flaws<Flaw>,
}

impl Waiter {
    pub(crate) fn new() -> Self {
        Self::with_flaws(Flaws::NONE)
    }

    fn with_flaws(flaws: Flaws<Flaw>) -> Self {
        Waiter {
            waits_for: AtomicPtr::new(ptr::null_mut()),
            parked: AtomicBool::new(false),
            sleeps_elsewhere: AtomicBool::new(false),
            beside: AtomicPtr::new(ptr::null_mut()),
            parker: Lease::new(),
            flaws,
        }
    }

    /// Where the occupant blocks. It is never freed, so it may be unparked late.
    #[inline]
    pub(crate) fn parker(&self) -> &'static Parker {
        self.parker.parker()
    }

    /// What the parked occupant waits for, or null. Only good for comparing.
    pub(crate) fn waits_for(&self) -> *const Context {
        self.waits_for.load(Ordering::SeqCst)
    }

    /// Does the occupant wait for something that `context` descends from?
    ///
    /// # Safety
    /// The context is alive during the call.
    #[inline]
    pub(crate) unsafe fn may_run(&self, context: *const Context) -> bool {
        let target = self.waits_for();
        // SAFETY: passed on.
        !target.is_null() && unsafe { descends_from(context, target) }
    }

    /// The occupant blocks until the returned value is dropped, in its parker or `elsewhere`. Then it is `ask`ed whether the pool is stuck by that; it learns whether the occupant was parked
    /// already, further down its stack.
    pub(crate) fn parks(&self, elsewhere: bool, ask: impl FnOnce(bool)) -> Parked<'_> {
        // The occupant alone writes both.
        let before = Parked {
            waiter: self,
            parked: self.is_marked(),
            sleeps_elsewhere: self.sleeps_elsewhere(),
        };
        // Relaxed: the mark of the parked, which is changed after it and before it, carries it along.
        let mark = || {
            if elsewhere {
                self.sleeps_elsewhere.store(true, Ordering::Relaxed);
            }
        };
        self.flaws.unless(Flaw::MarksLate, mark);
        self.parked.store(true, Ordering::SeqCst);
        ask(before.parked);
        self.flaws.when(Flaw::MarksLate, mark);
        before
    }

    /// Does the occupant sleep in something that is not the engine's?
    pub(crate) fn sleeps_elsewhere(&self) -> bool {
        self.sleeps_elsewhere.load(Ordering::Relaxed)
    }

    /// Is the occupant in the middle of something, and blocked there, or about to go on?
    #[inline]
    pub(crate) fn is_marked(&self) -> bool {
        self.parked.load(Ordering::Relaxed)
    }

    /// Is the occupant parked, and will it stay so until somebody does something?
    pub(crate) fn is_parked(&self) -> bool {
        self.parked.load(Ordering::SeqCst) && !self.is_woken()
    }

    /// Has the occupant blocked, been told to wake up, and will it look around?
    pub(crate) fn is_waking(&self) -> bool {
        self.parked.load(Ordering::SeqCst) && self.is_woken()
    }

    fn is_woken(&self) -> bool {
        self.parker().has_token() && (!self.sleeps_elsewhere() || self.flaws.has(Flaw::AnyToken))
    }

    /// The seat's thread works in the extra seat of `beside` instead; `None`: not any more.
    pub(crate) fn set_beside(&self, beside: Option<&Waiter>) {
        let beside = beside.map_or(ptr::null(), ptr::from_ref);
        self.beside.store(beside.cast_mut(), Ordering::SeqCst);
    }

    /// That of the extra seat in which this seat's thread works.
    #[inline]
    pub(crate) fn beside(&self) -> Option<&Waiter> {
        // SAFETY: an extra seat lives as long as its pool, as this one does. (Another thread may sit there by now.)
        unsafe { self.beside.load(Ordering::SeqCst).as_ref() }
    }

    /// Is the seat's thread parked in an extra seat?
    pub(crate) fn is_parked_beside(&self) -> bool {
        self.beside().is_some_and(Waiter::is_parked) && !self.flaws.has(Flaw::NobodyIsBeside)
    }

    /// Will nobody come and run what is queued in this seat, as things are? So it is if its occupant is parked; and if nobody sits here, and its thread is parked in an extra seat.
    pub(crate) fn is_lost(&self, has_guest: impl FnOnce() -> bool) -> bool {
        self.is_parked() || self.is_parked_beside() && !has_guest()
    }

    /// A guest has left the seat. `true`: whoever posted something meanwhile, or parked, has relied on it, and the seat's thread may be parked beside: the guest asks whether the pool is stuck.
    #[inline]
    pub(crate) fn guest_left(&self) -> bool {
        // Loom takes `SeqCst` accesses, as the guest's last step and this look are, for `AcqRel` ones.
        #[cfg(loom)]
        self.flaws.fence(Flaw::NoLeaverFence);
        self.beside().is_some() && !self.flaws.has(Flaw::LeavesBlindly)
    }
}

/// A blocked occupant: see [`Waiter::parks`].
pub(crate) struct Parked<'a> {
    waiter: &'a Waiter,
    /// What was so before.
    parked: bool,
    sleeps_elsewhere: bool,
}

impl Drop for Parked<'_> {
    fn drop(&mut self) {
        let waiter = self.waiter;
        waiter.parked.store(self.parked, Ordering::SeqCst);
        let elsewhere = &waiter.sleeps_elsewhere;
        elsewhere.store(self.sleeps_elsewhere, Ordering::Relaxed);
    }
}

/// What the waiters of a pool share.
pub(crate) struct Waiters {
    /// Occupants that are parked in a wait, or about to, or away.
    blocked: AtomicUsize,
    /// Orders announcements and the return of tasks.
    announcements: Mutex<()>,
    flaws: Flaws<Flaw>,
}

impl Waiters {
    pub(crate) fn new() -> Self {
        Self::with_flaws(Flaws::NONE)
    }

    fn with_flaws(flaws: Flaws<Flaw>) -> Self {
        Waiters {
            blocked: AtomicUsize::new(0),
            announcements: Mutex::new(()),
            flaws,
        }
    }

    /// The occupant of a seat parks for `context`: `look_and_sleep` looks at every task in every queue, and blocks if there is none that it may run.
    pub(crate) fn park<R>(
        &self,
        waiter: &Waiter,
        context: *const Context,
        look_and_sleep: impl FnOnce() -> R,
    ) -> R {
        let in_order = ignore_poison(self.announcements.lock());
        waiter.waits_for.store(context.cast_mut(), Ordering::SeqCst);
        self.add_blocked();
        drop(in_order);
        // The announcement before the last look; posters do it the other way round.
        self.flaws.fence(Flaw::NoWaiterFence);
        let result = look_and_sleep();
        self.remove_blocked();
        waiter.waits_for.store(ptr::null_mut(), Ordering::Release);
        result
    }

    /// One more is blocked, in a wait or elsewhere: posters look for it.
    pub(crate) fn add_blocked(&self) {
        self.blocked.fetch_add(1, Ordering::SeqCst);
    }

    /// And is back.
    pub(crate) fn remove_blocked(&self) {
        self.blocked.fetch_sub(1, Ordering::SeqCst);
    }

    /// Is any occupant parked in a wait, or away?
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.blocked.load(Ordering::SeqCst) > 0
    }

    /// Unparks each of `all` that may run a task in `context`, which the caller has posted. `false`: nobody may.
    ///
    /// # Safety
    /// The context is alive during the call.
    #[inline]
    pub(crate) unsafe fn tell<'a, I: Iterator<Item = &'a Waiter>>(
        &self,
        context: *const Context,
        all: impl FnOnce() -> I,
    ) -> bool {
        // SAFETY: passed on.
        self.any() && unsafe { tell_each(context, all) }
    }

    /// Runs `put`, which puts strangers back into a queue and collects the waiting threads that may run them; no announcement falls between the two.
    pub(crate) fn put_back<'a>(&self, put: impl FnOnce(&mut Vec<&'a Parker>)) {
        let mut concerned = Vec::new();
        {
            let lock = || ignore_poison(self.announcements.lock());
            let _no_announcement = (!self.flaws.has(Flaw::ReturnOutOfOrder)).then(lock);
            put(&mut concerned);
        }
        let tell = || concerned.into_iter().for_each(Parker::unpark);
        self.flaws.unless(Flaw::ReturnSilently, tell);
    }

    /// Is everybody lost, while there is work that none of those who wait may run?
    ///
    /// Asked by everybody who makes it so: whoever parks, injects, leaves a seat as a guest, or ends as a rescue thread. Waiters that still look or have been unparked do not count: they are
    /// about to find something, or to ask again. One that sleeps elsewhere counts until it is back: for that moment, a rescue thread too many may be started.
    pub(crate) fn is_stuck(
        &self,
        all_are_lost: impl FnOnce() -> bool,
        has_work: impl FnOnce() -> bool,
    ) -> bool {
        // Our own contribution before the look at the others'.
        self.flaws.fence(Flaw::NoFenceBeforeStuck);
        all_are_lost() && has_work()
    }
}

/// # Safety
/// As for [`Waiters::tell`].
#[cold]
#[inline(never)]
unsafe fn tell_each<'a, I: Iterator<Item = &'a Waiter>>(
    context: *const Context,
    all: impl FnOnce() -> I,
) -> bool {
    let mut any = false;
    for waiter in all() {
        // SAFETY: passed on.
        if unsafe { waiter.may_run(context) } {
            any = true;
            waiter.parker().unpark();
        }
    }
    any
}

#[cfg(all(test, loom))]
mod models;
