//! `with_context`: closures that receive a shared context first.
//!
//! A closure can capture whatever it needs; a *function* cannot. With a context, loops can be put together from named
//! functions, `fn(&Context, Item) -> …`, and what they share is visible in the signature.

use super::plumbing::{Consumer, ProducerCallback, UnindexedConsumer};
use super::{
    Chunks, IndexedParallelIterator, MaxLen, MinLen, ParallelIterator, Splitter, WithPool,
    WithSplitter,
};
use crate::delegate::forward_to_base;
use crate::engine::{ThreadPool, operation};

/// An iterator whose closures receive a context first. Made by [`with_context`](super::ParallelIterator::with_context).
///
/// It is a parallel iterator itself. The methods it defines on its own come before those of the traits, so
/// `.with_context(&c).map(f)` calls `f(&c, item)`, and `.sum()`, which needs no closure, is the usual one.
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
///
/// struct Tax { rate: f64, exempt: f64 }
/// fn is_taxed(tax: &Tax, price: &f64) -> bool { *price > tax.exempt }
/// fn tax_on(tax: &Tax, price: f64) -> f64 { price * tax.rate }
///
/// let tax = Tax { rate: 0.25, exempt: 10.0 };
/// let prices = vec![4.0, 20.0, 100.0];
/// let total: f64 = prices.into_par_iter().with_context(&tax).filter(is_taxed).map(tax_on).sum();
/// assert_eq!(total, 30.0);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct WithContext<'c, I, X> {
    base: I,
    context: &'c X,
}

impl<'c, I, X> WithContext<'c, I, X>
where
    I: ParallelIterator,
    X: Sync,
{
    pub(super) fn new(base: I, context: &'c X) -> Self {
        WithContext { base, context }
    }

    /// Calls `op(context, item)` with every item.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
    /// let total = AtomicU32::new(0);
    /// (1..4).into_par_iter().with_context(&total).for_each(|total, n| { total.fetch_add(n, Relaxed); });
    /// assert_eq!(total.into_inner(), 6);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    pub fn for_each<F>(self, op: F)
    where
        F: Fn(&'c X, I::Item) + Sync + Send,
    {
        let _operation = operation();
        let context = self.context;
        self.base.for_each(|item| op(context, item));
    }

    /// How many items satisfy the predicate.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let limit = 7;
    /// assert_eq!((0..10).into_par_iter().with_context(&limit).count(|limit, n| n < limit), 7);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    pub fn count<P>(self, predicate: P) -> usize
    where
        P: Fn(&'c X, &I::Item) -> bool + Sync + Send,
    {
        let _operation = operation();
        let context = self.context;
        self.base.filter(|item| predicate(context, item)).count()
    }

    /// Does any item satisfy the predicate? Stops at the first that is found.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert!((0..10).into_par_iter().with_context(&5).any(|wanted, n| n == *wanted));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    pub fn any<P>(self, predicate: P) -> bool
    where
        P: Fn(&'c X, I::Item) -> bool + Sync + Send,
    {
        let _operation = operation();
        let context = self.context;
        self.base.any(|item| predicate(context, item))
    }

    /// Do all items satisfy the predicate? Stops at the first that is found not to.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// assert!((0..10).into_par_iter().with_context(&10).all(|limit, n| n < *limit));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    pub fn all<P>(self, predicate: P) -> bool
    where
        P: Fn(&'c X, I::Item) -> bool + Sync + Send,
    {
        let _operation = operation();
        let context = self.context;
        self.base.all(|item| predicate(context, item))
    }

    /// The first item, in order, that satisfies the predicate.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let found = [3, 8, 9].par_iter().with_context(&5).find(|limit, n| **n > *limit);
    /// assert_eq!(found, Some(&8));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    pub fn find<P>(self, predicate: P) -> Option<I::Item>
    where
        P: Fn(&'c X, &I::Item) -> bool + Sync + Send,
    {
        let _operation = operation();
        let context = self.context;
        self.base.find_first(|item| predicate(context, item))
    }

    /// Some item that satisfies the predicate, whichever is found first in time.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let found = [3, 8, 9].par_iter().with_context(&5).find_any(|limit, n| **n > *limit);
    /// assert!(found == Some(&8) || found == Some(&9));
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    pub fn find_any<P>(self, predicate: P) -> Option<I::Item>
    where
        P: Fn(&'c X, &I::Item) -> bool + Sync + Send,
    {
        let _operation = operation();
        let context = self.context;
        self.base.find_any(|item| predicate(context, item))
    }

    /// Puts the items together two by two, in order. `op` is associative; `identity` makes what changes nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let modulus = 7u64;
    /// let product = (1..6u64).into_par_iter().with_context(&modulus).reduce(|_| 1, |modulus, a, b| a * b % modulus);
    /// assert_eq!(product, 120 % 7);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    pub fn reduce<ID, F>(self, identity: ID, op: F) -> I::Item
    where
        ID: Fn(&'c X) -> I::Item + Sync + Send,
        F: Fn(&'c X, I::Item, I::Item) -> I::Item + Sync + Send,
    {
        let _operation = operation();
        let context = self.context;
        self.base
            .reduce(|| identity(context), |a, b| op(context, a, b))
    }

    /// Runs the loop in `pool`; the context stays.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let pool = blitz::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    /// let sum: i32 = (1..4).into_par_iter().with_context(&10).with_pool(&pool).map(|ten, n| ten * n).sum();
    /// assert_eq!(sum, 60);
    /// ```
    pub fn with_pool(self, pool: &ThreadPool) -> WithContext<'c, WithPool<'_, I>, X> {
        WithContext::new(self.base.with_pool(pool), self.context)
    }

    /// Replaces each item by `op(context, item)`.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let names = ["ada", "eve"];
    /// let picked: Vec<&str> = [1, 0].into_par_iter().with_context(&names).map(|names, n| names[n]).collect();
    /// assert_eq!(picked, ["eve", "ada"]);
    /// ```
    pub fn map<F, R>(self, op: F) -> WithContext<'c, ContextMap<'c, I, X, F>, X>
    where
        F: Fn(&'c X, I::Item) -> R + Sync + Send,
        R: Send,
    {
        let (base, context) = (self.base, self.context);
        WithContext::new(ContextMap { base, context, op }, context)
    }

    /// Keeps the items for which `predicate(context, &item)` is true.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let even: Vec<i32> = (0..6).into_par_iter().with_context(&2).filter(|divisor, n| n % *divisor == 0).collect();
    /// assert_eq!(even, [0, 2, 4]);
    /// ```
    pub fn filter<P>(self, predicate: P) -> WithContext<'c, ContextFilter<'c, I, X, P>, X>
    where
        P: Fn(&'c X, &I::Item) -> bool + Sync + Send,
    {
        let (base, context) = (self.base, self.context);
        let op = predicate;
        WithContext::new(ContextFilter { base, context, op }, context)
    }
}

impl<'c, I, X> WithContext<'c, I, X>
where
    I: IndexedParallelIterator,
    X: Sync,
{
    /// Calls `op(context, index, item)` with every item.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let weights = [1, 10, 100];
    /// let mut digits = [2, 3, 4];
    /// digits.par_iter_mut().with_context(&weights).for_each_indexed(|weights, i, digit| *digit *= weights[i]);
    /// assert_eq!(digits, [2, 30, 400]);
    /// ```
    #[cfg_attr(feature = "sites", track_caller)]
    pub fn for_each_indexed<F>(self, op: F)
    where
        F: Fn(&'c X, usize, I::Item) + Sync + Send,
    {
        let _operation = operation();
        let context = self.context;
        self.base
            .enumerate()
            .for_each(|(index, item)| op(context, index, item));
    }

    /// Replaces each item by `op(context, index, item)`.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let labels: Vec<String> = ["x", "y"].par_iter().with_context(&"axis")
    ///     .map_indexed(|kind, i, name| format!("{kind} {i}: {name}"))
    ///     .collect();
    /// assert_eq!(labels, ["axis 0: x", "axis 1: y"]);
    /// ```
    pub fn map_indexed<F, R>(self, op: F) -> WithContext<'c, ContextMapIndexed<'c, I, X, F>, X>
    where
        F: Fn(&'c X, usize, I::Item) -> R + Sync + Send,
        R: Send,
    {
        let (base, context) = (self.base, self.context);
        WithContext::new(ContextMapIndexed { base, context, op }, context)
    }

    /// No piece shall be shorter than `min` items; the context stays.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let sum: i32 = (1..4).into_par_iter().with_context(&10).with_min_len(2).map(|ten, n| ten * n).sum();
    /// assert_eq!(sum, 60);
    /// ```
    pub fn with_min_len(self, min: usize) -> WithContext<'c, MinLen<I>, X> {
        WithContext::new(self.base.with_min_len(min), self.context)
    }

    /// No piece shall be longer than `max` items; the context stays.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let sum: i32 = (1..4).into_par_iter().with_context(&10).with_max_len(2).map(|ten, n| ten * n).sum();
    /// assert_eq!(sum, 60);
    /// ```
    pub fn with_max_len(self, max: usize) -> WithContext<'c, MaxLen<I>, X> {
        WithContext::new(self.base.with_max_len(max), self.context)
    }

    /// At most `n` pieces; the context stays.
    ///
    /// # Panics
    ///
    /// If `n` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let sum: i32 = (1..4).into_par_iter().with_context(&10).with_max_chunks(2).map(|ten, n| ten * n).sum();
    /// assert_eq!(sum, 60);
    /// ```
    #[track_caller]
    pub fn with_max_chunks(self, n: usize) -> WithContext<'c, WithSplitter<I>, X> {
        WithContext::new(self.base.with_max_chunks(n), self.context)
    }

    /// Cuts the loop by a rule; the context stays.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::iter::Splitter;
    /// use blitz::prelude::*;
    /// let tens = (1..4).into_par_iter().with_context(&10).with_splitter(Splitter::fixed(2));
    /// assert_eq!(tens.map(|ten, n| ten * n).sum::<i32>(), 60);
    /// ```
    pub fn with_splitter(self, splitter: Splitter) -> WithContext<'c, WithSplitter<I>, X> {
        WithContext::new(self.base.with_splitter(splitter), self.context)
    }

    /// Vectors of `chunk_size` items; the last may be shorter.
    ///
    /// # Panics
    ///
    /// If `chunk_size` is zero.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let totals: Vec<i32> = (0..5).into_par_iter().with_context(&100).chunks(2)
    ///     .map_indexed(|base, index, chunk| base * index as i32 + chunk.iter().sum::<i32>())
    ///     .collect();
    /// assert_eq!(totals, [1, 105, 204]);
    /// ```
    #[track_caller]
    pub fn chunks(self, chunk_size: usize) -> WithContext<'c, Chunks<I>, X> {
        WithContext::new(self.base.chunks(chunk_size), self.context)
    }
}

/// Implements the iterator traits for an adaptor with a field `base` by passing on to the iterator it stands for: one made of
/// plain adaptors and a closure, whose type has no name outside of the function.
macro_rules! stands_for {
    (
        impl [$($generics:tt)*] $adaptor:ty => $item:ty
        where I: $needs:path, [$($bounds:tt)*];
        fn plain($this:ident) $plain:block
    ) => {
        impl<$($generics)*> ParallelIterator for $adaptor
        where
            I: $needs,
            $($bounds)*
        {
            type Item = $item;

            fn drive_unindexed<C>($this, consumer: C) -> C::Result
            where
                C: UnindexedConsumer<Self::Item>,
            {
                $plain.drive_unindexed(consumer)
            }

            forward_to_base! { opt_len }
        }

        impl<$($generics)*> IndexedParallelIterator for $adaptor
        where
            I: IndexedParallelIterator,
            $($bounds)*
        {
            fn drive<C>($this, consumer: C) -> C::Result
            where
                C: Consumer<Self::Item>,
            {
                $plain.drive(consumer)
            }

            fn len(&self) -> usize {
                self.base.len()
            }

            fn with_producer<CB>($this, callback: CB) -> CB::Output
            where
                CB: ProducerCallback<Self::Item>,
            {
                $plain.with_producer(callback)
            }
        }
    };
}

stands_for! {
    impl ['c, I, X] WithContext<'c, I, X> => I::Item
    where I: ParallelIterator, [X: Sync];
    fn plain(self) { self.base }
}

/// Passes each item through a closure, after a context. Made by [`WithContext::map`].
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let sum: i32 = (0..4).into_par_iter().with_context(&10).map(|ten, n| ten * n).sum();
/// assert_eq!(sum, 60);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Clone)]
pub struct ContextMap<'c, I, X, F> {
    base: I,
    context: &'c X,
    op: F,
}

stands_for! {
    impl ['c, I, X, F, R] ContextMap<'c, I, X, F> => R
    where I: ParallelIterator, [X: Sync, F: Fn(&'c X, I::Item) -> R + Sync + Send, R: Send];
    fn plain(self) {
        let (context, op) = (self.context, self.op);
        self.base.map(move |item| op(context, item))
    }
}

/// Passes each item through a closure, after a context and its index. Made by [`WithContext::map_indexed`].
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let sum: usize = [5, 5].into_par_iter().with_context(&10).map_indexed(|ten, i, n| ten * i + n).sum();
/// assert_eq!(sum, 20);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Clone)]
pub struct ContextMapIndexed<'c, I, X, F> {
    base: I,
    context: &'c X,
    op: F,
}

stands_for! {
    impl ['c, I, X, F, R] ContextMapIndexed<'c, I, X, F> => R
    where I: IndexedParallelIterator, [X: Sync, F: Fn(&'c X, usize, I::Item) -> R + Sync + Send, R: Send];
    fn plain(self) {
        let (context, op) = (self.context, self.op);
        self.base.enumerate().map(move |(index, item)| op(context, index, item))
    }
}

/// Keeps the items for which a closure, given a context first, returns `true`. Made by [`WithContext::filter`].
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let sum: i32 = (0..4).into_par_iter().with_context(&2).filter(|two, n| n >= two).sum();
/// assert_eq!(sum, 5);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Clone)]
pub struct ContextFilter<'c, I, X, P> {
    base: I,
    context: &'c X,
    op: P,
}

impl<'c, I, X, P> ParallelIterator for ContextFilter<'c, I, X, P>
where
    I: ParallelIterator,
    X: Sync,
    P: Fn(&'c X, &I::Item) -> bool + Sync + Send,
{
    type Item = I::Item;

    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<Self::Item>,
    {
        let (context, op) = (self.context, self.op);
        self.base
            .filter(move |item| op(context, item))
            .drive_unindexed(consumer)
    }
}
