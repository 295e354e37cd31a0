//! The one door between the iterators and the engine.
//!
//! Everything above this file (`iter`, `slice`, `ops`, the sources) names the engine only through here, so that the
//! scheduler underneath can change without touching a single algorithm.

pub use blitz_core::*;

pub(crate) use blitz_core::demand::caller_may_take_part;
use blitz_core::demand::join_in_operation;
pub(crate) use blitz_core::inherited::may_be_stopped;
use blitz_core::site::{Operation, Site};
pub(crate) use blitz_core::sync::AtomicU64;

/// What the caller's caller has called begins, and ends when the result is dropped: what is forked meanwhile belongs to that place.
#[inline(always)]
#[cfg_attr(feature = "sites", track_caller)]
pub(crate) fn operation() -> Operation {
    Operation::begin(Site::caller(), file!())
}

/// A loop over so many items begins, for those who look.
#[inline(always)]
pub(crate) fn items(len: usize) {
    #[cfg(feature = "console")]
    blitz_core::console::items(len);
    #[cfg(not(feature = "console"))]
    let _ = len;
}

/// Runs `op` in the current pool, on one of its threads if the caller may not take part, and waits for it.
#[cold]
pub(crate) fn hand_over<R: Send>(op: impl FnOnce() -> R + Send) -> R {
    let (mut op, mut result) = (Some(op), None);
    hand_over_dyn(&mut || result = op.take().map(|op| op()));
    result.expect("a join runs both of its closures")
}

/// The same without generics: each join in a program is a hundred functions to be compiled, and this one is never hot.
fn hand_over_dyn(op: &mut (dyn FnMut() + Send)) {
    join_in_operation(op, || ());
}
