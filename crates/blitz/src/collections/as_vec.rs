//! Draining a collection as the vector it is made of.
//!
//! `BinaryHeap` and `VecDeque` turn into a vector and back without allocating, so their drains borrow the machinery, and the
//! guarantees, of `Vec`'s. The vector goes back into the collection when the guard is dropped, whatever happened in between.

use std::mem;

/// Holds the items of a collection as a vector and puts the vector back when dropped.
pub(super) struct AsVec<'a, T, C: From<Vec<T>>> {
    collection: &'a mut C,
    pub(super) vec: Vec<T>,
}

impl<'a, T, C> AsVec<'a, T, C>
where
    C: Default + From<Vec<T>> + Into<Vec<T>>,
{
    pub(super) fn new(collection: &'a mut C) -> Self {
        AsVec {
            vec: mem::take(collection).into(),
            collection,
        }
    }
}

impl<T, C: From<Vec<T>>> Drop for AsVec<'_, T, C> {
    fn drop(&mut self) {
        *self.collection = mem::take(&mut self.vec).into();
    }
}
