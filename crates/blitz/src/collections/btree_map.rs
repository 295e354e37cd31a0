//! Parallel iterators over `BTreeMap`, in key order.

use super::walk::{Movable, Order};
use super::{walked, walked_collection};
use crate::iter::IntoParallelIterator;
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
#[derive(Debug)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct IterMut<'a, K, V> {
    inner: Movable<btree_map::IterMut<'a, K, V>>,
}

impl<'a, K: Sync, V: Send> IntoParallelIterator for &'a mut BTreeMap<K, V> {
    type Item = (&'a K, &'a mut V);
    type Iter = IterMut<'a, K, V>;

    fn into_par_iter(self) -> Self::Iter {
        // SAFETY: an exclusive iterator over a map only hands out references to its entries.
        let inner = unsafe { Movable::new(self.iter_mut()) };
        IterMut { inner }
    }
}

walked! { impl ['a, K: Sync, V: Send] IterMut<'a, K, V> => (&'a K, &'a mut V) }

// By hand: a derive would ask for `K: Clone, V: Clone`, although only references are copied.
impl<K, V> Clone for Iter<'_, K, V> {
    fn clone(&self) -> Self {
        Iter {
            inner: self.inner.clone(),
        }
    }
}
