//! Building a vector piece by piece, in parallel, in place.
//!
//! [`build`] gives every piece of a vector-to-be to a closure that fills it; [`Building`] lets the caller choose the pieces.
//! The vector exists only when all pieces are full. Until then each element has one owner: the [`Filler`] of its piece while
//! that is being filled, and the list of finished pieces afterwards; so a panic anywhere drops what was made exactly once.

use super::chunks::chunks_of;
use super::pieces::pieces;
use crate::engine::sync::locks::Mutex;
use crate::iter::ParallelIterator;
use crate::slice::sort::raw::{Shared, welcome_huge_pages};
use std::marker::PhantomData;
use std::mem::{ManuallyDrop, forget, needs_drop};
use std::ops::Range;
use std::ptr;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A vector of `len` elements, made by `fill`, which gets every piece once and must push exactly as many elements as it is
/// long.
///
/// # Panics
/// With the panic of `fill`, or if it pushes too few or too many.
pub(crate) fn build<T, F>(len: usize, fill: F) -> Vec<T>
where
    T: Send,
    F: Fn(Range<usize>, &mut Filler<'_, T>) + Sync,
{
    let building = Building::new(len);
    pieces(0..len).for_each(|piece| {
        // SAFETY: pieces do not overlap.
        unsafe { building.fill(piece.clone(), |filler| fill(piece, filler)) };
    });
    building.finish()
}

/// A vector-to-be whose pieces are filled in any order, by any thread.
pub(crate) struct Building<T: Send> {
    /// The memory of an empty vector. Only its address is kept: threads share the building, and need no access to elements.
    base: Shared<T>,
    capacity: usize,
    len: usize,
    filled: AtomicUsize,
    /// The pieces that are full, if their elements must be dropped should the vector not be finished.
    done: Mutex<Vec<Range<usize>>>,
}

impl<T: Send> Building<T> {
    pub(crate) fn new(len: usize) -> Self {
        let mut vector = ManuallyDrop::new(Vec::with_capacity(len));
        welcome_huge_pages(&mut *vector);
        Building {
            base: Shared::new(vector.as_mut_ptr()),
            capacity: vector.capacity(),
            len,
            filled: AtomicUsize::new(0),
            done: Mutex::new(Vec::new()),
        }
    }

    /// Fills a piece and returns what `fill` returns.
    ///
    /// # Safety
    /// No other piece overlaps this one, ever.
    ///
    /// # Panics
    /// With the panic of `fill`, if it does not push exactly as many elements as the piece is long, and if the piece is not
    /// inside the vector.
    pub(crate) unsafe fn fill<R>(
        &self,
        piece: Range<usize>,
        fill: impl FnOnce(&mut Filler<'_, T>) -> R,
    ) -> R {
        let inside = piece.start <= piece.end && piece.end <= self.len;
        assert!(inside, "a piece outside of the vector");
        // SAFETY: the piece lies within the capacity, and nobody else writes to it.
        let mut filler = unsafe { Filler::new(self.base, piece) };
        let result = fill(&mut filler);
        let range = filler.finish();
        // Relaxed is enough: whoever finishes the vector has joined all threads that filled it.
        self.filled.fetch_add(range.len(), Ordering::Relaxed);
        if needs_drop::<T>() {
            let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push(range);
        }
        result
    }

    /// The vector.
    ///
    /// # Panics
    /// When some piece was not filled.
    pub(crate) fn finish(mut self) -> Vec<T> {
        // Pieces do not overlap, so as many elements as places means that no place is left.
        let filled = *self.filled.get_mut();
        assert_eq!(filled, self.len, "some pieces were not filled");
        // From here on the vector is responsible for the elements and the memory.
        self.done = Mutex::default();
        let this = ManuallyDrop::new(self);
        // SAFETY: address and capacity are those of a vector that was taken apart, and all places are filled.
        unsafe { Vec::from_raw_parts(this.base.get(), this.len, this.capacity) }
    }
}

impl<T: Send> Drop for Building<T> {
    fn drop(&mut self) {
        let done = self.done.get_mut().unwrap_or_else(PoisonError::into_inner);
        for range in done.drain(..) {
            // SAFETY: this piece is full, and nobody else will drop it.
            unsafe {
                let start = self.base.get().add(range.start);
                ptr::drop_in_place(ptr::slice_from_raw_parts_mut(start, range.len()));
            }
        }
        // SAFETY: address and capacity are those of a vector that was taken apart; it owns nothing but its memory.
        drop(unsafe { Vec::from_raw_parts(self.base.get(), 0, self.capacity) });
    }
}

/// A piece of a vector-to-be, filled from the front.
pub(crate) struct Filler<'a, T> {
    start: *mut T,
    range: Range<usize>,
    filled: usize,
    vector: PhantomData<&'a mut T>,
}

impl<T> Filler<'_, T> {
    /// # Safety
    /// The range is writable memory from `base` on that nobody else uses while the filler exists.
    unsafe fn new(base: Shared<T>, range: Range<usize>) -> Self {
        Filler {
            // SAFETY: the caller's promise.
            start: unsafe { base.get().add(range.start) },
            range,
            filled: 0,
            vector: PhantomData,
        }
    }

    /// Adds an element.
    ///
    /// # Panics
    /// When the piece is full.
    #[inline]
    pub(crate) fn push(&mut self, value: T) {
        self.check_room(1);
        // SAFETY: the place is inside the piece and not yet filled.
        unsafe { self.start.add(self.filled).write(value) };
        self.filled += 1;
    }

    /// Adds what `make` makes of each element of a slice.
    ///
    /// # Panics
    /// When there is not enough room, and with the panics of `make`.
    #[inline]
    pub(crate) fn push_all<X>(&mut self, source: &[X], mut make: impl FnMut(&X) -> T) {
        self.check_room(source.len());
        let (start, filled) = (self.start, &mut self.filled);
        // Unrolled by hand: compilers do not unroll chains of short steps, which doubles the time of a scan.
        let (chunks, rest) = chunks_of::<X, 8>(source);
        for chunk in chunks {
            for x in chunk {
                // SAFETY: there is room for as many elements as the source has.
                unsafe { start.add(*filled).write(make(x)) };
                *filled += 1;
            }
        }
        for x in rest {
            // SAFETY: as above.
            unsafe { start.add(*filled).write(make(x)) };
            *filled += 1;
        }
    }

    /// Adds copies of all elements of a slice.
    ///
    /// # Panics
    /// When there is not enough room.
    pub(crate) fn push_copies(&mut self, values: &[T])
    where
        T: Copy,
    {
        self.check_room(values.len());
        // SAFETY: the places are inside the piece and not yet filled; no slice can overlap memory that only we write to.
        unsafe {
            let target = self.start.add(self.filled);
            ptr::copy_nonoverlapping(values.as_ptr(), target, values.len());
        }
        self.filled += values.len();
    }

    /// Adds copies of those elements of a slice whose flag is set.
    ///
    /// # Panics
    /// When there is not enough room.
    pub(crate) fn push_where(&mut self, values: &[T], keep: &[bool])
    where
        T: Copy,
    {
        let room = self.range.len();
        let mut filled = self.filled;
        for (value, keep) in values.iter().zip(keep) {
            if filled == room {
                assert!(!keep, "a piece got too many elements");
                continue;
            }
            // SAFETY: the place is inside the piece and not yet filled. If the element is not kept, the next one overwrites
            // it, or it stays behind the filled part; copies need no dropping.
            unsafe { self.start.add(filled).write(*value) };
            filled += usize::from(*keep);
        }
        self.filled = filled;
    }

    #[inline]
    fn check_room(&self, wanted: usize) {
        let room = self.range.len() - self.filled;
        assert!(wanted <= room, "a piece got too many elements");
    }

    /// The piece's range, given that it is full.
    fn finish(self) -> Range<usize> {
        let room = self.range.len();
        assert_eq!(self.filled, room, "a piece got too few elements");
        let range = self.range.clone();
        forget(self);
        range
    }
}

impl<T> Drop for Filler<'_, T> {
    fn drop(&mut self) {
        let pushed = ptr::slice_from_raw_parts_mut(self.start, self.filled);
        // SAFETY: these have been pushed, and nobody else owns them.
        unsafe { ptr::drop_in_place(pushed) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Arc;

    #[test]
    fn pieces_become_one_vector() {
        let v: Vec<usize> = build(100_000, |range, filler| range.for_each(|i| filler.push(i)));
        assert!(v.into_iter().eq(0..100_000));
    }

    #[test]
    fn a_panic_drops_what_was_made_exactly_once() {
        let token = Arc::new(());
        let building = Building::new(1000);
        let fill = |piece: Range<usize>| {
            // SAFETY: halves do not overlap.
            unsafe {
                building.fill(piece.clone(), |filler| {
                    for i in piece {
                        assert!(i != 567, "this one panics");
                        filler.push(Arc::clone(&token));
                    }
                });
            }
        };
        let result = catch_unwind(AssertUnwindSafe(|| {
            crate::ops::pieces::halve(0..1000, 10, &fill, &|(), ()| ());
        }));
        assert!(result.is_err());
        assert!(Arc::strong_count(&token) > 1);
        drop(building);
        assert_eq!(Arc::strong_count(&token), 1);
    }

    #[test]
    #[should_panic(expected = "too few")]
    fn a_piece_that_stays_unfilled_is_an_error() {
        build::<String, _>(5, |_, _| {});
    }

    #[test]
    #[should_panic(expected = "too many")]
    fn a_piece_with_too_much_is_an_error() {
        build::<u8, _>(5, |range, filler| {
            filler.push_copies(&vec![0; range.len() + 1])
        });
    }

    #[test]
    #[should_panic(expected = "not filled")]
    fn a_vector_with_a_hole_is_an_error() {
        Building::<u8>::new(3).finish();
    }
}
