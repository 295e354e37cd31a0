//! `take_any` and `skip_any`: a number of items, whichever come first in time.

use super::gate::{Admit, Gate, Refuse};
use super::stage::staged_adaptor;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Passes on some `n` items. Made by [`take_any`](super::ParallelIterator::take_any).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let some = (0..1000).into_par_iter().filter(|n| n % 2 == 0).take_any(5).count();
/// assert_eq!(some, 5);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct TakeAny<I> {
    base: I,
    count: usize,
}

impl<I> TakeAny<I> {
    pub(super) fn new(base: I, count: usize) -> Self {
        TakeAny { base, count }
    }
}

staged_adaptor! {
    impl [I] TakeAny<I> => I::Item;
    fn plan(self) { Admit { gate: Places { left: &AtomicUsize::new(self.count) } } }
}

/// Passes on all but some `n` items. Made by [`skip_any`](super::ParallelIterator::skip_any).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let rest = (0..1000).into_par_iter().skip_any(300).count();
/// assert_eq!(rest, 700);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct SkipAny<I> {
    base: I,
    count: usize,
}

impl<I> SkipAny<I> {
    pub(super) fn new(base: I, count: usize) -> Self {
        SkipAny { base, count }
    }
}

staged_adaptor! {
    impl [I] SkipAny<I> => I::Item;
    fn plan(self) { Refuse { gate: Places { left: &AtomicUsize::new(self.count) } } }
}

/// Opens for as many items as there are places left.
#[derive(Clone)]
struct Places<'n> {
    left: &'n AtomicUsize,
}

impl<In> Gate<In> for Places<'_> {
    #[inline]
    fn says_yes(&self, _: &In) -> bool {
        // Nothing else hangs on the count, so relaxed is enough.
        self.left.load(Relaxed) != 0
            && self
                .left
                .fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1))
                .is_ok()
    }

    #[inline]
    fn is_shut(&self) -> bool {
        self.left.load(Relaxed) == 0
    }
}
