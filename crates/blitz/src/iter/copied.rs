//! `cloned` and `copied`: references turned into values.

use super::plumbing::Folder;
use super::stage::{IndexedPlan, Stage, its_own_plan, staged_adaptor};

/// Clones the items behind references. Made by [`cloned`](super::ParallelIterator::cloned).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let names = [String::from("Ada"), String::from("Bo")];
/// let copies: Vec<String> = names.par_iter().cloned().collect();
/// assert_eq!(copies, names);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct Cloned<I> {
    base: I,
}

impl<I> Cloned<I> {
    pub(super) fn new(base: I) -> Self {
        Cloned { base }
    }
}

staged_adaptor! {
    impl ['a, T, I] Cloned<I> => T, keeps the length
    where [I: crate::iter::ParallelIterator<Item = &'a T>, T: 'a + Clone + Send];
    fn plan(self) { CloneEach }
}

/// Passes on a clone of what each reference points to.
#[derive(Clone)]
struct CloneEach;

its_own_plan! { [] CloneEach }

impl<'a, T> Stage<&'a T> for CloneEach
where
    T: 'a + Clone,
{
    type Out = T;

    #[inline]
    fn feed<F>(&mut self, folder: F, item: &'a T) -> F
    where
        F: Folder<T>,
    {
        folder.consume(item.clone())
    }

    #[inline]
    fn feed_iter<F, I>(&mut self, folder: F, iter: I) -> F
    where
        F: Folder<T>,
        I: Iterator<Item = &'a T>,
    {
        folder.consume_iter(iter.cloned())
    }
}

impl<'a, T> IndexedPlan<&'a T> for CloneEach
where
    T: 'a + Clone,
{
    type Iter<I>
        = std::iter::Cloned<I>
    where
        I: Iterator<Item = &'a T> + DoubleEndedIterator + ExactSizeIterator;

    #[inline]
    fn over<I>(self, iter: I) -> Self::Iter<I>
    where
        I: Iterator<Item = &'a T> + DoubleEndedIterator + ExactSizeIterator,
    {
        iter.cloned()
    }
}

/// Copies the items behind references. Made by [`copied`](super::ParallelIterator::copied).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let total: i32 = [1, 2, 3].par_iter().copied().sum();
/// assert_eq!(total, 6);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct Copied<I> {
    base: I,
}

impl<I> Copied<I> {
    pub(super) fn new(base: I) -> Self {
        Copied { base }
    }
}

staged_adaptor! {
    impl ['a, T, I] Copied<I> => T, keeps the length
    where [I: crate::iter::ParallelIterator<Item = &'a T>, T: 'a + Copy + Send];
    fn plan(self) { CopyEach }
}

/// Passes on a copy of what each reference points to.
#[derive(Clone)]
struct CopyEach;

its_own_plan! { [] CopyEach }

impl<'a, T> Stage<&'a T> for CopyEach
where
    T: 'a + Copy,
{
    type Out = T;

    #[inline]
    fn feed<F>(&mut self, folder: F, item: &'a T) -> F
    where
        F: Folder<T>,
    {
        folder.consume(*item)
    }

    #[inline]
    fn feed_iter<F, I>(&mut self, folder: F, iter: I) -> F
    where
        F: Folder<T>,
        I: Iterator<Item = &'a T>,
    {
        folder.consume_iter(iter.copied())
    }
}

impl<'a, T> IndexedPlan<&'a T> for CopyEach
where
    T: 'a + Copy,
{
    type Iter<I>
        = std::iter::Copied<I>
    where
        I: Iterator<Item = &'a T> + DoubleEndedIterator + ExactSizeIterator;

    #[inline]
    fn over<I>(self, iter: I) -> Self::Iter<I>
    where
        I: Iterator<Item = &'a T> + DoubleEndedIterator + ExactSizeIterator,
    {
        iter.copied()
    }
}
