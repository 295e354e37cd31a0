//! Code that blocks on a pool's threads, while another thread stands in.
#![cfg(not(loom))]

use blitz_core::{ThreadPool, ThreadPoolBuilder, block_in_place, join, scope, spawn, spawn_handle};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(100);

fn pool(threads: usize) -> ThreadPool {
    let builder = ThreadPoolBuilder::new().num_threads(threads);
    builder.build().unwrap()
}

/// Two places that are left only when somebody is in each of them.
fn meeting() -> (impl FnOnce() -> bool + Send, impl FnOnce() -> bool + Send) {
    let (one, other) = (mpsc::channel(), mpsc::channel());
    let meet = |tell: Sender<()>, hear: Receiver<()>| {
        move || tell.send(()).is_ok() && hear.recv_timeout(LONG).is_ok()
    };
    (meet(one.0, other.1), meet(other.0, one.1))
}

/// Blocks one of the pool's threads until what is returned is dropped.
fn block_one(pool: &ThreadPool) -> Sender<()> {
    let (release, wait) = mpsc::channel::<()>();
    let (tell, blocks) = mpsc::channel();
    pool.spawn(move || {
        block_in_place(|| {
            tell.send(()).unwrap();
            wait.recv().ok();
        });
    });
    blocks.recv_timeout(LONG).unwrap();
    release
}

#[test]
fn a_thread_may_wait_for_a_task_that_it_has_queued_itself() {
    for threads in [1, 2, 5] {
        let sum = pool(threads).install(|| {
            let (sender, receiver) = mpsc::channel();
            for n in 0..10 {
                let sender = sender.clone();
                spawn(move || sender.send(n).unwrap());
            }
            block_in_place(|| receiver.iter().take(10).sum::<i32>())
        });
        assert_eq!(sum, 45);
    }
}

#[test]
fn while_a_thread_is_away_tasks_have_as_many_threads_as_before() {
    let pool = pool(2);
    let release = block_one(&pool);
    let (here, there) = meeting();
    let met = pool.install(move || {
        let (mut first, mut second) = (false, false);
        scope(|scope| {
            scope.spawn(|_| first = here());
            scope.spawn(|_| second = there());
        });
        first && second
    });
    assert!(met, "one thread cannot be in both places");
    drop(release);
    assert_eq!(pool.install(|| 42), 42);
}

#[test]
fn while_a_thread_is_away_somebody_else_takes_forks() {
    let pool = pool(2);
    let release = block_one(&pool);
    let (here, there) = meeting();
    assert_eq!(pool.install(move || join(here, there)), (true, true));
    drop(release);
}

#[test]
fn a_thread_that_goes_away_leaves_others_work_to_somebody_else() {
    let pool = pool(2);
    // Both threads are busy when the second half of the scope is posted, and then one of them goes away.
    let (go, wait) = mpsc::channel::<()>();
    let (release, blocked) = mpsc::channel::<()>();
    let (busy, is_busy) = mpsc::channel();
    pool.spawn(move || {
        busy.send(()).unwrap();
        wait.recv().unwrap();
        block_in_place(|| blocked.recv().ok());
    });
    is_busy.recv_timeout(LONG).unwrap();
    let (here, there) = meeting();
    let met = pool.install(move || {
        let mut met = (false, false);
        scope(|scope| {
            scope.spawn(|_| met.1 = there());
            go.send(()).unwrap();
            met.0 = here();
        });
        met
    });
    assert_eq!(met, (true, true));
    drop(release);
}

#[test]
fn there_are_no_more_threads_at_work_than_the_pool_has() {
    let pool = pool(2);
    let release = block_one(&pool);
    let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let one = || {
        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        thread::sleep(Duration::from_micros(200));
        now.fetch_sub(1, Ordering::SeqCst);
    };
    pool.install(|| {
        scope(|scope| (0..200).for_each(|_| scope.spawn(|_| one())));
    });
    assert_eq!(most.into_inner(), 2);
    drop(release);
}

#[test]
fn all_threads_may_wait_for_a_lock_whose_owner_needs_the_pool() {
    let pool = pool(3);
    let lock = Arc::new(Mutex::new(0));
    let held = lock.lock().unwrap();
    let (tell, waiting) = mpsc::channel();
    let tasks = [(); 3].map(|()| {
        let (lock, tell) = (Arc::clone(&lock), tell.clone());
        pool.spawn_handle(move || {
            block_in_place(|| {
                tell.send(()).unwrap();
                *lock.lock().unwrap() += 1;
            });
        })
    });
    assert_eq!(waiting.iter().take(3).count(), 3);
    assert_eq!(pool.install(|| join(|| 1, || 2)), (1, 2));
    drop(held);
    tasks.into_iter().for_each(|task| task.join().unwrap());
    assert_eq!(*lock.lock().unwrap(), 3);
}

#[test]
fn calls_may_be_nested_and_panic() {
    let pool = pool(1);
    let nested = pool.install(|| {
        let (sender, receiver) = mpsc::channel();
        spawn(move || sender.send(1).unwrap());
        block_in_place(|| block_in_place(|| block_in_place(|| receiver.recv().unwrap())) + 1)
    });
    assert_eq!(nested, 2);
    let caught = pool.install(|| {
        let inner = || block_in_place(|| block_in_place(|| std::panic::resume_unwind(Box::new(7))));
        let payload = catch_unwind(AssertUnwindSafe(inner)).unwrap_err();
        *payload.downcast::<i32>().unwrap()
    });
    assert_eq!(caught, 7);
    // The thread counts as before: nobody else takes its tasks.
    let mut ran = pool.install(|| {
        let (sender, order) = mpsc::channel();
        scope(|scope| {
            for n in 0..3 {
                let sender = sender.clone();
                scope.spawn(move |_| sender.send((n, thread::current().id())).unwrap());
            }
        });
        drop(sender);
        let me = thread::current().id();
        order
            .iter()
            .map(|(n, id)| (n, id == me))
            .collect::<Vec<_>>()
    });
    ran.sort_unstable();
    assert_eq!(ran, [(0, true), (1, true), (2, true)]);
}

#[test]
fn outside_of_pools_it_is_a_call() {
    let here = thread::current().id();
    assert_eq!(block_in_place(|| thread::current().id()), here);
    assert_eq!(blitz_core::current_thread_index(), None);
}

#[test]
fn beyond_the_limit_what_is_queued_waits_for_a_thread_to_come_back() {
    let builder = ThreadPoolBuilder::new().num_threads(1);
    let pool = builder.max_rescue_threads(1).build().unwrap();
    let release = [block_one(&pool), block_one(&pool)];
    let ran = Arc::new(AtomicBool::new(false));
    let task = pool.spawn_handle({
        let ran = Arc::clone(&ran);
        move || ran.store(true, Ordering::SeqCst)
    });
    thread::sleep(Duration::from_millis(30));
    assert!(!ran.load(Ordering::SeqCst), "there is no thread for it");
    drop(release);
    task.join().unwrap();
}

#[test]
fn a_guest_may_block_too() {
    let builder = ThreadPoolBuilder::new().num_threads(1);
    let pool = builder.caller_participates(true).build().unwrap();
    let answer = pool.install(|| {
        let task = spawn_handle(|| 42);
        let (sender, receiver) = mpsc::channel();
        spawn(move || sender.send(task.join().unwrap()).unwrap());
        block_in_place(|| receiver.recv_timeout(LONG))
    });
    assert_eq!(answer, Ok(42));
}
