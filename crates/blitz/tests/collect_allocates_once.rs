//! Collecting a known number of items takes exactly one allocation, of exactly their size, and nothing is copied afterwards.
//!
//! The allocator of this test counts what is large; what the pool itself needs is small.

use blitz::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

const LEN: usize = 300_000;
const LARGE: usize = 100_000;

static LARGE_ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);
static LARGE_BYTES: AtomicUsize = AtomicUsize::new(0);

struct Counting;

fn count(size: usize) {
    if size >= LARGE {
        LARGE_ALLOCATIONS.fetch_add(1, Relaxed);
        LARGE_BYTES.fetch_add(size, Relaxed);
    }
}

// SAFETY: everything is done by the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise, passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Large allocations and their bytes while `work` runs. One test at a time.
fn large_during<R>(work: impl FnOnce() -> R) -> (usize, usize, R) {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap();
    // The pool is up before anything is counted.
    blitz::broadcast(|_| ());
    let before = (LARGE_ALLOCATIONS.load(Relaxed), LARGE_BYTES.load(Relaxed));
    let result = work();
    let after = (LARGE_ALLOCATIONS.load(Relaxed), LARGE_BYTES.load(Relaxed));
    (after.0 - before.0, after.1 - before.1, result)
}

fn items() -> impl IndexedParallelIterator<Item = u64> {
    (0..LEN).into_par_iter().map(|n| n as u64 * n as u64)
}

#[test]
fn a_vector_of_known_length_is_allocated_once_and_exactly() {
    // The second run knows the cost of an item, and is shared from its beginning.
    for _ in 0..2 {
        let (allocations, bytes, squares) = large_during(|| items().collect::<Vec<_>>());
        assert_eq!((allocations, bytes), (1, LEN * size_of::<u64>()));
        assert_eq!(squares.capacity(), LEN);
        assert!(squares.into_iter().eq((0..LEN as u64).map(|n| n * n)));
    }
}

#[test]
fn a_vector_with_enough_room_is_filled_in_place() {
    let mut squares = Vec::with_capacity(LEN);
    let (allocations, _, ()) = large_during(|| items().collect_into_vec(&mut squares));
    assert_eq!((allocations, squares.len()), (0, LEN));
}

#[test]
fn pairs_are_unzipped_into_two_allocations() {
    let (mut small, mut large) = (vec![], vec![]);
    let (allocations, bytes, ()) = large_during(|| {
        items()
            .map(|n| (n as u32, n))
            .unzip_into_vecs(&mut small, &mut large);
    });
    assert_eq!((allocations, bytes), (2, LEN * (4 + 8)));
    assert_eq!((small.len(), large[2]), (LEN, 4));
}
