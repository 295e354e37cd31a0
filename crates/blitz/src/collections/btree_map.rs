//! Parallel iterators over `BTreeMap`, in key order.

use super::walk::Order;
use super::{walked_collection, walked_values};
use crate::delegate::clone_references;
use std::collections::{BTreeMap, btree_map};

const ORDER: Order = Order::Meaningful;

walked_collection! {
    /// Parallel iterator that owns the entries of a map.
    ///
    /// ```
    /// use blitz::prelude::*;
    /// use std::collections::BTreeMap;
    ///
    /// let ages = BTreeMap::from([("Ada", 36), ("Alan", 41)]);
    /// let older: Vec<_> = ages.into_par_iter().map(|(name, age)| (name, age + 1)).collect();
    /// assert_eq!(older, [("Ada", 37), ("Alan", 42)]);
    /// ```
    #[derive(Debug)]
    impl [K: Send, V: Send] IntoIter<K, V> => (K, V);
    from [K: Send, V: Send] BTreeMap<K, V> as btree_map::IntoIter<K, V>
}

walked_collection! {
    /// Parallel iterator over references to the entries of a map.
    ///
    /// ```
    /// use blitz::prelude::*;
    /// use std::collections::BTreeMap;
    ///
    /// let ages = BTreeMap::from([("Ada", 36), ("Alan", 41)]);
    /// assert_eq!(ages.par_iter().map(|(_, age)| age).sum::<i32>(), 77);
    /// ```
    #[derive(Debug)]
    impl ['a, K: Sync, V: Sync] Iter<'a, K, V> => (&'a K, &'a V);
    from ['a, K: Sync, V: Sync] &'a BTreeMap<K, V> as btree_map::Iter<'a, K, V>
}

walked_values! {
    /// Parallel iterator over the entries of a map with exclusive access to the values.
    ///
    /// ```
    /// use blitz::prelude::*;
    /// use std::collections::BTreeMap;
    ///
    /// let mut ages = BTreeMap::from([("Ada", 36), ("Alan", 41)]);
    /// ages.par_iter_mut().for_each(|(_, age)| *age += 1);
    /// assert_eq!(ages["Ada"], 37);
    /// ```
    impl IterMut;
    from ['a, K: Sync, V: Send] &'a mut BTreeMap<K, V> as btree_map::IterMut<'a, K, V>
}

clone_references! { Iter of K, V }
