//! Who sits in a seat: its own thread, a guest, or nobody.
//!
//! A pool of N threads has N seats, and whoever runs the pool's work sits in one; that is why
//! `current_thread_index()` is unique and below `current_num_threads()` although outside threads
//! take part. Seat k belongs to pool thread k, which gives it away while it has nothing to run.
//!
//! ```text
//!             sit_down              start_running
//!    VACANT <---------> SEARCHING <---------------> RUNNING       the seat's own thread
//!     ^  |    stand_up     |        stop_running       ^
//!     |  +--------+--------+                           | start_running
//!     |           v try_enter                          |
//!     +-------- GUEST ----> WANTED ----> HANDED -------+          a guest
//!       leave         want         leave
//! ```
//!
//! A guest takes a seat whose thread sleeps (VACANT) or searches (SEARCHING). The thread notices when
//! it next wants to run something, and leaves a note (WANTED). A guest that finds the note when it leaves
//! keeps the seat for the thread (HANDED) and wakes it: other guests, who may be many, do not get in between. So does one that learns from the pool that
//! somebody has looked for a thread in vain (`Pool::starved`).

use crate::sync::{AtomicU32, Ordering};
use blitz_primitives::flaw::Flaws;

const VACANT: u32 = 0;
const SEARCHING: u32 = 1;
const RUNNING: u32 = 2;
const HANDED: u32 = 3;
const GUEST: u32 = 4;
const WANTED: u32 = 5;

/// What the models break on purpose; see [`Flaws`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "constructed by loom models only")]
enum Flaw {
    StartBlindly,
    WantBlindly,
    LeaveSilently,
    LeaveToAnybody,
    RelaxedLeave,
    RelaxedStop,
}

/// One word, one seat.
#[derive(Debug)]
pub(crate) struct Occupancy(AtomicU32, Flaws<Flaw>);

impl Occupancy {
    pub(crate) fn vacant() -> Self {
        Self::with_flaws(Flaws::NONE)
    }

    fn with_flaws(flaws: Flaws<Flaw>) -> Self {
        Occupancy(AtomicU32::new(VACANT), flaws)
    }

    /// The seat's thread has it from the start: until its start handler has run, or for ever; or it has no thread, and nobody is to sit there.
    pub(crate) fn take(&self) {
        self.0.store(RUNNING, Ordering::Release);
    }

    /// The seat gets a thread again, after that has been its last state for a while.
    #[cfg(not(loom))]
    pub(crate) fn vacate(&self) {
        self.0.store(VACANT, Ordering::Release);
    }

    /// The seat's thread wakes up. If a guest sits there, nothing changes.
    pub(crate) fn sit_down(&self) {
        self.step(VACANT, SEARCHING);
    }

    /// The seat's thread goes to sleep. If a guest has taken the seat, nothing changes.
    pub(crate) fn stand_up(&self) {
        if !self.step(SEARCHING, VACANT) {
            self.step(HANDED, VACANT);
        }
    }

    /// The seat's thread has found something to run. `false`: a guest has the seat.
    pub(crate) fn start_running(&self) -> bool {
        let free = [SEARCHING, HANDED, VACANT];
        free.iter().any(|&state| self.step(state, RUNNING))
            || self.blindly(Flaw::StartBlindly, RUNNING)
    }

    /// The seat's thread has nothing more to run.
    pub(crate) fn stop_running(&self) {
        // Release: a guest that takes the seat continues where this thread stopped, with the same
        // join stack and deque.
        let order = self.1.relax(Flaw::RelaxedStop, Ordering::Release);
        self.0.store(SEARCHING, order);
    }

    /// A guest takes the seat if its thread sleeps.
    #[inline]
    pub(crate) fn try_enter_vacant(&self) -> bool {
        self.0.load(Ordering::Relaxed) == VACANT && self.step(VACANT, GUEST)
    }

    /// A guest takes the seat if its thread has nothing to run.
    pub(crate) fn try_enter_searching(&self) -> bool {
        self.0.load(Ordering::Relaxed) == SEARCHING && self.step(SEARCHING, GUEST)
    }

    /// The seat's thread leaves a note, if it has not left one before. `false`: the guest has left.
    pub(crate) fn want(&self) -> bool {
        self.step(GUEST, WANTED)
            || self.0.load(Ordering::SeqCst) == WANTED
            || self.blindly(Flaw::WantBlindly, WANTED)
    }

    /// The guest leaves. `true`: the seat's thread is waiting for it and must be woken.
    #[inline]
    pub(crate) fn leave(&self) -> bool {
        // SeqCst: half of a store-then-load race with posters of work that found the seat taken
        // (`Pool::starved`), and with the seat's thread, which falls asleep over its note.
        let order = self.1.relax(Flaw::RelaxedLeave, Ordering::SeqCst);
        let left = self
            .0
            .compare_exchange(GUEST, VACANT, order, Ordering::Relaxed);
        if left.is_ok() {
            return false;
        }
        // The note is there, and nobody takes it back.
        let for_anybody = self.1.has(Flaw::LeaveToAnybody);
        self.0
            .store(if for_anybody { VACANT } else { HANDED }, order);
        !self.1.has(Flaw::LeaveSilently)
    }

    /// The guest has left, and somebody needs the seat's thread: keeps the seat for it. `false`: another guest has come.
    pub(crate) fn hand_over(&self) -> bool {
        self.step(VACANT, HANDED)
    }

    /// Does a guest sit here?
    pub(crate) fn has_guest(&self) -> bool {
        self.0.load(Ordering::SeqCst) >= GUEST
    }

    /// Does anybody work here, its thread or a guest?
    pub(crate) fn is_occupied(&self) -> bool {
        let state = self.0.load(Ordering::Relaxed);
        state == RUNNING || state >= GUEST
    }

    /// For those who look from outside.
    #[cfg(feature = "console")]
    pub(crate) fn doing(&self) -> crate::console::Doing {
        use crate::console::Doing;
        match self.0.load(Ordering::Relaxed) {
            VACANT => Doing::Sleeping,
            SEARCHING | HANDED => Doing::Searching,
            RUNNING => Doing::Running,
            _ => Doing::Guest,
        }
    }

    /// Takes the step although it failed, if that is the flaw.
    #[inline]
    fn blindly(&self, flaw: Flaw, to: u32) -> bool {
        let flawed = self.1.has(flaw);
        if flawed {
            self.0.store(to, Ordering::SeqCst);
        }
        flawed
    }

    #[inline]
    fn step(&self, from: u32, to: u32) -> bool {
        self.0
            .compare_exchange(from, to, Ordering::SeqCst, Ordering::Relaxed)
            .is_ok()
    }
}

#[cfg(all(test, loom))]
mod models;
