//! `take_any_while` and `skip_any_while`: up to, or from, the first failure anybody sees.

use super::gate::{Admit, Gate, Refuse};
use super::stage::{debug_fields, staged_adaptor};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Passes items on until the predicate fails anywhere. Made by
/// [`take_any_while`](super::ParallelIterator::take_any_while).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let taken: Vec<i32> = (0..100).into_par_iter().take_any_while(|&n| n < 50).collect();
/// assert!(taken.iter().all(|&n| n < 50));
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Clone)]
pub struct TakeAnyWhile<I, P> {
    base: I,
    predicate: P,
}

impl<I, P> TakeAnyWhile<I, P> {
    pub(super) fn new(base: I, predicate: P) -> Self {
        TakeAnyWhile { base, predicate }
    }
}

debug_fields! { TakeAnyWhile[I, P] shows base: I }

staged_adaptor! {
    impl [I, P] TakeAnyWhile<I, P> => I::Item
    where [P: Fn(&I::Item) -> bool + Sync + Send];
    fn plan(self) {
        Admit { gate: NoFailure { predicate: &self.predicate, failed: &AtomicBool::new(false) } }
    }
}

/// Drops items until the predicate fails anywhere, then passes all on. Made by
/// [`skip_any_while`](super::ParallelIterator::skip_any_while).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let rest: Vec<i32> = (0..100).into_par_iter().skip_any_while(|&n| n < 50).collect();
/// assert!(rest.len() >= 50 && (50..100).all(|n| rest.contains(&n)));
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Clone)]
pub struct SkipAnyWhile<I, P> {
    base: I,
    predicate: P,
}

impl<I, P> SkipAnyWhile<I, P> {
    pub(super) fn new(base: I, predicate: P) -> Self {
        SkipAnyWhile { base, predicate }
    }
}

debug_fields! { SkipAnyWhile[I, P] shows base: I }

staged_adaptor! {
    impl [I, P] SkipAnyWhile<I, P> => I::Item
    where [P: Fn(&I::Item) -> bool + Sync + Send];
    fn plan(self) {
        Refuse { gate: NoFailure { predicate: &self.predicate, failed: &AtomicBool::new(false) } }
    }
}

/// Open until the predicate fails, here or elsewhere.
struct NoFailure<'p, P> {
    predicate: &'p P,
    failed: &'p AtomicBool,
}

impl<P> Clone for NoFailure<'_, P> {
    #[inline]
    fn clone(&self) -> Self {
        NoFailure { ..*self }
    }
}

impl<P, In> Gate<In> for NoFailure<'_, P>
where
    P: Fn(&In) -> bool,
{
    #[inline]
    fn says_yes(&self, item: &In) -> bool {
        if self.failed.load(Relaxed) {
            return false;
        }
        let passes = (self.predicate)(item);
        if !passes {
            self.failed.store(true, Relaxed);
        }
        passes
    }

    #[inline]
    fn is_shut(&self) -> bool {
        self.failed.load(Relaxed)
    }
}
