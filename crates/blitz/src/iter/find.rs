//! `find_any` and, built on it, `any` and `all`: some hit, whichever is found first in time.
//!
//! All pieces share one flag. It is read every now and then, not once per item, so that the search itself is the same loop as
//! `Iterator::find`.

use super::ParallelIterator;
use super::plumbing::Folder;
use super::recipe::{Everywhere, Recipe};
use crate::delegate::copied_as_it_is;
use crate::engine::demand::{reading_ns, ticks_at_work, ticks_per_us};
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

copied_as_it_is! { Find<'_, P> }

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
            cheap: false,
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
    /// For [`first_hit`].
    cheap: bool,
}

impl<T, P> Folder<T> for Searching<'_, T, P>
where
    P: Fn(&T) -> bool,
{
    type Result = Option<T>;

    #[inline]
    fn consume(mut self, item: T) -> Self {
        if self.hit.is_none() && (self.predicate)(&item) {
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
        // Items may come in several runs, and more of them after the hit.
        if self.hit.is_none() {
            let stop = || self.found.load(Relaxed);
            self.hit = first_hit(iter.into_iter(), self.predicate, &mut self.cheap, stop);
            if self.hit.is_some() {
                self.found.store(true, Relaxed);
            }
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

/// Whoever may stop looks up after so many items whether to: what makes an item may take long, and may be in vain by now.
pub(super) const LOOK_UP_AFTER: usize = 64;

/// Looks at the first items of a run, to see whether the others need not be counted: that costs more than to look at a cheap item.
pub(super) struct FirstLook {
    begin: u64,
}

impl FirstLook {
    /// A run is not counted if it has no more items than this.
    const LONG: usize = 1 << 16;

    /// And if [`LOOK_UP_AFTER`] of them take less than this.
    const CHEAP_US: u64 = 1;

    #[inline]
    pub(super) fn begin() -> Self {
        // Where a reading takes longer than what is looked at, items are counted.
        let begin = if reading_ns() == 0 {
            ticks_at_work()
        } else {
            0
        };
        FirstLook { begin }
    }

    /// After [`LOOK_UP_AFTER`] items: are they cheap?
    #[inline]
    pub(super) fn finds_cheap_items(&self) -> bool {
        self.begin != 0
            && ticks_at_work().saturating_sub(self.begin) < Self::CHEAP_US * ticks_per_us()
    }

    /// After [`LOOK_UP_AFTER`] items: will the rest of them be over soon?
    #[inline]
    pub(super) fn expects_an_end_of<I>(&self, rest: &I) -> bool
    where
        I: Iterator,
    {
        Self::is_short(rest) && self.finds_cheap_items()
    }

    /// Will they be over soon if they are cheap?
    #[inline]
    fn is_short<I>(rest: &I) -> bool
    where
        I: Iterator,
    {
        rest.size_hint().1.is_some_and(|most| most <= Self::LONG)
    }
}

/// The first item that satisfies the predicate, unless `stop` says first that it is no longer wanted.
///
/// `cheap`: that items are cheap has been seen, with the first ones of an earlier run of the same folder. If some are not, it shows in the time that the run takes, and the next ones
/// are as short as that says.
#[inline]
pub(super) fn first_hit<I, P, S>(
    mut iter: I,
    predicate: &P,
    cheap: &mut bool,
    stop: S,
) -> Option<I::Item>
where
    I: Iterator,
    P: Fn(&I::Item) -> bool,
    S: Fn() -> bool,
{
    let most = iter.size_hint().1;
    if most.is_some_and(|most| most <= LOOK_UP_AFTER) {
        return iter.find(|item| predicate(item));
    }
    if *cheap && FirstLook::is_short(&iter) {
        return find_plainly(iter, predicate);
    }
    let look = |item| {
        if predicate(&item) {
            Break(Some(item))
        } else {
            Continue(())
        }
    };
    let mut left = LOOK_UP_AFTER;
    let first_look = FirstLook::begin();
    let first = iter.try_for_each(|item| {
        look(item)?;
        left -= 1;
        if left > 0 { Continue(()) } else { Break(None) }
    });
    match first {
        Continue(()) => return None,
        Break(Some(hit)) => return Some(hit),
        Break(None) if stop() => return None,
        Break(None) => {}
    }
    *cheap = first_look.expects_an_end_of(&iter);
    if *cheap {
        return find_plainly(iter, predicate);
    }
    let rest = fold_until(iter, (), |(), item| look(item), LOOK_UP_AFTER, stop);
    rest.break_value().flatten()
}

/// `Iterator::find`. Not inlined, and with the first item before the loop: so the compiler knows that what the predicate refers to may be loaded, and loads it once.
/// Otherwise it would do so for every item. Four items a turn: a processor goes back to the beginning of a loop once in a cycle at most, and could look at more than one number in it.
#[inline(never)]
fn find_plainly<I, P>(mut iter: I, predicate: &P) -> Option<I::Item>
where
    I: Iterator,
    P: Fn(&I::Item) -> bool,
{
    let mut item = iter.next()?;
    loop {
        for _ in 0..4 {
            if predicate(&item) {
                return Some(item);
            }
            item = iter.next()?;
        }
    }
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
