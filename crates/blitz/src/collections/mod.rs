//! Parallel iterators over the standard collections.
//!
//! `BinaryHeap` and `VecDeque` keep their items in slices, and are iterated in place. The tree, hash and list collections offer
//! no way to enter them in the middle: their items (or references to them) are first gathered in a vector, sequentially, and
//! that is iterated in parallel. So the cost of `par_iter()` there is one allocation and one plain iteration, worth it if there
//! is real work to do per item.
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

/// Defines a public iterator over a collection that is gathered into a vector first.
///
/// The iterator delegates to the vector's; it has an exact `opt_len`, but is not an `IndexedParallelIterator`, as the order of
/// most of these collections means nothing.
macro_rules! gathered {
    (
        $(#[$attribute:meta])*
        impl [$($generics:tt)*] $name:ident<$($parameter:tt),*> => $item:ty;
        from [$($source_generics:tt)*] $source:ty
    ) => {
        $(#[$attribute])*
        #[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
        pub struct $name<$($parameter),*> {
            inner: $crate::vec::IntoIter<$item>,
        }

        impl<$($source_generics)*> $crate::iter::IntoParallelIterator for $source {
            type Item = $item;
            type Iter = $name<$($parameter),*>;

            fn into_par_iter(self) -> Self::Iter {
                let items: Vec<$item> = self.into_iter().collect();
                $name { inner: $crate::iter::IntoParallelIterator::into_par_iter(items) }
            }
        }

        $crate::delegate::delegate_unindexed! { impl [$($generics)*] $name<$($parameter),*> => $item }
    };
}
use gathered;

#[cfg(test)]
mod tests;
