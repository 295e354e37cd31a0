//! `with_progress`: counts what is done, for a user who watches.
//!
//! Each thread counts in a register and adds to the shared counter at the end of a block (some microseconds of work), so that
//! the threads do not take its cache line from each other.

use super::plumbing::Folder;
use super::stage::{IndexedPlan, Stage, its_own_plan, staged_adaptor};
use super::strides::{STRIDE, in_strides};
use crate::engine::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// How many items are done, for other threads to look at while a loop runs.
///
/// # Examples
///
/// ```
/// use blitz::iter::Progress;
/// use blitz::prelude::*;
///
/// let progress = Progress::new();
/// let total: u64 = (0..1000u64).into_par_iter().with_progress(&progress).sum();
/// assert_eq!((total, progress.done()), (499_500, 1000));
/// ```
#[derive(Debug, Default)]
pub struct Progress {
    done: AtomicU64,
}

impl Progress {
    /// Nothing is done.
    ///
    /// # Examples
    ///
    /// ```
    /// assert_eq!(blitz::iter::Progress::new().done(), 0);
    /// ```
    pub const fn new() -> Self {
        Progress {
            done: AtomicU64::new(0),
        }
    }

    /// How many items are done: of all loops that count here, up to the last full block of each thread.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let progress = blitz::iter::Progress::new();
    /// [1, 2, 3].par_iter().with_progress(&progress).for_each(|_| ());
    /// assert_eq!(progress.done(), 3);
    /// ```
    #[inline]
    pub fn done(&self) -> u64 {
        self.done.load(Relaxed)
    }

    /// Counts `items` that were done elsewhere.
    ///
    /// # Examples
    ///
    /// ```
    /// let progress = blitz::iter::Progress::new();
    /// progress.add(5);
    /// assert_eq!(progress.done(), 5);
    /// ```
    #[inline]
    pub fn add(&self, items: u64) {
        self.done.fetch_add(items, Relaxed);
    }

    /// Starts from zero again; returns what was done.
    ///
    /// # Examples
    ///
    /// ```
    /// let progress = blitz::iter::Progress::new();
    /// progress.add(5);
    /// assert_eq!((progress.reset(), progress.done()), (5, 0));
    /// ```
    pub fn reset(&self) -> u64 {
        self.done.swap(0, Relaxed)
    }
}

/// Counts the items that pass. Made by [`with_progress`](super::ParallelIterator::with_progress).
///
/// # Examples
///
/// ```
/// use blitz::iter::Progress;
/// use blitz::prelude::*;
/// let progress = Progress::new();
/// let hit = [3, 1, 2].par_iter().with_progress(&progress).any(|n| *n == 1);
/// assert!(hit && progress.done() >= 1);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct WithProgress<'p, I> {
    base: I,
    progress: &'p Progress,
}

impl<'p, I> WithProgress<'p, I> {
    pub(super) fn new(base: I, progress: &'p Progress) -> Self {
        WithProgress { base, progress }
    }
}

staged_adaptor! {
    impl ['p, I] WithProgress<'p, I> => I::Item, keeps the length;
    fn plan(self) { Tally { progress: self.progress } }
}

#[derive(Clone, Copy)]
struct Tally<'p> {
    progress: &'p Progress,
}

its_own_plan! { ['p,] Tally<'p> }

impl<In> Stage<In> for Tally<'_> {
    type Out = In;

    #[inline]
    fn feed<F>(&mut self, folder: F, item: In) -> F
    where
        F: Folder<In>,
    {
        let folder = folder.consume(item);
        self.progress.add(1);
        folder
    }

    #[inline]
    fn feed_iter<F, I>(&mut self, folder: F, iter: I) -> F
    where
        F: Folder<In>,
        I: Iterator<Item = In>,
    {
        in_strides(folder, iter, |passed| {
            self.progress.add(passed as u64);
            true
        })
    }
}

impl<'p, In> IndexedPlan<In> for Tally<'p> {
    type Iter<I>
        = Tallied<'p, I>
    where
        I: Iterator<Item = In> + DoubleEndedIterator + ExactSizeIterator;

    #[inline]
    fn over<I>(self, iter: I) -> Tallied<'p, I>
    where
        I: Iterator<Item = In> + DoubleEndedIterator + ExactSizeIterator,
    {
        Tallied {
            iter,
            passed: Passed {
                count: 0,
                progress: self.progress,
            },
        }
    }
}

/// Counts the items of a sequential iterator, for adaptors that need one (`zip`).
struct Tallied<'p, I> {
    iter: I,
    passed: Passed<'p>,
}

/// What has passed since the counter was last told.
struct Passed<'p> {
    count: usize,
    progress: &'p Progress,
}

impl Passed<'_> {
    #[inline]
    fn one(&mut self) {
        self.count += 1;
        if self.count == STRIDE {
            self.report();
        }
    }

    #[inline]
    fn report(&mut self) {
        self.progress.add(std::mem::take(&mut self.count) as u64);
    }
}

impl Drop for Passed<'_> {
    #[inline]
    fn drop(&mut self) {
        self.report();
    }
}

impl<I> Iterator for Tallied<'_, I>
where
    I: Iterator,
{
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        let item = self.iter.next()?;
        self.passed.one();
        Some(item)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.iter.size_hint()
    }
}

impl<I> DoubleEndedIterator for Tallied<'_, I>
where
    I: DoubleEndedIterator,
{
    #[inline]
    fn next_back(&mut self) -> Option<I::Item> {
        let item = self.iter.next_back()?;
        self.passed.one();
        Some(item)
    }
}

impl<I> ExactSizeIterator for Tallied<'_, I> where I: ExactSizeIterator {}
