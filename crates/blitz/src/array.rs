//! Parallel iterators over arrays.
//!
//! By reference an array is a slice. By value its items are moved out of the array's own place on the stack: nothing is
//! allocated, and the items are moved or dropped by the producer that [`vec`](mod@crate::vec) describes.

use crate::delegate::indexed_source;
use crate::iter::IntoParallelIterator;
use crate::slice::{Iter, IterMut};
use crate::vec::MovingProducer;
use std::mem::ManuallyDrop;
use std::slice;

impl<'data, T: Sync + 'data, const N: usize> IntoParallelIterator for &'data [T; N] {
    type Item = &'data T;
    type Iter = Iter<'data, T>;

    fn into_par_iter(self) -> Self::Iter {
        self.as_slice().into_par_iter()
    }
}

impl<'data, T: Send + 'data, const N: usize> IntoParallelIterator for &'data mut [T; N] {
    type Item = &'data mut T;
    type Iter = IterMut<'data, T>;

    fn into_par_iter(self) -> Self::Iter {
        self.as_mut_slice().into_par_iter()
    }
}

impl<T: Send, const N: usize> IntoParallelIterator for [T; N] {
    type Item = T;
    type Iter = IntoIter<T, N>;

    fn into_par_iter(self) -> Self::Iter {
        IntoIter { array: self }
    }
}

/// Parallel iterator that owns the items of an array.
///
/// ```
/// use blitz::prelude::*;
///
/// let doubled: Vec<i32> = [1, 2, 3].into_par_iter().map(|x| 2 * x).collect();
/// assert_eq!(doubled, [2, 4, 6]);
/// ```
#[derive(Debug, Clone)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct IntoIter<T, const N: usize> {
    array: [T; N],
}

indexed_source! {
    impl [T: Send, const N: usize] IntoIter<T, N> => T;
    fn len(self) { N }
    fn with_producer(self, callback) {
        let mut array = ManuallyDrop::new(self.array);
        // SAFETY: the pointer and length are those of the array, whose items are initialised and which outlives the producer.
        // `ManuallyDrop` keeps the array from ever dropping them itself, so the producer may own them.
        let producer = unsafe { MovingProducer::new(slice::from_raw_parts_mut(array.as_mut_ptr().cast(), N)) };
        callback.callback(producer)
    }
}

#[cfg(test)]
mod tests {
    use crate::prelude::*;
    use std::sync::Arc;

    #[test]
    fn an_array_gives_its_items_by_value_by_reference_and_by_exclusive_reference() {
        let mut array = [1, 2, 3, 4, 5];
        assert_eq!(
            array.into_par_iter().map(|x| x * 10).collect::<Vec<i32>>(),
            [10, 20, 30, 40, 50]
        );
        array.par_iter_mut().for_each(|x| *x += 1);
        assert_eq!(
            (&array).into_par_iter().copied().collect::<Vec<_>>(),
            [2, 3, 4, 5, 6]
        );
        assert_eq!([(); 0].into_par_iter().count(), 0);
        assert_eq!([(); 7].into_par_iter().count(), 7);
    }

    #[test]
    fn items_left_over_by_a_full_consumer_are_dropped_once() {
        let item = Arc::new(());
        let array: [Arc<()>; 33] = std::array::from_fn(|_| item.clone());
        let found = array.into_par_iter().find_any(|_| true);
        assert!(found.is_some());
        drop(found);
        assert_eq!(Arc::strong_count(&item), 1);
    }

    #[test]
    fn a_clone_owns_items_of_its_own() {
        let item = Arc::new(());
        let iter = [item.clone(), item.clone()].into_par_iter();
        let copy = iter.clone();
        assert_eq!(Arc::strong_count(&item), 5);
        assert_eq!(iter.count() + copy.count(), 4);
        assert_eq!(Arc::strong_count(&item), 1);
    }
}
