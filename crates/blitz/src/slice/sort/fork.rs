//! Forks of the sorts, compiled once.
//!
//! A `join` is some two thousand lines for the compiler to chew on, and a sort of one type has a dozen of them. None is hot: what a sort forks
//! lasts microseconds at least. So all of them go through joins of closures behind pointers, which are not generic and therefore
//! compiled with this crate and not with its users'. There is more than one, because the engine remembers for each how long its forks take: those that
//! compare, which are worth a wake-up or would not have been planned, and those that only move memory. (The radix sort has its own two, for stripes and for buckets.)

use crate::engine::checkpoint;
use crate::engine::demand::{join_context_expecting, join_in_operation};

/// Runs both closures, perhaps in parallel: parts of a sort. A sort that is stopped unwinds from here, so both must be where a comparison might panic.
pub(super) fn both(a: impl FnOnce() + Send, b: impl FnOnce() + Send) {
    join_parts(None, &mut once(a), &mut once(b));
}

/// The same for parts of a sort that takes so many ticks: whether somebody is woken depends on that.
pub(super) fn both_of(expected: u64, a: impl FnOnce() + Send, b: impl FnOnce() + Send) {
    join_parts(Some(expected), &mut once(a), &mut once(b));
}

/// Runs both closures, perhaps in parallel: they only move elements.
pub(super) fn both_moves(a: impl FnOnce() + Send, b: impl FnOnce() + Send) {
    join_moves(&mut once(a), &mut once(b));
}

/// What may be called through a pointer, and will be called once.
fn once(half: impl FnOnce() + Send) -> impl FnMut() + Send {
    let mut half = Some(half);
    move || {
        if let Some(half) = half.take() {
            half();
        }
    }
}

// Closures, because the engine tells call sites apart by the code of their forks: passed on as they are, both functions would be one.
#[inline(never)]
fn join_parts(expected: Option<u64>, a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
    let part = |part: &mut (dyn FnMut() + Send)| {
        checkpoint();
        part();
    };
    match expected {
        Some(expected) => {
            join_context_expecting(expected, |_| part(a), |_| part(b));
        }
        None => {
            join_in_operation(|| part(a), || part(b));
        }
    }
}

#[expect(clippy::redundant_closure)]
#[inline(never)]
fn join_moves(a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
    join_in_operation(|| a(), || b());
}
