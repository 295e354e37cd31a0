//! No wait allocates, whatever it is for: the program's allocator counts.

mod common;

use blitz_io::sync::{Barrier, CancellationToken, Mutex, Notify, OnceCell, RwLock, Semaphore};
use common::poll_once;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::task::Poll;

struct Counting;

thread_local! {
    /// Bytes that this thread has asked for.
    static BYTES: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.set(BYTES.get() + layout.size());
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

/// Calls `waiting` and returns how many bytes that took.
fn bytes_of(waiting: impl FnOnce()) -> usize {
    let before = BYTES.get();
    waiting();
    BYTES.get() - before
}

/// Has two futures wait, ends their wait, and drops a third that still waits.
fn wait<F: Future>(make: impl Fn() -> F, end: impl FnOnce()) {
    let (mut first, mut second) = (pin!(make()), pin!(make()));
    {
        let mut third = pin!(make());
        for future in [first.as_mut(), second.as_mut(), third.as_mut()] {
            assert!(poll_once(future).is_pending());
        }
    }
    end();
    assert!(poll_once(first.as_mut()).is_ready());
    // With a lock it is the second one's turn now: what the first one got has been dropped.
    assert!(poll_once(second.as_mut()).is_ready());
}

#[test]
fn the_counting_allocator_counts() {
    assert!(bytes_of(|| drop(Box::new([0u8; 100]))) >= 100);
}

#[test]
fn no_lock_allocates_to_wait_or_to_be_handed_on() {
    let mutex = Mutex::new(0);
    let guard = mutex.try_lock().unwrap();
    assert_eq!(bytes_of(|| wait(|| mutex.lock(), || drop(guard))), 0);

    let lock = RwLock::new(0);
    let guard = lock.try_write().unwrap();
    assert_eq!(bytes_of(|| wait(|| lock.read(), || drop(guard))), 0);
    let guard = lock.try_read().unwrap();
    assert_eq!(bytes_of(|| wait(|| lock.write(), || drop(guard))), 0);

    let semaphore = Semaphore::new(0);
    let add = || semaphore.add_permits(8);
    assert_eq!(bytes_of(|| wait(|| semaphore.acquire_many(4), add)), 0);

    let notify = Notify::new();
    let tell = || notify.notify_waiters();
    assert_eq!(bytes_of(|| wait(|| notify.notified(), tell)), 0);

    let barrier = Barrier::new(4);
    let last = || {
        let mut third = pin!(barrier.wait());
        assert!(poll_once(third.as_mut()).is_pending());
        assert!(poll_once(pin!(barrier.wait())).is_ready());
    };
    assert_eq!(bytes_of(|| wait(|| barrier.wait(), last)), 0);

    let token = CancellationToken::new();
    let notified = bytes_of(|| {
        let mut cancelled = pin!(token.cancelled());
        assert!(poll_once(cancelled.as_mut()).is_pending());
    });
    assert_eq!(notified, 0);
}

#[test]
fn a_cell_that_others_wait_for_allocates_nothing() {
    let cell = OnceCell::new();
    let waited = bytes_of(|| {
        let go = Cell::new(false);
        let value = || {
            std::future::poll_fn(|_| match go.get() {
                true => Poll::Ready(5),
                false => Poll::Pending,
            })
        };
        let mut writer = pin!(cell.get_or_init(value));
        assert!(poll_once(writer.as_mut()).is_pending());
        let mut reader = pin!(cell.get_or_init(std::future::pending));
        assert!(poll_once(reader.as_mut()).is_pending());
        go.set(true);
        assert!(poll_once(writer.as_mut()).is_ready());
        assert_eq!(poll_once(reader.as_mut()), Poll::Ready(&5));
    });
    assert_eq!(waited, 0);
}

#[test]
fn a_thread_that_waits_allocates_once_at_the_most() {
    // The first wait makes the thread's waker.
    let wait = || {
        let semaphore = Semaphore::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::yield_now();
                semaphore.add_permits(1);
            });
            bytes_of(|| drop(semaphore.blocking_acquire().unwrap()))
        })
    };
    // Which of them is the first is up to the other thread.
    let allocate = (0..21).filter(|_| wait() > 0).count();
    assert!(allocate <= 1, "{allocate}");
}
