//! Promise 2: a thread that waits runs only descendants of what it waits for.
#![cfg(not(loom))]

use blitz_core::demand::{Within, in_loop, join_context_within};
use blitz_core::{ThreadPoolBuilder, join, scope};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

fn pool(threads: usize) -> blitz_core::ThreadPool {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
}

fn fib(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = join(|| fib(n - 1), || fib(n - 2));
    a + b
}

#[test]
fn a_lock_held_across_a_join_is_not_met_again() {
    // rayon issue 592: a thread that waits in `join` with a mutex held picks up another task, which locks
    // the same mutex.
    let pool = pool(2);
    let mutex = Mutex::new(0_u64);
    for _ in 0..10 {
        pool.scope(|s| {
            for _ in 0..100 {
                s.spawn(|_| {
                    let mut total = mutex.lock().unwrap();
                    *total += fib(10);
                });
            }
        });
    }
    assert_eq!(mutex.into_inner().unwrap(), 1000 * 55);
}

#[test]
fn a_lock_held_across_a_scope_is_not_met_again() {
    let pool = pool(2);
    let mutex = Mutex::new(0_usize);
    pool.scope(|s| {
        for _ in 0..200 {
            s.spawn(|_| {
                let mut total = mutex.lock().unwrap();
                let inner = AtomicUsize::new(0);
                scope(|s| {
                    for _ in 0..5 {
                        s.spawn(|_| {
                            inner.fetch_add(1, Ordering::Relaxed);
                        });
                    }
                });
                *total += inner.into_inner();
            });
        }
    });
    assert_eq!(mutex.into_inner().unwrap(), 1000);
}

#[test]
fn a_lock_held_across_an_install_into_another_pool_is_not_met_again() {
    let (outer, inner) = (pool(2), pool(2));
    let mutex = Mutex::new(0_u64);
    outer.scope(|s| {
        for _ in 0..100 {
            s.spawn(|_| {
                let mut total = mutex.lock().unwrap();
                *total += inner.install(|| fib(8));
            });
        }
    });
    assert_eq!(mutex.into_inner().unwrap(), 2100);
}

#[test]
fn a_lock_held_while_joining_a_handle_is_not_met_again() {
    let pool = Arc::new(pool(2));
    let mutex = Arc::new(Mutex::new(0_u64));
    let handles: Vec<_> = (0..100)
        .map(|_| {
            let (pool, mutex) = (Arc::clone(&pool), Arc::clone(&mutex));
            let outer = Arc::clone(&pool);
            outer.spawn_handle(move || {
                let mut total = mutex.lock().unwrap();
                *total += pool.spawn_handle(|| fib(8)).join().unwrap();
            })
        })
        .collect();
    handles.into_iter().for_each(|h| h.join().unwrap());
    assert_eq!(*mutex.lock().unwrap(), 2100);
}

thread_local! {
    static SCRATCH: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

#[test]
fn a_thread_local_borrowed_across_a_join_is_not_borrowed_again() {
    let pool = pool(2);
    for _ in 0..10 {
        pool.scope(|s| {
            for _ in 0..100 {
                s.spawn(|_| {
                    SCRATCH.with(|scratch| {
                        let mut scratch = scratch.borrow_mut();
                        scratch.clear();
                        scratch.push(fib(9));
                    });
                });
            }
        });
    }
}

#[test]
fn work_on_top_of_a_wait_is_never_unrelated() {
    // Each task marks its thread while it waits; a task that starts on a marked thread runs on top of a
    // stranger's wait.
    thread_local! {
        static WAITING: Cell<bool> = const { Cell::new(false) };
    }
    let pool = pool(3);
    let joins = AtomicUsize::new(0);
    pool.scope(|s| {
        for _ in 0..300 {
            s.spawn(|_| {
                assert!(!WAITING.get(), "an unrelated task on top of a wait");
                WAITING.set(true);
                joins.fetch_add(fib(10) as usize, Ordering::Relaxed);
                WAITING.set(false);
            });
        }
    });
    assert_eq!(joins.into_inner(), 300 * 55);
}

#[test]
fn the_stack_is_never_deeper_than_the_sequential_one() {
    // The shape of rayon issue 854: many tasks, each of which waits for a little nested parallelism. A
    // scheduler that runs further tasks on top of a waiting one nests them without bound.
    thread_local! {
        static NESTING: Cell<usize> = const { Cell::new(0) };
    }
    let deepest = AtomicUsize::new(0);
    let pool = pool(3);
    pool.scope(|s| {
        for _ in 0..500 {
            s.spawn(|_| {
                let depth = NESTING.get() + 1;
                NESTING.set(depth);
                deepest.fetch_max(depth, Ordering::Relaxed);
                scope(|s| {
                    for _ in 0..4 {
                        s.spawn(|_| {
                            fib(6);
                        });
                    }
                });
                NESTING.set(depth - 1);
            });
        }
    });
    assert_eq!(deepest.into_inner(), 1);
}

#[test]
fn an_unbalanced_search_fits_into_small_stacks() {
    fn search(depth: u64, seed: u64) -> u64 {
        if depth == 0 {
            return 1;
        }
        let children = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 62;
        let (a, b) = join(
            || search(depth - 1, seed.wrapping_add(children)),
            || {
                if children > 1 {
                    search(depth - 1, seed ^ depth)
                } else {
                    0
                }
            },
        );
        a + b + 1
    }
    let pool = |threads: usize| {
        ThreadPoolBuilder::new()
            .num_threads(threads)
            .stack_size(512 << 10)
            .build()
            .unwrap()
    };
    let one = pool(1).install(|| search(24, 1));
    let three = pool(3).install(|| search(24, 1));
    assert_eq!(one, three);
}

#[test]
fn a_long_unrelated_job_never_delays_a_join() {
    // One thread is asked to wait for a fork that another has stolen, while an unrelated job is queued that
    // ends only when that wait has ended. Running it on top of the wait would never end.
    let pool = Arc::new(pool(2));
    for _ in 0..20 {
        let (joined, wait_for_it) = mpsc::channel::<()>();
        let stolen = AtomicBool::new(false);
        pool.install(|| {
            join(
                || {
                    // Let the right half be stolen, if anybody is awake for it.
                    for _ in 0..1000 {
                        if stolen.load(Ordering::Acquire) {
                            break;
                        }
                        thread::yield_now();
                    }
                    blitz_core::spawn(move || wait_for_it.recv().unwrap());
                },
                || {
                    stolen.store(true, Ordering::Release);
                    fib(15)
                },
            )
        });
        joined.send(()).unwrap();
    }
    pool.wait_idle();
}

/// Both threads of a pool are busy, a task is posted, then a fork; then one thread is free. Did the task get it, while everything else waited?
fn a_task_starts_before_a_fork(
    post: impl FnOnce(&blitz_core::ThreadPool, Box<dyn FnOnce() + Send>) + Send,
) -> bool {
    let pool = pool(2);
    let started = Arc::new(AtomicBool::new(false));
    let (busy, free) = (AtomicBool::new(false), AtomicBool::new(false));
    let wait_for = |flag: &AtomicBool| {
        let limit = Instant::now() + Duration::from_secs(10);
        while !flag.load(Ordering::SeqCst) && Instant::now() < limit {
            thread::yield_now();
        }
        flag.load(Ordering::SeqCst)
    };
    let starts = Arc::clone(&started);
    let task = Box::new(move || starts.store(true, Ordering::SeqCst));
    pool.install(|| {
        scope(|s| {
            s.spawn(|_| {
                busy.store(true, Ordering::SeqCst);
                wait_for(&free);
            });
            assert!(wait_for(&busy));
            post(&pool, task);
            let left = || {
                free.store(true, Ordering::SeqCst);
                wait_for(&started)
            };
            join(left, || wait_for(&started)).0
        })
    })
}

#[test]
fn what_was_spawned_here_starts_before_somebody_helps_with_a_later_fork() {
    assert!(a_task_starts_before_a_fork(|_, task| blitz_core::spawn(
        task
    )));
}

#[test]
fn what_was_spawned_outside_starts_before_somebody_helps_with_a_later_fork() {
    assert!(a_task_starts_before_a_fork(|pool, task| {
        thread::scope(|s| {
            s.spawn(|| pool.spawn(task));
        });
    }));
}

/// Runs `test` and panics if it takes a minute.
fn within_a_minute(test: impl FnOnce() + Send + 'static) {
    let (done, is_done) = mpsc::channel();
    let running = thread::spawn(move || {
        test();
        done.send(()).unwrap();
    });
    match is_done.recv_timeout(Duration::from_secs(60)) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("still waiting"),
        _ => running.join().unwrap(),
    }
}

fn until(flag: &AtomicBool) {
    while !flag.load(Ordering::SeqCst) {
        thread::yield_now();
    }
}

/// A loop of four parts on three threads, two of which are stuck until the last part has run. The third waits for one of them.
fn a_part_that_only_a_waiting_thread_could_run(within: Within) {
    let [first_taken, second_taken, last_has_run] = [const { AtomicBool::new(false) }; 3];
    let set = |flag: &AtomicBool| flag.store(true, Ordering::SeqCst);
    let part = |a: &(dyn Fn() + Sync), b: &(dyn Fn() + Sync)| {
        join_context_within(within, u64::MAX, || (), |_| a(), |_| b());
    };
    let here = || {
        until(&first_taken);
        until(&second_taken);
    };
    let second = || {
        set(&second_taken);
        until(&last_has_run);
    };
    let first_of_the_right = || {
        set(&first_taken);
        until(&last_has_run);
    };
    part(&|| part(&here, &second), &|| {
        part(&first_of_the_right, &|| set(&last_has_run));
    });
}

#[test]
fn a_thread_that_waits_for_a_part_of_a_loop_helps_with_the_others() {
    within_a_minute(|| {
        let pool = pool(3);
        for _ in 0..100 {
            pool.install(|| in_loop(a_part_that_only_a_waiting_thread_could_run));
        }
    });
}

#[test]
fn a_panic_before_a_wait_waits_for_the_other_half_and_goes_on() {
    let pool = pool(2);
    for _ in 0..100 {
        let (taken, ended) = (AtomicBool::new(false), AtomicBool::new(false));
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            pool.install(|| {
                join_context_within(
                    Within::NOTHING,
                    u64::MAX,
                    || panic!("planned"),
                    |_| until(&taken),
                    |_| {
                        taken.store(true, Ordering::SeqCst);
                        thread::sleep(Duration::from_millis(1));
                        ended.store(true, Ordering::SeqCst);
                    },
                )
            });
        }));
        assert!(result.is_err());
        assert!(ended.into_inner(), "the frame was there until then");
    }
}

#[test]
fn a_join_inside_of_a_loops_item_does_not_run_other_items() {
    // The item holds a lock that the others want.
    within_a_minute(|| {
        let pool = pool(3);
        let lock = Mutex::new(0);
        fn items(within: Within, count: u32, lock: &Mutex<u64>) {
            if count == 1 {
                let mut total = lock.lock().unwrap();
                *total += fib(12);
                return;
            }
            let half = count / 2;
            let (a, b) = (half, count - half);
            join_context_within(
                within,
                u64::MAX,
                || (),
                |_| items(within, a, lock),
                |_| items(within, b, lock),
            );
        }
        for _ in 0..20 {
            pool.install(|| in_loop(|within| items(within, 64, &lock)));
        }
        assert_eq!(lock.into_inner().unwrap(), 20 * 64 * 144);
    });
}
