//! `flat_map` and `flatten`: each item opened into another parallel iterator.
//!
//! # How inner loops share one folder
//!
//! The items of all inner iterators of a piece should go into one folder. A folder and a reduction for each inner iterator
//! would cost more than most inner loops. But an inner iterator is driven into a *consumer*, which may be split and sent to
//! other threads, while the folder must stay on its thread. So the folder lies in a [`Home`] while an inner iterator runs, and
//! the leftmost consumer of the inner loop knows where. Usually that consumer becomes a folder on the right thread. (It does not
//! if another thread took even the beginning.) It then takes the folder from there (or begins one), and puts it back when complete.
//! Consumers further right begin folders of their own, whose results follow.

use super::plumbing::{Consumer, Folder, Reducer, UnindexedConsumer, this_thread};
use super::stage::debug_fields;
use super::{IntoParallelIterator, ParallelIterator};
use crate::delegate::{copied_as_it_is, forward_to_base};
use std::cell::Cell;

/// Yields everything in the parallel iterators a closure makes. Made by
/// [`flat_map`](super::ParallelIterator::flat_map).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let flat: Vec<u32> = (1..4u32).into_par_iter().flat_map(|n| 0..n).collect();
/// assert_eq!(flat, [0, 0, 1, 0, 1, 2]);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Clone)]
pub struct FlatMap<I, F> {
    base: I,
    op: F,
}

impl<I, F> FlatMap<I, F> {
    pub(super) fn new(base: I, op: F) -> Self {
        FlatMap { base, op }
    }
}

debug_fields! { FlatMap[I, F] shows base: I }

impl<I, F, PI> ParallelIterator for FlatMap<I, F>
where
    I: ParallelIterator,
    F: Fn(I::Item) -> PI + Sync + Send,
    PI: IntoParallelIterator,
{
    type Item = PI::Item;

    const MAY_HAVE_LEN: bool = false;

    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<Self::Item>,
    {
        self.base.drive_unindexed(Opening {
            base: consumer,
            op: &self.op,
        })
    }
}

/// Yields everything in its items, which are parallel iterators. Made by
/// [`flatten`](super::ParallelIterator::flatten).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let rows = vec![vec![1, 2], vec![3]];
/// assert_eq!(rows.into_par_iter().flatten().collect::<Vec<_>>(), [1, 2, 3]);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct Flatten<I> {
    base: I,
}

impl<I> Flatten<I> {
    pub(super) fn new(base: I) -> Self {
        Flatten { base }
    }
}

impl<I> ParallelIterator for Flatten<I>
where
    I: ParallelIterator<Item: IntoParallelIterator>,
{
    type Item = <I::Item as IntoParallelIterator>::Item;

    const MAY_HAVE_LEN: bool = false;

    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<Self::Item>,
    {
        self.base.drive_unindexed(Opening {
            base: consumer,
            op: &<I::Item as IntoParallelIterator>::into_par_iter,
        })
    }
}

/// The consumer of the outer items.
struct Opening<'f, C, F> {
    base: C,
    op: &'f F,
}

impl<'f, T, C, F, PI> Consumer<T> for Opening<'f, C, F>
where
    PI: IntoParallelIterator,
    C: UnindexedConsumer<PI::Item>,
    F: Fn(T) -> PI + Sync,
{
    type Folder = OpeningFolder<'f, PI::Item, C, F>;
    type Reducer = C::Reducer;
    type Result = C::Result;

    const MAY_SEARCH: bool = C::MAY_SEARCH;

    forward_to_base! { outlet }

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self, C::Reducer) {
        // Positions of outer items say nothing about those of inner ones, except that none makes none.
        let op = self.op;
        let (left, right, reducer) = if index == 0 {
            self.base.split_at(0)
        } else {
            let reducer = self.base.to_reducer();
            (self.base.split_off_left(), self.base, reducer)
        };
        (
            Opening { base: left, op },
            Opening { base: right, op },
            reducer,
        )
    }

    #[inline]
    fn into_folder(self) -> Self::Folder {
        OpeningFolder {
            base: self.base,
            op: self.op,
            home: Home::empty(),
            done: None,
        }
    }

    forward_to_base! { full is_never_full is_search wants_first }

    #[inline]
    fn can_resume(&self, _folder: &Self::Folder) -> bool {
        true
    }

    #[inline]
    fn resume(self, folder: Self::Folder) -> Self::Folder {
        // The base is cut with each inner iterator, so it has to be the one for what follows.
        OpeningFolder {
            base: self.base,
            ..folder
        }
    }
}

impl<T, C, F, PI> UnindexedConsumer<T> for Opening<'_, C, F>
where
    PI: IntoParallelIterator,
    C: UnindexedConsumer<PI::Item>,
    F: Fn(T) -> PI + Sync,
{
    #[inline]
    fn split_off_left(&self) -> Self {
        Opening {
            base: self.base.split_off_left(),
            op: self.op,
        }
    }

    #[inline]
    fn to_reducer(&self) -> C::Reducer {
        self.base.to_reducer()
    }
}

/// The folder of the outer items: `done`, then what is at `home`.
struct OpeningFolder<'f, U, C, F>
where
    C: Consumer<U>,
{
    base: C,
    op: &'f F,
    home: Home<C::Folder>,
    done: Option<C::Result>,
}

impl<U, C, F> OpeningFolder<'_, U, C, F>
where
    C: UnindexedConsumer<U>,
{
    /// Puts `result` behind everything so far.
    fn append(&mut self, result: C::Result) {
        let before = match self.home.folder.take() {
            Some(folder) => self.close(folder),
            None => self.done.take(),
        };
        self.done = Some(match before {
            Some(before) => self.base.to_reducer().reduce(before, result),
            None => result,
        });
    }

    fn close(&mut self, folder: C::Folder) -> Option<C::Result> {
        let result = folder.complete();
        Some(match self.done.take() {
            Some(done) => self.base.to_reducer().reduce(done, result),
            None => result,
        })
    }
}

impl<T, U, C, F, PI> Folder<T> for OpeningFolder<'_, U, C, F>
where
    U: Send,
    PI: IntoParallelIterator<Item = U>,
    C: UnindexedConsumer<U>,
    F: Fn(T) -> PI,
{
    type Result = C::Result;

    #[inline]
    fn consume(mut self, item: T) -> Self {
        self.open(item);
        self
    }

    /// Stays where it is meanwhile: to move all of it from one item to the next would take longer than most inner loops.
    #[inline]
    fn consume_iter<I>(mut self, iter: I) -> Self
    where
        I: IntoIterator<Item = T>,
    {
        for item in iter {
            self.open(item);
            let folder = self.home.folder.get_mut();
            if folder.as_ref().is_some_and(|folder| folder.full()) || self.base.full() {
                break;
            }
        }
        self
    }

    #[inline]
    fn complete(mut self) -> C::Result {
        let all = match self.home.folder.take() {
            Some(folder) => self.close(folder),
            None => self.done.take(),
        };
        all.unwrap_or_else(|| self.base.into_folder().complete())
    }

    #[inline]
    fn full(&self) -> bool {
        self.home.is_full::<U>() || self.base.full()
    }
}

impl<U, C, F> OpeningFolder<'_, U, C, F>
where
    C: UnindexedConsumer<U>,
{
    /// Runs what `item` is opened into.
    #[inline]
    fn open<T, PI>(&mut self, item: T)
    where
        U: Send,
        PI: IntoParallelIterator<Item = U>,
        F: Fn(T) -> PI,
    {
        let inner = (self.op)(item).into_par_iter();
        self.home.begin();
        let elsewhere = inner.drive_unindexed(Inner {
            base: self.base.split_off_left(),
            home: Cell::new(WayHome::to(&self.home)),
        });
        if let Some(result) = elsewhere {
            self.append(result);
        }
    }
}

/// Where the folder of a piece lies, also while an inner iterator runs. If there is none yet, the first to arrive brings one.
struct Home<F> {
    owner: usize,
    folder: Cell<Option<F>>,
    /// The folder has been taken from here, or somebody has begun one for it.
    is_settled: Cell<bool>,
}

impl<F> Home<F> {
    #[inline]
    fn empty() -> Self {
        Home {
            owner: this_thread(),
            folder: Cell::new(None),
            is_settled: Cell::new(false),
        }
    }

    /// An inner iterator begins, on this thread.
    #[inline]
    fn begin(&mut self) {
        self.owner = this_thread();
        *self.is_settled.get_mut() = false;
    }

    #[inline]
    fn is_full<U>(&self) -> bool
    where
        F: Folder<U>,
    {
        let folder = self.folder.take();
        let is_full = folder.as_ref().is_some_and(|folder| folder.full());
        self.folder.set(folder);
        is_full
    }
}

/// A reference to a [`Home`], on its way through consumers that may go anywhere; or none.
struct WayHome<'h, F>(Option<&'h Home<F>>);

copied_as_it_is! { WayHome<'_, F> }

impl<F> Default for WayHome<'_, F> {
    fn default() -> Self {
        WayHome(None)
    }
}

// SAFETY: `Home` is not `Sync`, but all that another thread does with it is to read `owner`, which does not change while an
// inner iterator runs, and find that it is not the owner (`WayHome::arrive`).
unsafe impl<F> Send for WayHome<'_, F> {}

impl<'h, F> WayHome<'h, F> {
    #[inline]
    fn to(home: &'h Home<F>) -> Self {
        WayHome(Some(home))
    }

    /// The home, if this is its thread.
    #[inline]
    fn arrive(self) -> Option<&'h Home<F>> {
        self.0.filter(|home| home.owner == this_thread())
    }
}

/// The consumer of inner items. The result is `None` if everything went into the folder at home.
struct Inner<'h, U, C>
where
    C: Consumer<U>,
{
    base: C,
    home: Cell<WayHome<'h, C::Folder>>,
}

impl<'h, U, C> Consumer<U> for Inner<'h, U, C>
where
    C: Consumer<U>,
{
    type Folder = InnerFolder<'h, C::Folder>;
    type Reducer = InnerReducer<C::Reducer>;
    type Result = Option<C::Result>;

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self, Self::Reducer) {
        let (left, right, reducer) = self.base.split_at(index);
        // Whoever has the first item is the leftmost.
        let (first, other) = (self.home, Cell::default());
        let (home, right_home) = if index == 0 {
            (other, first)
        } else {
            (first, other)
        };
        (
            Inner { base: left, home },
            Inner {
                base: right,
                home: right_home,
            },
            InnerReducer(reducer),
        )
    }

    #[inline]
    fn into_folder(self) -> Self::Folder {
        let home = self.home.get().arrive();
        if let Some(home) = home.filter(|home| !home.is_settled.get()) {
            match home.folder.take() {
                Some(folder) if !self.base.can_resume(&folder) => home.folder.set(Some(folder)),
                folder => {
                    home.is_settled.set(true);
                    let base = match folder {
                        Some(folder) => self.base.resume(folder),
                        None => self.base.into_folder(),
                    };
                    return InnerFolder {
                        base,
                        home: Some(home),
                    };
                }
            }
        }
        InnerFolder {
            base: self.base.into_folder(),
            home: None,
        }
    }

    forward_to_base! { full is_never_full is_search wants_first }

    #[inline]
    fn can_resume(&self, folder: &Self::Folder) -> bool {
        self.base.can_resume(&folder.base)
    }

    #[inline]
    fn resume(self, folder: Self::Folder) -> Self::Folder {
        InnerFolder {
            base: self.base.resume(folder.base),
            home: folder.home,
        }
    }
}

impl<U, C> UnindexedConsumer<U> for Inner<'_, U, C>
where
    C: UnindexedConsumer<U>,
{
    #[inline]
    fn split_off_left(&self) -> Self {
        Inner {
            base: self.base.split_off_left(),
            home: Cell::new(self.home.take()),
        }
    }

    #[inline]
    fn to_reducer(&self) -> Self::Reducer {
        InnerReducer(self.base.to_reducer())
    }
}

struct InnerFolder<'h, F> {
    base: F,
    home: Option<&'h Home<F>>,
}

impl<U, F> Folder<U> for InnerFolder<'_, F>
where
    F: Folder<U>,
{
    type Result = Option<F::Result>;

    #[inline]
    fn consume(self, item: U) -> Self {
        InnerFolder {
            base: self.base.consume(item),
            home: self.home,
        }
    }

    #[inline]
    fn consume_iter<I>(self, iter: I) -> Self
    where
        I: IntoIterator<Item = U>,
    {
        InnerFolder {
            base: self.base.consume_iter(iter),
            home: self.home,
        }
    }

    #[inline]
    fn complete(self) -> Option<F::Result> {
        match self.home {
            Some(home) => {
                home.folder.set(Some(self.base));
                None
            }
            None => Some(self.base.complete()),
        }
    }

    forward_to_base! { full }
}

struct InnerReducer<R>(R);

impl<T, R> Reducer<Option<T>> for InnerReducer<R>
where
    R: Reducer<T>,
{
    #[inline]
    fn reduce(self, left: Option<T>, right: Option<T>) -> Option<T> {
        match (left, right) {
            (Some(left), Some(right)) => Some(self.0.reduce(left, right)),
            // Nothing on the left: it went home, and everything that was there comes before what is on the right.
            (left, right) => left.or(right),
        }
    }
}
