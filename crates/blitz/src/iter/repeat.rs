//! `repeat` and `repeat_n`: clones of one element, without end or a given number of times.

use super::plumbing::{
    Folder, PourPulled, Producer, UnindexedConsumer, UnindexedProducer, bridge_unindexed,
};
use super::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator, Zip};
use crate::delegate::indexed_source;

/// A parallel iterator that yields clones of `element` without end.
///
/// It only ends where the consumer does: `find_any` that finds something, `take_any`, `while_some`.
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// use blitz::iter::repeat;
/// assert_eq!(repeat(7).take_any(4).sum::<i32>(), 28);
/// ```
pub fn repeat<T>(element: T) -> Repeat<T>
where
    T: Clone + Send,
{
    Repeat { element }
}

/// Yields clones of an element without end. Made by [`repeat`].
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let endless: blitz::iter::Repeat<&str> = blitz::iter::repeat("ha");
/// assert!(endless.any(|word| word == "ha"));
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct Repeat<T> {
    element: T,
}

impl<T> Repeat<T>
where
    T: Clone + Send,
{
    /// Only `n` of them, which makes it an indexed iterator.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert_eq!(blitz::iter::repeat('z').take(3).collect::<String>(), "zzz");
    /// ```
    pub fn take(self, n: usize) -> RepeatN<T> {
        repeat_n(self.element, n)
    }

    /// Pairs the element with each item of another iterator.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let pairs: Vec<(char, i32)> = blitz::iter::repeat('#').zip(1..3).collect();
    /// assert_eq!(pairs, [('#', 1), ('#', 2)]);
    /// ```
    pub fn zip<Z>(self, zip_op: Z) -> Zip<RepeatN<T>, Z::Iter>
    where
        Z: IntoParallelIterator<Iter: IndexedParallelIterator>,
    {
        let other = zip_op.into_par_iter();
        self.take(other.len()).zip(other)
    }
}

impl<T> ParallelIterator for Repeat<T>
where
    T: Clone + Send,
{
    type Item = T;

    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<T>,
    {
        // Halves of it are as endless, so it is handed out item by item.
        let take = |element: &mut T, limit| vec![element.clone(); limit];
        let (element, consumer) = match PourPulled::LOOP {
            None => (self.element, consumer),
            Some(pour) => match pour(1, self.element, take, consumer) {
                Ok(result) => return result,
                Err(back) => back,
            },
        };
        bridge_unindexed(Endless(element), consumer)
    }
}

struct Endless<T>(T);

impl<T> UnindexedProducer for Endless<T>
where
    T: Clone + Send,
{
    type Item = T;

    fn split(self) -> (Self, Option<Self>) {
        (Endless(self.0.clone()), Some(self))
    }

    fn fold_with<F>(self, folder: F) -> F
    where
        F: Folder<T>,
    {
        folder.consume_iter(std::iter::repeat(self.0))
    }
}

/// A parallel iterator that yields `n` clones of `element`.
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let zeros: Vec<u8> = blitz::iter::repeat_n(0, 4).collect();
/// assert_eq!(zeros, [0; 4]);
/// ```
pub fn repeat_n<T>(element: T, n: usize) -> RepeatN<T>
where
    T: Clone + Send,
{
    RepeatN {
        rest: (n > 0).then_some((element, n)),
    }
}

/// The old name of [`repeat_n`].
///
/// # Examples
///
/// ```
/// # #![allow(deprecated)]
/// use blitz::prelude::*;
/// assert_eq!(blitz::iter::repeatn(2, 5).sum::<i32>(), 10);
/// ```
#[deprecated(note = "renamed to `repeat_n`, as in the standard library")]
pub fn repeatn<T>(element: T, n: usize) -> RepeatN<T>
where
    T: Clone + Send,
{
    repeat_n(element, n)
}

/// Yields clones of an element a given number of times. Made by [`repeat_n`].
///
/// The last of them is the element itself.
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let twice: blitz::iter::RepeatN<&str> = blitz::iter::repeat_n("hear", 2);
/// assert_eq!(twice.len(), 2);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Clone, Debug)]
pub struct RepeatN<T> {
    /// The element and how often it is still due; `None` when it is not, so that no element is kept for nothing.
    rest: Option<(T, usize)>,
}

indexed_source! {
    impl [T: Clone + Send] RepeatN<T> => T;
    fn len(self) { self.rest.as_ref().map_or(0, |rest| rest.1) }
    fn with_producer(self, callback) { callback.callback(Repeats(self.rest)) }
}

/// Producer and sequential iterator in one.
struct Repeats<T>(Option<(T, usize)>);

impl<T> Producer for Repeats<T>
where
    T: Clone + Send,
{
    type Item = T;
    type IntoIter = Self;

    fn into_iter(self) -> Self {
        self
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        match self.0 {
            Some((element, count)) if 0 < index && index < count => {
                let left = Repeats(Some((element.clone(), index)));
                (left, Repeats(Some((element, count - index))))
            }
            rest if index == 0 => (Repeats(None), Repeats(rest)),
            rest => {
                let count = rest.as_ref().map_or(0, |rest| rest.1);
                assert_eq!(index, count, "cut beyond the last repeat");
                (Repeats(rest), Repeats(None))
            }
        }
    }
}

impl<T> Iterator for Repeats<T>
where
    T: Clone,
{
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        match &mut self.0 {
            Some((element, count)) if *count > 1 => {
                *count -= 1;
                Some(element.clone())
            }
            last => last.take().map(|(element, _)| element),
        }
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<T> {
        match &mut self.0 {
            Some((_, count)) if *count > n => *count -= n,
            _ => self.0 = None,
        }
        self.next()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let count = self.0.as_ref().map_or(0, |rest| rest.1);
        (count, Some(count))
    }
}

impl<T> DoubleEndedIterator for Repeats<T>
where
    T: Clone,
{
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        self.next()
    }

    #[inline]
    fn nth_back(&mut self, n: usize) -> Option<T> {
        self.nth(n)
    }
}

impl<T> ExactSizeIterator for Repeats<T> where T: Clone {}
