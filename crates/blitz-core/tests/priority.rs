//! Work that can wait makes room for work that somebody waits for, and is not starved.
#![cfg(not(loom))]

use blitz_core::Priority::{Background, Latency};
use blitz_core::{
    CancelToken, ThreadPool, ThreadPoolBuilder, checkpoint, current_priority, is_cancelled, join,
    with_priority,
};
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
}

/// All threads of a pool are inside of background work that ends with `over`; each calls `step` again and again.
fn busy(pool: &ThreadPool, over: &Arc<AtomicBool>, step: impl Fn() + Clone + Send + 'static) {
    let (begins, begun) = mpsc::channel();
    let threads = pool.current_num_threads();
    for _ in 0..threads {
        let (over, begins, step) = (Arc::clone(over), begins.clone(), step.clone());
        with_priority(Background, || {
            pool.spawn(move || {
                begins.send(()).unwrap();
                while !over.load(Ordering::SeqCst) {
                    step();
                }
            });
        });
    }
    begun.iter().take(threads).for_each(drop);
}

fn fib(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = join(|| fib(n - 1), || fib(n - 2));
    a + b
}

#[test]
fn a_task_does_not_wait_for_background_work_that_never_ends() {
    for threads in [1, 2] {
        let steps: [fn(); 3] = [checkpoint, blitz_core::demand::beat, || {
            drop(fib(12).to_string())
        }];
        for step in steps {
            let (pool, over) = (pool(threads), Arc::new(AtomicBool::new(false)));
            busy(&pool, &over, step);
            for n in 0..20 {
                // Without priorities, it would never begin.
                assert_eq!(pool.spawn_handle(move || n).join().unwrap(), n);
                assert_eq!(
                    pool.install(move || join(|| n, current_priority)),
                    (n, Latency)
                );
            }
            over.store(true, Ordering::SeqCst);
            pool.wait_idle();
        }
    }
}

#[test]
fn a_task_may_need_a_lock_that_the_background_holds() {
    // The task runs elsewhere, not on top of the frames that hold the lock, and the loop goes on meanwhile.
    let (pool, over) = (pool(1), Arc::new(AtomicBool::new(false)));
    let lock = Arc::new(Mutex::new(0));
    let theirs = Arc::clone(&lock);
    busy(&pool, &over, move || {
        let mut held = theirs.lock().unwrap();
        for _ in 0..3 {
            *held += 1;
            checkpoint();
        }
    });
    for _ in 0..5 {
        let lock = Arc::clone(&lock);
        let seen = pool.spawn_handle(move || *lock.lock().unwrap());
        assert_eq!(seen.join().unwrap() % 3, 0);
    }
    over.store(true, Ordering::SeqCst);
}

#[test]
fn background_tasks_come_last_and_in_their_order() {
    let pool = pool(1);
    let order = Arc::new(Mutex::new(Vec::new()));
    let (go, wait) = mpsc::channel::<()>();
    pool.spawn(move || {
        let _ = wait.recv();
    });
    let spawn = |what: u32| {
        let order = Arc::clone(&order);
        pool.spawn(move || order.lock().unwrap().push(what));
    };
    with_priority(Background, || {
        spawn(10);
        spawn(11);
        with_priority(Latency, || spawn(1));
    });
    spawn(2);
    drop(go);
    pool.wait_idle();
    assert_eq!(*order.lock().unwrap(), [1, 2, 10, 11]);
}

#[test]
fn background_tasks_are_not_starved() {
    // A task that spawns its successor keeps the one thread busy for ever.
    fn again(pool: &Arc<ThreadPool>, over: &Arc<AtomicBool>, count: &Arc<AtomicUsize>) {
        if over.load(Ordering::SeqCst) {
            return;
        }
        count.fetch_add(1, Ordering::SeqCst);
        let (pool2, over, count) = (Arc::clone(pool), Arc::clone(over), Arc::clone(count));
        pool.spawn(move || again(&pool2, &over, &count));
    }
    for from_outside in [false, true] {
        let pool = Arc::new(pool(1));
        let (over, count) = (Arc::default(), Arc::default());
        again(&pool, &over, &count);
        while count.load(Ordering::SeqCst) < 100 {
            thread::yield_now();
        }
        let before = count.load(Ordering::SeqCst);
        let theirs = Arc::clone(&count);
        let spawn = || pool.spawn_handle(move || theirs.load(Ordering::SeqCst));
        let background = with_priority(Background, || {
            if from_outside {
                spawn()
            } else {
                pool.install(spawn)
            }
        });
        let others = background.join().unwrap() - before;
        over.store(true, Ordering::SeqCst);
        pool.wait_idle();
        // The share is one in 65; some may have run between our look and the spawn.
        assert!(others < 100_000, "{others}");
    }
}

#[test]
fn scopes_of_the_background_end_wherever_they_are_waited_for() {
    let pool = pool(2);
    let count = AtomicUsize::new(0);
    for outer in [Latency, Background] {
        with_priority(outer, || {
            pool.scope(|s| {
                for _ in 0..50 {
                    with_priority(Background, || {
                        s.spawn(|s| {
                            assert_eq!(current_priority(), Background);
                            count.fetch_add(1, Ordering::Relaxed);
                            s.spawn(|_| drop(count.fetch_add(1, Ordering::Relaxed).to_string()));
                        });
                    });
                }
            });
        });
    }
    assert_eq!(count.into_inner(), 200);
}

#[test]
fn background_work_goes_on_while_a_long_task_runs_in_its_place() {
    let (pool, over) = (pool(1), Arc::new(AtomicBool::new(false)));
    let blocks = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&blocks);
    busy(&pool, &over, move || {
        counts.fetch_add(1, Ordering::SeqCst);
        checkpoint();
    });
    let theirs = Arc::clone(&blocks);
    // Ends when the loop has had ten blocks more.
    let task = pool.spawn_handle(move || {
        let before = theirs.load(Ordering::SeqCst);
        while theirs.load(Ordering::SeqCst) < before + 10 {
            thread::sleep(Duration::from_micros(50));
        }
    });
    task.join().unwrap();
    over.store(true, Ordering::SeqCst);
}

#[test]
fn priorities_and_tokens_do_not_hide_each_other() {
    let token = CancelToken::new();
    let seen = token.run(|| {
        with_priority(Background, || {
            token.cancel();
            (is_cancelled(), current_priority())
        })
    });
    assert_eq!(seen, Ok((true, Background)));
}

#[test]
fn a_pool_may_end_while_its_background_steps_aside() {
    for _ in 0..20 {
        let (pool, over) = (pool(2), Arc::new(AtomicBool::new(false)));
        busy(&pool, &over, checkpoint);
        let ends = Arc::clone(&over);
        pool.spawn(move || ends.store(true, Ordering::SeqCst));
        drop(pool);
        while !over.load(Ordering::SeqCst) {
            thread::yield_now();
        }
    }
}

#[test]
fn there_are_no_more_relays_than_other_threads_that_stand_in() {
    let pool = ThreadPoolBuilder::new()
        .num_threads(1)
        .max_rescue_threads(2)
        .build()
        .unwrap();
    let ran_on = Arc::new(Mutex::new(HashSet::new()));
    let tasks = (0..100).map(|_| {
        let ran_on = Arc::clone(&ran_on);
        // Each makes room for the next one.
        pool.spawn_handle(move || {
            ran_on.lock().unwrap().insert(thread::current().id());
            with_priority(Background, || {
                for _ in 0..50 {
                    checkpoint();
                    thread::yield_now();
                }
            });
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.join().unwrap();
    }
    let threads = ran_on.lock().unwrap().len();
    assert!(threads <= 1 + 2, "{threads} threads");
}
