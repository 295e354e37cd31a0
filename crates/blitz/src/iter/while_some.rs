//! `while_some`: the values inside `Some`s, until a piece finds a `None`.

use super::find::LOOK_UP_AFTER;
use super::plumbing::Folder;
use super::stage::{Stage, its_own_plan, staged_adaptor};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Unwraps `Some`s and stops everybody at the first `None`. Made by
/// [`while_some`](super::ParallelIterator::while_some).
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let all = [Some(1), Some(2)];
/// assert_eq!(all.into_par_iter().while_some().sum::<i32>(), 3);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Debug, Clone)]
pub struct WhileSome<I> {
    base: I,
}

impl<I> WhileSome<I> {
    pub(super) fn new(base: I) -> Self {
        WhileSome { base }
    }
}

staged_adaptor! {
    impl [I, T] WhileSome<I> => T
    where [I: crate::iter::ParallelIterator<Item = Option<T>>, T: Send];
    fn plan(self) { Unwrap { met_none: &AtomicBool::new(false) } }
}

/// Unwraps until a `None` was met, here or elsewhere.
#[derive(Clone)]
struct Unwrap<'n> {
    met_none: &'n AtomicBool,
}

its_own_plan! { ['n,] Unwrap<'n> }

impl<T> Stage<Option<T>> for Unwrap<'_> {
    type Out = T;

    #[inline]
    fn feed<F>(&mut self, folder: F, item: Option<T>) -> F
    where
        F: Folder<T>,
    {
        match item {
            Some(inside) => folder.consume(inside),
            None => {
                self.met_none.store(true, Relaxed);
                folder
            }
        }
    }

    #[inline]
    fn feed_iter<F, I>(&mut self, folder: F, iter: I) -> F
    where
        F: Folder<T>,
        I: Iterator<Item = Option<T>>,
    {
        let mut left = LOOK_UP_AFTER;
        folder.consume_iter(iter.map_while(|item| {
            if item.is_none() {
                self.met_none.store(true, Relaxed);
            }
            // Whether somebody else met a `None` is asked now and then: per item that would cost more than most items. An item
            // that arrives after that may be dropped: the result no longer counts on it.
            left -= 1;
            if left > 0 {
                return item;
            }
            left = LOOK_UP_AFTER;
            item.filter(|_| !self.met_none.load(Relaxed))
        }))
    }

    const CAN_BE_FULL: bool = true;

    #[inline]
    fn full(&self) -> bool {
        self.met_none.load(Relaxed)
    }
}
