//! How values become parallel iterators and parallel iterators become values.

use super::ParallelIterator;
use std::ops::RangeBounds;

/// A value that can be iterated in parallel, consuming it.
///
/// Implemented for every parallel iterator (which returns itself), for the standard collections and for references to
/// them.
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
///
/// let total: u64 = (1..=100u64).into_par_iter().sum();
/// assert_eq!(total, 5050);
///
/// let lengths: Vec<usize> = vec!["a", "bb"].into_par_iter().map(str::len).collect();
/// assert_eq!(lengths, [1, 2]);
/// ```
///
/// A type of one's own forwards to something that already is parallel:
///
/// ```
/// use blitz::prelude::*;
///
/// struct Fleet { ships: Vec<&'static str> }
///
/// impl IntoParallelIterator for Fleet {
///     type Item = &'static str;
///     type Iter = blitz::vec::IntoIter<&'static str>;
///     fn into_par_iter(self) -> Self::Iter { self.ships.into_par_iter() }
/// }
///
/// let fleet = Fleet { ships: vec!["Ariel", "Beagle"] };
/// assert_eq!(fleet.into_par_iter().count(), 2);
/// ```
pub trait IntoParallelIterator {
    /// The parallel iterator it becomes.
    type Iter: ParallelIterator<Item = Self::Item>;

    /// What that iterator yields.
    type Item: Send;

    /// Turns the value into a parallel iterator.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let doubled: Vec<i32> = vec![1, 2].into_par_iter().map(|n| n * 2).collect();
    /// assert_eq!(doubled, [2, 4]);
    /// ```
    fn into_par_iter(self) -> Self::Iter;
}

impl<T> IntoParallelIterator for T
where
    T: ParallelIterator,
{
    type Iter = T;
    type Item = T::Item;

    #[inline]
    fn into_par_iter(self) -> T {
        self
    }
}

/// A value whose contents can be visited in parallel by shared reference.
///
/// Comes for free with `impl IntoParallelIterator for &YourType`.
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
///
/// let words = ["to", "be", "or", "not"];
/// let longest = words.par_iter().map(|word| word.len()).max();
/// assert_eq!(longest, Some(3));
/// ```
pub trait IntoParallelRefIterator<'data> {
    /// The parallel iterator over references.
    type Iter: ParallelIterator<Item = Self::Item>;

    /// What it yields, usually `&'data T`.
    type Item: Send + 'data;

    /// Iterates over shared references in parallel.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let primes = vec![2, 3, 5, 7];
    /// assert!(primes.par_iter().all(|&prime| prime > 1));
    /// ```
    fn par_iter(&'data self) -> Self::Iter;
}

impl<'data, I> IntoParallelRefIterator<'data> for I
where
    I: 'data + ?Sized,
    &'data I: IntoParallelIterator,
{
    type Iter = <&'data I as IntoParallelIterator>::Iter;
    type Item = <&'data I as IntoParallelIterator>::Item;

    #[inline]
    fn par_iter(&'data self) -> Self::Iter {
        self.into_par_iter()
    }
}

/// A value whose contents can be visited in parallel by mutable reference.
///
/// Comes for free with `impl IntoParallelIterator for &mut YourType`.
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
///
/// let mut prices = [10, 20, 30];
/// prices.par_iter_mut().for_each(|price| *price += 1);
/// assert_eq!(prices, [11, 21, 31]);
/// ```
pub trait IntoParallelRefMutIterator<'data> {
    /// The parallel iterator over mutable references.
    type Iter: ParallelIterator<Item = Self::Item>;

    /// What it yields, usually `&'data mut T`.
    type Item: Send + 'data;

    /// Iterates over mutable references in parallel.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let mut letters = vec!['a', 'b'];
    /// letters.par_iter_mut().for_each(|letter| letter.make_ascii_uppercase());
    /// assert_eq!(letters, ['A', 'B']);
    /// ```
    fn par_iter_mut(&'data mut self) -> Self::Iter;
}

impl<'data, I> IntoParallelRefMutIterator<'data> for I
where
    I: 'data + ?Sized,
    &'data mut I: IntoParallelIterator,
{
    type Iter = <&'data mut I as IntoParallelIterator>::Iter;
    type Item = <&'data mut I as IntoParallelIterator>::Item;

    #[inline]
    fn par_iter_mut(&'data mut self) -> Self::Iter {
        self.into_par_iter()
    }
}

/// A value that can be built from a parallel iterator: what [`ParallelIterator::collect`] needs.
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
///
/// /// The least and the greatest of some numbers.
/// #[derive(Debug, PartialEq)]
/// struct Span(i32, i32);
///
/// impl FromParallelIterator<i32> for Span {
///     fn from_par_iter<I>(par_iter: I) -> Self
///     where
///         I: IntoParallelIterator<Item = i32>,
///     {
///         par_iter.into_par_iter().map(|n| Span(n, n)).reduce(
///             || Span(i32::MAX, i32::MIN),
///             |a, b| Span(a.0.min(b.0), a.1.max(b.1)),
///         )
///     }
/// }
///
/// let span: Span = [4, -2, 9].into_par_iter().collect();
/// assert_eq!(span, Span(-2, 9));
/// ```
pub trait FromParallelIterator<T>
where
    T: Send,
{
    /// Builds the value.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// use std::collections::BTreeSet;
    /// let set = BTreeSet::from_par_iter(vec![3, 1, 3]);
    /// assert_eq!(set.into_iter().collect::<Vec<_>>(), [1, 3]);
    /// ```
    fn from_par_iter<I>(par_iter: I) -> Self
    where
        I: IntoParallelIterator<Item = T>;
}

/// A collection that can take in the items of a parallel iterator.
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
///
/// let mut numbers = vec![0];
/// numbers.par_extend(1..4);
/// numbers.par_extend([10, 20].par_iter());
/// assert_eq!(numbers, [0, 1, 2, 3, 10, 20]);
/// ```
pub trait ParallelExtend<T>
where
    T: Send,
{
    /// Adds all items, in order where the collection has one.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let mut text = String::from("a");
    /// text.par_extend(vec!['b', 'c']);
    /// assert_eq!(text, "abc");
    /// ```
    fn par_extend<I>(&mut self, par_iter: I)
    where
        I: IntoParallelIterator<Item = T>;
}

/// Emptying a whole collection in parallel, keeping its allocation.
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// use std::collections::HashSet;
///
/// let mut set = HashSet::from([1, 2, 3]);
/// let sum: i32 = set.par_drain().sum();
/// assert_eq!(sum, 6);
/// assert!(set.is_empty());
/// ```
pub trait ParallelDrainFull {
    /// The parallel iterator over the drained items.
    type Iter: ParallelIterator<Item = Self::Item>;

    /// What it yields.
    type Item: Send;

    /// Removes everything and yields it in parallel. Items that nobody consumes are dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// use std::collections::BinaryHeap;
    /// let mut heap = BinaryHeap::from([1, 5]);
    /// assert_eq!(heap.par_drain().count(), 2);
    /// assert!(heap.is_empty());
    /// ```
    fn par_drain(self) -> Self::Iter;
}

/// Removing a range of a sequence in parallel, keeping the rest.
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
///
/// let mut letters = vec!['a', 'b', 'c', 'd'];
/// let middle: Vec<char> = letters.par_drain(1..3).collect();
/// assert_eq!(middle, ['b', 'c']);
/// assert_eq!(letters, ['a', 'd']);
/// ```
pub trait ParallelDrainRange<Idx = usize> {
    /// The parallel iterator over the drained items.
    type Iter: ParallelIterator<Item = Self::Item>;

    /// What it yields.
    type Item: Send;

    /// Removes the items of `range` and yields them in parallel. Items that nobody consumes are dropped.
    ///
    /// # Panics
    ///
    /// When the range lies outside the collection.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let mut digits = vec![1, 2, 3];
    /// digits.par_drain(..).for_each(drop);
    /// assert!(digits.is_empty());
    /// ```
    fn par_drain<R>(self, range: R) -> Self::Iter
    where
        R: RangeBounds<Idx>;
}
