//! Waiting for something that is about to happen.
//!
//! [`SpinWait`] is for waits of nanoseconds to microseconds on another thread that is known to be
//! running: a slot that was claimed and is being filled, a latch that is about to be set. It pauses
//! for twice as long in each round, so that the line it watches is left alone more and more, and
//! after ten rounds it gives the processor away in case the other thread needs this one. It
//! never sleeps: a caller that would wait longer asks [`would_yield`](SpinWait::would_yield)
//! and parks instead.

use crate::sync::{spin_loop, yield_now};

/// Rounds of pure spinning: 1 + 2 + 4 + … + 512 = 1023 pauses. Models need no more than one.
const SPIN_ROUNDS: u32 = if cfg!(loom) { 1 } else { 10 };

/// Exponential spinning that turns into yielding.
///
/// ```
/// use blitz_primitives::SpinWait;
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// let ready = AtomicBool::new(false);
/// std::thread::scope(|threads| {
///     threads.spawn(|| ready.store(true, Ordering::Release));
///     let mut wait = SpinWait::new();
///     while !ready.load(Ordering::Acquire) {
///         wait.spin();
///     }
/// });
/// ```
#[derive(Debug, Clone, Default)]
pub struct SpinWait {
    round: u32,
}

impl SpinWait {
    /// Starts at the shortest pause.
    ///
    /// ```
    /// assert!(!blitz_primitives::SpinWait::new().would_yield());
    /// ```
    #[inline]
    pub const fn new() -> Self {
        Self { round: 0 }
    }

    /// Pauses for `2^round` spin hints in the first ten rounds, yields the processor after that.
    ///
    /// ```
    /// use blitz_primitives::{Parker, SpinWait};
    /// use std::sync::atomic::{AtomicBool, Ordering};
    ///
    /// let (ready, parker) = (AtomicBool::new(false), Parker::new());
    /// std::thread::scope(|threads| {
    ///     threads.spawn(|| {
    ///         ready.store(true, Ordering::Release);
    ///         parker.unpark();
    ///     });
    ///     let mut wait = SpinWait::new();
    ///     while !ready.load(Ordering::Acquire) {
    ///         if wait.would_yield() {
    ///             parker.park(); // it takes longer than we thought
    ///         } else {
    ///             wait.spin();
    ///         }
    ///     }
    /// });
    /// ```
    #[inline]
    pub fn spin(&mut self) {
        if self.would_yield() {
            yield_now();
            return;
        }
        for _ in 0..1_u32 << self.round {
            spin_loop();
        }
        self.round += 1;
    }

    /// Whether spinning has gone on for long enough that the next [`spin`](Self::spin) yields:
    /// the moment to park instead.
    ///
    /// ```
    /// let mut wait = blitz_primitives::SpinWait::new();
    /// assert!(!wait.would_yield());
    /// (0..10).for_each(|_| wait.spin());
    /// assert!(wait.would_yield());
    /// ```
    #[inline]
    pub const fn would_yield(&self) -> bool {
        self.round >= SPIN_ROUNDS
    }

    /// Starts over, after progress was made.
    ///
    /// ```
    /// let mut wait = blitz_primitives::SpinWait::new();
    /// (0..10).for_each(|_| wait.spin());
    /// wait.reset();
    /// assert!(!wait.would_yield());
    /// ```
    #[inline]
    pub const fn reset(&mut self) {
        self.round = 0;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn ten_rounds_spin_and_every_later_one_yields() {
        let mut wait = SpinWait::new();
        for round in 0..10 {
            assert!(!wait.would_yield(), "round {round}");
            wait.spin();
        }
        for _ in 0..3 {
            assert!(wait.would_yield());
            wait.spin();
        }
    }

    #[test]
    fn a_reset_starts_from_the_shortest_pause() {
        let mut wait = SpinWait::new();
        (0..20).for_each(|_| wait.spin());
        wait.reset();
        assert_eq!(wait.round, 0);
        assert!(!wait.would_yield());
    }
}
