//! Parallel iterators over the standard collections.
//!
//! `BinaryHeap` and `VecDeque` keep their items in slices, and are shared in place. The tree, hash and list collections offer
//! no way to enter them in the middle. They are walked sequentially until sharing proves worthwhile. Then the items that are left are
//! gathered in a vector.
//!
//! The [`par_drain`](crate::iter::ParallelDrainFull::par_drain) methods empty a collection and leave it its capacity.

pub mod binary_heap;
pub mod btree_map;
pub mod btree_set;
pub mod hash_map;
pub mod hash_set;
pub mod linked_list;
pub mod vec_deque;

mod as_vec;
mod walk;

use std::panic::UnwindSafe;

// Those that own their items: what a panic leaves behind in an item is the item's business, as with a vector. The standard library's iterators, which are inside, have pointers to the items, and so are
// unwind safe only if shared references to these are.
impl<K: UnwindSafe, V: UnwindSafe> UnwindSafe for btree_map::IntoIter<K, V> {}
impl<T: UnwindSafe> UnwindSafe for btree_set::IntoIter<T> {}
impl<K: UnwindSafe, V: UnwindSafe> UnwindSafe for hash_map::IntoIter<K, V> {}
impl<T: UnwindSafe> UnwindSafe for hash_set::IntoIter<T> {}
impl<T: UnwindSafe> UnwindSafe for linked_list::IntoIter<T> {}

/// Implements `ParallelIterator` for an iterator that has a sequential one of known length in its field `inner`.
///
/// It is no `IndexedParallelIterator`: to start at an index, a walk must come by all items before it. The module it is used in
/// says in a constant `ORDER` what the order of its items means.
macro_rules! walked {
    (impl [$($generics:tt)*] $name:ty => $item:ty) => {
        impl<$($generics)*> $crate::iter::ParallelIterator for $name {
            type Item = $item;

            fn drive_unindexed<C>(self, consumer: C) -> C::Result
            where
                C: $crate::iter::plumbing::UnindexedConsumer<Self::Item>,
            {
                $crate::collections::walk::drive(self.inner, consumer, ORDER)
            }

            fn opt_len(&self) -> Option<usize> {
                Some(self.inner.len())
            }

            const MAY_LACK_LEN: bool = false;
        }
    };
}
use walked;

/// Defines a public iterator around the sequential iterator `$inner` of a collection.
macro_rules! walked_collection {
    (
        $(#[$attribute:meta])*
        impl [$($generics:tt)*] $name:ident<$($parameter:tt),*> => $item:ty;
        from [$($source_generics:tt)*] $source:ty as $inner:ty
    ) => {
        $(#[$attribute])*
        #[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
        pub struct $name<$($parameter),*> {
            inner: $inner,
        }

        impl<$($source_generics)*> $crate::iter::IntoParallelIterator for $source {
            type Item = $item;
            type Iter = $name<$($parameter),*>;

            fn into_par_iter(self) -> Self::Iter {
                $name { inner: self.into_iter() }
            }
        }

        $crate::collections::walked! { impl [$($generics)*] $name<$($parameter),*> => $item }
    };
}
use walked_collection;

/// Defines the public iterator over a map's keys and exclusive references to its values, around std's of the same name.
macro_rules! walked_values {
    (
        $(#[$attribute:meta])*
        impl $name:ident;
        from [$($source_generics:tt)*] $source:ty as $inner:ty
    ) => {
        $(#[$attribute])*
        #[derive(Debug)]
        #[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
        pub struct $name<'a, K, V> {
            inner: $crate::collections::walk::Movable<$inner>,
        }

        impl<$($source_generics)*> $crate::iter::IntoParallelIterator for $source {
            type Item = (&'a K, &'a mut V);
            type Iter = $name<'a, K, V>;

            fn into_par_iter(self) -> Self::Iter {
                // SAFETY: an exclusive iterator over a map only hands out references to its entries.
                let inner = unsafe { $crate::collections::walk::Movable::new(self.iter_mut()) };
                $name { inner }
            }
        }

        $crate::collections::walked! { impl ['a, K: Sync, V: Send] $name<'a, K, V> => (&'a K, &'a mut V) }
    };
}
use walked_values;

#[cfg(test)]
mod tests;
