//! Writing to one slice from many threads, each to its own places.
//!
//! When every element of an output has exactly one writer (collect, scatter, the merge of a sort),
//! the writers need neither locks nor atomics, only a way around the rule that a `&mut` slice has
//! one holder. [`SyncPtr`] is that way: a copyable pointer to a mutably borrowed slice. The borrow
//! lasts as long as the pointer, so the slice can neither go away nor be touched by others; that no
//! two threads touch the *same element* is the promise of the caller, which is why every access is
//! unsafe. Debug builds check bounds.

use std::fmt;
use std::marker::PhantomData;
use std::ptr;
use std::slice;

/// A pointer to a slice that several threads may write to, in disjoint places.
///
/// ```
/// use blitz_primitives::SyncPtr;
///
/// let mut squares = [0; 8];
/// let output = SyncPtr::new(&mut squares);
/// std::thread::scope(|threads| {
///     for half in [0..4, 4..8] {
///         threads.spawn(move || {
///             for i in half {
///                 // SAFETY: the halves are disjoint and within the slice.
///                 unsafe { output.write_at(i, i * i) };
///             }
///         });
///     }
/// });
/// assert_eq!(squares, [0, 1, 4, 9, 16, 25, 36, 49]);
/// ```
///
/// For memory that is not initialised yet, use a `SyncPtr<MaybeUninit<T>>`, for example of
/// `Vec::spare_capacity_mut`.
pub struct SyncPtr<'a, T> {
    start: *mut T,
    len: usize,
    slice: PhantomData<&'a mut [T]>,
}

// SAFETY: sending the pointer lets another thread write and read elements, i.e. sends elements: that
// is what `T: Send` allows. The accesses themselves are the callers' responsibility.
unsafe impl<T: Send> Send for SyncPtr<'_, T> {}
// SAFETY: a shared `SyncPtr` can do no more than a copy of it, which could be sent.
unsafe impl<T: Send> Sync for SyncPtr<'_, T> {}

impl<T> Clone for SyncPtr<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SyncPtr<'_, T> {}

impl<'a, T> SyncPtr<'a, T> {
    /// Borrows a slice for disjoint access.
    ///
    /// ```
    /// use blitz_primitives::SyncPtr;
    ///
    /// let mut room = [0; 4];
    /// let pointer = SyncPtr::new(&mut room);
    /// // SAFETY: in bounds, and there is one thread.
    /// unsafe { pointer.write_at(3, 7) };
    /// assert_eq!(room, [0, 0, 0, 7]);
    /// ```
    pub const fn new(slice: &'a mut [T]) -> Self {
        Self {
            start: slice.as_mut_ptr(),
            len: slice.len(),
            slice: PhantomData,
        }
    }

    /// Makes a pointer to `len` elements at `start`, for memory that is not a Rust slice.
    ///
    /// # Safety
    ///
    /// For all of `'a`, `start` points to `len` elements in one allocation, valid for reads and writes
    /// (initialised only where they are read), and nobody accesses them except through this pointer
    /// and its copies.
    ///
    /// ```
    /// use blitz_primitives::SyncPtr;
    ///
    /// let mut numbers = Vec::with_capacity(3);
    /// // SAFETY: the vector has room for three elements, and nobody else touches it.
    /// unsafe {
    ///     let room = SyncPtr::from_raw_parts(numbers.as_mut_ptr(), 3);
    ///     (0..3).for_each(|index| room.write_at(index, index * 10));
    ///     numbers.set_len(3);
    /// }
    /// assert_eq!(numbers, [0, 10, 20]);
    /// ```
    pub const unsafe fn from_raw_parts(start: *mut T, len: usize) -> Self {
        Self {
            start,
            len,
            slice: PhantomData,
        }
    }

    /// The number of elements.
    ///
    /// ```
    /// assert_eq!(blitz_primitives::SyncPtr::new(&mut [1, 2, 3]).len(), 3);
    /// ```
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no elements.
    ///
    /// ```
    /// assert!(blitz_primitives::SyncPtr::<u8>::new(&mut []).is_empty());
    /// ```
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address of the first element.
    ///
    /// ```
    /// let mut numbers = [1, 2];
    /// let first = numbers.as_mut_ptr();
    /// assert_eq!(blitz_primitives::SyncPtr::new(&mut numbers).as_ptr(), first);
    /// ```
    pub const fn as_ptr(&self) -> *mut T {
        self.start
    }

    /// The address of element `index`.
    ///
    /// # Safety
    ///
    /// `index` is at most the length.
    ///
    /// ```
    /// use blitz_primitives::SyncPtr;
    ///
    /// let mut numbers = [1, 2, 3];
    /// let all = SyncPtr::new(&mut numbers);
    /// // SAFETY: in bounds, and there is one thread.
    /// unsafe { *all.ptr_at(1) += 10 };
    /// assert_eq!(numbers, [1, 12, 3]);
    /// ```
    #[inline(always)]
    pub const unsafe fn ptr_at(&self, index: usize) -> *mut T {
        debug_assert!(index <= self.len, "index out of bounds");
        // SAFETY: at most one past the end, by contract.
        unsafe { self.start.add(index) }
    }

    /// Stores `value` as element `index`. The old element is overwritten, not dropped.
    ///
    /// # Safety
    ///
    /// `index` is below the length, and no other thread accesses that element at the same time.
    ///
    /// ```
    /// use blitz_primitives::SyncPtr;
    ///
    /// let mut evens = [0; 4];
    /// let output = SyncPtr::new(&mut evens);
    /// std::thread::scope(|threads| {
    ///     for index in 0..4 {
    ///         // SAFETY: each thread writes to an element of its own.
    ///         threads.spawn(move || unsafe { output.write_at(index, 2 * index) });
    ///     }
    /// });
    /// assert_eq!(evens, [0, 2, 4, 6]);
    /// ```
    #[inline(always)]
    pub const unsafe fn write_at(&self, index: usize, value: T) {
        debug_assert!(index < self.len, "index out of bounds");
        // SAFETY: within the slice and exclusive, by contract.
        unsafe { self.start.add(index).write(value) };
    }

    /// Takes element `index` out bit by bit, leaving the bits behind.
    ///
    /// # Safety
    ///
    /// `index` is below the length, the element is initialised, and no other thread writes it at the
    /// same time. If `T` is not `Copy`, the element has moved: it must be overwritten with
    /// [`write_at`](Self::write_at) or forgotten before anything drops or reads it again.
    ///
    /// ```
    /// use blitz_primitives::SyncPtr;
    /// let mut words = [String::from("left"), String::from("right")];
    /// let words_ptr = SyncPtr::new(&mut words);
    /// // SAFETY: in bounds, one thread; both elements are overwritten after being moved out.
    /// unsafe {
    ///     let (left, right) = (words_ptr.read_at(0), words_ptr.read_at(1));
    ///     words_ptr.write_at(0, right);
    ///     words_ptr.write_at(1, left);
    /// }
    /// assert_eq!(words, ["right", "left"]);
    /// ```
    #[inline(always)]
    pub const unsafe fn read_at(&self, index: usize) -> T {
        debug_assert!(index < self.len, "index out of bounds");
        // SAFETY: within the slice, initialised and not written concurrently, by contract.
        unsafe { self.start.add(index).read() }
    }

    /// Borrows `len` elements from `offset` on, for exclusive use.
    ///
    /// # Safety
    ///
    /// `offset + len` is at most the length, the elements are initialised, and as long as the result
    /// is in use nobody else accesses them, on this or another thread.
    ///
    /// ```
    /// use blitz_primitives::SyncPtr;
    /// let mut data = [1, 2, 3, 4];
    /// let all = SyncPtr::new(&mut data);
    /// // SAFETY: the two halves are in bounds and do not overlap.
    /// let (left, right) = unsafe { (all.slice_from(0, 2), all.slice_from(2, 2)) };
    /// left.swap_with_slice(right);
    /// assert_eq!(data, [3, 4, 1, 2]);
    /// ```
    #[inline(always)]
    pub const unsafe fn slice_from(&self, offset: usize, len: usize) -> &'a mut [T] {
        debug_assert!(
            offset <= self.len && len <= self.len - offset,
            "range out of bounds"
        );
        // SAFETY: within the slice, initialised and exclusive, by contract; the borrow behind this
        // pointer lasts for `'a`.
        unsafe { slice::from_raw_parts_mut(self.start.add(offset), len) }
    }

    /// Copies `source` to the elements from `offset` on.
    ///
    /// # Safety
    ///
    /// `offset + source.len()` is at most the length, `source` does not overlap these elements, and
    /// no other thread accesses them at the same time.
    ///
    /// ```
    /// use blitz_primitives::SyncPtr;
    ///
    /// let mut text = *b"......";
    /// let output = SyncPtr::new(&mut text);
    /// // SAFETY: in bounds, and the two places do not overlap.
    /// unsafe {
    ///     output.copy_at(0, b"abc");
    ///     output.copy_at(3, b"def");
    /// }
    /// assert_eq!(&text, b"abcdef");
    /// ```
    #[inline(always)]
    pub const unsafe fn copy_at(&self, offset: usize, source: &[T])
    where
        T: Copy,
    {
        debug_assert!(
            offset <= self.len && source.len() <= self.len - offset,
            "range out of bounds"
        );
        // SAFETY: in bounds, exclusive and not overlapping, by contract.
        unsafe {
            ptr::copy_nonoverlapping(source.as_ptr(), self.start.add(offset), source.len());
        }
    }
}

impl<T> fmt::Debug for SyncPtr<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyncPtr")
            .field("start", &self.start)
            .field("len", &self.len)
            .finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::mem::MaybeUninit;
    use std::sync::Arc;
    use std::thread;

    #[test]
    fn threads_fill_disjoint_parts_of_uninitialised_memory() {
        const LEN: usize = 1000;
        let mut out: Vec<Box<usize>> = Vec::with_capacity(LEN);
        let spare = SyncPtr::new(&mut out.spare_capacity_mut()[..LEN]);
        thread::scope(|threads| {
            for part in 0..4 {
                threads.spawn(move || {
                    for i in (part..LEN).step_by(4) {
                        // SAFETY: indices are distinct modulo 4 per thread, and below LEN.
                        unsafe { spare.write_at(i, MaybeUninit::new(Box::new(i))) };
                    }
                });
            }
        });
        // SAFETY: the threads have initialised all LEN elements.
        unsafe { out.set_len(LEN) };
        assert!(out.into_iter().map(|boxed| *boxed).eq(0..LEN));
    }

    #[test]
    fn moving_elements_out_and_back_in_drops_nothing() {
        let counted = Arc::new(());
        let mut data = vec![counted.clone(), counted.clone()];
        let pointer = SyncPtr::new(&mut data);
        // SAFETY: in bounds, one thread, and the element read is written back elsewhere.
        unsafe {
            let first = pointer.read_at(0);
            let second = pointer.read_at(1);
            pointer.write_at(0, second);
            pointer.write_at(1, first);
        }
        assert_eq!(Arc::strong_count(&counted), 3);
        drop(data);
        assert_eq!(Arc::strong_count(&counted), 1);
    }

    #[test]
    fn slices_and_copies_land_at_their_offset() {
        let mut data = [0; 6];
        let pointer = SyncPtr::new(&mut data);
        assert_eq!((pointer.len(), pointer.is_empty()), (6, false));
        // SAFETY: the ranges are in bounds and do not overlap each other or the source.
        unsafe {
            pointer.copy_at(1, &[1, 2]);
            pointer.slice_from(4, 2).fill(9);
            pointer.slice_from(6, 0);
            *pointer.ptr_at(3) = 5;
        }
        assert_eq!(data, [0, 1, 2, 5, 9, 9]);
    }

    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "out of bounds")]
    fn debug_builds_catch_writes_out_of_bounds() {
        let mut data = [0; 2];
        // SAFETY: out of bounds, and caught by the debug assertion before anything is accessed.
        unsafe { SyncPtr::new(&mut data).write_at(2, 1) };
    }
}
