//! Locks and channels know of no runtime (`blitz-sync`). What they ask before a thread sleeps in them is answered as if they did: before there is a runtime, in one, in two, and
//! after the last one. In a process of its own, and in one test: the first runtime changes who answers.

mod common;

use blitz_io::sync::{Mutex, mpsc, oneshot};
use blitz_io::{Builder, Runtime};
use common::within_a_minute;
use std::any::TypeId;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

fn pool() -> blitz_core::ThreadPool {
    let pool = blitz_core::ThreadPoolBuilder::new().num_threads(1);
    pool.build().unwrap()
}

/// The one thread of a pool waits for what is queued behind it: another one takes its place.
fn a_pool_goes_on_without_a_thread_that_waits() {
    let answer = pool().install(|| {
        let (sender, receiver) = oneshot::channel();
        blitz_core::spawn(move || sender.send(42).unwrap());
        receiver.blocking_recv()
    });
    assert_eq!(answer, Ok(42));
}

/// The same with a runtime's one worker: others serve its tasks.
fn a_runtime_goes_on_without_a_thread_that_waits(runtime: &Runtime) {
    let task = runtime.spawn(async {
        let (sender, receiver) = oneshot::channel();
        blitz_io::spawn(async move { sender.send(42).unwrap() });
        receiver.blocking_recv()
    });
    assert_eq!(runtime.block_on(task).unwrap(), Ok(42));
}

fn the_only_thread_is_refused() {
    let runtime = Builder::new_current_thread().build().unwrap();
    let mutex = Mutex::new(0);
    let refused = runtime.block_on(async {
        let lock = || drop(mutex.blocking_lock());
        catch_unwind(AssertUnwindSafe(lock)).is_err()
    });
    assert!(refused, "although nobody else has the lock");
    // Not inside of it, it may.
    *mutex.blocking_lock() += 1;
}

fn with_one_worker() -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(1).build().unwrap()
}

#[test]
fn before_in_between_and_after() {
    within_a_minute(|| {
        // Nobody is there.
        let (early_sender, early_receiver) = oneshot::channel();
        let early = thread::spawn(move || early_receiver.blocking_recv());
        let lock = Arc::new(Mutex::new(0));
        *lock.blocking_lock() += 1;

        // A pool, no runtime.
        a_pool_goes_on_without_a_thread_that_waits();

        // One, two, three runtimes. A thread that began to sleep when there was none is woken all the same.
        let first = with_one_worker();
        first.spawn(async move { early_sender.send(7).unwrap() });
        assert_eq!(early.join().unwrap(), Ok(7));
        a_runtime_goes_on_without_a_thread_that_waits(&first);
        let second = with_one_worker();
        a_runtime_goes_on_without_a_thread_that_waits(&second);
        a_runtime_goes_on_without_a_thread_that_waits(&first);
        the_only_thread_is_refused();
        a_pool_goes_on_without_a_thread_that_waits();

        // One of them has ended.
        drop(first);
        a_runtime_goes_on_without_a_thread_that_waits(&second);

        // All of them have.
        drop(second);
        a_pool_goes_on_without_a_thread_that_waits();
        let (sender, mut receiver) = mpsc::channel(1);
        let thread = thread::spawn(move || (0..10).for_each(|n| sender.blocking_send(n).unwrap()));
        let received: Vec<_> = std::iter::from_fn(|| receiver.blocking_recv()).collect();
        thread.join().unwrap();
        assert_eq!(received, (0..10).collect::<Vec<_>>());

        // And another one begins.
        a_runtime_goes_on_without_a_thread_that_waits(&with_one_worker());
        a_limit_needs_timers();
    });
}

/// Also where there is room.
fn a_limit_needs_timers() {
    let (sender, _receiver) = mpsc::channel(1);
    let send = || blitz_sync::block_on(sender.send_timeout(1, std::time::Duration::from_secs(1)));
    assert!(catch_unwind(AssertUnwindSafe(send)).is_err());
    let runtime = Builder::new_current_thread().build().unwrap();
    let send = sender.send_timeout(1, std::time::Duration::from_secs(1));
    runtime.block_on(send).unwrap();
}

#[test]
fn the_types_are_the_same() {
    assert_eq!(
        TypeId::of::<Mutex<u8>>(),
        TypeId::of::<blitz_sync::Mutex<u8>>()
    );
    assert_eq!(
        TypeId::of::<mpsc::Sender<u8>>(),
        TypeId::of::<blitz_sync::mpsc::Sender<u8>>()
    );
}
