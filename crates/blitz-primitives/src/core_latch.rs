//! The latch of a thread that sleeps while it waits: one bit of news, no missed wake.
//!
//! ```text
//!    UNSET --get_sleepy--> SLEEPY --fall_asleep--> SLEEPING
//!      ^                     |                        |
//!      +------- wake_up -----+----------- wake_up ----+
//!    any of the three --set--> SET          (SET is final)
//! ```
//!
//! The race it closes is called *tickle-then-get-sleepy*: the setter looks before the waiter says
//! that it sleeps, and the waiter sleeps after the setter has looked. Here the setter's `swap` and
//! the waiter's compare-exchanges are on one word, so they have an order: either the waiter's step
//! to `SLEEPING` comes first and the setter, who gets it as the old value, wakes it, or it comes
//! second and fails.
//!
//! `SLEEPY` gives the waiter a moment between announcing and committing, for one more look around.

use crate::flaw::Flaws;
use crate::sync::{AtomicU32, Ordering};

const UNSET: u32 = 0;
const SLEEPY: u32 = 1;
const SLEEPING: u32 = 2;
const SET: u32 = 3;

/// What a latch without one of its pillars would do; see [`Flaws`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "constructed by loom models only")]
enum Flaw {
    FallAsleepBlindly,
    WakeUpBlindly,
    SetSilently,
    RelaxedSet,
    RelaxedProbe,
}

/// See the module's documentation. The owner of the latch calls everything but [`CoreLatch::set`].
///
/// ```
/// use blitz_primitives::CoreLatch;
///
/// let latch = CoreLatch::new();
/// assert!(latch.get_sleepy());
/// assert!(!latch.set()); // nobody is asleep, so nobody must be woken
/// assert!(!latch.fall_asleep()); // and the waiter notices
/// assert!(latch.probe());
/// ```
#[derive(Debug)]
pub struct CoreLatch {
    state: AtomicU32,
    flaws: Flaws<Flaw>,
}

impl CoreLatch {
    /// A latch that is not set.
    ///
    /// ```
    /// assert!(!blitz_primitives::CoreLatch::new().probe());
    /// ```
    #[inline]
    pub fn new() -> Self {
        Self::with_flaws(Flaws::NONE)
    }

    #[inline]
    fn with_flaws(flaws: Flaws<Flaw>) -> Self {
        CoreLatch {
            state: AtomicU32::new(UNSET),
            flaws,
        }
    }

    /// Is it set? What happened before [`CoreLatch::set`] is visible if so.
    ///
    /// ```
    /// use blitz_primitives::CoreLatch;
    ///
    /// let (latch, mut answer) = (CoreLatch::new(), 0);
    /// std::thread::scope(|threads| {
    ///     threads.spawn(|| {
    ///         answer = 42;
    ///         latch.set()
    ///     });
    ///     while !latch.probe() {
    ///         std::thread::yield_now(); // or something useful
    ///     }
    /// });
    /// assert_eq!(answer, 42);
    /// ```
    #[inline]
    pub fn probe(&self) -> bool {
        let order = self.flaws.relax(Flaw::RelaxedProbe, Ordering::Acquire);
        self.state.load(order) == SET
    }

    /// The waiter is about to sleep. `false`: it is set already.
    ///
    /// ```
    /// let latch = blitz_primitives::CoreLatch::new();
    /// assert!(latch.get_sleepy()); // one more look around, and then `fall_asleep`
    /// latch.wake_up(); // it found something to do
    /// latch.set();
    /// assert!(!latch.get_sleepy());
    /// ```
    #[inline]
    pub fn get_sleepy(&self) -> bool {
        self.step(UNSET, SLEEPY)
    }

    /// The waiter sleeps now. `false`: it was set meanwhile. Afterwards the setter owes a wake.
    ///
    /// ```
    /// use blitz_primitives::{CoreLatch, Parker};
    ///
    /// let (latch, parker) = (CoreLatch::new(), Parker::new());
    /// std::thread::scope(|threads| {
    ///     threads.spawn(|| {
    ///         if latch.set() {
    ///             parker.unpark();
    ///         }
    ///     });
    ///     while latch.get_sleepy() {
    ///         if latch.fall_asleep() {
    ///             parker.park();
    ///         }
    ///         latch.wake_up();
    ///     }
    /// });
    /// assert!(latch.probe());
    /// ```
    #[inline]
    pub fn fall_asleep(&self) -> bool {
        if self.flaws.has(Flaw::FallAsleepBlindly) {
            self.state.store(SLEEPING, Ordering::Release);
            return true;
        }
        self.step(SLEEPY, SLEEPING)
    }

    /// The waiter is awake again, for whatever reason. Keeps `SET`.
    ///
    /// ```
    /// let latch = blitz_primitives::CoreLatch::new();
    /// assert!(latch.get_sleepy() && latch.fall_asleep());
    /// latch.wake_up();
    /// assert!(!latch.set()); // nobody sleeps any more
    /// ```
    #[inline]
    pub fn wake_up(&self) {
        if self.flaws.has(Flaw::WakeUpBlindly) {
            return self.state.store(UNSET, Ordering::Release);
        }
        // Strong exchanges: a weak one that fails for no reason would leave the latch SLEEPING
        // under a waiter that is awake, and its next `get_sleepy` would take that for SET.
        if !self.step(SLEEPING, UNSET) {
            self.step(SLEEPY, UNSET);
        }
    }

    /// Sets the latch. `true`: the waiter sleeps, and the caller must wake it.
    ///
    /// The latch may be gone when this returns, if its owner frees it as soon as it is set; so
    /// whatever is needed for the wake has to be read before the call.
    ///
    /// ```
    /// let latch = blitz_primitives::CoreLatch::new();
    /// assert!(latch.get_sleepy() && latch.fall_asleep());
    /// assert!(latch.set()); // and now the caller wakes the sleeper
    /// ```
    #[inline]
    pub fn set(&self) -> bool {
        // Release: the news. Acquire: the sleeper's announcements, so that its wake is not reordered
        // before them.
        let order = self.flaws.relax(Flaw::RelaxedSet, Ordering::AcqRel);
        // Copied first, for the same reason as whatever is needed for the wake.
        let flaws = self.flaws;
        self.state.swap(SET, order) == SLEEPING && !flaws.has(Flaw::SetSilently)
    }

    #[inline]
    fn step(&self, from: u32, to: u32) -> bool {
        // Acquire on failure: a failed step means SET, and the news must be visible.
        self.state
            .compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }
}

impl Default for CoreLatch {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(all(test, loom))]
mod models;
