//! Locks under several threads, with counts; from threads outside of runtimes; on foreign executors. `sync_bugs.rs` has the bugs of the
//! locks that these replace, `sync_promises.rs` what each lock promises.

mod common;

use blitz_io::sync::{Barrier, CancellationToken, Mutex, Notify, OnceCell, RwLock, Semaphore};
use blitz_io::task::yield_now;
use blitz_io::{Builder, spawn};
use common::{in_tasks, poll_once, run, run_on, soon};
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::thread;

// ---- counts ----------------------------------------------------------------------------------

#[test]
fn a_mutex_counts_every_increment_of_tasks_on_two_threads() {
    run(|| async {
        let count = Arc::new(Mutex::new(0usize));
        let threads = in_tasks(8, |index| {
            let count = count.clone();
            async move {
                for round in 0..2000 {
                    let mut count = count.lock().await;
                    let before = *count;
                    if round % 16 == index {
                        // Held across an await: everybody else waits in line.
                        yield_now().await;
                    }
                    *count = before + 1;
                }
            }
        })
        .await;
        assert!(threads >= 2);
        assert_eq!(*count.lock().await, 16_000);
    });
}

#[test]
fn a_read_write_lock_never_shows_a_value_half_written() {
    run(|| async {
        let pair = Arc::new(RwLock::new((0usize, 0usize)));
        let threads = in_tasks(6, |index| {
            let pair = pair.clone();
            async move {
                for round in 0..1500 {
                    if index < 4 {
                        let pair = pair.read().await;
                        assert_eq!(pair.0, pair.1);
                        if round % 8 == 0 {
                            yield_now().await;
                            assert_eq!(pair.0, pair.1);
                        }
                    } else {
                        let mut pair = pair.write().await;
                        pair.0 += 1;
                        if round % 8 == 0 {
                            yield_now().await;
                        }
                        pair.1 += 1;
                        if round % 3 == 0 {
                            let pair = pair.downgrade();
                            assert_eq!(pair.0, pair.1);
                        }
                    }
                }
            }
        })
        .await;
        assert!(threads >= 2);
        assert_eq!(*pair.read().await, (3000, 3000));
    });
}

#[test]
fn a_semaphore_lets_no_more_in_than_it_has_permits() {
    run(|| async {
        let shared = Arc::new((Semaphore::new(3), AtomicUsize::new(0), AtomicUsize::new(0)));
        let threads = in_tasks(8, |index| {
            let shared = shared.clone();
            async move {
                let (semaphore, inside, total) = &*shared;
                for round in 0..1000 {
                    let wanted = 1 + (index + round) % 3;
                    let permit = semaphore.acquire_many(wanted as u32).await.unwrap();
                    assert!(inside.fetch_add(wanted, Ordering::SeqCst) + wanted <= 3);
                    if round % 4 == 0 {
                        yield_now().await;
                    }
                    inside.fetch_sub(wanted, Ordering::SeqCst);
                    total.fetch_add(1, Ordering::Relaxed);
                    drop(permit);
                }
            }
        })
        .await;
        assert!(threads >= 2);
        assert_eq!(shared.2.load(Ordering::Relaxed), 8000);
        assert_eq!(shared.0.available_permits(), 3);
    });
}

#[test]
fn a_barrier_keeps_tasks_together_round_after_round() {
    run(|| async {
        let shared = Arc::new((Barrier::new(5), AtomicUsize::new(0), AtomicUsize::new(0)));
        let threads = in_tasks(5, |_| {
            let shared = shared.clone();
            async move {
                let (barrier, arrived, leaders) = &*shared;
                for round in 1..=500 {
                    arrived.fetch_add(1, Ordering::SeqCst);
                    let result = barrier.wait().await;
                    assert!(arrived.load(Ordering::SeqCst) >= 5 * round);
                    leaders.fetch_add(usize::from(result.is_leader()), Ordering::SeqCst);
                }
            }
        })
        .await;
        assert!(threads >= 2);
        assert_eq!(shared.2.load(Ordering::SeqCst), 500);
    });
}

#[test]
fn a_cell_is_initialised_once_however_many_ask() {
    run(|| async {
        for _ in 0..50 {
            let shared = Arc::new((OnceCell::new(), AtomicUsize::new(0)));
            in_tasks(6, |index| {
                let shared = shared.clone();
                async move {
                    let (cell, computed) = &*shared;
                    let init = || async {
                        yield_now().await;
                        computed.fetch_add(1, Ordering::Relaxed);
                        // Some fail, and another one takes over.
                        if index % 2 == 0 { Err("odd") } else { Ok(7) }
                    };
                    match cell.get_or_try_init(init).await {
                        Ok(value) => assert_eq!(*value, 7),
                        Err(error) => assert_eq!((index % 2, error), (0, "odd")),
                    }
                }
            })
            .await;
            let computed = shared.1.load(Ordering::Relaxed);
            assert!((1..=4).contains(&computed), "three may fail, one succeeds");
            assert_eq!(shared.0.get(), Some(&7));
        }
    });
}

#[test]
fn notifications_reach_as_many_tasks_as_were_sent() {
    run(|| async {
        let shared = Arc::new((Notify::new(), AtomicUsize::new(0)));
        let mut tasks = Vec::new();
        for _ in 0..100 {
            let shared = shared.clone();
            tasks.push(spawn(async move {
                shared.0.notified().await;
                shared.1.fetch_add(1, Ordering::SeqCst);
            }));
        }
        for sent in 1..=100 {
            shared.0.notify_one();
            while shared.1.load(Ordering::SeqCst) < sent {
                yield_now().await;
            }
            assert_eq!(shared.1.load(Ordering::SeqCst), sent);
        }
        for task in tasks {
            soon(task).await.unwrap();
        }
    });
}

#[test]
fn a_cancelled_tree_ends_all_tasks_below() {
    run(|| async {
        let root = CancellationToken::new();
        let mut tasks = Vec::new();
        for _ in 0..20 {
            let connection = root.child_token();
            for _ in 0..5 {
                let request = connection.child_token();
                tasks.push(spawn(async move { request.cancelled().await }));
            }
            // Only the requests' tokens are left.
        }
        let other = root.child_token();
        other.cancel();
        assert!(!root.is_cancelled());
        yield_now().await;
        assert!(tasks.iter().all(|task| !task.is_finished()));
        root.cancel();
        for task in tasks {
            soon(task).await.unwrap();
        }
    });
}

// ---- anywhere --------------------------------------------------------------------------------

#[test]
fn threads_outside_of_runtimes_and_tasks_share_locks() {
    let shared = Arc::new((Mutex::new(0usize), RwLock::new(0usize), Semaphore::new(1)));
    let threads: Vec<_> = (0..3)
        .map(|_| {
            let shared = shared.clone();
            thread::spawn(move || {
                for _ in 0..500 {
                    *shared.0.blocking_lock() += 1;
                    *shared.1.blocking_write() += 1;
                    let _reader = shared.1.blocking_read();
                    let _permit = shared.2.blocking_acquire().unwrap();
                }
            })
        })
        .collect();
    let theirs = shared.clone();
    run(move || async move {
        in_tasks(2, |_| {
            let shared = theirs.clone();
            async move {
                for _ in 0..500 {
                    *shared.0.lock().await += 1;
                    *shared.1.write().await += 1;
                    let _reader = shared.1.read().await;
                    let _permit = shared.2.acquire().await.unwrap();
                }
            }
        })
        .await;
    });
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(*shared.0.blocking_lock(), 2500);
    assert_eq!(*shared.1.blocking_read(), 2500);
    assert_eq!(shared.2.available_permits(), 1);
}

#[test]
fn a_task_may_block_for_a_lock_while_other_threads_serve() {
    run(|| async {
        let mutex = Arc::new(Mutex::new(0));
        let guard = mutex.clone().lock_owned().await;
        // All workers block; the one who has the lock is none of them.
        let blocked: Vec<_> = (0..2)
            .map(|_| {
                let mutex = mutex.clone();
                spawn(async move { *mutex.blocking_lock() += 1 })
            })
            .collect();
        let served = spawn(async move {
            yield_now().await;
            drop(guard);
        });
        soon(served).await.unwrap();
        for task in blocked {
            soon(task).await.unwrap();
        }
        assert_eq!(*mutex.lock().await, 2);
    });
}

#[test]
#[should_panic(expected = "would wait for itself")]
fn blocking_the_one_thread_of_a_runtime_for_a_lock_is_refused() {
    run_on(
        || Builder::new_current_thread().build().unwrap(),
        || async {
            // Also if it is free at the moment.
            drop(Mutex::new(0).blocking_lock());
        },
    );
}

#[test]
fn locks_work_on_an_executor_that_knows_nothing_of_ours() {
    // Two futures in turn, each polled whether it was woken or not.
    let mutex = Mutex::new(Vec::new());
    let barrier = Barrier::new(2);
    let body = async |name: u32| {
        for round in 0..3 {
            barrier.wait().await;
            mutex.lock().await.push((round, name));
        }
    };
    let (mut one, mut two) = (pin!(body(1)), pin!(body(2)));
    let mut left = [true, true];
    let mut both = poll_fn(|cx| {
        left[0] = left[0] && one.as_mut().poll(cx).is_pending();
        left[1] = left[1] && two.as_mut().poll(cx).is_pending();
        if left.contains(&true) {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    });
    while poll_once(Pin::new(&mut both)).is_pending() {}
    let mut seen = mutex.try_lock().unwrap().clone();
    seen.sort_unstable();
    assert_eq!(seen, [(0, 1), (0, 2), (1, 1), (1, 2), (2, 1), (2, 2)]);
}
