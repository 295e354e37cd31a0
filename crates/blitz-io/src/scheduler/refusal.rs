//! That a thread could not be had, lately: no memory, or too many. It is not asked for again at once: whoever needs it may do so every few microseconds, and
//! each try is a system call or two.

use crate::primitives::AtomicU64;
use blitz_core::demand::{ticks, ticks_per_us};
use std::sync::atomic::Ordering;

/// For this long.
const RETRY_US: u64 = 2_000;

/// When it was, in ticks; 0: never.
#[derive(Default)]
pub(super) struct Refusal(AtomicU64);

impl Refusal {
    pub(super) fn note(&self) {
        self.0.store(ticks().max(1), Ordering::Relaxed);
    }

    pub(super) fn is_recent(&self) -> bool {
        let then = self.0.load(Ordering::Relaxed);
        then != 0 && ticks().saturating_sub(then) < RETRY_US * ticks_per_us()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_recent_for_a_while() {
        let refusal = Refusal::default();
        assert!(!refusal.is_recent(), "there was none");
        refusal.0.store(
            ticks()
                .saturating_sub(10 * RETRY_US * ticks_per_us())
                .max(1),
            Ordering::Relaxed,
        );
        assert!(!refusal.is_recent(), "long ago");
        // A test may be preempted, but not each time.
        let noted = |_| {
            refusal.note();
            refusal.is_recent()
        };
        assert!((0..1000).any(noted));
    }
}
