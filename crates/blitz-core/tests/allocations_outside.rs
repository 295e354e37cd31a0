//! Tasks that are spawned outside of any pool are not allocated one by one.
#![cfg(not(loom))]

use blitz_core::ThreadPoolBuilder;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: passed on.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// One test only: the counter belongs to the process.
#[test]
fn tasks_from_outside_share_allocations() {
    const TASKS: usize = 10_000;
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let ran = AtomicUsize::new(0);
    let ran = &ran;
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    pool.in_place_scope(|scope| {
        for _ in 0..TASKS {
            scope.spawn(|_| {
                ran.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
    assert_eq!(ran.load(Ordering::Relaxed), TASKS);
    // Some sixteen kibibytes each, and whatever waits and queues need.
    assert!(allocations < TASKS / 4, "{allocations} allocations");
}
