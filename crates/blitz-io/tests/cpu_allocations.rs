//! What a computation costs that nobody stops: the program's allocator counts.

use blitz_core::{is_cancelled, join};
use blitz_io::{Builder, spawn_cpu};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

struct Counting;

/// How often any thread has asked for memory.
static CALLS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const MANY: usize = 1000;

/// Allocations for each computation, one after the other. What happens once, such as a thread that starts, is too little to count.
fn allocations_of<T: Send + 'static>(work: fn() -> T) -> usize {
    let runtime = Builder::new_multi_thread().worker_threads(1).build();
    let runtime = runtime.unwrap();
    let count = async move {
        let some = async || {
            for _ in 0..MANY {
                spawn_cpu(work).await.unwrap();
            }
        };
        some().await;
        let before = CALLS.load(Ordering::Relaxed);
        some().await;
        CALLS.load(Ordering::Relaxed) - before
    };
    runtime.block_on(async { blitz_io::spawn(count).await.unwrap() }) / MANY
}

/// One test, since the allocator counts for all threads.
#[test]
fn a_token_that_nobody_asks_for_is_not_made() {
    assert_eq!(allocations_of(|| ()), 1, "the task itself");
    assert_eq!(allocations_of(|| join(|| 1, || 2)), 1);
    // As elsewhere: what it spawns inherits nothing.
    let spawns = || drop(blitz_io::spawn(async {}));
    assert_eq!(allocations_of(spawns), 2, "and the one that it spawns");
    assert!(allocations_of(is_cancelled) > 1, "asking makes one");
}
