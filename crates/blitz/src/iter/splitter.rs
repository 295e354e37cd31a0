//! `with_splitter`, `with_max_chunks` and `reproducible`: saying where a loop is cut, instead of leaving it to whoever helps.

use super::plumbing::{
    Cuts, Producer, ProducerCallback, UnindexedConsumer, run_eagerly, run_on_demand,
};
use super::{IndexedParallelIterator, ParallelIterator};

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
/// assert_eq!(lengths(Splitter::fixed(3)), [4, 3, 3]);
/// assert_eq!(lengths(Splitter::recursive(4)), [4, 4, 2]);
/// assert_eq!(lengths(Splitter::adaptive()).iter().sum::<usize>(), 10);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Splitter {
    rule: Rule,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    Adaptive,
    Fixed(usize),
    Recursive(usize),
    Reproducible,
}

impl Splitter {
    /// Cuts where somebody helps and it pays. It is what every loop does unless told otherwise.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::Splitter;
    /// assert_eq!(Splitter::adaptive(), Splitter::default());
    /// ```
    pub const fn adaptive() -> Self {
        Splitter {
            rule: Rule::Adaptive,
        }
    }

    /// Exactly this many pieces, whose lengths differ by one at most; fewer only if there are fewer items.
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
    /// let pieces = (0..100).into_par_iter().with_splitter(Splitter::fixed(7)).fold(|| (), |(), _| ());
    /// assert_eq!(pieces.count(), 7);
    /// ```
    #[track_caller]
    pub const fn fixed(pieces: usize) -> Self {
        assert!(pieces != 0, "a loop has at least one piece");
        Splitter {
            rule: Rule::Fixed(pieces),
        }
    }

    /// Pieces of exactly `len` items, the last one maybe shorter, cut off by repeated halving.
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
            rule: Rule::Recursive(len),
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
        Splitter::adaptive()
    }
}

/// A short loop is cut into at most this many blocks, and more than half as many: enough to balance the threads of most
/// machines, few enough to be cheap.
const BLOCKS: usize = 64;

/// A block has at most this many items. It is long enough to hide a cut (some nanoseconds) behind the cheapest of items.
const LONGEST_BLOCK: usize = 4096;

/// The length of a reproducible loop's blocks. Changing it changes the last bits of everybody's sums.
fn reproducible_block(len: usize) -> usize {
    len.div_ceil(BLOCKS).next_power_of_two().min(LONGEST_BLOCK)
}

/// Cuts by a rule. Made by [`with_splitter`](super::IndexedParallelIterator::with_splitter),
/// [`with_max_chunks`](super::IndexedParallelIterator::with_max_chunks) and
/// [`reproducible`](super::IndexedParallelIterator::reproducible).
///
/// It has no positions (no `zip`, no `enumerate`): what is driven by position is cut by whoever drives it. The number of
/// items is kept, so that `collect` writes them straight to their places.
///
/// # Examples
///
/// ```
/// use blitz::iter::{Splitter, WithSplitter};
/// use blitz::prelude::*;
/// let halves: WithSplitter<_> = (0..8).into_par_iter().with_splitter(Splitter::fixed(2));
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

impl<I> ParallelIterator for WithSplitter<I>
where
    I: IndexedParallelIterator,
{
    type Item = I::Item;

    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<Self::Item>,
    {
        let len = self.base.len();
        let (cuts, eagerly) = match self.splitter.rule {
            Rule::Adaptive => return self.base.drive(consumer),
            Rule::Fixed(pieces) => (Cuts::Pieces(pieces), true),
            Rule::Recursive(block) => (Cuts::blocks(len, block), true),
            Rule::Reproducible => (Cuts::blocks(len, reproducible_block(len)), false),
        };
        self.base.with_producer(CutUp {
            len,
            cuts,
            eagerly,
            consumer,
        })
    }

    fn opt_len(&self) -> Option<usize> {
        Some(self.base.len())
    }
}

struct CutUp<C> {
    len: usize,
    cuts: Cuts,
    eagerly: bool,
    consumer: C,
}

impl<T, C> ProducerCallback<T> for CutUp<C>
where
    C: UnindexedConsumer<T>,
{
    type Output = C::Result;

    fn callback<P>(self, producer: P) -> C::Result
    where
        P: Producer<Item = T>,
    {
        if self.eagerly {
            run_eagerly(self.len, self.cuts, producer, self.consumer)
        } else {
            run_on_demand(self.len, self.cuts, producer, self.consumer)
        }
    }
}
