//! Parallel iterators over `LinkedList`, in list order.

use super::walk::Order;
use super::walked_collection;
use crate::delegate::clone_references;
use std::collections::{LinkedList, linked_list};

const ORDER: Order = Order::Meaningful;

walked_collection! {
    /// Parallel iterator that owns the items of a list.
    ///
    /// ```
    /// use blitz::prelude::*;
    /// use std::collections::LinkedList;
    ///
    /// let doubled: Vec<i32> = LinkedList::from([1, 2, 3]).into_par_iter().map(|x| 2 * x).collect();
    /// assert_eq!(doubled, [2, 4, 6]);
    /// ```
    #[derive(Debug, Clone)]
    impl [T: Send] IntoIter<T> => T;
    from [T: Send] LinkedList<T> as linked_list::IntoIter<T>
}

walked_collection! {
    /// Parallel iterator over references to the items of a list.
    ///
    /// ```
    /// use blitz::prelude::*;
    /// use std::collections::LinkedList;
    ///
    /// let list = LinkedList::from([1, 2, 3]);
    /// assert_eq!(list.par_iter().sum::<i32>(), 6);
    /// ```
    #[derive(Debug)]
    impl ['a, T: Sync] Iter<'a, T> => &'a T;
    from ['a, T: Sync] &'a LinkedList<T> as linked_list::Iter<'a, T>
}

walked_collection! {
    /// Parallel iterator over exclusive references to the items of a list.
    ///
    /// ```
    /// use blitz::prelude::*;
    /// use std::collections::LinkedList;
    ///
    /// let mut list = LinkedList::from([1, 2, 3]);
    /// list.par_iter_mut().for_each(|x| *x += 1);
    /// assert_eq!(list, LinkedList::from([2, 3, 4]));
    /// ```
    #[derive(Debug)]
    impl ['a, T: Send] IterMut<'a, T> => &'a mut T;
    from ['a, T: Send] &'a mut LinkedList<T> as linked_list::IterMut<'a, T>
}

clone_references! { Iter of T }
