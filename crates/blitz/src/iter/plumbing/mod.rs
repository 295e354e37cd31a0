//! The machinery under the parallel iterators, for authors of their own.
//!
//! Two roles meet in a loop:
//!
//! * a **producer** owns the items and can be split in two: [`Producer`] at any index, [`UnindexedProducer`] wherever it
//!   likes;
//! * a **consumer** says what becomes of them. [`Consumer`] is the recipe, split in parallel with the producer. Where
//!   the splitting ends, it becomes a [`Folder`], which takes items one after the other. A [`Reducer`] combines the two
//!   results of a split, left before right.
//!
//! [`bridge`], [`bridge_producer_consumer`] and [`bridge_unindexed`] bring the two together. They decide when to split. A
//! split that no thread uses is taken back (the source of `plumbing/demand_loop.rs` says how).
//!
//! The traits have the same names, methods and meaning as rayon's, so that producers written for rayon compile
//! unchanged. [`Consumer::is_never_full`], [`Consumer::is_search`], [`Consumer::wants_first`], [`Consumer::can_resume`] and [`Consumer::resume`] are additions; they have defaults.

mod bridge;
mod demand_loop;
mod local;
mod outlet;
mod pace;
mod polled_loop;
#[cfg(test)]
pub(crate) mod pretend;
mod search;
mod tree_loop;
mod trust;
mod unindexed_loop;
mod wishes;

pub(crate) use self::bridge::bridge_unindexed_sized;
pub use self::bridge::{bridge, bridge_producer_consumer, bridge_unindexed};
pub(crate) use self::local::this_thread;
#[doc(hidden)]
pub use self::outlet::{Cut, Outlet, Piece, Rest};
pub(crate) use self::outlet::{PourPulled, drive_in_turn};
pub(crate) use self::polled_loop::{Steps, pull_in_turns, run_steps};
pub(crate) use self::wishes::Rule;
#[doc(hidden)]
pub use self::wishes::Wishes;
use std::mem::MaybeUninit;

/// A generic closure: receives whatever producer an iterator is made of.
///
/// [`IndexedParallelIterator::with_producer`](crate::iter::IndexedParallelIterator::with_producer) cannot return its producer, because the producer's type (and lifetime) is
/// private to the iterator. It calls this instead.
///
/// # Examples
///
/// Run an indexed parallel iterator on this thread, as a plain iterator:
///
/// ```
/// use blitz::iter::plumbing::{Producer, ProducerCallback};
/// use blitz::prelude::*;
///
/// struct Largest;
///
/// impl<T: Ord> ProducerCallback<T> for Largest {
///     type Output = Option<T>;
///     fn callback<P: Producer<Item = T>>(self, producer: P) -> Option<T> {
///         producer.into_iter().max()
///     }
/// }
///
/// let largest = vec![3, 9, 4].into_par_iter().with_producer(Largest);
/// assert_eq!(largest, Some(9));
/// ```
pub trait ProducerCallback<T> {
    /// What the callback returns, and with it `with_producer`.
    type Output;

    /// Receives the producer.
    fn callback<P>(self, producer: P) -> Self::Output
    where
        P: Producer<Item = T>;
}

/// Owns a sequence of items of known length, and can be cut in two at any index.
///
/// A producer does not know its own length; whoever drives it does.
///
/// # Examples
///
/// The squares `from²..to²` as a producer:
///
/// ```
/// use blitz::iter::plumbing::{Producer, bridge_producer_consumer};
/// # use blitz::iter::plumbing::{Consumer, Folder, Reducer};
///
/// struct Squares { from: u64, to: u64 }
///
/// impl Producer for Squares {
///     type Item = u64;
///     type IntoIter = std::vec::IntoIter<u64>;
///     fn into_iter(self) -> Self::IntoIter {
///         (self.from..self.to).map(|n| n * n).collect::<Vec<_>>().into_iter()
///     }
///     fn split_at(self, index: usize) -> (Self, Self) {
///         let middle = self.from + index as u64;
///         (Squares { from: self.from, to: middle }, Squares { from: middle, to: self.to })
///     }
/// }
///
/// let (left, right) = Squares { from: 2, to: 6 }.split_at(1);
/// assert_eq!(left.into_iter().collect::<Vec<_>>(), [4]);
/// assert_eq!(right.into_iter().collect::<Vec<_>>(), [9, 16, 25]);
/// ```
pub trait Producer: Send + Sized {
    /// What this producer yields.
    type Item;

    /// The sequential iterator it turns into where the cutting ends.
    type IntoIter: Iterator<Item = Self::Item> + DoubleEndedIterator + ExactSizeIterator;

    /// The rest of the items, sequentially.
    fn into_iter(self) -> Self::IntoIter;

    /// No piece should be shorter than this. A cut that would make one is not made.
    ///
    /// ```
    /// use blitz::iter::plumbing::Producer;
    ///
    /// /// Lines of an image, which are not worth cutting into less than four.
    /// struct Lines(Vec<Vec<u8>>);
    ///
    /// impl Producer for Lines {
    ///     type Item = Vec<u8>;
    ///     type IntoIter = std::vec::IntoIter<Vec<u8>>;
    ///     fn into_iter(self) -> Self::IntoIter { self.0.into_iter() }
    ///     fn split_at(mut self, index: usize) -> (Self, Self) {
    ///         let right = self.0.split_off(index);
    ///         (self, Lines(right))
    ///     }
    ///     fn min_len(&self) -> usize { 4 }
    /// }
    ///
    /// let lines = Lines(vec![vec![0; 100]; 8]);
    /// assert_eq!((lines.min_len(), lines.max_len()), (4, usize::MAX));
    /// ```
    fn min_len(&self) -> usize {
        1
    }

    /// No piece folded in one go should be longer than this.
    fn max_len(&self) -> usize {
        usize::MAX
    }

    /// Whether nobody can tell if its items were ever made: they are there already, or take no more than a number. Who wants none of them drops the producer. The
    /// default is `false`, which is always right.
    #[doc(hidden)]
    const MAY_BE_LEFT: bool = false;

    /// Whether there can be [`wishes`](Self::wishes).
    #[doc(hidden)]
    const HAS_WISHES: bool = false;

    /// What the loop shall be run like; see `wishes.rs`. The default is nothing in particular, which is always right.
    #[doc(hidden)]
    #[inline]
    fn wishes(&self) -> Wishes<'_> {
        Wishes::NONE
    }

    /// Cuts into the items before `index` and the items from `index` on.
    ///
    /// `index` is at most the number of items; either side may be empty.
    fn split_at(self, index: usize) -> (Self, Self);

    /// Feeds every item to `folder`, stopping early when it is full.
    ///
    /// Override it when the sequential iterator would be slower than a direct loop.
    ///
    /// ```
    /// use blitz::iter::plumbing::{Folder, Producer};
    ///
    /// struct Zeros(usize);
    ///
    /// impl Producer for Zeros {
    ///     type Item = u8;
    ///     type IntoIter = std::vec::IntoIter<u8>;
    ///     fn into_iter(self) -> Self::IntoIter { vec![0; self.0].into_iter() }
    ///     fn split_at(self, index: usize) -> (Self, Self) { (Zeros(index), Zeros(self.0 - index)) }
    ///     // Without a vector.
    ///     fn fold_with<F: Folder<u8>>(self, folder: F) -> F { folder.consume_iter(std::iter::repeat_n(0, self.0)) }
    /// }
    /// # let _ = Zeros(3).split_at(1);
    /// ```
    #[inline]
    fn fold_with<F>(self, folder: F) -> F
    where
        F: Folder<Self::Item>,
    {
        folder.consume_iter(self.into_iter())
    }
}

/// The recipe for what becomes of a known number of items; cut in step with the producer.
///
/// # Examples
///
/// Count the items that exceed a limit:
///
/// ```
/// use blitz::iter::plumbing::{Consumer, Folder, Reducer};
/// use blitz::prelude::*;
///
/// #[derive(Clone, Copy)]
/// struct Above { limit: u32, seen: usize }
///
/// impl Consumer<u32> for Above {
///     type Folder = Above;
///     type Reducer = Add;
///     type Result = usize;
///     fn split_at(self, _index: usize) -> (Self, Self, Add) { (self, self, Add) }
///     fn into_folder(self) -> Above { self }
///     fn full(&self) -> bool { false }
/// }
///
/// impl Folder<u32> for Above {
///     type Result = usize;
///     fn consume(self, item: u32) -> Self {
///         Above { seen: self.seen + (item > self.limit) as usize, ..self }
///     }
///     fn complete(self) -> usize { self.seen }
///     fn full(&self) -> bool { false }
/// }
///
/// struct Add;
/// impl Reducer<usize> for Add {
///     fn reduce(self, left: usize, right: usize) -> usize { left + right }
/// }
///
/// let above = (0..1000u32).into_par_iter().drive(Above { limit: 899, seen: 0 });
/// assert_eq!(above, 100);
/// ```
///
/// # What a consumer may say about itself
///
/// All of this is optional; it makes loops faster:
///
/// ```
/// use blitz::iter::plumbing::{Consumer, Folder, Reducer};
/// use blitz::prelude::*;
///
/// struct Sum(u64);
///
/// impl Consumer<u64> for Sum {
///     type Folder = Sum;
///     type Reducer = Sum;
///     type Result = u64;
///     fn split_at(self, _index: usize) -> (Self, Self, Sum) { (self, Sum(0), Sum(0)) }
///     fn into_folder(self) -> Sum { self }
///     fn full(&self) -> bool { false }
///     // Every item counts: nobody need ask whether to stop.
///     fn is_never_full(&self) -> bool { true }
///     fn is_search(&self) -> bool { false }
///     fn wants_first(&self) -> bool { false }
///     // The folder of the left side may go on with the right one, if nobody has taken that.
///     fn can_resume(&self, _left: &Sum) -> bool { true }
///     fn resume(self, left: Sum) -> Sum { left }
/// }
/// # impl Folder<u64> for Sum {
/// #     type Result = u64;
/// #     fn consume(self, item: u64) -> Self { Sum(self.0 + item) }
/// #     fn complete(self) -> u64 { self.0 }
/// #     fn full(&self) -> bool { false }
/// # }
/// # impl Reducer<u64> for Sum {
/// #     fn reduce(self, left: u64, right: u64) -> u64 { left + right }
/// # }
///
/// assert_eq!((0..1001_u32).into_par_iter().map(u64::from).drive(Sum(0)), 500_500);
/// ```
pub trait Consumer<Item>: Send + Sized {
    /// Eats the items of one piece, in order.
    type Folder: Folder<Item, Result = Self::Result>;

    /// Puts the results of the two sides of a cut together.
    type Reducer: Reducer<Self::Result>;

    /// What a piece amounts to.
    type Result: Send;

    /// Cuts into the recipe for the first `index` items and the one for all others.
    fn split_at(self, index: usize) -> (Self, Self, Self::Reducer);

    /// Ends the cutting: the items of this piece will be fed to the folder.
    fn into_folder(self) -> Self::Folder;

    /// True when no further item can change the result, so that nobody need bother to produce one.
    fn full(&self) -> bool;

    /// True if [`full`](Self::full) will never be: everything has to be consumed anyway.
    ///
    /// Nobody looks up then whether to stop. The default is `false`, which is always right.
    #[inline]
    fn is_never_full(&self) -> bool {
        false
    }

    /// True if the loop may well be over soon, so that work far ahead is probably in vain.
    ///
    /// The threads then stay close together instead of spreading over the whole loop, and a result is not held back for
    /// long. The default is everything that can be [`full`](Self::full). A loop that is only stopped from outside, as by
    /// [`with_cancel`](crate::iter::ParallelIterator::with_cancel), is none.
    #[inline]
    fn is_search(&self) -> bool {
        !self.is_never_full()
    }

    /// True if an item can make all later ones pointless, but no earlier one: the first of several hits is wanted.
    ///
    /// The threads then stay close together near the beginning instead of spreading over the whole loop. The default is
    /// `false`, which is always right.
    #[inline]
    fn wants_first(&self) -> bool {
        false
    }

    /// Could [`resume`](Self::resume) go on with `folder` instead of beginning a new one?
    ///
    /// `folder` was begun by the consumer of the items just before those of `self` and has been fed all of them, on this
    /// thread; the two consumers came out of one cut. When nobody took the right side of a cut after all, the loop passes
    /// the folder of the left side on, and it is as if the cut had never happened: no second folder, nothing to reduce.
    /// `map_init` then calls its closure once, `fold` yields one value, `collect` goes on writing.
    ///
    /// `true` promises that the result of the folder, once fed the items of `self` as well, is what the reducer would have
    /// made of the two results. The default is `false`, which is always right: the loop then completes `folder`, begins
    /// another and reduces.
    #[inline]
    fn can_resume(&self, _folder: &Self::Folder) -> bool {
        false
    }

    /// Whether [`is_search`](Self::is_search) can be true: what only searches need is not compiled for others.
    #[doc(hidden)]
    const MAY_SEARCH: bool = true;

    /// Whether there can be an [`outlet`](Self::outlet).
    #[doc(hidden)]
    const HAS_OUTLET: bool = false;

    /// Where the loop is to be handed out instead of run; see `outlet.rs`. The default is nowhere, which is always right.
    #[doc(hidden)]
    #[inline]
    fn outlet(&self) -> Option<&dyn Outlet<Self::Result>> {
        None
    }

    /// Goes on with `folder`, for which [`can_resume`](Self::can_resume) has just returned `true`.
    ///
    /// The default returns it unchanged, which is right for consumers whose pieces do not differ.
    #[inline]
    fn resume(self, folder: Self::Folder) -> Self::Folder {
        folder
    }
}

/// Eats the items of one piece, in order, and says what they amount to.
///
/// [`Consumer`] shows one in a loop.
///
/// ```
/// use blitz::iter::plumbing::Folder;
///
/// /// Adds up until it has a hundred.
/// struct UpToHundred(u32);
///
/// impl Folder<u32> for UpToHundred {
///     type Result = u32;
///     fn consume(self, item: u32) -> Self { UpToHundred(self.0 + item) }
///     fn complete(self) -> u32 { self.0 }
///     fn full(&self) -> bool { self.0 >= 100 }
/// }
///
/// let folder = UpToHundred(0).consume(60).consume_iter([30, 20, 10]); // the 10 is left alone
/// assert!(folder.full());
/// assert_eq!(folder.complete(), 110);
/// ```
pub trait Folder<Item>: Sized {
    /// What the items amount to.
    type Result;

    /// Eats one item.
    fn consume(self, item: Item) -> Self;

    /// Eats items until `iter` is exhausted or the folder is full.
    ///
    /// A folder that is never full should hand `iter` to its own internal iteration (`fold`, `for_each`), which
    /// compiles to the same loop as sequential code.
    #[inline]
    fn consume_iter<I>(mut self, iter: I) -> Self
    where
        I: IntoIterator<Item = Item>,
    {
        for item in iter {
            self = self.consume(item);
            if self.full() {
                break;
            }
        }
        self
    }

    /// No more items will come.
    fn complete(self) -> Self::Result;

    /// True when no further item can change the result.
    fn full(&self) -> bool;

    /// Whether [`full`](Self::full) can be true: what only then is needed is not compiled for others.
    #[doc(hidden)]
    const MAY_BE_FULL: bool = true;

    /// Room for at least `items` items, behind all that were eaten, to be filled from its beginning and then [counted](Self::count_in). The default is none, which is always right.
    #[doc(hidden)]
    #[inline]
    fn room(&mut self, _items: usize) -> &mut [MaybeUninit<Item>] {
        &mut []
    }

    /// Eats the first `items` items of the last [`room`](Self::room).
    ///
    /// # Safety
    /// They are there, and nothing has happened to the folder since.
    #[doc(hidden)]
    #[inline]
    unsafe fn count_in(&mut self, items: usize) {
        debug_assert_eq!(items, 0, "there was no room");
    }
}

/// Puts the results of the two sides of a cut together; `left` came before `right`.
///
/// # Examples
///
/// ```
/// use blitz::iter::plumbing::Reducer;
///
/// struct Concat;
/// impl Reducer<String> for Concat {
///     fn reduce(self, left: String, right: String) -> String { left + &right }
/// }
/// assert_eq!(Concat.reduce("a".into(), "b".into()), "ab");
/// ```
pub trait Reducer<Result> {
    /// The result of both sides.
    fn reduce(self, left: Result, right: Result) -> Result;
}

/// A consumer that can be cut without knowing how many items either side will see.
///
/// ```
/// use blitz::iter::plumbing::{Consumer, Folder, Reducer, UnindexedConsumer};
/// use blitz::prelude::*;
///
/// /// Counts, however many items there are.
/// struct Count(usize);
///
/// impl<T> Consumer<T> for Count {
///     type Folder = Count;
///     type Reducer = Count;
///     type Result = usize;
///     fn split_at(self, _index: usize) -> (Self, Self, Count) { (Count(0), self, Count(0)) }
///     fn into_folder(self) -> Count { self }
///     fn full(&self) -> bool { false }
/// }
///
/// impl<T> UnindexedConsumer<T> for Count {
///     fn split_off_left(&self) -> Self { Count(0) }
///     fn to_reducer(&self) -> Count { Count(0) }
/// }
///
/// impl<T> Folder<T> for Count {
///     type Result = usize;
///     fn consume(self, _item: T) -> Self { Count(self.0 + 1) }
///     fn complete(self) -> usize { self.0 }
///     fn full(&self) -> bool { false }
/// }
///
/// impl Reducer<usize> for Count {
///     fn reduce(self, left: usize, right: usize) -> usize { left + right }
/// }
///
/// // Nobody knows beforehand how many pass the filter.
/// let evens = (0..1000).into_par_iter().filter(|n| n % 2 == 0).drive_unindexed(Count(0));
/// assert_eq!(evens, 500);
/// ```
pub trait UnindexedConsumer<I>: Consumer<I> {
    /// A consumer for some items that come before all others; `self` stays the consumer of the others.
    fn split_off_left(&self) -> Self;

    /// The reducer that combines the results of `split_off_left` and `self`.
    fn to_reducer(&self) -> Self::Reducer;
}

/// Owns items whose number is unknown, and can be cut in two somewhere of its own choosing.
///
/// # Examples
///
/// ```
/// use blitz::iter::plumbing::{Folder, UnindexedProducer};
///
/// /// The words of a text; cut at a space near the middle.
/// struct Words<'t>(&'t str);
///
/// impl<'t> UnindexedProducer for Words<'t> {
///     type Item = &'t str;
///     fn split(self) -> (Self, Option<Self>) {
///         let middle = self.0.len() / 2;
///         match self.0.as_bytes()[middle..].iter().position(|&byte| byte == b' ') {
///             Some(offset) => {
///                 let (left, right) = self.0.split_at(middle + offset);
///                 (Words(left), Some(Words(right)))
///             }
///             None => (self, None),
///         }
///     }
///     fn fold_with<F: Folder<&'t str>>(self, folder: F) -> F {
///         folder.consume_iter(self.0.split_whitespace())
///     }
/// }
///
/// let (left, right) = Words("one two three").split();
/// assert_eq!(left.0, "one two");
/// assert_eq!(right.unwrap().0, " three");
/// ```
pub trait UnindexedProducer: Send + Sized {
    /// What this producer yields.
    type Item;

    /// Cuts in two, or returns itself whole when it cannot be cut.
    fn split(self) -> (Self, Option<Self>);

    /// Feeds every item to `folder`, stopping early when it is full.
    fn fold_with<F>(self, folder: F) -> F
    where
        F: Folder<Self::Item>;
}
