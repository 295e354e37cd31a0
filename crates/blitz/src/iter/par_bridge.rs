//! `par_bridge`: a sequential iterator, its items processed in parallel.

use super::ParallelIterator;
use super::plumbing::{UnindexedConsumer, pull_in_turns};

/// Any sequential iterator whose items may go to other threads can be processed in parallel.
///
/// Prefer a real parallel iterator where there is one: this one has to pull its items one after the other, behind a lock,
/// and forgets their order. It shines where producing an item is cheap and processing it is not: lines of a file, messages of
/// a channel, entries of a directory. The iterator may itself use the pool.
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
///
/// let (sender, receiver) = std::sync::mpsc::channel();
/// std::thread::spawn(move || (1..=100u64).for_each(|n| sender.send(n).unwrap()));
/// let total: u64 = receiver.into_iter().par_bridge().map(|n| n * n).sum();
/// assert_eq!(total, 338_350);
/// ```
pub trait ParallelBridge: Sized {
    /// Turns the sequential iterator into a parallel one, without order.
    ///
    /// # Examples
    ///
    /// ```
    /// use blitz::prelude::*;
    /// let text = "some words of several lengths";
    /// let longest = text.split(' ').par_bridge().map(str::len).max();
    /// assert_eq!(longest, Some(7));
    /// ```
    fn par_bridge(self) -> IterBridge<Self>;
}

impl<T> ParallelBridge for T
where
    T: Iterator<Item: Send> + Send,
{
    fn par_bridge(self) -> IterBridge<Self> {
        IterBridge { iter: self }
    }
}

/// Processes the items of a sequential iterator in parallel. Made by [`par_bridge`](ParallelBridge::par_bridge).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let bridge: blitz::iter::IterBridge<std::str::Chars<'_>> = "abc".chars().par_bridge();
/// assert!(bridge.any(|letter| letter == 'c'));
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct IterBridge<Iter> {
    iter: Iter,
}

impl<Iter> ParallelIterator for IterBridge<Iter>
where
    Iter: Iterator<Item: Send> + Send,
{
    type Item = Iter::Item;

    const MAY_HAVE_LEN: bool = false;

    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<Self::Item>,
    {
        pull_in_turns(self.iter, consumer)
    }
}
