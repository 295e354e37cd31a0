//! `with_splitter`, `with_max_chunks` and `reproducible`: you say where a loop is split, instead of the threads that help.

use super::IndexedParallelIterator;
use super::plumbing::{Rule, Wishes};
use super::with_pool::with_wishes;
use crate::delegate::indexed_source;

/// A rule for cutting a loop into pieces; see [`with_splitter`](super::IndexedParallelIterator::with_splitter).
///
/// # Examples
///
/// ```
/// use blitz::iter::Splitter;
/// use blitz::prelude::*;
///
/// let lengths = |splitter| -> Vec<usize> {
///     (0..10).into_par_iter().with_splitter(splitter).fold(|| 0, |n, _| n + 1).collect()
/// };
/// assert_eq!(lengths(Splitter::pieces(3)), [4, 3, 3]);
/// assert_eq!(lengths(Splitter::fixed(4)), [4, 4, 2]);
/// assert_eq!(lengths(Splitter::adaptive(1)).iter().sum::<usize>(), 10);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Splitter {
    rule: Rule,
}

impl Splitter {
    /// Cuts where somebody helps and it pays, into pieces of at least `min_len` items. With 1 it is what every loop does unless told otherwise, and the default.
    ///
    /// # Panics
    ///
    /// If `min_len` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::Splitter;
    /// use blitz::prelude::*;
    /// assert_eq!(Splitter::adaptive(1), Splitter::default());
    /// let pieces = (0..100).into_par_iter().with_splitter(Splitter::adaptive(60)).fold(|| (), |(), _| ());
    /// assert_eq!(pieces.count(), 1);
    /// ```
    #[track_caller]
    pub const fn adaptive(min_len: usize) -> Self {
        assert!(min_len != 0, "a piece has at least one item");
        Splitter {
            rule: Rule::Adaptive(min_len),
        }
    }

    /// This many pieces, whose lengths differ by one at most; fewer only if there are fewer items, or if a piece would be shorter than
    /// [`with_min_len`](super::IndexedParallelIterator::with_min_len) allows.
    ///
    /// # Panics
    ///
    /// If `pieces` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::Splitter;
    /// use blitz::prelude::*;
    /// let pieces = (0..100).into_par_iter().with_splitter(Splitter::pieces(7)).fold(|| (), |(), _| ());
    /// assert_eq!(pieces.count(), 7);
    /// ```
    #[track_caller]
    pub const fn pieces(pieces: usize) -> Self {
        assert!(pieces != 0, "a loop has at least one piece");
        Splitter {
            rule: Rule::Pieces(pieces),
        }
    }

    /// Pieces of `len` items each, the last one maybe shorter. For so many pieces instead, there is [`pieces`](Self::pieces).
    ///
    /// # Panics
    ///
    /// If `len` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::Splitter;
    /// use blitz::prelude::*;
    /// let pieces = (0..100).into_par_iter().with_splitter(Splitter::fixed(30)).fold(|| 0, |n, _| n + 1);
    /// assert_eq!(pieces.collect::<Vec<i32>>(), [30, 30, 30, 10]);
    /// ```
    #[track_caller]
    pub const fn fixed(len: usize) -> Self {
        assert!(len != 0, "a piece has at least one item");
        Splitter {
            rule: Rule::Blocks(len),
        }
    }

    /// The same as [`fixed`](Self::fixed), by the name that divide-and-conquer has for it: the loop is halved until pieces have `len` items.
    ///
    /// # Panics
    ///
    /// If `len` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::Splitter;
    /// use blitz::prelude::*;
    /// let pieces = (0..100).into_par_iter().with_splitter(Splitter::recursive(30)).fold(|| 0, |n, _| n + 1);
    /// assert_eq!(pieces.collect::<Vec<i32>>(), [30, 30, 30, 10]);
    /// ```
    #[track_caller]
    pub const fn recursive(len: usize) -> Self {
        assert!(len != 0, "a piece has at least one item");
        Splitter {
            rule: Rule::Blocks(len),
        }
    }

    /// Pieces that depend on the number of items only; see
    /// [`reproducible`](super::IndexedParallelIterator::reproducible).
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::Splitter;
    /// use blitz::prelude::*;
    /// let pieces = || (0..100).into_par_iter().with_splitter(Splitter::reproducible()).fold(|| 0, |n, _| n + 1);
    /// assert_eq!(pieces().collect::<Vec<i32>>(), pieces().collect::<Vec<i32>>());
    /// ```
    pub const fn reproducible() -> Self {
        Splitter {
            rule: Rule::Reproducible,
        }
    }
}

impl Default for Splitter {
    fn default() -> Self {
        Splitter::adaptive(1)
    }
}

/// Cuts by a rule. Made by [`with_splitter`](super::IndexedParallelIterator::with_splitter),
/// [`with_max_chunks`](super::IndexedParallelIterator::with_max_chunks) and
/// [`reproducible`](super::IndexedParallelIterator::reproducible).
///
/// # Examples
///
/// ```
/// use blitz::iter::{Splitter, WithSplitter};
/// use blitz::prelude::*;
/// let halves: WithSplitter<_> = (0..8).into_par_iter().with_splitter(Splitter::pieces(2));
/// assert_eq!(halves.fold(|| 0, |sum, n| sum + n).collect::<Vec<i32>>(), [6, 22]);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct WithSplitter<I> {
    base: I,
    splitter: Splitter,
}

impl<I> WithSplitter<I> {
    pub(super) fn new(base: I, splitter: Splitter) -> Self {
        WithSplitter { base, splitter }
    }
}

indexed_source! {
    impl [I: IndexedParallelIterator] WithSplitter<I> => I::Item;
    fn len(self) { self.base.len() }
    fn with_producer(self, callback) {
        with_wishes(self.base, Wishes::of_rule(self.splitter.rule), callback)
    }
}
