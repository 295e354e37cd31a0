//! The one door between the iterators and the engine.
//!
//! Everything above this file (`iter`, `slice`, `ops`, the sources) names the engine only through here, so that the
//! scheduler underneath can change without touching a single algorithm.

pub use blitz_core::*;

use std::cell::Cell;

/// May the calling thread run parts of a loop itself?
///
/// A thread in a pool may. A thread outside may if the global pool admits guests; it does unless its threads were given
/// names, stacks or handlers that the caller does not have, and then everything must run on them.
#[inline]
pub(crate) fn caller_may_take_part() -> bool {
    ADMITTED.get() == Some(true) || current_thread_index().is_some() || is_admitted()
}

thread_local! {
    /// Whether the global pool admits this thread as a guest, once it has asked.
    static ADMITTED: Cell<Option<bool>> = const { Cell::new(None) };
}

/// Finds out by trying, once per thread. A try that finds every seat taken takes that for an answer too; the price is that
/// the loops of this thread are handed over to the pool.
#[cold]
fn is_admitted() -> bool {
    if let Some(known) = ADMITTED.get() {
        return known;
    }
    let (moved, ()) = join_context(|context| context.migrated(), |_| ());
    ADMITTED.set(Some(!moved));
    !moved
}

/// Runs `op` on a thread of the global pool and waits for it.
#[cold]
pub(crate) fn hand_over<R: Send>(op: impl FnOnce() -> R + Send) -> R {
    let (mut op, mut result) = (Some(op), None);
    hand_over_dyn(&mut || result = op.take().map(|op| op()));
    result.expect("a join runs both of its closures")
}

/// The same without generics: each join in a program is a hundred functions to be compiled, and this one is never hot.
fn hand_over_dyn(op: &mut (dyn FnMut() + Send)) {
    join_context(|_| op(), |_| ());
}
