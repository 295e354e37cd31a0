//! Parking one thread, with a token: `unpark` before `park` is not lost.
//!
//! Whoever is unparked looks at what it waits for, and parks again if that has not come: a token says that somebody has left one, and not why.

#[cfg(not(loom))]
use crate::clock::Stopwatch;
use crate::flaw::Flaws;
use crate::futex;
use crate::sync::{AtomicU32, Ordering};
#[cfg(not(loom))]
use std::{cell::Cell, time::Duration};

const EMPTY: u32 = 0;
const PARKED: u32 = 1;
const NOTIFIED: u32 = 2;

/// What a parker without one of its pillars would do; see [`Flaws`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "constructed by loom models only")]
enum Flaw {
    IgnoreToken,
    WakeBeforeToken,
    RelaxedToken,
    TakeBlindly,
}

/// A place where one thread at a time sleeps until it is told to go on.
///
/// ```
/// use blitz_primitives::Parker;
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// let (parker, is_done) = (Parker::new(), AtomicBool::new(false));
/// std::thread::scope(|threads| {
///     threads.spawn(|| {
///         is_done.store(true, Ordering::Relaxed);
///         parker.unpark(); // before or after the other one parks
///     });
///     while !is_done.load(Ordering::Relaxed) {
///         parker.park();
///     }
/// });
/// ```
#[derive(Debug)]
pub struct Parker {
    state: AtomicU32,
    flaws: Flaws<Flaw>,
}

impl Parker {
    /// Without a token.
    ///
    /// ```
    /// let parker = blitz_primitives::Parker::new();
    /// parker.unpark();
    /// parker.park(); // the token is there already
    /// ```
    #[inline]
    pub fn new() -> Self {
        Self::with_flaws(Flaws::NONE)
    }

    #[inline]
    fn with_flaws(flaws: Flaws<Flaw>) -> Self {
        Parker {
            state: AtomicU32::new(EMPTY),
            flaws,
        }
    }

    /// Blocks until there is a token, and takes it. One thread at a time.
    ///
    /// What happened before the [`Parker::unpark`] whose token it takes is visible afterwards. Costs two swaps if there is a token, otherwise a system call.
    ///
    /// ```
    /// use blitz_primitives::Parker;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let (parker, arrived) = (Parker::new(), AtomicUsize::new(0));
    /// std::thread::scope(|threads| {
    ///     for _ in 0..3 {
    ///         threads.spawn(|| {
    ///             arrived.fetch_add(1, Ordering::Relaxed);
    ///             parker.unpark();
    ///         });
    ///     }
    ///     // Two tokens that are left one after the other may be taken as one: look, and park again.
    ///     while arrived.load(Ordering::Relaxed) < 3 {
    ///         parker.park();
    ///     }
    /// });
    /// ```
    pub fn park(&self) {
        self.park_in(|state| futex::wait(state, PARKED));
    }

    /// The same, but without a token for `limit` at most, about.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let parker = blitz_primitives::Parker::new();
    /// parker.park_at_most(Duration::from_millis(1)); // nobody comes
    /// parker.unpark();
    /// parker.park_at_most(Duration::MAX); // at once
    /// ```
    #[cfg(not(loom))]
    pub fn park_at_most(&self, limit: Duration) {
        let watch = Stopwatch::start();
        // Without a clock one wait has to do, though it may end for no reason.
        let has_waited = Cell::new(false);
        self.park_in(|state| {
            let waited = has_waited.replace(true);
            let passed = watch.elapsed();
            let passed = passed.unwrap_or(if waited { limit } else { Duration::ZERO });
            match limit.checked_sub(passed) {
                Some(left) if !left.is_zero() => futex::wait_at_most(state, PARKED, left),
                // Nobody else turns PARKED into EMPTY.
                _ => drop(state.compare_exchange(
                    PARKED,
                    EMPTY,
                    Ordering::Acquire,
                    Ordering::Acquire,
                )),
            }
        });
    }

    fn park_in(&self, wait: impl Fn(&AtomicU32)) {
        if self.flaws.has(Flaw::IgnoreToken) {
            self.state.store(EMPTY, Ordering::Relaxed);
        }
        // Acquire on every way out: what the unparking thread did before is visible.
        if self
            .state
            .compare_exchange(EMPTY, PARKED, Ordering::Acquire, Ordering::Acquire)
            .is_ok()
        {
            while self.state.load(Ordering::Acquire) == PARKED {
                wait(&self.state);
            }
        }
        if self.flaws.has(Flaw::TakeBlindly) {
            return self.state.store(EMPTY, Ordering::Relaxed);
        }
        // Not a plain store: a second token may have come since we looked, and whoever takes it must see
        // what its sender did. A store would wipe it out unread, and the caller could go back to sleep
        // on a condition that has come true.
        self.state.swap(EMPTY, Ordering::Acquire);
    }

    /// Is there a token that nobody has taken yet?
    ///
    /// ```
    /// let parker = blitz_primitives::Parker::new();
    /// parker.unpark();
    /// assert!(parker.has_token());
    /// parker.park();
    /// assert!(!parker.has_token());
    /// ```
    #[inline]
    pub fn has_token(&self) -> bool {
        // Relaxed: nothing is read on the strength of it; who needs an order has a fence.
        self.state.load(Ordering::Relaxed) == NOTIFIED
    }

    /// Leaves a token and wakes the parked thread, if there is one: a swap, and a system call if so. A second token does not count.
    ///
    /// The parker must live until this returns.
    ///
    /// ```
    /// let parker = blitz_primitives::Parker::new();
    /// parker.unpark();
    /// parker.unpark(); // there is one token at most
    /// parker.park();
    /// ```
    #[inline]
    pub fn unpark(&self) {
        if self.flaws.has(Flaw::WakeBeforeToken) {
            futex::wake_one(&raw const self.state);
            return self.state.store(NOTIFIED, Ordering::Release);
        }
        // Release: see `park`.
        let order = self.flaws.relax(Flaw::RelaxedToken, Ordering::AcqRel);
        if self.state.swap(NOTIFIED, order) == PARKED {
            futex::wake_one(&raw const self.state);
        }
    }
}

impl Default for Parker {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(all(test, loom))]
mod models;
