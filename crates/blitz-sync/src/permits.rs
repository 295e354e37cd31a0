//! Permits that are taken and given back: what mutexes, read-write locks, semaphores, once-cells and bounded channels are made of.
//!
//! One word holds the number of permits that are free, and two bits: `CLOSED`, and `WAITING`, "somebody is in the line".
//!
//! * **Taking and giving back are one compare-and-swap each** while nobody waits.
//! * **First come, first served, also with different needs.** A future that needs more than is free takes what is free, waits, and is given what comes back
//!   until it has enough. So while a future waits there are no free permits (`WAITING` implies a count of zero), and nobody can overtake
//!   the line. No stream of small requests starves a large one.
//! * **Permits that are given back go to the first in the line**, not to the word. A future that goes away hands on all that it has been given.
//!
//! # No permit is lost, and nobody waits for one that is there
//!
//! The word is the one location that decides (see `waiters`). An arrival sets `WAITING` by a compare-and-swap that takes all that is free, under the line's
//! lock. A release adds to the word by a compare-and-swap that fails if `WAITING` is set. It then serves the line under the lock.
//! While `WAITING` is set, nobody changes the word without the lock: there is nothing to take, and releases go to the line.
//!
//! # Orderings
//!
//! What one holder did with a permit must have happened before what the next one does with it. Taking is `Acquire`, and giving back is `Release`. Every change
//! of the word is a read-modify-write. So a release stays visible to all later takers, whichever come in between. A writer that takes the permits of many readers synchronizes
//! with all of them. With a relaxed ordering at either end, the next holder could see the value half written. Permits that go through the line are
//! passed under its lock, and by the node's own release and acquire. A future that is refused because of `CLOSED` has also read
//! the word with `Acquire`. So it sees what was done before [`Permits::close`]. No change of the word has to be sequentially consistent, because no decision depends on a
//! second location.

mod acquire;
#[cfg(all(test, loom))]
mod models;

pub(crate) use acquire::Acquire;

use super::word;
use crate::primitives::{AtomicUsize, Ordering, const_fn, constant};
use crate::waiters::{Guarded, State, Waiters};
use crate::wake_batch::WakeBatch;
use blitz_primitives::flaw::Flaws;
use std::ops::ControlFlow;

const CLOSED: usize = 1;
const WAITING: usize = 2;
/// One permit.
const PERMIT: usize = 4;

/// What a model gets wrong on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(all(test, loom)), allow(dead_code))]
pub(crate) enum Flaw {
    /// A release does not look whether anybody waits.
    ReleasesBlindly,
    /// An arrival says that it waits without another look at what is free.
    ArrivesBlindly,
    /// A future that goes away keeps what it was granted.
    KeepsGrant,
    /// A future that goes away keeps the part that it has got so far.
    KeepsPart,
    /// Taking orders nothing.
    AcquiresRelaxed,
    /// Giving back orders nothing.
    ReleasesRelaxed,
    /// Closing orders nothing.
    ClosesRelaxed,
}

/// A value of the word.
#[derive(Debug, Clone, Copy)]
struct Word(usize);

impl Word {
    fn free(self) -> usize {
        self.0 / PERMIT
    }

    fn is_closed(self) -> bool {
        self.0 & CLOSED != 0
    }

    fn somebody_waits(self) -> bool {
        self.0 & WAITING != 0
    }

    /// Without `wanted` permits.
    #[inline]
    fn take(self, wanted: usize) -> ControlFlow<Refused, usize> {
        if self.is_closed() {
            ControlFlow::Break(Refused::Closed)
        } else if self.free() < wanted {
            ControlFlow::Break(Refused::TooFew)
        } else {
            ControlFlow::Continue(self.0 - wanted * PERMIT)
        }
    }
}

/// Why permits are not to be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// There are not enough at the moment.
    TooFew,
    /// There will be no more.
    Closed,
}

/// A number of permits.
#[derive(Debug)]
pub(crate) struct Permits {
    word: AtomicUsize,
    waiters: Waiters<()>,
    flaws: Flaws<Flaw>,
}

impl Permits {
    /// As many as there can be.
    pub(crate) const MAX: usize = usize::MAX >> 3;

    const_fn! {
        /// So many that are free.
        #[track_caller]
        pub(crate) const fn new(free: usize) -> Self {
            Self::with_flaws(free, Flaws::NONE)
        }
    }

    const_fn! {
        #[track_caller]
        pub(super) const fn with_flaws(free: usize, flaws: Flaws<Flaw>) -> Self {
            assert!(free <= Self::MAX, "more than MAX_PERMITS permits");
            Self {
                word: AtomicUsize::new(free * PERMIT),
                waiters: constant!(Waiters::new(())),
                flaws,
            }
        }
    }

    const_fn! {
        /// None, and there never will be.
        pub(crate) const fn closed() -> Self {
            Self {
                word: AtomicUsize::new(CLOSED),
                waiters: constant!(Waiters::new(())),
                flaws: Flaws::NONE,
            }
        }
    }

    /// How many are free at the moment.
    pub(crate) fn free(&self) -> usize {
        Word(self.word.load(Ordering::Acquire)).free()
    }

    /// Whether [`close`](Self::close) has been called. What happened before that call has happened before the answer "yes".
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        Word(self.word.load(Ordering::Acquire)).is_closed()
    }

    /// See [`word::change`].
    #[inline]
    fn change<R>(
        &self,
        order: Ordering,
        mut next: impl FnMut(Word) -> ControlFlow<R, usize>,
    ) -> ControlFlow<R, Word> {
        let before = word::change(&self.word, order, |word| next(Word(word)))?;
        ControlFlow::Continue(Word(before))
    }

    /// Takes `wanted` permits, if they are free.
    #[inline]
    pub(crate) fn try_acquire(&self, wanted: usize) -> Result<(), Refused> {
        let order = self.flaws.relax(Flaw::AcquiresRelaxed, Ordering::Acquire);
        let taken = self.change(order, |word| word.take(wanted));
        match taken {
            ControlFlow::Continue(_) => Ok(()),
            ControlFlow::Break(refused) => Err(refused),
        }
    }

    /// A future that takes `wanted` permits when it is its turn.
    #[inline]
    pub(crate) fn acquire(&self, wanted: usize) -> Acquire<'_> {
        Acquire::new(self, wanted)
    }

    /// Gives permits back, or adds some.
    ///
    /// # Panics
    /// If there were more than [`MAX`](Self::MAX) then.
    #[inline]
    #[track_caller]
    pub(crate) fn release(&self, number: usize) {
        let order = self.flaws.relax(Flaw::ReleasesRelaxed, Ordering::Release);
        let added = self.change(order, |word| {
            if word.somebody_waits() && !self.flaws.has(Flaw::ReleasesBlindly) {
                return ControlFlow::Break(());
            }
            assert!(
                number <= Self::MAX - word.free(),
                "more than MAX_PERMITS permits"
            );
            ControlFlow::Continue(word.0 + number * PERMIT)
        });
        if added.is_break() {
            self.serve(number);
        }
    }

    /// Gives permits to those who wait, and adds what they leave to the word.
    #[cold]
    #[track_caller]
    fn serve(&self, number: usize) {
        assert!(number <= Self::MAX, "more than MAX_PERMITS permits");
        let mut left = number;
        while left != 0 {
            left = self
                .waiters
                .releasing(|guarded, batch| self.serve_batch(left, guarded, batch));
        }
    }

    /// The same, under the line's lock, for one batch. Returns how many permits are left.
    fn serve_batch(
        &self,
        mut left: usize,
        guarded: &mut Guarded<()>,
        batch: &mut WakeBatch,
    ) -> usize {
        while left != 0 && !batch.is_full() {
            match guarded.line.feed_first(&mut left) {
                Some(true) => guarded.line.release_first(State::Granted, batch),
                Some(false) => return 0,
                None => break,
            };
        }
        if !guarded.line.is_empty() {
            return left;
        }
        // Whoever held the lock before us may have found the line empty as well.
        let order = self.flaws.relax(Flaw::ReleasesRelaxed, Ordering::Release);
        let _ = self.change(order, |word| {
            assert!(
                left <= Self::MAX - word.free(),
                "more than MAX_PERMITS permits"
            );
            ControlFlow::<(), _>::Continue((word.0 & !WAITING) + left * PERMIT)
        });
        0
    }

    /// Takes up to `number` free permits out of circulation, and returns how many.
    pub(crate) fn forget(&self, number: usize) -> usize {
        let before = self.change(Ordering::Acquire, |word| {
            ControlFlow::<(), _>::Continue(word.0 - number.min(word.free()) * PERMIT)
        });
        match before {
            ControlFlow::Continue(word) => number.min(word.free()),
            ControlFlow::Break(()) => 0,
        }
    }

    /// From now on nobody gets a permit, and nobody waits for one. What happened before this call is visible to all who are told so.
    pub(crate) fn close(&self) {
        let order = self.flaws.relax(Flaw::ClosesRelaxed, Ordering::Release);
        let closed = self.change(order, |word| {
            if word.somebody_waits() {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(word.0 | CLOSED)
        });
        if closed.is_break() {
            self.waiters.release_all(State::Dismissed, |()| {
                // Nobody can enter the line any more, and those in it leave.
                let _ = self.change(order, |word| {
                    ControlFlow::<(), _>::Continue((word.0 | CLOSED) & !WAITING)
                });
                true
            });
        }
    }

    /// Under the line's lock: takes what there is, and says how much is missing.
    #[inline]
    fn arrive(&self, wanted: usize) -> ControlFlow<Result<(), Refused>, usize> {
        if self.flaws.has(Flaw::ArrivesBlindly) {
            self.word.fetch_or(WAITING, Ordering::Relaxed);
            return ControlFlow::Continue(wanted);
        }
        let order = self.flaws.relax(Flaw::AcquiresRelaxed, Ordering::Acquire);
        let before = self.change(order, |word| {
            if word.is_closed() {
                ControlFlow::Break(Err(Refused::Closed))
            } else if word.free() < wanted {
                ControlFlow::Continue(WAITING)
            } else {
                ControlFlow::Continue(word.0 - wanted * PERMIT)
            }
        })?;
        match wanted.checked_sub(before.free()) {
            None | Some(0) => ControlFlow::Break(Ok(())),
            Some(missing) => ControlFlow::Continue(missing),
        }
    }

    /// Under the line's lock: somebody has left the line.
    fn left(&self, guarded: &mut Guarded<()>) {
        if guarded.line.is_empty() {
            self.word.fetch_and(!WAITING, Ordering::Relaxed);
        }
    }
}
