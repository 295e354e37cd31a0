//! Who sits in a seat: its own thread, a guest, or nobody.
//!
//! A pool of N threads has N seats, and whoever runs the pool's work sits in one; that is why
//! `current_thread_index()` is unique and below `current_num_threads()` although outside threads
//! take part. Seat k belongs to pool thread k, which gives it away while it has nothing to run.
//!
//! ```text
//!            sit_down              start_running
//!   VACANT <---------> SEARCHING <---------------> RUNNING       the seat's own thread
//!     ^ |    stand_up     |        stop_running
//!     | +----------+------+
//!     |            v try_enter
//!     +--------- GUEST ---> WANTED                               a guest
//!       leave            want
//! ```
//!
//! A guest takes a seat whose thread sleeps (VACANT) or searches (SEARCHING); the thread notices when
//! it next wants to run something, leaves a note (WANTED) and sleeps. A guest that finds the note
//! when it leaves wakes the thread.

use crate::primitives::flaw::Flaws;
use crate::sync::{AtomicU32, Ordering};

const VACANT: u32 = 0;
const SEARCHING: u32 = 1;
const RUNNING: u32 = 2;
const GUEST: u32 = 3;
const WANTED: u32 = 4;

/// What the models break on purpose; see [`Flaws`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "constructed by loom models only")]
enum Flaw {
    StartBlindly,
    SitDownBlindly,
    WantBlindly,
    LeaveSilently,
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

    /// The seat's thread has it from the start: until its start handler has run, or for ever.
    pub(crate) fn take(&self) {
        self.0.store(RUNNING, Ordering::Release);
    }

    /// The seat's thread wakes up. `false`: a guest sits there.
    pub(crate) fn sit_down(&self) -> bool {
        self.step(VACANT, SEARCHING) || self.blindly(Flaw::SitDownBlindly, SEARCHING)
    }

    /// The seat's thread goes to sleep. `false`: a guest has taken the seat.
    pub(crate) fn stand_up(&self) -> bool {
        self.step(SEARCHING, VACANT)
    }

    /// The seat's thread has found something to run. `false`: a guest has taken the seat.
    pub(crate) fn start_running(&self) -> bool {
        self.step(SEARCHING, RUNNING) || self.blindly(Flaw::StartBlindly, RUNNING)
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

    /// The seat's thread leaves a note. `false`: the guest has left.
    pub(crate) fn want(&self) -> bool {
        self.step(GUEST, WANTED) || self.blindly(Flaw::WantBlindly, WANTED)
    }

    /// The guest leaves. `true`: the seat's thread is waiting for it and must be woken.
    #[inline]
    pub(crate) fn leave(&self) -> bool {
        // SeqCst: half of a store-then-load race with posters of work that found the seat taken
        // (`Pool::starved`).
        let order = self.1.relax(Flaw::RelaxedLeave, Ordering::SeqCst);
        self.0.swap(VACANT, order) == WANTED && !self.1.has(Flaw::LeaveSilently)
    }

    /// Does a guest sit here?
    pub(crate) fn has_guest(&self) -> bool {
        self.0.load(Ordering::SeqCst) >= GUEST
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
