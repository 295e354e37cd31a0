//! What waking a thread costs on this machine: measured with every wake, since it differs tenfold from machine to machine, and on one machine with how
//! deep its CPUs sleep.
//!
//! Two times matter. The *call* is what the waker loses. The *latency* passes from there until the woken thread runs. With a second thread after that, work of
//! length w takes half of `w + call + latency`, at best: so what is shorter than `call + latency` gets slower by a wake, and what is twice as long has something to gain even
//! if its two halves cannot be cut further.
//!
//! Medians, more or less, for the whole process: each wake moves them by an eighth, in its direction. (An average would be ruled by the few threads that were kept from
//! running by other programs, which tell little about wakes.) Wakes that raced with each other may disturb a measurement; it is a guess either way, and
//! nothing but a choice depends on it.

use crate::clock::{ticks, ticks_per_us};
use crate::priority::was_away;
use crate::rules;
use crossbeam_utils::CachePadded;
// Not the models': nothing here decides what is right.
use std::sync::atomic::{AtomicUsize, Ordering};

/// In ticks, as far as a word holds them; 0 until the first wake.
static CALL: CachePadded<AtomicUsize> = CachePadded::new(AtomicUsize::new(0));
static LATENCY: CachePadded<AtomicUsize> = CachePadded::new(AtomicUsize::new(0));
/// What follows from the two. It is read much more often than they change.
static WORTH: CachePadded<AtomicUsize> = CachePadded::new(AtomicUsize::new(0));

/// Work of how many ticks is worth a wake, as far as that has been measured?
#[inline]
pub fn worth_a_wake() -> u64 {
    match WORTH.load(Ordering::Relaxed) {
        0 => rules::WORTH_A_WAKE_US * ticks_per_us(),
        measured => measured as u64,
    }
}

/// Calls `wake`, and measures how long that takes. It is nothing that the caller's work takes.
pub(crate) fn calling(wake: impl FnOnce()) {
    let start = ticks();
    wake();
    let took = ticks().saturating_sub(start);
    learn(&CALL, took as usize);
    was_away(took);
}

/// When a sleeping thread was called.
#[derive(Debug, Default)]
pub(crate) struct CalledAt(AtomicUsize);

impl CalledAt {
    /// Now. Before the thread can see that it was called.
    pub(crate) fn now(&self) {
        self.0.store(ticks() as usize, Ordering::Relaxed);
    }

    /// The thread runs.
    pub(crate) fn answered(&self) {
        let called = self.0.load(Ordering::Relaxed);
        learn(&LATENCY, (ticks() as usize).wrapping_sub(called));
    }
}

fn learn(median: &AtomicUsize, measured: usize) {
    let before = median.load(Ordering::Relaxed);
    let next = match before {
        0 => measured,
        _ if measured > before => before + before / 8,
        _ => before - before / 8,
    };
    median.store(next.max(1), Ordering::Relaxed);
    let call = CALL.load(Ordering::Relaxed) as u64;
    let latency = LATENCY.load(Ordering::Relaxed) as u64;
    if call > 0 && latency > 0 {
        let worth = rules::worth_a_wake(call, latency, ticks_per_us());
        WORTH.store(
            usize::try_from(worth).unwrap_or(usize::MAX),
            Ordering::Relaxed,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_follows_what_is_measured_and_forgives_an_outlier() {
        let median = AtomicUsize::new(0);
        learn(&median, 1000);
        assert_eq!(median.load(Ordering::Relaxed), 1000);
        learn(&median, 1_000_000_000);
        assert_eq!(median.load(Ordering::Relaxed), 1125);
        for _ in 0..100 {
            learn(&median, 50_000);
        }
        let now = median.load(Ordering::Relaxed);
        assert!((40_000..60_000).contains(&now), "{now}");
    }

    #[test]
    fn a_wake_is_measured_and_worth_what_it_takes() {
        let us = ticks_per_us();
        let pool = crate::ThreadPoolBuilder::new().num_threads(1).build();
        let pool = pool.unwrap();
        for _ in 0..10 {
            pool.install(|| ());
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        // Nobody knows what a wake takes here, only that it was looked at.
        assert!(CALL.load(Ordering::Relaxed) > 0 && LATENCY.load(Ordering::Relaxed) > 0);
        assert!((20 * us..=120 * us).contains(&worth_a_wake()));
        assert_eq!(rules::worth_a_wake(5 * us, 12 * us, us), 34 * us);
        assert_eq!(rules::worth_a_wake(0, 0, us), 20 * us);
        assert_eq!(rules::worth_a_wake(us, 1_000_000 * us, us), 120 * us);
    }
}
