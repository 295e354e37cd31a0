//! `find_any` and, built on it, `any` and `all`: some hit, whichever is found first in time.
//!
//! All pieces share one flag. It is read once per block, not once per item, so that the search itself is the same loop as
//! `Iterator::find`.

use super::ParallelIterator;
use super::plumbing::Folder;
use super::recipe::{Everywhere, Recipe};
use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub(super) fn find<I, P>(iter: I, predicate: P) -> Option<I::Item>
where
    I: ParallelIterator,
    P: Fn(&I::Item) -> bool + Sync,
{
    iter.drive_unindexed(Everywhere(Find {
        predicate: &predicate,
        found: &AtomicBool::new(false),
    }))
}

struct Find<'p, P> {
    predicate: &'p P,
    found: &'p AtomicBool,
}

impl<P> Clone for Find<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Find<'_, P> {}

impl<'p, T, P> Recipe<T> for Find<'p, P>
where
    T: Send,
    P: Fn(&T) -> bool + Sync,
{
    type Result = Option<T>;
    type Folder = Searching<'p, T, P>;

    #[inline]
    fn begin(self) -> Self::Folder {
        Searching {
            predicate: self.predicate,
            found: self.found,
            hit: None,
        }
    }

    #[inline]
    fn combine(self, left: Option<T>, right: Option<T>) -> Option<T> {
        left.or(right)
    }

    const CAN_BE_FULL: bool = true;

    #[inline]
    fn full(self) -> bool {
        self.found.load(Relaxed)
    }
}

struct Searching<'p, T, P> {
    predicate: &'p P,
    found: &'p AtomicBool,
    hit: Option<T>,
}

impl<T, P> Folder<T> for Searching<'_, T, P>
where
    P: Fn(&T) -> bool,
{
    type Result = Option<T>;

    #[inline]
    fn consume(mut self, item: T) -> Self {
        if (self.predicate)(&item) {
            self.found.store(true, Relaxed);
            self.hit = Some(item);
        }
        self
    }

    #[inline]
    fn consume_iter<I>(mut self, iter: I) -> Self
    where
        I: IntoIterator<Item = T>,
    {
        self.hit = first_hit(iter.into_iter(), self.predicate, || {
            self.found.load(Relaxed)
        });
        if self.hit.is_some() {
            self.found.store(true, Relaxed);
        }
        self
    }

    #[inline]
    fn complete(self) -> Option<T> {
        self.hit
    }

    #[inline]
    fn full(&self) -> bool {
        self.found.load(Relaxed)
    }
}

/// Pieces longer than this look up now and then whether they may stop. Blocks of a measured loop are shorter.
const LONG: usize = 1 << 16;

/// After how many items they do.
pub(super) const LOOK_UP_AFTER: usize = 1 << 12;

/// After how many items those do that stop at a failure: what they call may be long, and after a failure it is in vain.
pub(super) const LOOK_FOR_FAILURE_AFTER: usize = 64;

/// The first item that satisfies the predicate, unless `stop` says first that it is no longer wanted.
#[inline]
pub(super) fn first_hit<I, P, S>(mut iter: I, predicate: P, stop: S) -> Option<I::Item>
where
    I: Iterator,
    P: Fn(&I::Item) -> bool,
    S: Fn() -> bool,
{
    if iter.size_hint().1.is_some_and(|most| most <= LONG) {
        return iter.find(|item| predicate(item));
    }
    let look = |(), item| {
        if predicate(&item) {
            Break(item)
        } else {
            Continue(())
        }
    };
    fold_until(iter, (), look, LOOK_UP_AFTER, stop).break_value()
}

/// Folds with `step` until that breaks, or until `stop`, which is asked after every `stretch` items, says that nothing more is
/// wanted.
#[inline]
pub(super) fn fold_until<I, A, B, F, S>(
    mut iter: I,
    mut value: A,
    mut step: F,
    stretch: usize,
    stop: S,
) -> ControlFlow<B, A>
where
    I: Iterator,
    F: FnMut(A, I::Item) -> ControlFlow<B, A>,
    S: Fn() -> bool,
{
    loop {
        let mut left = stretch;
        let part = iter.try_fold(value, |value, item| match step(value, item) {
            Break(end) => Break(Ok(end)),
            Continue(value) => {
                left -= 1;
                if left == 0 {
                    Break(Err(value))
                } else {
                    Continue(value)
                }
            }
        });
        value = match part {
            Continue(value) => return Continue(value),
            Break(Ok(end)) => return Break(end),
            Break(Err(value)) => value,
        };
        if stop() {
            return Continue(value);
        }
    }
}
