//! A window of uninitialised memory, as a consumer; and the filled part of one, as its result.
//!
//! # Why it is sound, whatever a producer does
//!
//! * A [`Window`] is the exclusive borrow of its slots. It can be cut into two windows that do not overlap, and consumed
//!   once into a folder. It cannot be duplicated, so no slot is ever written by two.
//! * A [`Filled`] owns the initialised slots `start..start + filled` and drops them, unless [`release`](Filled::release)d.
//!   Writing past the window panics. So a panic anywhere, or a producer that produces too few items, drops each item once
//!   and leaks none.
//! * Two results merge only if the right one begins where the left one ends. Anything else drops the right one, and the
//!   count comes up short in the end.

use crate::iter::plumbing::{Consumer, Folder, Reducer, UnindexedConsumer};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;

/// An exclusive borrow of some uninitialised slots.
///
/// It is a raw pointer because two windows that touch can become one again ([`Window::resume`](Consumer::resume)), which two
/// slices cannot.
pub(super) struct Window<'w, T> {
    start: *mut T,
    room: usize,
    window: Borrow<'w, T>,
}

/// Invariant, so that results of different collections cannot be mixed up.
type Borrow<'w, T> = PhantomData<&'w mut &'w mut [MaybeUninit<T>]>;

// SAFETY: it stands for an exclusive borrow.
unsafe impl<T> Send for Window<'_, T> where T: Send {}

impl<'w, T> Window<'w, T> {
    pub(super) fn new(slots: &'w mut [MaybeUninit<T>]) -> Self {
        Window {
            start: slots.as_mut_ptr().cast(),
            room: slots.len(),
            window: PhantomData,
        }
    }
}

impl<'w, T> Consumer<T> for Window<'w, T>
where
    T: Send,
{
    type Folder = Filled<'w, T>;
    type Reducer = Merge;
    type Result = Filled<'w, T>;

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self, Merge) {
        assert!(index <= self.room, "cut beyond the end of the window");
        let left = Window {
            room: index,
            ..self
        };
        let right = Window {
            // SAFETY: within the window, or one past its end.
            start: unsafe { self.start.add(index) },
            room: self.room - index,
            window: PhantomData,
        };
        (left, right, Merge)
    }

    #[inline]
    fn into_folder(self) -> Filled<'w, T> {
        Filled {
            start: self.start,
            room: self.room,
            filled: 0,
            window: PhantomData,
        }
    }

    #[inline]
    fn full(&self) -> bool {
        false
    }

    #[inline]
    fn is_never_full(&self) -> bool {
        true
    }

    const MAY_SEARCH: bool = false;

    #[inline]
    fn can_resume(&self, folder: &Filled<'w, T>) -> bool {
        // SAFETY: one past the end of the folder's window.
        let end = unsafe { folder.start.add(folder.room) };
        end == self.start
    }

    #[inline]
    fn resume(self, mut folder: Filled<'w, T>) -> Filled<'w, T> {
        assert!(self.can_resume(&folder), "the windows do not touch");
        // They touch, and both came out of one borrow, so they are one window.
        folder.room += self.room;
        folder
    }
}

impl<T> UnindexedConsumer<T> for Window<'_, T>
where
    T: Send,
{
    fn split_off_left(&self) -> Self {
        unreachable!("an iterator with a known length must be driven by position")
    }

    fn to_reducer(&self) -> Merge {
        Merge
    }
}

/// The part of a window that has been filled, from the left; folder and result in one.
pub(super) struct Filled<'w, T> {
    start: *mut T,
    room: usize,
    filled: usize,
    window: Borrow<'w, T>,
}

// SAFETY: it owns the filled items and the exclusive right to the rest of the window.
unsafe impl<T> Send for Filled<'_, T> where T: Send {}

impl<T> Filled<'_, T> {
    /// How many items there are.
    pub(super) fn len(&self) -> usize {
        self.filled
    }

    /// Gives up the items without dropping them.
    pub(super) fn release(mut self) {
        self.filled = 0;
    }
}

impl<T> Drop for Filled<'_, T> {
    fn drop(&mut self) {
        let items = ptr::slice_from_raw_parts_mut(self.start, self.filled);
        // SAFETY: exactly these slots have been written, and nobody else owns them.
        unsafe { ptr::drop_in_place(items) }
    }
}

impl<T> Folder<T> for Filled<'_, T>
where
    T: Send,
{
    type Result = Self;

    const MAY_BE_FULL: bool = false;

    #[inline]
    fn consume(mut self, item: T) -> Self {
        self.push(item);
        self
    }

    #[inline]
    fn consume_iter<I>(mut self, iter: I) -> Self
    where
        I: IntoIterator<Item = T>,
    {
        iter.into_iter().for_each(|item| self.push(item));
        self
    }

    #[inline]
    fn complete(self) -> Self {
        self
    }

    #[inline]
    fn full(&self) -> bool {
        false
    }
}

impl<T> Filled<'_, T> {
    #[inline]
    fn push(&mut self, item: T) {
        assert!(
            self.filled < self.room,
            "too many values pushed to consumer"
        );
        // SAFETY: within the window, and not yet initialised, so nothing is overwritten.
        unsafe { self.start.add(self.filled).write(item) };
        self.filled += 1;
    }
}

/// Puts the results of neighbouring windows together.
pub(super) struct Merge;

impl<'w, T> Reducer<Filled<'w, T>> for Merge {
    #[inline]
    fn reduce(self, mut left: Filled<'w, T>, right: Filled<'w, T>) -> Filled<'w, T> {
        // SAFETY: within the left window, or one past its end.
        let end = unsafe { left.start.add(left.filled) };
        if end == right.start {
            left.filled += right.filled;
            left.room = left.room.max(left.filled);
            right.release();
        }
        left
    }
}
