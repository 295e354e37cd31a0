//! Raw memory that several threads may touch, each its own part.
//!
//! The sorts move elements between a slice and a scratch buffer from many threads at once. Two small types keep that honest:
//! [`Shared`], a pointer that may cross threads, and [`Scratch`], memory for `n` elements that never drops what lies in it. Who
//! may touch which part, and when, is argued where the pointers are used.

use super::fork::both_moves;
use super::pages::Pages;
use crate::delegate::copied_as_it_is;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::{self, NonNull};

/// A pointer to the first of a run of elements, free to cross threads.
///
/// It carries no right by itself: every use says why the range behind it belongs to the caller at that moment.
pub(crate) struct Shared<T>(*mut T);

copied_as_it_is! { Shared<T> }

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
    /// The offset stays within the allocation, as for `add` of pointers.
    #[inline]
    pub(crate) unsafe fn add(self, offset: usize) -> Self {
        // SAFETY: the caller's promise is the one `add` asks for.
        Shared(unsafe { self.0.add(offset) })
    }
}

/// Uninitialised memory for a number of elements. Dropping it frees the memory and nothing else. [`pages`](super::pages) says where much of it comes from.
pub(crate) struct Scratch<T> {
    memory: NonNull<T>,
    layout: Layout,
    /// Where the memory is, if the allocator has not been asked.
    pages: Option<Pages>,
}

/// Vectors of this many bytes or more ask for huge pages: touching fresh memory 4 KiB at a time costs more than sorting it does (0.4 ms per
/// megabyte on a virtual machine, against 0.08 ms with huge pages).
const WORTH_HUGE_PAGES: usize = 4 << 20;

impl<T> Scratch<T> {
    /// Memory for `len` elements.
    ///
    /// # Panics
    /// When the size overflows; an exhausted allocator ends the process, as with any `Vec`.
    pub(crate) fn new(len: usize) -> Self {
        let layout = Self::layout(len).expect("capacity overflow");
        Self::allocate(layout).unwrap_or_else(|| handle_alloc_error(layout))
    }

    /// Memory for `len` elements, or nothing if the allocator has none.
    pub(crate) fn try_new(len: usize) -> Option<Self> {
        Self::allocate(Self::layout(len)?)
    }

    fn layout(len: usize) -> Option<Layout> {
        Layout::array::<T>(len).ok()
    }

    fn allocate(layout: Layout) -> Option<Self> {
        if layout.size() == 0 {
            return Some(Scratch {
                memory: NonNull::dangling(),
                layout,
                pages: None,
            });
        }
        let pages = Pages::with_room_for(layout);
        let memory = match &pages {
            Some(pages) => pages.start(),
            // SAFETY: the layout's size is not zero.
            None => NonNull::new(unsafe { alloc(layout) })?,
        };
        Some(Scratch {
            memory: memory.cast(),
            layout,
            pages,
        })
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut T {
        self.memory.as_ptr()
    }
}

impl<T> Drop for Scratch<T> {
    fn drop(&mut self) {
        if self.layout.size() != 0 && self.pages.is_none() {
            // SAFETY: the memory came from `alloc` with this very layout.
            unsafe { dealloc(self.memory.as_ptr().cast(), self.layout) };
        }
    }
}

/// Asks for huge pages for a vector that has grown and is about to be filled, if it is large enough to gain by them. New memory has no pages yet: whoever writes first gets
/// them from the kernel, and one by one that takes several times as long as writing.
#[inline]
pub(crate) fn welcome_huge_pages<T>(vec: &mut Vec<T>) {
    let size = vec.capacity().saturating_mul(size_of::<T>());
    if size >= WORTH_HUGE_PAGES {
        advise_huge_pages(NonNull::from(vec.as_mut_slice()).cast(), size);
    }
}

/// Tells the kernel that huge pages are welcome here. A hint: if it is refused, nothing changes but the time it takes.
#[cfg(all(target_os = "linux", not(miri)))]
#[cold]
pub(super) fn advise_huge_pages(start: NonNull<u8>, size: usize) {
    const PAGE: usize = 4096;
    // The advice concerns whole pages: all that the buffer touches. If it were not for the first one, whose beginning is the allocator's, a buffer with a mapping of its own would be two
    // mappings to the kernel afterwards, which cannot be grown in place. (On systems with larger pages the kernel refuses ranges that do not start on one.)
    let before = start.as_ptr().addr() % PAGE;
    let length = (before + size).next_multiple_of(PAGE);
    // SAFETY: the pages are mapped, since part of each is the buffer's, and this advice never changes what the memory holds.
    unsafe {
        libc::madvise(
            start.as_ptr().wrapping_sub(before).cast(),
            length,
            libc::MADV_HUGEPAGE,
        )
    };
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn advise_huge_pages(_start: NonNull<u8>, _size: usize) {}

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
        both_moves(
            || copy_in_parallel(source, target, half),
            || copy_in_parallel(far_source, far_target, len - half),
        );
    }
}
