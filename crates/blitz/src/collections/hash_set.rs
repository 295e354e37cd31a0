//! Parallel iterators over `HashSet`, in no particular order.

use super::gathered;
use crate::delegate::delegate_unindexed;
use crate::iter::{IntoParallelIterator, ParallelDrainFull};
use crate::vec;
use std::collections::HashSet;
use std::marker::PhantomData;

gathered! {
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
    from [T: Send, S] HashSet<T, S>
}

gathered! {
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
    from ['a, T: Sync, S] &'a HashSet<T, S>
}

// By hand: a derive would ask for `T: Clone`, although only references are copied.
impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Iter {
            inner: self.inner.clone(),
        }
    }
}

/// Parallel iterator that empties a set and leaves it its capacity.
///
/// The set is empty from the moment the iterator is made.
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
    inner: vec::IntoIter<T>,
    /// The set stays borrowed, as std's drain would have it.
    borrow: PhantomData<&'a mut HashSet<T>>,
}

impl<'a, T: Send, S> ParallelDrainFull for &'a mut HashSet<T, S> {
    type Iter = Drain<'a, T>;
    type Item = T;

    fn par_drain(self) -> Self::Iter {
        let items: Vec<T> = self.drain().collect();
        Drain {
            inner: items.into_par_iter(),
            borrow: PhantomData,
        }
    }
}

delegate_unindexed! { impl [T: Send] Drain<'_, T> => T }
