//! Raw memory that several threads may touch, each its own part.
//!
//! The sorts move elements between a slice and a scratch buffer from many threads at once. Two small types keep that honest:
//! [`Shared`], a pointer that may cross threads, and [`Scratch`], memory for `n` elements that never drops what lies in it. Who
//! may touch which part, and when, is argued where the pointers are used.

use crate::join;
use std::mem::MaybeUninit;
use std::ptr;

/// A pointer to the first of a run of elements, free to cross threads.
///
/// It carries no right by itself: every use says why the range behind it belongs to the caller at that moment.
pub(crate) struct Shared<T>(*mut T);

impl<T> Clone for Shared<T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Shared<T> {}

// SAFETY: a `Shared` is only an address. Its users give each thread a range of its own, which hands the elements themselves to
// that thread: that takes `T: Send`, and nothing more, because no element is ever visible to two threads at a time.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: as above; copying the address out of a shared reference is all that `&Shared` allows.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    #[inline]
    pub(crate) fn new(pointer: *mut T) -> Self {
        Shared(pointer)
    }

    #[inline]
    pub(crate) fn get(self) -> *mut T {
        self.0
    }

    /// The address `offset` elements further on.
    ///
    /// # Safety
    /// The offset stays within the allocation, as for [`pointer::add`].
    #[inline]
    pub(crate) unsafe fn add(self, offset: usize) -> Self {
        // SAFETY: the caller's promise is the one `add` asks for.
        Shared(unsafe { self.0.add(offset) })
    }
}

/// Uninitialised memory for a number of elements. Dropping it frees the memory and nothing else.
pub(crate) struct Scratch<T> {
    memory: Vec<MaybeUninit<T>>,
}

impl<T> Scratch<T> {
    /// Memory for `len` elements.
    ///
    /// # Panics
    /// When the size overflows; an exhausted allocator ends the process, as with any `Vec`.
    pub(crate) fn new(len: usize) -> Self {
        Scratch {
            memory: Vec::with_capacity(len),
        }
    }

    /// Memory for `len` elements, or nothing if the allocator has none.
    pub(crate) fn try_new(len: usize) -> Option<Self> {
        let mut memory = Vec::new();
        memory.try_reserve_exact(len).ok()?;
        Some(Scratch { memory })
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut T {
        self.memory.as_mut_ptr().cast()
    }
}

/// Bytes that one thread copies without asking for help: about ten microseconds of memory traffic.
const COPY_GRAIN_BYTES: usize = 128 << 10;

/// Copies `len` elements bit by bit, on several threads when there is much to copy.
///
/// # Safety
/// `source` is valid for reading and `target` for writing `len` elements, nobody else touches either range meanwhile, and the
/// ranges do not overlap. The usual rule of bitwise copies is the caller's: afterwards only one of the two owns the elements.
pub(crate) unsafe fn copy_in_parallel<T: Send>(source: Shared<T>, target: Shared<T>, len: usize) {
    if len.saturating_mul(size_of::<T>()) <= COPY_GRAIN_BYTES {
        // SAFETY: exactly the caller's promise.
        unsafe { ptr::copy_nonoverlapping(source.get(), target.get(), len) };
        return;
    }
    let half = len / 2;
    // SAFETY: both halves lie inside the caller's ranges, and they are disjoint.
    unsafe {
        let (far_source, far_target) = (source.add(half), target.add(half));
        join(
            || copy_in_parallel(source, target, half),
            || copy_in_parallel(far_source, far_target, len - half),
        );
    }
}
