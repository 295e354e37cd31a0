//! Parallel iterators over `BTreeSet`, in order.

use super::walk::Order;
use super::walked_collection;
use crate::delegate::clone_references;
use std::collections::{BTreeSet, btree_set};

const ORDER: Order = Order::Meaningful;

walked_collection! {
    /// Parallel iterator that owns the items of a set.
    ///
    /// ```
    /// use blitz::prelude::*;
    /// use std::collections::BTreeSet;
    ///
    /// let tens: Vec<i32> = BTreeSet::from([3, 1, 2]).into_par_iter().map(|x| x * 10).collect();
    /// assert_eq!(tens, [10, 20, 30]);
    /// ```
    #[derive(Debug)]
    impl [T: Send] IntoIter<T> => T;
    from [T: Send] BTreeSet<T> as btree_set::IntoIter<T>
}

walked_collection! {
    /// Parallel iterator over references to the items of a set.
    ///
    /// ```
    /// use blitz::prelude::*;
    /// use std::collections::BTreeSet;
    ///
    /// let set = BTreeSet::from([3, 1, 2]);
    /// assert_eq!(set.par_iter().find_first(|&&x| x > 1), Some(&2));
    /// ```
    #[derive(Debug)]
    impl ['a, T: Sync] Iter<'a, T> => &'a T;
    from ['a, T: Sync] &'a BTreeSet<T> as btree_set::Iter<'a, T>
}

clone_references! { Iter of T }
