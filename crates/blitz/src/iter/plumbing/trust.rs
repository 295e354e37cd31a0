//! Tiny loops inside of another one: they come by the thousand, and the two looks at the clock that one takes by itself would be most of its cost.
//!
//! A loop that is not looked at until its next block is over trusts its items that long: they are run one after the other, whatever they do. If such an item is a loop, *its* items can be
//! trusted as well, within bounds:
//!
//! * A loop of more than a [few](super::pace::FEW) items that has seen, in this run, that they are tiny, and knows of none that was not, [opens](open) a part before it runs a block of them.
//! * The first loop in there of each kind that comes is looked at as always. If it was tiny, some more of its kind may go [unlooked](renew): [`LOOPS`] that are as long, and only as many items as have taken
//!   2 us in earlier runs.
//! * Before each of these loops there is a look at a clock that takes next to nothing, but moves every few milliseconds only; one such look for several, if they are shorter than [`UNSEEN`] items.
//!   If that clock has moved, the loop is looked at. So whatever items suddenly take, no more than [`UNSEEN`] of them run behind one that takes milliseconds.
//! * Nothing goes unlooked where a token could stop it, or where a profiler counts.
//!
//! Where there is no such clock, every loop is looked at.

use super::pace::Site;
use crate::engine::demand::{Parts, coarse_is_cheap, coarse_mark, inherits_nothing};
use std::cell::Cell;

/// So many loops follow one that was looked at.
const LOOPS: usize = 64;

/// So many items go on without a look at the coarse clock. Longer loops can afford to be looked at.
const UNSEEN: usize = 32;

struct Trust {
    /// Which loop; 0: none.
    code: Cell<usize>,
    /// How many more items without a look at the coarse clock.
    credit: Cell<usize>,
    /// How many more with such looks.
    rest: Cell<usize>,
    /// The coarse clock, when that was said.
    mark: Cell<u64>,
    /// The thread is in a part of a loop around.
    is_open: Cell<bool>,
    /// The coarse clock, when the thread last asked whether it had moved.
    asked: Cell<u64>,
}

thread_local! {
    static TRUST: Trust = const {
        Trust {
            code: Cell::new(0),
            credit: Cell::new(0),
            rest: Cell::new(0),
            mark: Cell::new(0),
            is_open: Cell::new(false),
            asked: Cell::new(0),
        }
    };
}

/// May a loop over `items` go unlooked? One comparison for all those that may not.
#[inline(always)]
pub(super) fn covers(code: usize, items: usize) -> bool {
    TRUST.with(|trust| {
        if trust.code.get() != code {
            return false;
        }
        let credit = trust.credit.get();
        if credit < items || !inherits_nothing() {
            return trust.go_on(items);
        }
        trust.credit.set(credit - items);
        true
    })
}

impl Trust {
    #[cold]
    #[inline(never)]
    fn go_on(&self, items: usize) -> bool {
        let (credit, rest) = (self.credit.get(), self.rest.get());
        let goes_on = items <= UNSEEN.min(credit + rest)
            && inherits_nothing()
            && coarse_mark() == self.mark.get();
        if goes_on {
            let next = (credit + rest).min(UNSEEN);
            self.rest.set(credit + rest - next);
            self.credit.set(next - items);
        } else {
            self.code.set(0);
        }
        goes_on
    }
}

/// A loop over `items` of `site` has just been tiny.
#[inline(always)]
pub(super) fn renew(code: usize, items: usize, site: &Site) {
    if items <= UNSEEN && TRUST.with(|trust| trust.is_open.get()) {
        begin(code, items, site);
    }
}

#[inline(never)]
fn begin(code: usize, items: usize, site: &Site) {
    if !coarse_is_cheap() || Parts::are_counted() {
        return;
    }
    TRUST.with(|trust| {
        trust.code.set(code);
        trust.rest.set(site.tiny_items().min(LOOPS * items));
        trust.credit.set(0);
        trust.mark.set(coarse_mark());
    });
}

/// A part of a loop begins, and ends when this is dropped.
pub(super) struct Part {
    was_open: bool,
}

/// Most loops have no others in their items, so this and its end are a few stores.
#[inline]
pub(super) fn open() -> Part {
    TRUST.with(|trust| Part {
        was_open: trust.is_open.replace(true),
    })
}

/// Has the coarse clock moved since this thread last asked? Then whoever does not look at the clock anyway should, to know for the next time: something has taken milliseconds.
#[inline]
pub(super) fn coarse_has_moved() -> bool {
    coarse_is_cheap() && {
        let mark = coarse_mark();
        TRUST.with(|trust| trust.asked.replace(mark)) != mark
    }
}

impl Drop for Part {
    #[inline]
    fn drop(&mut self) {
        TRUST.with(|trust| {
            trust.code.set(0);
            trust.is_open.set(self.was_open);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use blitz_core::CancelToken;

    const CODE: usize = 8;

    /// One whose items take a nanosecond.
    fn tiny() -> Site {
        Site::of_items(0.001)
    }

    /// How many loops over `items` go unlooked, in a row.
    fn unlooked(code: usize, items: usize) -> usize {
        (0..100 * LOOPS).take_while(|_| covers(code, items)).count()
    }

    /// Runs `test` until the coarse clock has not moved meanwhile. Where there is none, nothing is trusted, and nothing tested.
    fn within_a_tick(test: impl Fn()) {
        let is_still = || {
            let mark = coarse_mark();
            let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(&test));
            let is_still = mark == coarse_mark();
            if is_still {
                panicked.unwrap();
            }
            is_still
        };
        assert!(!coarse_is_cheap() || (0..1000).any(|_| is_still()));
    }

    #[test]
    fn after_a_tiny_loop_some_of_its_kind_go_unlooked() {
        within_a_tick(|| {
            let part = open();
            assert_eq!(unlooked(CODE, 10), 0, "the first one is looked at");
            renew(CODE, 10, &tiny());
            assert!(!covers(CODE + 8, 10), "another kind");
            assert_eq!(unlooked(CODE, 10), LOOPS);
            renew(CODE, 10, &tiny());
            assert!(!covers(CODE, UNSEEN + 1), "a longer one");
            assert_eq!(unlooked(CODE, 10), 0, "behind that");

            renew(CODE, 10, &tiny());
            drop(open());
            assert_eq!(unlooked(CODE, 10), 0, "behind a part inside of this one");
            renew(CODE, 10, &tiny());
            drop(part);
            assert_eq!(unlooked(CODE, 10), 0, "outside");
            renew(CODE, 10, &tiny());
            assert_eq!(unlooked(CODE, 10), 0, "there is nothing around");
        });
    }

    #[test]
    fn loops_that_may_take_longer_are_looked_at() {
        within_a_tick(|| {
            let _part = open();
            // Two microseconds in all.
            renew(CODE, 10, &Site::of_items(0.033));
            assert_eq!(unlooked(CODE, 10), 6);
            renew(CODE, 10, &Site::of_items(0.3));
            assert_eq!(unlooked(CODE, 10), 0);
            renew(CODE, UNSEEN + 1, &tiny());
            assert_eq!(unlooked(CODE, UNSEEN + 1), 0);
        });
    }

    #[test]
    fn where_a_token_could_stop_it_a_loop_is_looked_at() {
        within_a_tick(|| {
            let _part = open();
            renew(CODE, 10, &tiny());
            let inside = CancelToken::new().run(|| unlooked(CODE, 10));
            assert_eq!(inside.expect("nobody cancels"), 0);
        });
    }

    #[test]
    fn once_the_coarse_clock_has_moved_the_next_loop_is_looked_at() {
        if !coarse_is_cheap() {
            return;
        }
        let _part = open();
        coarse_has_moved();
        renew(CODE, UNSEEN, &tiny());
        let mark = TRUST.with(|trust| trust.mark.get());
        while coarse_mark() == mark {
            std::hint::spin_loop();
        }
        assert!(!covers(CODE, UNSEEN));
        assert!(coarse_has_moved());
    }

    #[test]
    fn what_was_asked_a_moment_ago_has_not_moved() {
        within_a_tick(|| {
            coarse_has_moved();
            assert!(!coarse_has_moved());
        });
    }
}
