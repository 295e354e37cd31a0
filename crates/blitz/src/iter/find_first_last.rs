//! `find_first` and `find_last`: the hit that comes first, or last, in order.
//!
//! Which hit wins is decided by the reducers, which keep order. What makes the search stop early is a shared bound. Every
//! piece stands for an interval of `u128`s, halved with every cut, so that intervals lie in the order of their pieces. A piece
//! with a hit records its interval; a piece that lies entirely beyond the best record has nothing to contribute and is full.
//! When an interval cannot be halved any more its pieces share it, and merely stop each other no longer.
//!
//! The upper half of the bound is an atomic of its own. It decides all comparisons but those of pieces that more than 64 cuts
//! have in common, for which there is a lock.
//!
//! The bound is read before each block, and every 64 items within one; `find_first` stops that if items are cheap, and then searches a block with `Iterator::find`. `find_last`
//! cannot run backwards, because a folder is fed forwards, so a piece has to look at all of its items.

use super::ParallelIterator;
use super::find::{LOOK_UP_AFTER, first_hit};
use super::plumbing::{Consumer, Folder, Reducer, UnindexedConsumer};
use crate::engine::AtomicU64;
use crate::engine::sync::locks::Mutex;
use std::cell::Cell;
use std::cmp::Ordering;
use std::marker::PhantomData;
use std::ops::ControlFlow::{Break, Continue};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{MutexGuard, PoisonError};

pub(super) fn find_first<I, P>(iter: I, predicate: P) -> Option<I::Item>
where
    I: ParallelIterator,
    P: Fn(&I::Item) -> bool + Sync,
{
    search::<Leftmost, _, _>(iter, predicate)
}

pub(super) fn find_last<I, P>(iter: I, predicate: P) -> Option<I::Item>
where
    I: ParallelIterator,
    P: Fn(&I::Item) -> bool + Sync,
{
    search::<Rightmost, _, _>(iter, predicate)
}

fn search<W, I, P>(iter: I, predicate: P) -> Option<I::Item>
where
    W: Wanted,
    I: ParallelIterator,
    P: Fn(&I::Item) -> bool + Sync,
{
    let best = Best::new(W::NO_HIT);
    iter.drive_unindexed(SearchConsumer {
        predicate: &predicate,
        interval: Cell::new((0, u128::MAX)),
        best: &best,
        wanted: W::default(),
    })
}

/// The bound of the best hit so far.
struct Best {
    exact: Mutex<u128>,
    upper: AtomicU64,
}

/// The upper half.
#[inline]
fn upper(bound: u128) -> u64 {
    (bound >> 64) as u64
}

impl Best {
    fn new(bound: u128) -> Self {
        Best {
            exact: Mutex::new(bound),
            upper: AtomicU64::new(upper(bound)),
        }
    }

    /// Compares the best bound with another one.
    #[inline]
    fn cmp(&self, other: u128) -> Ordering {
        match self.upper.load(Relaxed).cmp(&upper(other)) {
            Ordering::Equal => self.cmp_exactly(other),
            unequal => unequal,
        }
    }

    #[cold]
    fn cmp_exactly(&self, other: u128) -> Ordering {
        self.lock().cmp(&other)
    }

    /// Replaces the best bound by `bound` if `better` says so.
    #[cold]
    fn improve(&self, bound: u128, better: impl Fn(u128, u128) -> bool) {
        let mut exact = self.lock();
        if better(bound, *exact) {
            *exact = bound;
            self.upper.store(upper(bound), Relaxed);
        }
    }

    fn lock(&self) -> MutexGuard<'_, u128> {
        self.exact.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Which of several hits is wanted.
trait Wanted: Copy + Default + Send {
    /// The bound while there is no hit.
    const NO_HIT: u128;

    /// Does a hit with the bound `best` make the interval pointless?
    fn beats(best: &Best, interval: (u128, u128)) -> bool;

    /// Records a hit in the interval.
    fn record(best: &Best, interval: (u128, u128));

    /// The better of two hits, left before right.
    fn better<T>(left: Option<T>, right: Option<T>) -> Option<T>;

    /// The wanted hit in `iter`, unless `stop`, which is told whether there has been one, says that it is pointless. `cheap`: see [`first_hit`].
    fn hit_in<T, I>(
        iter: I,
        predicate: &impl Fn(&T) -> bool,
        cheap: &mut bool,
        stop: impl Fn(bool) -> bool,
    ) -> Option<T>
    where
        I: Iterator<Item = T>;

    /// The first hit of a piece is all that it can contribute.
    const ONE_HIT_IS_ENOUGH: bool;
}

#[derive(Clone, Copy, Default)]
struct Leftmost;

impl Wanted for Leftmost {
    const NO_HIT: u128 = u128::MAX;
    const ONE_HIT_IS_ENOUGH: bool = true;

    #[inline]
    fn beats(best: &Best, interval: (u128, u128)) -> bool {
        best.cmp(interval.0).is_lt()
    }

    fn record(best: &Best, interval: (u128, u128)) {
        best.improve(interval.0, |new, old| new < old);
    }

    #[inline]
    fn better<T>(left: Option<T>, right: Option<T>) -> Option<T> {
        left.or(right)
    }

    #[inline]
    fn hit_in<T, I>(
        iter: I,
        predicate: &impl Fn(&T) -> bool,
        cheap: &mut bool,
        stop: impl Fn(bool) -> bool,
    ) -> Option<T>
    where
        I: Iterator<Item = T>,
    {
        first_hit(iter, predicate, cheap, || stop(false))
    }
}

#[derive(Clone, Copy, Default)]
struct Rightmost;

impl Wanted for Rightmost {
    const NO_HIT: u128 = 0;
    const ONE_HIT_IS_ENOUGH: bool = false;

    #[inline]
    fn beats(best: &Best, interval: (u128, u128)) -> bool {
        best.cmp(interval.1).is_gt()
    }

    fn record(best: &Best, interval: (u128, u128)) {
        best.improve(interval.1, |new, old| new > old);
    }

    #[inline]
    fn better<T>(left: Option<T>, right: Option<T>) -> Option<T> {
        right.or(left)
    }

    #[inline]
    fn hit_in<T, I>(
        mut iter: I,
        predicate: &impl Fn(&T) -> bool,
        _cheap: &mut bool,
        stop: impl Fn(bool) -> bool,
    ) -> Option<T>
    where
        I: Iterator<Item = T>,
    {
        let mut last = None;
        loop {
            let mut left = LOOK_UP_AFTER;
            let search = iter.try_for_each(|item| {
                if predicate(&item) {
                    last = Some(item);
                }
                left -= 1;
                if left == 0 { Break(()) } else { Continue(()) }
            });
            if search.is_continue() || stop(last.is_some()) {
                break;
            }
        }
        last
    }
}

struct SearchConsumer<'p, P, W> {
    predicate: &'p P,
    interval: Cell<(u128, u128)>,
    best: &'p Best,
    wanted: W,
}

impl<P, W> SearchConsumer<'_, P, W> {
    /// Keeps the right half of the interval and returns a consumer for the left one.
    #[inline]
    fn cut(&self) -> Self
    where
        W: Copy,
    {
        let (low, high) = self.interval.get();
        let middle = low.midpoint(high);
        self.interval.set((middle, high));
        SearchConsumer {
            interval: Cell::new((low, middle)),
            ..*self
        }
    }
}

impl<'p, T, P, W> Consumer<T> for SearchConsumer<'p, P, W>
where
    T: Send,
    P: Fn(&T) -> bool + Sync,
    W: Wanted,
{
    type Folder = SearchFolder<'p, T, P, W>;
    type Reducer = BetterHit<W>;
    type Result = Option<T>;

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self, BetterHit<W>) {
        let reducer = BetterHit(self.wanted);
        if index == 0 {
            // An empty piece needs no interval of its own.
            let interval = self.interval.clone();
            return (SearchConsumer { interval, ..self }, self, reducer);
        }
        (self.cut(), self, reducer)
    }

    #[inline]
    fn into_folder(self) -> Self::Folder {
        SearchFolder {
            predicate: self.predicate,
            interval: self.interval.get(),
            best: self.best,
            hit: None,
            cheap: false,
            wanted: PhantomData,
        }
    }

    #[inline]
    fn full(&self) -> bool {
        W::beats(self.best, self.interval.get())
    }

    #[inline]
    fn wants_first(&self) -> bool {
        W::ONE_HIT_IS_ENOUGH
    }

    #[inline]
    fn can_resume(&self, _folder: &Self::Folder) -> bool {
        true
    }

    #[inline]
    fn resume(self, mut folder: Self::Folder) -> Self::Folder {
        // The piece now reaches from the beginning of the folder's interval to the end of this one.
        folder.interval.1 = self.interval.get().1;
        folder
    }
}

impl<T, P, W> UnindexedConsumer<T> for SearchConsumer<'_, P, W>
where
    T: Send,
    P: Fn(&T) -> bool + Sync,
    W: Wanted,
{
    #[inline]
    fn split_off_left(&self) -> Self {
        self.cut()
    }

    #[inline]
    fn to_reducer(&self) -> BetterHit<W> {
        BetterHit(self.wanted)
    }
}

struct SearchFolder<'p, T, P, W> {
    predicate: &'p P,
    interval: (u128, u128),
    best: &'p Best,
    hit: Option<T>,
    /// For [`first_hit`].
    cheap: bool,
    wanted: PhantomData<W>,
}

impl<T, P, W> Folder<T> for SearchFolder<'_, T, P, W>
where
    P: Fn(&T) -> bool,
    W: Wanted,
{
    type Result = Option<T>;

    #[inline]
    fn consume(self, item: T) -> Self {
        self.consume_iter(std::iter::once(item))
    }

    #[inline]
    fn consume_iter<I>(mut self, iter: I) -> Self
    where
        I: IntoIterator<Item = T>,
    {
        if W::ONE_HIT_IS_ENOUGH && self.hit.is_some() {
            return self;
        }
        let stop = |found| {
            // Others must hear of a hit before a long piece is over: it may be all that lets them stop.
            if found {
                W::record(self.best, self.interval);
            }
            W::beats(self.best, self.interval)
        };
        let hit = W::hit_in(iter.into_iter(), self.predicate, &mut self.cheap, stop);
        if hit.is_some() {
            W::record(self.best, self.interval);
        }
        self.hit = W::better(self.hit, hit);
        self
    }

    #[inline]
    fn complete(self) -> Option<T> {
        self.hit
    }

    #[inline]
    fn full(&self) -> bool {
        (W::ONE_HIT_IS_ENOUGH && self.hit.is_some()) || W::beats(self.best, self.interval)
    }
}

struct BetterHit<W>(W);

impl<T, W> Reducer<Option<T>> for BetterHit<W>
where
    W: Wanted,
{
    #[inline]
    fn reduce(self, left: Option<T>, right: Option<T>) -> Option<T> {
        W::better(left, right)
    }
}
