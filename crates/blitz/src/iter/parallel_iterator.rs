//! The trait of all parallel iterators.

use super::plumbing::UnindexedConsumer;
use super::try_result::Try;
use super::{
    CancelToken, Chain, Cloned, Copied, Either, Filter, FilterMap, FlatMap, FlatMapIter, Flatten,
    FlattenIter, Fold, FoldWith, FromParallelIterator, Inspect, Intersperse, IntoParallelIterator,
    Map, MapInit, MapWith, PanicFuse, ParallelExtend, Progress, Reducer, SkipAny, SkipAnyWhile,
    TakeAny, TakeAnyWhile, TryFold, TryFoldWith, Update, WhileSome, WithCancel, WithContext,
    WithPool, WithPriority, WithProgress,
};
use super::{extend, find, find_first_last, for_each, reduce, sum, try_reduce, unzip};
use crate::engine::operation;
use crate::engine::{Priority, ThreadPool};
use crate::pipeline::{IntoSeq, Order, Seq, with_seq};
use std::cmp::Ordering;
use std::collections::LinkedList;
use std::iter::{Product, Sum};
use std::time::{Duration, Instant};

/// A lazy sequence whose items may be produced and consumed by several threads.
///
/// The methods are those of [`Iterator`], with closures that may be called from several threads at once (`Fn`, `Sync`). A
/// chain of adaptors does nothing until a terminal operation drives it. Driven, it begins as the sequential loop on the
/// calling thread, and is shared with other threads as far as they have nothing better to do and the work is worth it.
/// Results come out in the order of the items, whoever made them.
///
/// Which thread handles an item, and how many items are handled in one go, is not specified. Do not block in a closure
/// until another item has been handled: the two may be due on the same thread.
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
///
/// let text = ["fn main() {", "    println!(\"hi\");", "}"];
/// let widest = text.par_iter().map(|line| line.trim().len()).max();
/// assert_eq!(widest, Some(15));
/// ```
pub trait ParallelIterator: Sized + Send {
    /// What this iterator yields.
    type Item: Send;

    /// Calls `op` with every item.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    /// let total = AtomicU64::new(0);
    /// (1..=10u64).into_par_iter().for_each(|n| { total.fetch_add(n, Relaxed); });
    /// assert_eq!(total.into_inner(), 55);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn for_each<OP>(self, op: OP)
    where
        OP: Fn(Self::Item) + Sync + Send,
    {
        let _operation = operation();
        for_each::for_each(self, &op);
    }

    /// Calls `op` with every item and a value that each piece clones from `init`.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// (0..5).into_par_iter().for_each_with(sender, |sender, n| sender.send(n).unwrap());
    /// let mut got: Vec<i32> = receiver.into_iter().collect();
    /// got.sort();
    /// assert_eq!(got, [0, 1, 2, 3, 4]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn for_each_with<OP, T>(self, init: T, op: OP)
    where
        OP: Fn(&mut T, Self::Item) + Sync + Send,
        T: Send + Clone,
    {
        let _operation = operation();
        self.map_with(init, op).collect()
    }

    /// Calls `op` with every item and a value that each piece makes by calling `init`.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let mut squares = [0; 4];
    /// squares.par_iter_mut().enumerate().for_each_init(Vec::new, |scratch, (i, square)| {
    ///     scratch.clear();
    ///     scratch.resize(i, i);
    ///     *square = scratch.iter().sum();
    /// });
    /// assert_eq!(squares, [0, 1, 4, 9]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn for_each_init<OP, INIT, T>(self, init: INIT, op: OP)
    where
        OP: Fn(&mut T, Self::Item) + Sync + Send,
        INIT: Fn() -> T + Sync + Send,
    {
        let _operation = operation();
        self.map_init(init, op).collect()
    }

    /// Calls `op` with every item until one call fails; then returns a failure.
    ///
    /// If several calls fail, it is one of the failures; other items may have been handled too.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let result = [2u32, 4, 5].par_iter().try_for_each(|n| if n % 2 == 0 { Ok(()) } else { Err(*n) });
    /// assert_eq!(result, Err(5));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn try_for_each<OP, R>(self, op: OP) -> R
    where
        OP: Fn(Self::Item) -> R + Sync + Send,
        R: Try<Output = ()> + Send,
    {
        let _operation = operation();
        self.map(op)
            .try_reduce(<()>::default, |(), ()| R::from_output(()))
    }

    /// [`try_for_each`](Self::try_for_each) with a value that each piece clones from `init`.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// (0..5).into_par_iter().try_for_each_with(sender, |sender, n| sender.send(n)).unwrap();
    /// assert_eq!(receiver.into_iter().sum::<i32>(), 10);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn try_for_each_with<OP, T, R>(self, init: T, op: OP) -> R
    where
        OP: Fn(&mut T, Self::Item) -> R + Sync + Send,
        T: Send + Clone,
        R: Try<Output = ()> + Send,
    {
        let _operation = operation();
        self.map_with(init, op)
            .try_reduce(<()>::default, |(), ()| R::from_output(()))
    }

    /// [`try_for_each`](Self::try_for_each) with a value that each piece makes by calling `init`.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let result = (0..100).into_par_iter().try_for_each_init(Vec::new, |seen, n: i32| {
    ///     seen.push(n);
    ///     if n < 50 { Some(()) } else { None }
    /// });
    /// assert_eq!(result, None);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn try_for_each_init<OP, INIT, T, R>(self, init: INIT, op: OP) -> R
    where
        OP: Fn(&mut T, Self::Item) -> R + Sync + Send,
        INIT: Fn() -> T + Sync + Send,
        R: Try<Output = ()> + Send,
    {
        let _operation = operation();
        self.map_init(init, op)
            .try_reduce(<()>::default, |(), ()| R::from_output(()))
    }

    /// The number of items. They are produced, so closures see them.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert_eq!((0..100).into_par_iter().filter(|n| n % 7 == 0).count(), 15);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn count(self) -> usize {
        let _operation = operation();
        for_each::count(self)
    }

    /// Replaces each item by what `map_op` makes of it.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let lengths: Vec<usize> = ["a", "bcd"].par_iter().map(|word| word.len()).collect();
    /// assert_eq!(lengths, [1, 3]);
    /// ```
    fn map<F, R>(self, map_op: F) -> Map<Self, F>
    where
        F: Fn(Self::Item) -> R + Sync + Send,
        R: Send,
    {
        Map::new(self, map_op)
    }

    /// [`map`](Self::map) with a value that each piece clones from `init`.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let prefixed: Vec<String> = (0..2).into_par_iter()
    ///     .map_with(String::from("id-"), |prefix, n| format!("{prefix}{n}"))
    ///     .collect();
    /// assert_eq!(prefixed, ["id-0", "id-1"]);
    /// ```
    fn map_with<F, T, R>(self, init: T, map_op: F) -> MapWith<Self, T, F>
    where
        F: Fn(&mut T, Self::Item) -> R + Sync + Send,
        T: Send + Clone,
        R: Send,
    {
        MapWith::new(self, init, map_op)
    }

    /// [`map`](Self::map) with a value that each piece makes by calling `init`: a random generator, a scratch buffer, a
    /// connection.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let rendered: Vec<usize> = (8..11).into_par_iter()
    ///     .map_init(String::new, |buffer, n| {
    ///         buffer.clear();
    ///         std::fmt::Write::write_fmt(buffer, format_args!("{n}")).unwrap();
    ///         buffer.len()
    ///     })
    ///     .collect();
    /// assert_eq!(rendered, [1, 1, 2]);
    /// ```
    fn map_init<F, INIT, T, R>(self, init: INIT, map_op: F) -> MapInit<Self, INIT, F>
    where
        F: Fn(&mut T, Self::Item) -> R + Sync + Send,
        INIT: Fn() -> T + Sync + Send,
        R: Send,
    {
        MapInit::new(self, init, map_op)
    }

    /// Clones what the items point to.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let names = vec![String::from("Eve")];
    /// let copy: Vec<String> = names.par_iter().cloned().collect();
    /// assert_eq!(copy, names);
    /// ```
    fn cloned<'a, T>(self) -> Cloned<Self>
    where
        T: 'a + Clone + Send,
        Self: ParallelIterator<Item = &'a T>,
    {
        Cloned::new(self)
    }

    /// Copies what the items point to.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let small: Vec<i32> = [9, 1, 5].par_iter().copied().filter(|&n| n < 6).collect();
    /// assert_eq!(small, [1, 5]);
    /// ```
    fn copied<'a, T>(self) -> Copied<Self>
    where
        T: 'a + Copy + Send,
        Self: ParallelIterator<Item = &'a T>,
    {
        Copied::new(self)
    }

    /// Shows each item to `inspect_op` as it passes.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let sum: i32 = (0..3).into_par_iter().inspect(|n| println!("{n} passes")).sum();
    /// assert_eq!(sum, 3);
    /// ```
    fn inspect<OP>(self, inspect_op: OP) -> Inspect<Self, OP>
    where
        OP: Fn(&Self::Item) + Sync + Send,
    {
        Inspect::new(self, inspect_op)
    }

    /// Lets `update_op` change each item in place as it passes.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let lines: Vec<String> = vec!["a", "b"].into_par_iter().map(String::from).update(|s| s.push(';')).collect();
    /// assert_eq!(lines, ["a;", "b;"]);
    /// ```
    fn update<F>(self, update_op: F) -> Update<Self, F>
    where
        F: Fn(&mut Self::Item) + Sync + Send,
    {
        Update::new(self, update_op)
    }

    /// Keeps the items for which `filter_op` returns `true`.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let short: Vec<&str> = vec!["oak", "willow"].into_par_iter().filter(|tree| tree.len() < 4).collect();
    /// assert_eq!(short, ["oak"]);
    /// ```
    fn filter<P>(self, filter_op: P) -> Filter<Self, P>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        Filter::new(self, filter_op)
    }

    /// Keeps what `filter_op` makes of items, where it makes something.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let roots: Vec<u32> = [4, 5, 9].into_par_iter().filter_map(|n: u32| (n.isqrt().pow(2) == n).then(|| n.isqrt())).collect();
    /// assert_eq!(roots, [2, 3]);
    /// ```
    fn filter_map<P, R>(self, filter_op: P) -> FilterMap<Self, P>
    where
        P: Fn(Self::Item) -> Option<R> + Sync + Send,
        R: Send,
    {
        FilterMap::new(self, filter_op)
    }

    /// Yields everything in the parallel iterators that `map_op` makes of the items.
    ///
    /// If what it makes is small, [`flat_map_iter`](Self::flat_map_iter) costs less.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let pairs: Vec<(i32, i32)> = (0..3).into_par_iter()
    ///     .flat_map(|a| (a + 1..3).into_par_iter().map(move |b| (a, b)))
    ///     .collect();
    /// assert_eq!(pairs, [(0, 1), (0, 2), (1, 2)]);
    /// ```
    fn flat_map<F, PI>(self, map_op: F) -> FlatMap<Self, F>
    where
        F: Fn(Self::Item) -> PI + Sync + Send,
        PI: IntoParallelIterator,
    {
        FlatMap::new(self, map_op)
    }

    /// Yields everything in the sequential iterators that `map_op` makes of the items.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let words: Vec<&str> = ["to be", "or not"].par_iter().flat_map_iter(|line| line.split(' ')).collect();
    /// assert_eq!(words, ["to", "be", "or", "not"]);
    /// ```
    fn flat_map_iter<F, SI>(self, map_op: F) -> FlatMapIter<Self, F>
    where
        F: Fn(Self::Item) -> SI + Sync + Send,
        SI: IntoIterator<Item: Send>,
    {
        FlatMapIter::new(self, map_op)
    }

    /// Yields everything in the items, which can be iterated in parallel.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let total: i32 = vec![vec![1, 2], vec![3]].into_par_iter().flatten().sum();
    /// assert_eq!(total, 6);
    /// ```
    fn flatten(self) -> Flatten<Self>
    where
        Self::Item: IntoParallelIterator,
    {
        Flatten::new(self)
    }

    /// Yields everything in the items, which can be iterated sequentially.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let known: Vec<i32> = vec![Some(1), None, Some(3)].into_par_iter().flatten_iter().collect();
    /// assert_eq!(known, [1, 3]);
    /// ```
    fn flatten_iter(self) -> FlattenIter<Self>
    where
        Self::Item: IntoIterator<Item: Send>,
    {
        FlattenIter::new(self)
    }

    /// Puts all items together with `op`, in order; `identity()` if there is none.
    ///
    /// `op` must be associative, and `identity()` must not change what it is put together with: both are used as often as
    /// there are pieces. `op` need not be commutative.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let (low, high) = [3, 8, 5].par_iter().map(|&n| (n, n))
    ///     .reduce(|| (i32::MAX, i32::MIN), |a, b| (a.0.min(b.0), a.1.max(b.1)));
    /// assert_eq!((low, high), (3, 8));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn reduce<OP, ID>(self, identity: ID, op: OP) -> Self::Item
    where
        OP: Fn(Self::Item, Self::Item) -> Self::Item + Sync + Send,
        ID: Fn() -> Self::Item + Sync + Send,
    {
        let _operation = operation();
        reduce::reduce(self, identity, op)
    }

    /// Puts all items together with `op`, in order; `None` if there is none.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let sentence = vec!["time", "flies"].into_par_iter().map(String::from).reduce_with(|a, b| a + " " + &b);
    /// assert_eq!(sentence.as_deref(), Some("time flies"));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn reduce_with<OP>(self, op: OP) -> Option<Self::Item>
    where
        OP: Fn(Self::Item, Self::Item) -> Self::Item + Sync + Send,
    {
        let _operation = operation();
        reduce::reduce_with(self, op)
    }

    /// [`reduce`](Self::reduce) that stops at a failure: of an item, or of `op`.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let product = [50u8, 6].par_iter().map(|&n| Some(n)).try_reduce(|| 1, |a, b| a.checked_mul(b));
    /// assert_eq!(product, None);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn try_reduce<T, OP, ID>(self, identity: ID, op: OP) -> Self::Item
    where
        OP: Fn(T, T) -> Self::Item + Sync + Send,
        ID: Fn() -> T + Sync + Send,
        Self::Item: Try<Output = T>,
    {
        let _operation = operation();
        try_reduce::try_reduce(self, identity, op)
    }

    /// [`reduce_with`](Self::reduce_with) that stops at a failure: of an item, or of `op`.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let sum = ["1", "2"].par_iter().map(|text| text.parse::<i32>()).try_reduce_with(|a, b| Ok(a + b));
    /// assert_eq!(sum, Some(Ok(3)));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn try_reduce_with<T, OP>(self, op: OP) -> Option<Self::Item>
    where
        OP: Fn(T, T) -> Self::Item + Sync + Send,
        Self::Item: Try<Output = T>,
    {
        let _operation = operation();
        try_reduce::try_reduce_with(self, op)
    }

    /// Folds the items of each piece into one, starting from `identity()`; the results are the items from here on.
    ///
    /// There is at least one result, and one more each time another thread took part, so something has to put them
    /// together in the end.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let counts = b"mississippi".par_iter()
    ///     .fold(|| [0; 26], |mut counts, letter| { counts[(letter - b'a') as usize] += 1; counts })
    ///     .reduce(|| [0; 26], |mut a, b| { a.iter_mut().zip(b).for_each(|(a, b)| *a += b); a });
    /// assert_eq!(counts[(b's' - b'a') as usize], 4);
    /// ```
    fn fold<T, ID, F>(self, identity: ID, fold_op: F) -> Fold<Self, ID, F>
    where
        F: Fn(T, Self::Item) -> T + Sync + Send,
        ID: Fn() -> T + Sync + Send,
        T: Send,
    {
        Fold::new(self, identity, fold_op)
    }

    /// [`fold`](Self::fold) starting from a clone of `init`.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let bytes: usize = ["ab", "c"].par_iter().fold_with(0, |sum, text| sum + text.len()).sum();
    /// assert_eq!(bytes, 3);
    /// ```
    fn fold_with<F, T>(self, init: T, fold_op: F) -> FoldWith<Self, T, F>
    where
        F: Fn(T, Self::Item) -> T + Sync + Send,
        T: Send + Clone,
    {
        FoldWith::new(self, init, fold_op)
    }

    /// [`fold`](Self::fold) of which each piece stops at its first failure; the results are the items from here on.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let sum = [100u8, 100].par_iter()
    ///     .try_fold(|| 0u8, |sum, &n| sum.checked_add(n))
    ///     .try_reduce(|| 0, |a, b| a.checked_add(b));
    /// assert_eq!(sum, Some(200));
    /// ```
    fn try_fold<T, R, ID, F>(self, identity: ID, fold_op: F) -> TryFold<Self, R, ID, F>
    where
        F: Fn(T, Self::Item) -> R + Sync + Send,
        ID: Fn() -> T + Sync + Send,
        R: Try<Output = T> + Send,
    {
        TryFold::new(self, identity, fold_op)
    }

    /// [`try_fold`](Self::try_fold) starting from a clone of `init`.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let failed = ["1", "x"].par_iter()
    ///     .try_fold_with(0, |sum, text| text.parse::<i32>().map(|n| sum + n))
    ///     .any(|piece| piece.is_err());
    /// assert!(failed);
    /// ```
    fn try_fold_with<F, T, R>(self, init: T, fold_op: F) -> TryFoldWith<Self, R, F>
    where
        F: Fn(T, Self::Item) -> R + Sync + Send,
        R: Try<Output = T> + Send,
        T: Clone + Send,
    {
        TryFoldWith::new(self, init, fold_op)
    }

    /// Adds up the items.
    ///
    /// Sums of floats depend on the order of additions in their last bits, and that order on who took part.
    ///
    /// Of `Result`s (and `Option`s) the first error comes out. A thread that meets one leaves the rest of its piece alone, but
    /// others go on with theirs. [`try_reduce`](Self::try_reduce) stops them all, at any error.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert_eq!([1, 5, 7].par_iter().sum::<i32>(), 13);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn sum<S>(self) -> S
    where
        S: Send + Sum<Self::Item> + Sum<S>,
    {
        let _operation = operation();
        sum::sum(self)
    }

    /// Multiplies the items; with errors as in [`sum`](Self::sum).
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert_eq!((1..=10u64).into_par_iter().product::<u64>(), 3_628_800);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn product<P>(self) -> P
    where
        P: Send + Product<Self::Item> + Product<P>,
    {
        let _operation = operation();
        sum::product(self)
    }

    /// The least item; the first of equals.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert_eq!([45, 74, 32].par_iter().min(), Some(&32));
    /// assert_eq!(blitz::iter::empty::<i32>().min(), None);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn min(self) -> Option<Self::Item>
    where
        Self::Item: Ord,
    {
        let _operation = operation();
        self.min_by(Ord::cmp)
    }

    /// The least item by a comparison; the first of equals.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let least = [2.5, -1.0].par_iter().copied().min_by(f64::total_cmp);
    /// assert_eq!(least, Some(-1.0));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn min_by<F>(self, f: F) -> Option<Self::Item>
    where
        F: Sync + Send + Fn(&Self::Item, &Self::Item) -> Ordering,
    {
        let _operation = operation();
        reduce::min_by(self, f)
    }

    /// The item with the least key; the first of equals. `f` is called once per item.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert_eq!([-3_i32, 2, 4].par_iter().min_by_key(|n| n.abs()), Some(&2));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn min_by_key<K, F>(self, f: F) -> Option<Self::Item>
    where
        K: Ord + Send,
        F: Sync + Send + Fn(&Self::Item) -> K,
    {
        let _operation = operation();
        let least = self.map(|item| (f(&item), item)).min_by(by_key);
        least.map(|(_, item)| item)
    }

    /// The greatest item; the last of equals.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert_eq!([45, 74, 32].par_iter().max(), Some(&74));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn max(self) -> Option<Self::Item>
    where
        Self::Item: Ord,
    {
        let _operation = operation();
        self.max_by(Ord::cmp)
    }

    /// The greatest item by a comparison; the last of equals.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let greatest = [2.5, -1.0].par_iter().copied().max_by(f64::total_cmp);
    /// assert_eq!(greatest, Some(2.5));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn max_by<F>(self, f: F) -> Option<Self::Item>
    where
        F: Sync + Send + Fn(&Self::Item, &Self::Item) -> Ordering,
    {
        let _operation = operation();
        reduce::max_by(self, f)
    }

    /// The item with the greatest key; the last of equals. `f` is called once per item.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert_eq!(["a", "ccc", "bb"].par_iter().max_by_key(|word| word.len()), Some(&"ccc"));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn max_by_key<K, F>(self, f: F) -> Option<Self::Item>
    where
        K: Ord + Send,
        F: Sync + Send + Fn(&Self::Item) -> K,
    {
        let _operation = operation();
        let greatest = self.map(|item| (f(&item), item)).max_by(by_key);
        greatest.map(|(_, item)| item)
    }

    /// Yields the items of this iterator, then those of another.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let both: Vec<i32> = vec![1, 2].into_par_iter().chain(7..9).collect();
    /// assert_eq!(both, [1, 2, 7, 8]);
    /// ```
    fn chain<C>(self, chain: C) -> Chain<Self, C::Iter>
    where
        C: IntoParallelIterator<Item = Self::Item>,
    {
        Chain::new(self, chain.into_par_iter())
    }

    /// Some item that satisfies the predicate: whichever is found first in time. All threads stop soon after.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let multiple = (1..1000).into_par_iter().find_any(|n| n % 123 == 0);
    /// assert!(multiple.is_some_and(|n| n % 123 == 0));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn find_any<P>(self, predicate: P) -> Option<Self::Item>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        let _operation = operation();
        find::find(self, predicate)
    }

    /// The first item, in order, that satisfies the predicate. Nothing to the right of a hit is searched any more.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert_eq!((1..1000).into_par_iter().find_first(|n| n % 123 == 0), Some(123));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn find_first<P>(self, predicate: P) -> Option<Self::Item>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        let _operation = operation();
        find_first_last::find_first(self, predicate)
    }

    /// The last item, in order, that satisfies the predicate. Nothing to the left of a piece with a hit is searched any more.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert_eq!((1..1000).into_par_iter().find_last(|n| n % 123 == 0), Some(984));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn find_last<P>(self, predicate: P) -> Option<Self::Item>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        let _operation = operation();
        find_first_last::find_last(self, predicate)
    }

    /// What `predicate` makes of some item of which it makes something, whichever is found first in time.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let number = ["one", "2"].par_iter().find_map_any(|text| text.parse::<i32>().ok());
    /// assert_eq!(number, Some(2));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn find_map_any<P, R>(self, predicate: P) -> Option<R>
    where
        P: Fn(Self::Item) -> Option<R> + Sync + Send,
        R: Send,
    {
        let _operation = operation();
        self.filter_map(predicate).find_any(|_| true)
    }

    /// What `predicate` makes of the first item, in order, of which it makes something.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let number = ["one", "2", "3"].par_iter().find_map_first(|text| text.parse::<i32>().ok());
    /// assert_eq!(number, Some(2));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn find_map_first<P, R>(self, predicate: P) -> Option<R>
    where
        P: Fn(Self::Item) -> Option<R> + Sync + Send,
        R: Send,
    {
        let _operation = operation();
        self.filter_map(predicate).find_first(|_| true)
    }

    /// What `predicate` makes of the last item, in order, of which it makes something.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let number = ["one", "2", "3"].par_iter().find_map_last(|text| text.parse::<i32>().ok());
    /// assert_eq!(number, Some(3));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn find_map_last<P, R>(self, predicate: P) -> Option<R>
    where
        P: Fn(Self::Item) -> Option<R> + Sync + Send,
        R: Send,
    {
        let _operation = operation();
        self.filter_map(predicate).find_last(|_| true)
    }

    #[doc(hidden)]
    #[deprecated(
        note = "does not search in order; say which is meant: `find_any`, `find_first` or `find_last`"
    )]
    #[cfg_attr(feature = "sites", track_caller)]
    fn find<P>(self, predicate: P) -> Option<Self::Item>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        let _operation = operation();
        self.find_any(predicate)
    }

    /// Does some item satisfy the predicate? All threads stop soon after one does.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert!([0, 12, 3].par_iter().any(|&n| n > 10));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn any<P>(self, predicate: P) -> bool
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        let _operation = operation();
        self.map(predicate).find_any(|&hit| hit).is_some()
    }

    /// Do all items satisfy the predicate? All threads stop soon after one does not.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert!(!["up", "Down"].par_iter().all(|word| word.chars().all(char::is_lowercase)));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn all<P>(self, predicate: P) -> bool
    where
        P: Fn(Self::Item) -> bool + Sync + Send,
    {
        let _operation = operation();
        self.map(predicate).find_any(|&hit| !hit).is_none()
    }

    /// Yields the insides of `Some`s until some thread meets a `None`; then all stop soon.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let sum: i32 = [Some(1), Some(2)].into_par_iter().while_some().sum();
    /// assert_eq!(sum, 3);
    /// ```
    fn while_some<T>(self) -> WhileSome<Self>
    where
        Self: ParallelIterator<Item = Option<T>>,
        T: Send,
    {
        WhileSome::new(self)
    }

    /// Makes all threads stop soon after a panic in one of them.
    ///
    /// A panic is always passed on in the end. Without this, the other threads first run what they have begun to its end.
    ///
    /// # Examples
    ///
    /// ```should_panic
    /// use blitz::prelude::*;
    /// (0..1_000_000).into_par_iter().panic_fuse().for_each(|n| assert!(n < 1000));
    /// ```
    fn panic_fuse(self) -> PanicFuse<Self> {
        PanicFuse::new(self)
    }

    /// Collects the items into a collection.
    ///
    /// A vector of items of known number is allocated once, at the right size, and every item is written to its place. An
    /// order that the collection keeps is that of the items.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// use std::collections::HashMap;
    /// let lengths: HashMap<&str, usize> = ["aa", "b"].into_par_iter().map(|word| (word, word.len())).collect();
    /// assert_eq!(lengths["aa"], 2);
    ///
    /// let parsed: Result<Vec<i32>, _> = ["1", "2", "x"].par_iter().map(|text| text.parse()).collect();
    /// assert!(parsed.is_err());
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn collect<C>(self) -> C
    where
        C: FromParallelIterator<Self::Item>,
    {
        let _operation = operation();
        C::from_par_iter(self)
    }

    /// Collects pairs into two collections.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let (numbers, squares): (Vec<i32>, Vec<i32>) = (0..3).into_par_iter().map(|n| (n, n * n)).unzip();
    /// assert_eq!((numbers, squares), (vec![0, 1, 2], vec![0, 1, 4]));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn unzip<A, B, FromA, FromB>(self) -> (FromA, FromB)
    where
        Self: ParallelIterator<Item = (A, B)>,
        FromA: Default + Send + ParallelExtend<A>,
        FromB: Default + Send + ParallelExtend<B>,
        A: Send,
        B: Send,
    {
        let _operation = operation();
        unzip::unzip(self)
    }

    /// Sorts the items into two collections: those that satisfy the predicate, and the others.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let (even, odd): (Vec<i32>, Vec<i32>) = (0..5).into_par_iter().partition(|n| n % 2 == 0);
    /// assert_eq!((even, odd), (vec![0, 2, 4], vec![1, 3]));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn partition<A, B, P>(self, predicate: P) -> (A, B)
    where
        A: Default + Send + ParallelExtend<Self::Item>,
        B: Default + Send + ParallelExtend<Self::Item>,
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        let _operation = operation();
        unzip::partition(self, predicate)
    }

    /// Sorts what `predicate` makes of the items into two collections, by `Left` and `Right`.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// use blitz::iter::Either;
    /// let (numbers, words): (Vec<i32>, Vec<&str>) = ["3", "three"].into_par_iter().partition_map(|text| {
    ///     match text.parse::<i32>() {
    ///         Ok(number) => Either::Left(number),
    ///         Err(_) => Either::Right(text),
    ///     }
    /// });
    /// assert_eq!((numbers, words), (vec![3], vec!["three"]));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn partition_map<A, B, P, L, R>(self, predicate: P) -> (A, B)
    where
        A: Default + Send + ParallelExtend<L>,
        B: Default + Send + ParallelExtend<R>,
        P: Fn(Self::Item) -> Either<L, R> + Sync + Send,
        L: Send,
        R: Send,
    {
        let _operation = operation();
        unzip::partition_map(self, predicate)
    }

    /// Puts clones of `element` between the items.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let list: String = ["a", "b", "c"].into_par_iter().intersperse(", ").collect();
    /// assert_eq!(list, "a, b, c");
    /// ```
    fn intersperse(self, element: Self::Item) -> Intersperse<Self>
    where
        Self::Item: Clone,
    {
        Intersperse::new(self, element)
    }

    /// Yields `n` of the items, whichever come first in time. See [`take`](super::IndexedParallelIterator::take) for the
    /// first in order.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let some: Vec<i32> = (0..1000).into_par_iter().filter(|n| n % 5 == 0).take_any(3).collect();
    /// assert_eq!(some.len(), 3);
    /// ```
    fn take_any(self, n: usize) -> TakeAny<Self> {
        TakeAny::new(self, n)
    }

    /// Yields all but `n` of the items, whichever come first in time. See
    /// [`skip`](super::IndexedParallelIterator::skip) for the first in order.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert_eq!((0..100).into_par_iter().skip_any(30).count(), 70);
    /// ```
    fn skip_any(self, n: usize) -> SkipAny<Self> {
        SkipAny::new(self, n)
    }

    /// Yields items until the predicate fails for one, on any thread; then all stop soon.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let budget = std::sync::atomic::AtomicI32::new(100);
    /// let spent: i32 = (1..50).into_par_iter()
    ///     .take_any_while(|n| budget.fetch_sub(*n, std::sync::atomic::Ordering::Relaxed) >= *n)
    ///     .sum();
    /// assert!(spent <= 100);
    /// ```
    fn take_any_while<P>(self, predicate: P) -> TakeAnyWhile<Self, P>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        TakeAnyWhile::new(self, predicate)
    }

    /// Drops items until the predicate fails for one, on any thread; then yields all.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let rest: Vec<i32> = (0..100).into_par_iter().skip_any_while(|&n| n < 40).collect();
    /// assert!(rest.len() >= 60);
    /// ```
    fn skip_any_while<P>(self, predicate: P) -> SkipAnyWhile<Self, P>
    where
        P: Fn(&Self::Item) -> bool + Sync + Send,
    {
        SkipAnyWhile::new(self, predicate)
    }

    /// Collects the items into a list of vectors, in order; one vector per piece, none of them empty.
    ///
    /// It is the cheapest way to collect an unknown number of items whose place does not matter: nothing is copied.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let pieces = (0..100).into_par_iter().filter(|n| n % 3 == 0).collect_vec_list();
    /// assert_eq!(pieces.iter().map(Vec::len).sum::<usize>(), 34);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn collect_vec_list(self) -> LinkedList<Vec<Self::Item>> {
        let _operation = operation();
        extend::gather_vecs(self).into_list()
    }

    /// Feeds all items to `consumer`: the one method an implementor must write.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::plumbing::UnindexedConsumer;
    /// use blitz::prelude::*;
    ///
    /// /// The even numbers below a limit.
    /// struct Evens(u32);
    ///
    /// impl ParallelIterator for Evens {
    ///     type Item = u32;
    ///     fn drive_unindexed<C: UnindexedConsumer<u32>>(self, consumer: C) -> C::Result {
    ///         (0..self.0).into_par_iter().filter(|n| n % 2 == 0).drive_unindexed(consumer)
    ///     }
    /// }
    ///
    /// assert_eq!(Evens(10).collect::<Vec<_>>(), [0, 2, 4, 6, 8]);
    /// ```
    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<Self::Item>;

    /// The exact number of items, if it is known beforehand.
    ///
    /// An implementor that returns `Some` must drive by position: through [`bridge`](super::plumbing::bridge) or the `drive` of
    /// its parts. `collect` relies on it to put every item in its place.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert_eq!((0..7).into_par_iter().map(|n| n + 1).opt_len(), Some(7));
    /// assert_eq!((0..7).into_par_iter().filter(|n| n % 2 == 0).opt_len(), None);
    /// ```
    fn opt_len(&self) -> Option<usize> {
        None
    }

    /// Whether [`opt_len`](Self::opt_len) can be `Some`: what is never run need not be compiled.
    #[doc(hidden)]
    const MAY_HAVE_LEN: bool = true;

    /// Whether it can be `None`.
    #[doc(hidden)]
    const MAY_LACK_LEN: bool = true;

    /// [`reduce`](Self::reduce) by a ready-made [`Reducer`]: `Reducer::sum()`, `product()`, `min()`, `max()`, `any()`,
    /// `all()`, or one's own.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::Reducer;
    /// use blitz::prelude::*;
    /// let warmest = [18.5, 24.0, 21.5].into_par_iter().reduce_by(Reducer::max());
    /// assert_eq!(warmest, 24.0);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn reduce_by<ID, OP>(self, reducer: Reducer<ID, OP>) -> Self::Item
    where
        ID: Fn() -> Self::Item + Sync + Send,
        OP: Fn(Self::Item, Self::Item) -> Self::Item + Sync + Send,
    {
        let _operation = operation();
        let (identity, op) = reducer.into_parts();
        self.reduce(identity, op)
    }

    /// A sequential iterator over the results, in order, while the rest is computed.
    ///
    /// Never more results are there than the [`look_ahead`](IntoSeq::look_ahead): a consumer that is slow slows the threads down. The thread that asks takes part, so it
    /// works in a pool of one thread, too. Dropping it ends the loop: what runs is waited for, the rest is dropped.
    ///
    /// Results are counted before adaptors that make several of one, such as `flat_map`. A block is never shorter than [`with_min_len`](super::IndexedParallelIterator::with_min_len)
    /// says, whatever the look-ahead. A part of a source that cannot be cut by position (a text, a set) is computed whole when it is as small as
    /// the source can make it. A [`walk_tree`](super::walk_tree()) and a [`par_bridge`](super::ParallelBridge) are gone through by the thread that asks; what becomes of their items is computed
    /// in parallel. Iterators that do not cut their loops by Blitz's [`bridge`](super::plumbing::bridge) functions, and
    /// [`with_splitter`](super::IndexedParallelIterator::with_splitter) and its relatives, are computed as a whole first.
    ///
    /// Iterators that borrow cannot outlive what they borrow from, and a sequential iterator might be forgotten: for them there is [`with_seq`](Self::with_seq).
    ///
    /// # Panics
    ///
    /// If something in the loop panics, `next` does when it comes to the block in which it happened, and then there is nothing left.
    ///
    /// # Cost
    ///
    /// A thread is started by the first `next`, which sleeps until the end: some tens of microseconds. Then results come in blocks, of which each costs some hundred nanoseconds.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let squares = (0..1_000_000u64).into_par_iter().map(|n| n * n);
    /// let first_large = squares.into_seq().find(|square| *square > 1000);
    /// assert_eq!(first_large, Some(1024));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn into_seq(self) -> IntoSeq<Self>
    where
        Self: 'static,
        Self::Item: 'static,
    {
        IntoSeq::new(self, Order::Kept)
    }

    /// Like [`into_seq`](Self::into_seq), with results in the order in which they are ready.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let mut doubled: Vec<i32> = vec![1, 2, 3].into_par_iter().map(|n| 2 * n).into_seq_unordered().collect();
    /// doubled.sort();
    /// assert_eq!(doubled, [2, 4, 6]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn into_seq_unordered(self) -> IntoSeq<Self>
    where
        Self: 'static,
        Self::Item: 'static,
    {
        IntoSeq::new(self, Order::Any)
    }

    /// [`into_seq`](Self::into_seq) for iterators that borrow: calls `op` with the sequential iterator, which ends with the call.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let words = ["one", "two", "three"].map(String::from);
    /// let mut text = String::new();
    /// words.par_iter().map(|word| word.to_uppercase()).with_seq(|seq| {
    ///     for word in seq {
    ///         text += &word;
    ///     }
    /// });
    /// assert_eq!(text, "ONETWOTHREE");
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    fn with_seq<R>(self, op: impl FnOnce(&mut Seq<'_, '_, Self::Item>) -> R) -> R {
        with_seq(self, op)
    }

    /// Runs the loop in `pool`, whichever pool the caller is in.
    ///
    /// Positions are kept: `zip`, `enumerate` and the like can follow, and the whole loop runs in the pool.
    ///
    /// # Cost
    ///
    /// That of [`ThreadPool::install`], once: some microseconds if a thread of the pool has to be woken, next to nothing if
    /// the caller is in the pool already or may take part.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let pool = blitz::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// let total: u64 = (1..=100u64).into_par_iter().with_pool(&pool).map(|n| n * n).sum();
    /// assert_eq!(total, 338_350);
    /// ```
    fn with_pool(self, pool: &ThreadPool) -> WithPool<'_, Self> {
        WithPool::new(self, pool)
    }

    /// Runs the loop, and what its items start, with this priority: a [background](Priority::Background) loop makes room between two blocks if another task
    /// waits. See [`with_priority`](crate::with_priority).
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::Priority;
    /// use blitz::prelude::*;
    /// let sum: u64 = (1..=100u64).into_par_iter().with_priority(Priority::Background).sum();
    /// assert_eq!(sum, 5050);
    /// ```
    fn with_priority(self, priority: Priority) -> WithPriority<Self> {
        WithPriority::new(self, priority)
    }

    /// Lets closures receive `context` as their first argument, so that named functions can share it.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// struct Grid { width: usize }
    /// fn row(grid: &Grid, cell: usize) -> usize { cell / grid.width }
    ///
    /// let rows: Vec<usize> = (0..6usize).into_par_iter().with_context(&Grid { width: 3 }).map(row).collect();
    /// assert_eq!(rows, [0, 0, 0, 1, 1, 1]);
    /// ```
    fn with_context<X>(self, context: &X) -> WithContext<'_, Self, X>
    where
        X: Sync,
    {
        WithContext::new(self, context)
    }

    /// Lets `token` stop the loop.
    ///
    /// What follows is the terminal operation ([`WithCancel::for_each`], [`sum`](WithCancel::sum), …, or
    /// [`run`](WithCancel::run) for all others), which says in its [`Run`](super::Run) whether the loop was stopped, and after
    /// how many items. A stopped loop finishes the blocks that threads are working on, some microseconds each, and drops the
    /// other items.
    ///
    /// # Cost
    ///
    /// A load per block and per some thousand items. `collect` does not know how many items there will be, so it gathers them in
    /// several vectors first.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::{CancelToken, Outcome};
    /// use blitz::prelude::*;
    ///
    /// let token = CancelToken::new();
    /// let squares = (0..5).into_par_iter().map(|n| n * n).with_cancel(&token).collect::<Vec<i32>>();
    /// assert_eq!(squares.completed(), Ok(vec![0, 1, 4, 9, 16]));
    ///
    /// token.cancel();
    /// let sum = (0..5).into_par_iter().with_cancel(&token).sum::<i32>();
    /// assert_eq!((sum.value, sum.outcome, sum.done), (0, Outcome::Cancelled, 0));
    /// ```
    fn with_cancel(self, token: &CancelToken) -> WithCancel<'_, Self> {
        WithCancel::new(self).with_cancel(token)
    }

    /// Stops the loop at `deadline`; otherwise like [`with_cancel`](Self::with_cancel). The clock is read where the token would
    /// be looked at.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::Outcome;
    /// use blitz::prelude::*;
    /// use std::time::Instant;
    ///
    /// let run = (0..5).into_par_iter().with_deadline(Instant::now()).for_each(|_| ());
    /// assert_eq!((run.outcome, run.done), (Outcome::TimedOut, 0));
    /// ```
    fn with_deadline(self, deadline: Instant) -> WithCancel<'static, Self> {
        WithCancel::new(self).with_deadline(deadline)
    }

    /// Stops the loop when it has run for `timeout`; otherwise like [`with_cancel`](Self::with_cancel). Time runs from the
    /// terminal operation on.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::Outcome;
    /// use blitz::prelude::*;
    /// use std::time::Duration;
    ///
    /// let endless = blitz::iter::repeat(1u64).with_timeout(Duration::from_millis(5)).sum::<u64>();
    /// assert_eq!(endless.outcome, Outcome::TimedOut);
    /// assert_eq!(endless.value, endless.done as u64);
    /// ```
    fn with_timeout(self, timeout: Duration) -> WithCancel<'static, Self> {
        WithCancel::new(self).with_timeout(timeout)
    }

    /// Counts the items that pass, for somebody who watches `progress`.
    ///
    /// # Cost
    ///
    /// An addition to a register per item, and one to the shared counter per block of some microseconds.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::Progress;
    /// use blitz::prelude::*;
    /// use std::time::Duration;
    ///
    /// let (items, progress) = (vec![1u64; 10_000], Progress::new());
    /// let total: u64 = std::thread::scope(|scope| {
    ///     scope.spawn(|| {
    ///         while progress.done() < items.len() as u64 {
    ///             println!("{} of {}", progress.done(), items.len());
    ///             std::thread::sleep(Duration::from_millis(1));
    ///         }
    ///     });
    ///     items.par_iter().with_progress(&progress).sum()
    /// });
    /// assert_eq!(total, 10_000);
    /// ```
    fn with_progress(self, progress: &Progress) -> WithProgress<'_, Self> {
        WithProgress::new(self, progress)
    }
}

/// Compares what belongs to the keys.
fn by_key<K, T>(a: &(K, T), b: &(K, T)) -> Ordering
where
    K: Ord,
{
    a.0.cmp(&b.0)
}
