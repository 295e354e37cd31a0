//! Items that are counted, and closures that can be made dear or made to panic.

use std::collections::HashSet;
use std::hint;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering::Relaxed};
use std::thread::{self, ThreadId};

static MADE: AtomicUsize = AtomicUsize::new(0);
static DROPPED: AtomicUsize = AtomicUsize::new(0);

/// A number on the heap, so that a second drop is a double free, which allocators and sanitizers notice.
#[derive(Debug)]
pub struct Item(Box<i64>);

impl Item {
    pub fn new(value: i64) -> Self {
        MADE.fetch_add(1, Relaxed);
        Item(Box::new(value))
    }

    pub fn get(&self) -> i64 {
        *self.0
    }

    pub fn set(&mut self, value: i64) {
        *self.0 = value;
    }
}

impl Clone for Item {
    fn clone(&self) -> Self {
        Item::new(self.get())
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Relaxed);
    }
}

/// What `run` returns, if as many items were dropped as were made; otherwise how many are missing.
pub fn nothing_stays<R>(run: impl FnOnce() -> R) -> Result<R, i64> {
    let left = || MADE.load(Relaxed) as i64 - DROPPED.load(Relaxed) as i64;
    let before = left();
    let result = run();
    match left() - before {
        0 => Ok(result),
        more => Err(more),
    }
}

/// How many more calls there will be until one panics; negative if none does.
static UNTIL_PANIC: AtomicI64 = AtomicI64::new(-1);
static CALLS: AtomicUsize = AtomicUsize::new(0);
static DEAR: AtomicBool = AtomicBool::new(false);
static THREADS: Mutex<Option<HashSet<ThreadId>>> = Mutex::new(None);

/// The payload of the panics that the tests plan.
pub struct Planned;

/// What every closure of a case calls first.
pub fn call() {
    CALLS.fetch_add(1, Relaxed);
    if UNTIL_PANIC.load(Relaxed) >= 0 && UNTIL_PANIC.fetch_sub(1, Relaxed) == 0 {
        // Without the panic hook, which would print a page for each.
        std::panic::resume_unwind(Box::new(Planned));
    }
    if DEAR.load(Relaxed) {
        for turn in 0..400 {
            hint::black_box(turn);
        }
        let mut threads = THREADS.lock().unwrap();
        threads
            .get_or_insert_default()
            .insert(thread::current().id());
    }
}

/// How many closures are called by `run`.
pub fn calls_in<R>(run: impl FnOnce() -> R) -> usize {
    let before = CALLS.load(Relaxed);
    run();
    CALLS.load(Relaxed) - before
}

/// Runs with a panic planned for the call number `nth` from now.
pub fn panic_at<R>(nth: usize, run: impl FnOnce() -> R) -> R {
    UNTIL_PANIC.store(nth as i64, Relaxed);
    let result = run();
    UNTIL_PANIC.store(-1, Relaxed);
    result
}

/// Makes every call take some microseconds, or no longer.
pub fn make_calls_dear(dear: bool) {
    DEAR.store(dear, Relaxed);
}

pub fn forget_threads() {
    *THREADS.lock().unwrap() = None;
}

/// How many threads have made dear calls.
pub fn threads_seen() -> usize {
    THREADS.lock().unwrap().as_ref().map_or(0, HashSet::len)
}
