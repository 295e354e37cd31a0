//! Parallel iterators over `HashMap`, in no particular order.

use super::walk::Order;
use super::{walked, walked_collection, walked_values};
use crate::delegate::clone_references;
use crate::iter::ParallelDrainFull;
use std::collections::{HashMap, hash_map};

const ORDER: Order = Order::Random;

walked_collection! {
    /// Parallel iterator that owns the entries of a map.
    ///
    /// ```
    /// use blitz::prelude::*;
    /// use std::collections::HashMap;
    ///
    /// let stock = HashMap::from([("nuts", 3), ("bolts", 5)]);
    /// let total: i32 = stock.into_par_iter().map(|(_, count)| count).sum();
    /// assert_eq!(total, 8);
    /// ```
    #[derive(Debug)]
    impl [K: Send, V: Send] IntoIter<K, V> => (K, V);
    from [K: Send, V: Send, S] HashMap<K, V, S> as hash_map::IntoIter<K, V>
}

walked_collection! {
    /// Parallel iterator over references to the entries of a map.
    ///
    /// ```
    /// use blitz::prelude::*;
    /// use std::collections::HashMap;
    ///
    /// let stock = HashMap::from([("nuts", 3), ("bolts", 5)]);
    /// assert_eq!(stock.par_iter().find_any(|(_, count)| **count > 4), Some((&"bolts", &5)));
    /// ```
    #[derive(Debug)]
    impl ['a, K: Sync, V: Sync] Iter<'a, K, V> => (&'a K, &'a V);
    from ['a, K: Sync, V: Sync, S] &'a HashMap<K, V, S> as hash_map::Iter<'a, K, V>
}

walked_values! {
    /// Parallel iterator over the entries of a map with exclusive access to the values.
    ///
    /// ```
    /// use blitz::prelude::*;
    /// use std::collections::HashMap;
    ///
    /// let mut stock = HashMap::from([("nuts", 3), ("bolts", 5)]);
    /// stock.par_iter_mut().for_each(|(_, count)| *count *= 2);
    /// assert_eq!(stock["nuts"], 6);
    /// ```
    impl IterMut;
    from ['a, K: Sync, V: Send, S] &'a mut HashMap<K, V, S> as hash_map::IterMut<'a, K, V>
}

clone_references! { Iter of K, V }

/// Parallel iterator that empties a map and leaves it its capacity.
///
/// The map is empty afterwards, even if the iterator is dropped unused or a closure panics.
///
/// ```
/// use blitz::prelude::*;
/// use std::collections::HashMap;
///
/// let mut jobs = HashMap::from([(1, "build"), (2, "test")]);
/// let mut done: Vec<&str> = jobs.par_drain().map(|(_, job)| job).collect();
/// done.sort();
/// assert_eq!(done, ["build", "test"]);
/// assert!(jobs.is_empty());
/// ```
#[derive(Debug)]
pub struct Drain<'a, K, V> {
    inner: hash_map::Drain<'a, K, V>,
}

impl<'a, K: Send, V: Send, S> ParallelDrainFull for &'a mut HashMap<K, V, S> {
    type Iter = Drain<'a, K, V>;
    type Item = (K, V);

    fn par_drain(self) -> Self::Iter {
        Drain {
            inner: self.drain(),
        }
    }
}

walked! { impl [K: Send, V: Send] Drain<'_, K, V> => (K, V) }
