//! What the documentation says about extra memory: the unstable sorts take up to a megabyte per thread, however long the slice is, and
//! the stable ones about as much as the slice.

use blitz::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard};

/// The system's allocator, keeping count.
struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is handed on to the system's allocator; counting changes nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), SeqCst) + layout.size();
        PEAK.fetch_max(now, SeqCst);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), SeqCst);
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The count is the process's: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

const THREADS: usize = 2;
const MEGABYTE: usize = 1 << 20;

/// The most memory that `sort` held at any time, sorting these elements on two threads.
fn extra_memory<T: Ord + Send>(mut v: Vec<T>, sort: impl Fn(&mut [T]) + Send + Sync) -> usize {
    let pool = blitz::ThreadPoolBuilder::new()
        .num_threads(THREADS)
        .build()
        .expect("a pool of threads");
    let extra = pool.install(|| {
        let before = NOW.load(SeqCst);
        PEAK.store(before, SeqCst);
        sort(&mut v);
        PEAK.load(SeqCst) - before
    });
    assert!(v.is_sorted());
    extra
}

fn numbers(len: usize) -> impl Iterator<Item = u64> {
    (0..len as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29))
}

fn check_unstable<T: Ord + Send>(what: &str, v: Vec<T>) {
    let bytes = size_of_val(&v[..]);
    assert!(bytes > 2 * THREADS * MEGABYTE, "too little to tell");
    let extra = extra_memory(v, |v| v.par_sort_unstable_by(|a, b| a.cmp(b)));
    assert!(
        extra <= THREADS * MEGABYTE,
        "{bytes} bytes of {what} took {extra} more"
    );
}

#[test]
fn unstable_sorts_take_a_little_memory_per_thread() {
    let _alone = alone();
    check_unstable("numbers", numbers(700_000).collect());
    check_unstable("few values", numbers(700_000).map(|x| x >> 60).collect());
    check_unstable(
        "nearly sorted numbers",
        numbers(700_000)
            .zip(0..)
            .map(|(x, i)| if x % 100 == 7 { x >> 40 } else { i })
            .collect(),
    );
    // Twelve bytes each where pointers have four.
    check_unstable("strings", numbers(400_000).map(|x| x.to_string()).collect());
    check_unstable("wide elements", numbers(80_000).map(|x| [x; 8]).collect());
    let records: Vec<[u64; 8]> = numbers(80_000).map(|x| [x; 8]).collect();
    let extra = extra_memory(records, |v| v.par_sort_unstable_by_key(|x| x[0]));
    assert!(extra <= THREADS * MEGABYTE, "by key it took {extra} bytes");
}

#[test]
fn stable_sorts_take_about_as_much_memory_as_the_slice() {
    let _alone = alone();
    // Short enough for the allocator, which counts here: larger buffers are mapped (`slice/sort/pages.rs`).
    let v: Vec<u64> = numbers(60_000).collect();
    let bytes = size_of_val(&v[..]);
    let merging = extra_memory(v.clone(), |v| v.par_sort_by(|a, b| a.cmp(b)));
    assert!(merging >= bytes, "this sort needs the memory: {merging}");
    assert!(merging <= 2 * bytes, "{bytes} bytes took {merging} more");
    let by_bits = extra_memory(v, |v| v.par_sort_radix());
    assert!(
        by_bits <= bytes + bytes / 4,
        "{bytes} bytes took {by_bits} more"
    );
}
