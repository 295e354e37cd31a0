//! A join allocates nothing, stolen or not.
#![cfg(not(loom))]

use blitz_core::{ThreadPoolBuilder, join};
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

fn tree(depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let (a, b) = join(|| tree(depth - 1), || tree(depth - 1));
    a + b
}

// One test only: the counter belongs to the process.
#[test]
fn joins_do_not_allocate() {
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .caller_participates(true)
        .build()
        .unwrap();
    // Threads, thread-locals and so on come into being here, and waits of every kind happen.
    pool.broadcast(|_| ());
    for _ in 0..50 {
        pool.install(|| assert_eq!(tree(14), 1 << 14));
    }
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    for _ in 0..50 {
        pool.install(|| assert_eq!(tree(14), 1 << 14));
    }
    let allocations = ALLOCATIONS.load(Ordering::Relaxed) - before;
    // The first time that this thread finds every seat taken, it gets the ticket for what it hands over, and keeps it.
    assert!(
        allocations <= 2,
        "{allocations} allocations in {} joins",
        50 << 14
    );
}
