//! The global pool is stopped and started again. The only test in this program: there is one global pool.
#![cfg(not(loom))]

use blitz_core::{ThreadPool, ThreadPoolBuilder, current_num_threads, join, spawn, spawn_handle};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

fn names_seen() -> HashSet<thread::ThreadId> {
    let seen = Mutex::new(HashSet::new());
    blitz_core::broadcast(|_| seen.lock().unwrap().insert(thread::current().id()));
    seen.into_inner().unwrap()
}

#[test]
fn the_global_pool_can_be_stopped_and_starts_again() {
    let global = ThreadPool::global();
    // Not started yet: nothing to stop.
    global.shutdown();
    let builder = || ThreadPoolBuilder::new();
    let first = builder().num_threads(3).global_or_init().unwrap();
    assert_eq!(first.current_num_threads(), 3);
    let again = builder().num_threads(5).global_or_init().unwrap();
    assert_eq!((again.current_num_threads(), current_num_threads()), (3, 3));
    assert!(builder().build_global().is_err());

    // What is there is finished.
    let before = names_seen();
    let count = Arc::new(AtomicUsize::new(0));
    for _ in 0..100 {
        let count = Arc::clone(&count);
        spawn(move || {
            spawn(move || {
                count.fetch_add(1, Ordering::SeqCst);
            });
        });
    }
    global.shutdown();
    assert_eq!(count.load(Ordering::SeqCst), 100);

    // As it was, with other threads.
    assert_eq!(current_num_threads(), 3);
    assert_eq!(join(|| 1, || 2), (1, 2));
    let guest = thread::current().id();
    let mut after = names_seen();
    after.remove(&guest);
    assert!(after.is_disjoint(&before));

    // Or as somebody asks.
    global.shutdown();
    builder().num_threads(2).build_global().unwrap();
    assert_eq!(current_num_threads(), 2);

    // From inside it is a mistake, and nothing happens.
    let inside = spawn_handle(|| catch_unwind(|| ThreadPool::global().shutdown()).is_err());
    assert!(inside.join().unwrap());
    let (stopped, _) = join(
        || catch_unwind(AssertUnwindSafe(|| global.shutdown())).is_ok(),
        || (),
    );
    assert!(!stopped);
    assert_eq!(current_num_threads(), 2);

    // One that does not end in time ends later. Meanwhile there is another.
    let (go_on, wait) = mpsc::channel::<()>();
    let task = spawn_handle(move || wait.recv().is_ok());
    assert!(!global.shutdown_timeout(Duration::from_millis(5)));
    assert_eq!(spawn_handle(|| 5).join().unwrap(), 5);
    go_on.send(()).unwrap();
    assert!(task.join().unwrap());

    // Whoever comes while it is stopped, again and again, notices nothing.
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let users: Vec<_> = (0..4)
            .map(|kind| {
                let stop = &stop;
                scope.spawn(move || {
                    let mut rounds = 0_u64;
                    while !stop.load(Ordering::Relaxed) || rounds == 0 {
                        rounds += 1;
                        match kind {
                            0 => assert_eq!(join(|| 1, || 2), (1, 2)),
                            1 => assert_eq!(spawn_handle(|| 3).join().unwrap(), 3),
                            2 => blitz_core::scope(|scope| scope.spawn(|_| ())),
                            _ => assert_eq!(blitz_core::broadcast(|_| 1).len(), 2),
                        }
                    }
                })
            })
            .collect();
        for _ in 0..100 {
            global.shutdown();
        }
        stop.store(true, Ordering::Relaxed);
        users.into_iter().for_each(|user| user.join().unwrap());
    });
    global.shutdown();
}
