//! Parallel iterators over `HashSet`, in no particular order.

use super::walk::Order;
use super::{walked, walked_collection};
use crate::delegate::clone_references;
use crate::iter::ParallelDrainFull;
use std::collections::{HashSet, hash_set};

const ORDER: Order = Order::Random;

walked_collection! {
    /// Parallel iterator that owns the items of a set.
    ///
    /// ```
    /// use blitz::prelude::*;
    /// use std::collections::HashSet;
    ///
    /// assert_eq!(HashSet::from([1, 2, 3]).into_par_iter().sum::<i32>(), 6);
    /// ```
    #[derive(Debug)]
    impl [T: Send] IntoIter<T> => T;
    from [T: Send, S] HashSet<T, S> as hash_set::IntoIter<T>
}

walked_collection! {
    /// Parallel iterator over references to the items of a set.
    ///
    /// ```
    /// use blitz::prelude::*;
    /// use std::collections::HashSet;
    ///
    /// let set = HashSet::from([1, 2, 3]);
    /// assert_eq!(set.par_iter().max(), Some(&3));
    /// ```
    #[derive(Debug)]
    impl ['a, T: Sync] Iter<'a, T> => &'a T;
    from ['a, T: Sync, S] &'a HashSet<T, S> as hash_set::Iter<'a, T>
}

clone_references! { Iter of T }

/// Parallel iterator that empties a set and leaves it its capacity.
///
/// The set is empty afterwards, even if the iterator is dropped unused or a closure panics.
///
/// ```
/// use blitz::prelude::*;
/// use std::collections::HashSet;
///
/// let mut set = HashSet::from([1, 2, 3]);
/// assert_eq!(set.par_drain().count(), 3);
/// assert!(set.is_empty());
/// ```
#[derive(Debug)]
pub struct Drain<'a, T> {
    inner: hash_set::Drain<'a, T>,
}

impl<'a, T: Send, S> ParallelDrainFull for &'a mut HashSet<T, S> {
    type Iter = Drain<'a, T>;
    type Item = T;

    fn par_drain(self) -> Self::Iter {
        Drain {
            inner: self.drain(),
        }
    }
}

walked! { impl [T: Send] Drain<'_, T> => T }
