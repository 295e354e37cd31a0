//! Memory for spawned tasks: bump allocation by one thread, release by any.
//!
//! A task is allocated by the thread that spawns it and released by the thread that runs it, a few
//! microseconds later. A general allocator pays for that with locks or remote free lists. Here each
//! seat bumps a pointer through a *chunk*, and a chunk counts how many of its blocks are still live:
//!
//! * the owner counts its allocations privately, and the shared counter starts at a large bias, so
//!   allocating touches nothing shared;
//! * releasing a block subtracts one from the chunk's counter;
//! * when the chunk is full the owner *seals* it: it subtracts the bias less the blocks it handed out,
//!   so that the counter is now exactly the number of live blocks. Whoever brings it to zero, owner or
//!   releaser, frees the chunk. If all blocks are back already, the owner starts over in place.
//!
//! So memory is bounded by the live tasks (plus the rest of each one's chunk), also in a scope that
//! spawns for ever, and a finished scope leaves nothing behind.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicU32, Ordering};

const CHUNK: usize = 16 * 1024;
const CHUNK_LAYOUT: Layout = match Layout::from_size_align(CHUNK, CHUNK) {
    Ok(layout) => layout,
    Err(_) => panic!("a power of two"),
};
/// More than the number of blocks a chunk can hold.
const BIAS: u32 = 1 << 31;
/// Larger or stricter-aligned blocks are left to the global allocator.
const MAX_BLOCK: usize = CHUNK / 8;
const MAX_ALIGN: usize = 64;

/// Chunks of all arenas, for those who look.
#[cfg(feature = "console")]
static CHUNKS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

/// The memory of all arenas, in bytes.
#[cfg(feature = "console")]
pub(crate) fn in_use() -> usize {
    CHUNKS.load(Ordering::Relaxed) * CHUNK
}

#[repr(C, align(64))]
struct Chunk {
    live: AtomicU32,
}

/// The allocating side, owned by one thread at a time.
#[derive(Debug)]
pub(crate) struct Arena {
    chunk: Cell<*mut Chunk>,
    used: Cell<usize>,
    handed_out: Cell<u32>,
}

impl Arena {
    pub(crate) const fn new() -> Self {
        Arena {
            chunk: Cell::new(ptr::null_mut()),
            used: Cell::new(CHUNK),
            handed_out: Cell::new(0),
        }
    }

    /// Can blocks of this layout come from an arena?
    pub(crate) const fn suits(layout: Layout) -> bool {
        layout.size() <= MAX_BLOCK && layout.align() <= MAX_ALIGN
    }

    /// A block for `layout`, which [`Arena::suits`]. Give it back with [`release`].
    pub(crate) fn allocate(&self, layout: Layout) -> *mut u8 {
        debug_assert!(Self::suits(layout), "ask the global allocator");
        let mut start = self.used.get().next_multiple_of(layout.align());
        if start + layout.size() > CHUNK {
            self.next_chunk();
            start = self.used.get().next_multiple_of(layout.align());
        }
        self.used.set(start + layout.size());
        self.handed_out.set(self.handed_out.get() + 1);
        // SAFETY: start + size <= CHUNK, so the block is inside the chunk.
        unsafe { self.chunk.get().cast::<u8>().add(start) }
    }

    #[cold]
    fn next_chunk(&self) {
        let chunk = self.chunk.get();
        let all_back = !chunk.is_null() && {
            // SAFETY: an unsealed chunk is alive.
            let live = unsafe { &(*chunk).live };
            // Acquire: the releasers' last uses of their blocks come before our reuse of them.
            live.load(Ordering::Acquire) == BIAS - self.handed_out.get()
        };
        if all_back {
            // SAFETY: nobody but us has a block of this chunk.
            unsafe { (*chunk).live.store(BIAS, Ordering::Relaxed) };
        } else {
            self.seal();
            // SAFETY: the layout is not empty.
            let fresh = unsafe { alloc(CHUNK_LAYOUT) }.cast::<Chunk>();
            if fresh.is_null() {
                handle_alloc_error(CHUNK_LAYOUT);
            }
            #[cfg(feature = "console")]
            CHUNKS.fetch_add(1, Ordering::Relaxed);
            // SAFETY: fresh memory, large and aligned enough for a chunk's head.
            unsafe {
                fresh.write(Chunk {
                    live: AtomicU32::new(BIAS),
                });
            }
            self.chunk.set(fresh);
        }
        self.used.set(size_of::<Chunk>());
        self.handed_out.set(0);
    }

    /// Gives up the current chunk; it is freed when its last block is released.
    fn seal(&self) {
        let chunk = self.chunk.replace(ptr::null_mut());
        if !chunk.is_null() {
            // SAFETY: an unsealed chunk is alive, and we seal it once.
            unsafe { subtract(chunk, BIAS - self.handed_out.get()) };
        }
        self.used.set(CHUNK);
        self.handed_out.set(0);
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        self.seal();
    }
}

/// Gives a block back, on whatever thread.
///
/// # Safety
/// `block` came from [`Arena::allocate`] and is not used any more.
pub(crate) unsafe fn release(block: *mut u8) {
    let chunk = block.map_addr(|address| address & !(CHUNK - 1));
    // SAFETY: chunks are aligned to their size, so this is the head of the block's chunk; the block
    // still counts, so the chunk is alive.
    unsafe { subtract(chunk.cast::<Chunk>(), 1) };
}

/// # Safety
/// The chunk is alive, and the caller's share of its counter is `amount`.
unsafe fn subtract(chunk: *mut Chunk, amount: u32) {
    // SAFETY: alive until the counter is zero.
    let before = unsafe { (*chunk).live.fetch_sub(amount, Ordering::Release) };
    if before == amount {
        std::sync::atomic::fence(Ordering::Acquire);
        #[cfg(feature = "console")]
        CHUNKS.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: the counter reached zero in our hands: no block and no owner is left. The fence
        // orders the other releasers' last uses before this.
        unsafe { dealloc(chunk.cast::<u8>(), CHUNK_LAYOUT) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_disjoint_aligned_and_survive_their_neighbours() {
        let arena = Arena::new();
        let layouts = [(1, 1), (24, 8), (64, 64), (2048, 16), (7, 1)];
        let mut blocks = Vec::new();
        for round in 0..400_usize {
            let (size, align) = layouts[round % layouts.len()];
            let layout = Layout::from_size_align(size, align).unwrap();
            let block = arena.allocate(layout);
            assert_eq!(block as usize % align, 0);
            // SAFETY: a fresh block of `size` bytes.
            unsafe { block.write_bytes(round as u8, size) };
            blocks.push((block, size, round as u8));
        }
        for (block, size, tag) in blocks {
            // SAFETY: written above, released once.
            unsafe {
                assert!((0..size).all(|i| *block.add(i) == tag));
                release(block);
            }
        }
    }

    #[test]
    fn a_chunk_whose_blocks_are_back_is_reused_in_place() {
        let arena = Arena::new();
        let layout = Layout::new::<[u64; 8]>();
        let first = arena.allocate(layout);
        let chunk = first as usize & !(CHUNK - 1);
        // SAFETY: released once each, never used.
        unsafe {
            release(first);
            for _ in 0..10_000 {
                let block = arena.allocate(layout);
                assert_eq!(block as usize & !(CHUNK - 1), chunk);
                release(block);
            }
        }
    }

    #[test]
    fn blocks_outlive_the_arena_and_are_released_elsewhere() {
        let arena = Arena::new();
        let layout = Layout::new::<[u64; 100]>();
        let blocks: Vec<usize> = (0..100).map(|_| arena.allocate(layout) as usize).collect();
        drop(arena);
        std::thread::spawn(move || {
            for block in blocks {
                // SAFETY: allocated above, released once.
                unsafe { release(block as *mut u8) };
            }
        })
        .join()
        .unwrap();
    }
}
