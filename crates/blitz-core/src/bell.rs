//! A bell: what one thread, its *owner*, waits for again and again.
//!
//! The owner hushes it, lets others know that it is about to wait (under a lock, or by a word, of its own), and waits; whoever has news and knows that rings. Ringing and falling asleep meet under the
//! bell's mutex, so neither can miss the other. What an owner may help with while it waits descends from the bell's context: that is what those who will ring run in.
//!
//! # Why nobody oversleeps
//! | owner | who rings |
//! |---|---|
//! | O1 `hush` | |
//! | O2 lets others know | R1 sees that |
//! | O3 locks, looks, leaves its parker, unlocks | R2 locks, `rung`, takes the parker, unlocks |
//! | O4 parks | R3 unparks |
//!
//! R1 is after O2 and so after O1: no ring is hushed that the owner has not waited for. If R2 comes before O3, O3 sees that it was rung; otherwise R2 finds the parker.

#[cfg(not(loom))]
use crate::awaited::Awaited;
#[cfg(not(loom))]
use crate::context::Context;
#[cfg(not(loom))]
use crate::entered::current;
#[cfg(not(loom))]
use crate::guest::{outsider_parker, wait_outside};
#[cfg(not(loom))]
use crate::process_fork;
#[cfg(not(loom))]
use crate::seat;
use crate::sync::ignore_poison;
use crate::sync::{AtomicBool, Mutex, Ordering};
#[cfg(not(loom))]
use crate::wait::wait_for;
#[cfg(not(loom))]
use blitz_primitives::Parker;
use blitz_primitives::flaw::Flaws;

/// What the models break on purpose; see [`Flaws`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "constructed by loom models only")]
enum Flaw {
    RingsAfterTheLock,
    ParksBlindly,
    RelaxedRing,
}

/// The clapper: whether it was rung, and who sleeps until it is.
struct Clapper<P> {
    rung: AtomicBool,
    /// The owner's parker, if it sleeps.
    sleeper: Mutex<Option<P>>,
    flaws: Flaws<Flaw>,
}

impl<P> Clapper<P> {
    fn new(flaws: Flaws<Flaw>) -> Self {
        Clapper {
            rung: AtomicBool::new(false),
            sleeper: Mutex::new(None),
            flaws,
        }
    }

    fn is_rung(&self) -> bool {
        self.rung.load(Ordering::Acquire)
    }

    fn hush(&self) {
        // Relaxed: the owner tells others afterwards, and before that nobody rings.
        self.rung.store(false, Ordering::Relaxed);
    }

    /// Whom to unpark?
    fn ring(&self) -> Option<P> {
        let order = self.flaws.relax(Flaw::RelaxedRing, Ordering::Release);
        let late = self.flaws.has(Flaw::RingsAfterTheLock);
        let mut sleeper = self.sleeper();
        if !late {
            self.rung.store(true, order);
        }
        let parker = sleeper.take();
        drop(sleeper);
        if late {
            self.rung.store(true, order);
        }
        parker
    }

    /// Owner: `true`: now it may park.
    fn leave_parker(&self, parker: P) -> bool {
        let mut sleeper = self.sleeper();
        let parks = !self.is_rung() || self.flaws.has(Flaw::ParksBlindly);
        if parks {
            *sleeper = Some(parker);
        }
        parks
    }

    fn take_parker_back(&self) {
        *self.sleeper() = None;
    }

    fn sleeper(&self) -> impl std::ops::DerefMut<Target = Option<P>> {
        ignore_poison(self.sleeper.lock())
    }
}

#[cfg(not(loom))]
pub(crate) struct Bell {
    /// Of the process that it belongs to; see [`crate::process_fork`].
    generation: u64,
    pub(crate) context: Context,
    clapper: Clapper<&'static Parker>,
}

#[cfg(not(loom))]
impl Bell {
    pub(crate) fn new(parent: *const Context) -> Self {
        Bell {
            generation: process_fork::generation(),
            context: Context::new(parent),
            clapper: Clapper::new(Flaws::NONE),
        }
    }

    pub(crate) fn is_rung(&self) -> bool {
        self.clapper.is_rung()
    }

    /// Owner: forgets that it was rung.
    pub(crate) fn hush(&self) {
        self.clapper.hush();
    }

    /// There is news. Touches the bell until it returns.
    pub(crate) fn ring(&self) {
        if let Some(parker) = self.clapper.ring() {
            parker.unpark();
        }
    }

    /// Owner: waits until it has been rung, helping with what descends from its context if the caller is in a pool.
    pub(crate) fn wait(&self) {
        if !self.is_rung() {
            process_fork::assert_may_wait(self.generation);
        }
        match seat::current() {
            // SAFETY: the caller occupies the seat.
            Some(seat) => unsafe { wait_for(seat, &Listening(self, seat.parker())) },
            None => {
                let parker = outsider_parker();
                wait_outside(&current(), &Listening(self, parker), parker);
            }
        }
    }
}

#[cfg(not(loom))]
struct Listening<'a>(&'a Bell, &'static Parker);

#[cfg(not(loom))]
impl Awaited for Listening<'_> {
    fn context(&self) -> *const Context {
        &raw const self.0.context
    }

    fn is_done(&self) -> bool {
        self.0.is_rung()
    }

    fn announce_parked(&self) -> bool {
        self.0.clapper.leave_parker(self.1)
    }

    fn announce_awake(&self) {
        self.0.clapper.take_parker_back();
    }
}

#[cfg(all(test, loom))]
mod models;
