//! Memory for large buffers, straight from the kernel, and the last one kept for the next sort.
//!
//! Fresh memory is dear: the kernel clears each page when it is first written, and a virtual machine may have to ask its host for it, too. Sorts of a million integers
//! took 3.8 ms with a buffer that was there, and up to 8 ms with a new one. Allocators give memory of that size back when it is freed, or do not, depending on what
//! else is around it. So a buffer is mapped on huge pages of its own, and one that is not too large stays mapped when it is freed. The kernel is told that it may
//! take the pages back if memory is short (`MADV_FREE`): what lies in them is of no use to anybody.
//!
//! One buffer is kept per process, the last one that was freed. Who needs one takes it out, whichever thread it is; who finds none gets a new one. A child of a fork has
//! a copy of it, as of all memory.

use super::raw::advise_huge_pages;
use libc::{
    MADV_FREE, MAP_ANONYMOUS, MAP_FAILED, MAP_PRIVATE, PROT_READ, PROT_WRITE, madvise, mmap, munmap,
};
use std::alloc::Layout;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};

/// The size of a huge page, or a multiple of it, wherever the kernel has them. What is mapped begins and ends at a multiple of it.
const HUGE_PAGE: usize = 2 << 20;

/// Smaller buffers are the allocator's business.
const LEAST: usize = 512 << 10;

/// Larger ones are not kept. (It is also the largest part of its memory that glibc keeps for itself.)
const LARGEST_KEPT: usize = 32 << 20;

/// The buffer that is kept: its address, and in the low bits, which are zero in such addresses, how many huge pages it has. Null if there is none.
static KEPT: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

/// Memory of its own for one buffer. Dropping it keeps it or unmaps it.
pub(super) struct Pages {
    mapping: Mapping,
    /// So many bytes of it were asked for.
    used: usize,
}

// SAFETY: whoever has it has the memory for itself.
unsafe impl Send for Pages {}

/// A mapping that belongs to whoever has this.
#[derive(Clone, Copy)]
struct Mapping {
    start: NonNull<u8>,
    size: usize,
}

impl Pages {
    /// Room for all that, if it is much, and the kernel has it.
    pub(super) fn with_room_for(layout: Layout) -> Option<Self> {
        let used = layout.size();
        if used < LEAST || layout.align() > HUGE_PAGE {
            return None;
        }
        let mapping = match exchange(None) {
            Some(kept) if kept.size >= used => kept,
            Some(too_small) => {
                // It makes room for its successor.
                too_small.unmap();
                Mapping::new(used)?
            }
            None => Mapping::new(used)?,
        };
        Some(Pages { mapping, used })
    }

    /// Where it begins: at a multiple of the size of a huge page.
    pub(super) fn start(&self) -> NonNull<u8> {
        self.mapping.start
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        let mapping = self.mapping;
        let left_over = if mapping.size <= LARGEST_KEPT {
            mapping.is_free(touched(self.used));
            exchange(Some(mapping))
        } else {
            Some(mapping)
        };
        if let Some(mapping) = left_over {
            mapping.unmap();
        }
    }
}

/// How much of a mapping a buffer of that size may have brought to life. What lies behind is the kernel's from earlier, or has never been there; and a part of a huge
/// page is no advice to give, since the kernel would have to take it to pieces.
fn touched(used: usize) -> usize {
    used.next_multiple_of(HUGE_PAGE)
}

/// Puts `new` where a buffer is kept, and takes out what was there.
fn exchange(new: Option<Mapping>) -> Option<Mapping> {
    let new = new.map_or(ptr::null_mut(), |Mapping { start, size }| {
        start
            .as_ptr()
            .map_addr(|address| address | (size / HUGE_PAGE))
    });
    // Whoever takes a buffer out comes after whoever has put it in: what that one did with it is done.
    let old = KEPT.swap(new, Ordering::AcqRel);
    let size = (old.addr() % HUGE_PAGE) * HUGE_PAGE;
    let start = NonNull::new(old.map_addr(|address| address - address % HUGE_PAGE))?;
    Some(Mapping { start, size })
}

impl Mapping {
    fn new(size: usize) -> Option<Self> {
        let size = size.checked_next_multiple_of(HUGE_PAGE)?;
        // Room to choose a beginning in; the rest is given back.
        let room = size.checked_add(HUGE_PAGE)?;
        let (may, how) = (PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
        // SAFETY: a new mapping, wherever the kernel wants it, touches nothing that exists.
        let mapped = unsafe { mmap(ptr::null_mut(), room, may, how, -1, 0) };
        if mapped == MAP_FAILED {
            return None;
        }
        let before = mapped.addr().wrapping_neg() % HUGE_PAGE;
        let start = mapped.wrapping_byte_add(before);
        // SAFETY: both ends are parts of what was mapped above, of which nobody else knows.
        unsafe {
            if before > 0 {
                munmap(mapped, before);
            }
            munmap(start.wrapping_byte_add(size), HUGE_PAGE - before);
        }
        let start = NonNull::new(start.cast())?;
        advise_huge_pages(start, size);
        Some(Mapping { start, size })
    }

    /// The pages of its first `part` bytes are the kernel's, if it needs some.
    fn is_free(&self, part: usize) {
        // SAFETY: nobody reads any more what lies in it.
        unsafe { madvise(self.start.as_ptr().cast(), part, MADV_FREE) };
    }

    fn unmap(self) {
        // SAFETY: the mapping is ours, and goes with us.
        unsafe { munmap(self.start.as_ptr().cast(), self.size) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_buffer_in_a_large_mapping_gives_back_what_it_had() {
        assert_eq!(
            [LEAST, HUGE_PAGE, HUGE_PAGE + 1].map(touched),
            [HUGE_PAGE, HUGE_PAGE, 2 * HUGE_PAGE]
        );
    }

    /// All in one: there is one place for the whole process, and other tests sort.
    #[test]
    fn buffers_are_large_enough_their_own_and_kept() {
        let room = |size| {
            Layout::from_size_align(size, 8)
                .ok()
                .and_then(Pages::with_room_for)
        };
        assert!(room(LEAST - 1).is_none());
        assert!(room(isize::MAX as usize - 7).is_none());
        assert!(room(isize::MAX as usize / 4).is_none());
        let sizes = [
            LEAST,
            HUGE_PAGE,
            HUGE_PAGE + 1,
            LARGEST_KEPT,
            LARGEST_KEPT + 1,
        ];
        for size in sizes {
            let buffers: Vec<Pages> = (0..3)
                .map(|_| room(size).expect("that much is there"))
                .collect();
            for (mark, buffer) in (1..).zip(&buffers) {
                assert_eq!(buffer.start().addr().get() % HUGE_PAGE, 0);
                assert!(buffer.mapping.size >= size);
                // SAFETY: within the buffer, which is ours.
                unsafe { buffer.start().as_ptr().write_bytes(mark, size) };
            }
            for (mark, buffer) in (1..).zip(&buffers) {
                for place in [0, size / 2, size - 1] {
                    // SAFETY: as above, and it was written.
                    assert_eq!(unsafe { buffer.start().as_ptr().add(place).read() }, mark);
                }
            }
            drop(buffers);
        }
        // Threads that take and give at once never have the same one.
        std::thread::scope(|scope| {
            for mark in 1..=4 {
                scope.spawn(move || {
                    for round in 0..200 {
                        let size = LEAST << (round % 4);
                        let buffer = room(size).expect("that much is there");
                        let last = buffer.start().as_ptr().wrapping_add(size - 1);
                        // SAFETY: the first and the last byte of the buffer, which is ours.
                        unsafe {
                            buffer.start().as_ptr().write(mark);
                            last.write(mark);
                            std::thread::yield_now();
                            assert_eq!((buffer.start().as_ptr().read(), last.read()), (mark, mark));
                        }
                    }
                });
            }
        });
    }
}
