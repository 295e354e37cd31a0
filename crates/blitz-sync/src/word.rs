//! Changing a word that decides something.

use crate::primitives::{AtomicUsize, Ordering};
use std::ops::ControlFlow;

/// Changes `word` by a compare-and-swap of order `order` until `next` refuses to, or the new value has been stored; returns what `next` said, or the value before.
///
/// With `Acquire` a refusal is ordered as well: what the value that it looked at was stored after has happened.
#[inline]
pub(super) fn change<R>(
    word: &AtomicUsize,
    order: Ordering,
    mut next: impl FnMut(usize) -> ControlFlow<R, usize>,
) -> ControlFlow<R, usize> {
    let seen = match order {
        Ordering::Acquire => Ordering::Acquire,
        _ => Ordering::Relaxed,
    };
    let mut before = word.load(seen);
    loop {
        match word.compare_exchange_weak(before, next(before)?, order, seen) {
            Ok(_) => return ControlFlow::Continue(before),
            Err(now) => before = now,
        }
    }
}
