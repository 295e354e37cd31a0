//! Parallel iterators that move items out of a vector.
//!
//! Moving out of a buffer from several threads is the one place among the sources that needs `unsafe`. The reason why it is sound fits in a
//! sentence: *every initialised item has exactly one owner*. Before a producer exists, the vector shortens its own length. So it
//! no longer owns the drained range, nor what follows. From then on each item belongs to the one producer or iterator whose
//! slice covers it. Splitting divides that slice, and `next` takes the item off it before reading it. A producer or iterator that is dropped with
//! items left (the consumer was full, or a closure panicked) drops exactly those. When all are gone, the vector closes the gap
//! and owns the tail again. Leaking a [`Drain`] at worst leaks items.
//!
//! ```
//! use blitz::prelude::*;
//!
//! let mut queue = vec![1, 2, 3, 4, 5];
//! let squares: Vec<i32> = queue.par_drain(1..3).map(|x| x * x).collect();
//! assert_eq!(squares, [4, 9]);
//! assert_eq!(queue, [1, 4, 5]);
//! ```

use crate::delegate::indexed_source;
use crate::iter::plumbing::Producer;
use crate::iter::{IntoParallelIterator, ParallelDrainRange};
use crate::math::simplify_range;
use crate::slice::{Iter, IterMut};
use std::iter::FusedIterator;
use std::mem::{self, MaybeUninit};
use std::ops::{Range, RangeBounds};
use std::{ptr, slice};

impl<'data, T: Sync + 'data> IntoParallelIterator for &'data Vec<T> {
    type Item = &'data T;
    type Iter = Iter<'data, T>;

    fn into_par_iter(self) -> Self::Iter {
        self.as_slice().into_par_iter()
    }
}

impl<'data, T: Send + 'data> IntoParallelIterator for &'data mut Vec<T> {
    type Item = &'data mut T;
    type Iter = IterMut<'data, T>;

    fn into_par_iter(self) -> Self::Iter {
        self.as_mut_slice().into_par_iter()
    }
}

impl<T: Send> IntoParallelIterator for Vec<T> {
    type Item = T;
    type Iter = IntoIter<T>;

    fn into_par_iter(self) -> Self::Iter {
        IntoIter { vec: self }
    }
}

impl<T: Send> IntoParallelIterator for Box<[T]> {
    type Item = T;
    type Iter = IntoIter<T>;

    fn into_par_iter(self) -> Self::Iter {
        IntoIter {
            vec: self.into_vec(),
        }
    }
}

impl<'data, T: Send> ParallelDrainRange<usize> for &'data mut Vec<T> {
    type Iter = Drain<'data, T>;
    type Item = T;

    #[track_caller]
    fn par_drain<R: RangeBounds<usize>>(self, range: R) -> Self::Iter {
        Drain {
            range: simplify_range(range, self.len()),
            full_len: self.len(),
            handed_over: false,
            vec: self,
        }
    }
}

/// Parallel iterator that owns the items of a vector or boxed slice.
///
/// The buffer is freed at the end; items nobody took are dropped in place.
///
/// ```
/// use blitz::prelude::*;
///
/// let words = vec!["to".to_string(), "be".to_string()];
/// let line: String = words.into_par_iter().collect();
/// assert_eq!(line, "tobe");
/// ```
#[derive(Debug, Clone)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct IntoIter<T> {
    vec: Vec<T>,
}

indexed_source! {
    impl [T: Send] IntoIter<T> => T;
    fn len(self) { self.vec.len() }
    fn with_producer(self, callback) {
        // After a full drain the vector only has its buffer to free.
        let mut vec = self.vec;
        vec.par_drain(..).with_producer(callback)
    }
}

/// Parallel iterator that moves a range out of a vector and leaves it its capacity.
///
/// Made by [`par_drain`](ParallelDrainRange::par_drain). The range is removed even if the iterator is dropped unused, and also
/// if a closure panics in the middle; the items behind it move up.
///
/// ```
/// use blitz::prelude::*;
///
/// let mut v = vec![10, 20, 30, 40];
/// assert_eq!(v.par_drain(..2).sum::<i32>(), 30);
/// assert_eq!(v, [30, 40]);
/// ```
#[derive(Debug)]
pub struct Drain<'data, T: Send> {
    vec: &'data mut Vec<T>,
    range: Range<usize>,
    /// Length of the vector before anything happened.
    full_len: usize,
    /// Whether a producer has taken over the items of the range; the vector's length is then `range.start`.
    handed_over: bool,
}

indexed_source! {
    impl ['data, T: Send] Drain<'data, T> => T;
    fn len(self) { self.range.len() }
    fn with_producer(self, callback) {
        let mut drain = self;
        let producer = drain.hand_over();
        // `drain` is dropped when this returns or unwinds, and then closes the gap.
        callback.callback(producer)
    }
}

impl<T: Send> Drain<'_, T> {
    /// Makes a producer the owner of the range. The vector keeps what stands before, and its own drop restores the rest.
    fn hand_over(&mut self) -> MovingProducer<'_, T> {
        self.handed_over = true;
        // SAFETY: shrinking the length is always allowed: the items from `range.start` on stay initialised in the buffer, and
        // merely have no owner until the producer below and `drop` take them.
        unsafe { self.vec.set_len(self.range.start) };
        // SAFETY: `range` lies within the original length (checked when the drain was made), so the pointer and length
        // describe initialised items of the buffer; it comes from the vector itself, so it may reach past the vector's length.
        // Nobody else owns these items now, and the borrow of `self` keeps the vector from being touched meanwhile.
        unsafe {
            let first = self.vec.as_mut_ptr().add(self.range.start);
            MovingProducer::new(slice::from_raw_parts_mut(first.cast(), self.range.len()))
        }
    }
}

impl<T: Send> Drop for Drain<'_, T> {
    fn drop(&mut self) {
        let Range { start, end } = self.range;
        if !self.handed_over {
            self.vec.drain(start..end);
            return;
        }
        let tail = self.full_len - end;
        // SAFETY: the producer is gone and with it every item of `start..end`. The `tail` items behind are initialised and
        // without an owner; they move down over the gap (the ranges may overlap, hence `copy`), and the new length makes them
        // the vector's again. All of it lies within the original length.
        unsafe {
            let base = self.vec.as_mut_ptr();
            if start != end {
                ptr::copy(base.add(end), base.add(start), tail);
            }
            self.vec.set_len(start + tail);
        }
    }
}

/// Producer that owns the items behind an exclusive borrow and moves them out.
pub(crate) struct MovingProducer<'data, T: Send> {
    /// All initialised; each is taken or dropped once.
    items: &'data mut [MaybeUninit<T>],
}

impl<'data, T: Send> MovingProducer<'data, T> {
    /// # Safety
    ///
    /// All items are initialised, and ownership of them passes to the producer: the caller must neither read nor drop them
    /// again, not even after the borrow ends.
    pub(crate) unsafe fn new(items: &'data mut [MaybeUninit<T>]) -> Self {
        MovingProducer { items }
    }
}

impl<'data, T: Send> Producer for MovingProducer<'data, T> {
    type Item = T;
    type IntoIter = MovingIter<'data, T>;

    #[inline]
    fn into_iter(mut self) -> Self::IntoIter {
        // Taking the slice leaves this producer empty, so that its drop does nothing.
        MovingIter {
            items: mem::take(&mut self.items).iter_mut(),
        }
    }

    #[inline]
    fn split_at(mut self, index: usize) -> (Self, Self) {
        let (left, right) = mem::take(&mut self.items).split_at_mut(index);
        (
            MovingProducer { items: left },
            MovingProducer { items: right },
        )
    }
}

impl<T: Send> Drop for MovingProducer<'_, T> {
    fn drop(&mut self) {
        // SAFETY: the items are initialised and ours alone (see `new`), and nobody looks at them after their owner is gone.
        unsafe { drop_items(mem::take(&mut self.items)) }
    }
}

/// The sequential side of [`MovingProducer`].
pub(crate) struct MovingIter<'data, T> {
    /// The items not yet taken, all initialised.
    items: slice::IterMut<'data, MaybeUninit<T>>,
}

impl<T> Iterator for MovingIter<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        let item = self.items.next()?;
        // SAFETY: the item is initialised, and has just left the iterator: nobody will read or drop it a second time.
        Some(unsafe { item.assume_init_read() })
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }
}

impl<T> DoubleEndedIterator for MovingIter<'_, T> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        let item = self.items.next_back()?;
        // SAFETY: as in `next`.
        Some(unsafe { item.assume_init_read() })
    }
}

impl<T> ExactSizeIterator for MovingIter<'_, T> {}

impl<T> FusedIterator for MovingIter<'_, T> {}

impl<T> Drop for MovingIter<'_, T> {
    fn drop(&mut self) {
        let rest = mem::take(&mut self.items).into_slice();
        // SAFETY: what has not been taken is initialised and ours alone, and nobody looks at it after its owner is gone.
        unsafe { drop_items(rest) }
    }
}

/// Drops all items. If one of them panics, the others are dropped all the same, as for a vector.
///
/// # Safety
///
/// All items are initialised and are not used afterwards.
unsafe fn drop_items<T>(items: &mut [MaybeUninit<T>]) {
    let items: *mut [MaybeUninit<T>] = items;
    // SAFETY: `MaybeUninit<T>` has the layout of `T`; the rest is the caller's promise.
    unsafe { ptr::drop_in_place(items as *mut [T]) }
}

#[cfg(test)]
mod tests;
