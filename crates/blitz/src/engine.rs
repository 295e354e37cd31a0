//! The one door between the iterators and the engine.
//!
//! Everything above this file (`iter`, `slice`, `ops`, the sources) names the engine only through here, so that the
//! scheduler underneath can change without touching a single algorithm.

pub use blitz_core::*;

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// May the calling thread run parts of a loop itself?
///
/// A thread in a pool may. A thread outside may if the global pool admits guests; it does unless its threads were given
/// names, stacks or handlers that the caller does not have, and then everything must run on them.
#[inline]
pub(crate) fn caller_may_take_part() -> bool {
    current_thread_index().is_some() || guests_are_admitted()
}

/// Does the global pool admit guests? Found out by trying, once. A first try that finds every seat taken takes that for an
/// answer too; the price is that loops of outside threads are handed over then.
fn guests_are_admitted() -> bool {
    const UNKNOWN: u8 = 0;
    const YES: u8 = 1;
    const NO: u8 = 2;
    static ADMITTED: AtomicU8 = AtomicU8::new(UNKNOWN);
    match ADMITTED.load(Relaxed) {
        UNKNOWN => {
            let (moved, ()) = join_context(|context| context.migrated(), |_| ());
            ADMITTED.store(if moved { NO } else { YES }, Relaxed);
            !moved
        }
        known => known == YES,
    }
}

/// Runs `op` on a thread of the global pool and waits for it.
pub(crate) fn hand_over<R: Send>(op: impl FnOnce() -> R + Send) -> R {
    join_context(|_| op(), |_| ()).0
}
