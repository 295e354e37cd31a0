//! Locks under several threads, with counts; from threads outside of runtimes; on foreign executors; and the bugs of the locks that these replace, by their number in the
//! list that was made of them.

mod common;

use blitz_io::sync::{Barrier, CancellationToken, Mutex, Notify, OnceCell, RwLock, Semaphore};
use blitz_io::task::yield_now;
use blitz_io::time::timeout;
use blitz_io::{Builder, spawn};
use common::{poll_once, run, run_on, soon};
use std::collections::HashSet;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;
use std::thread;
use std::time::Duration;

/// Runs `body` in `number` tasks, and returns on how many threads they ran.
async fn in_tasks<F>(number: usize, body: impl Fn(usize) -> F) -> usize
where
    F: Future<Output = ()> + Send + 'static,
{
    // They begin together, and more than one worker is wanted: whoever is alone yields until another one has come.
    let seen = Arc::new(std::sync::Mutex::new(HashSet::new()));
    let tasks: Vec<_> = (0..number)
        .map(|index| {
            let (seen, body) = (seen.clone(), body(index));
            spawn(async move {
                while seen.lock().unwrap().len() < 2 {
                    seen.lock().unwrap().insert(thread::current().id());
                    yield_now().await;
                }
                body.await;
                seen.lock().unwrap().insert(thread::current().id());
            })
        })
        .collect();
    for task in tasks {
        soon(task).await.unwrap();
    }
    seen.lock().unwrap().len()
}

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

// ---- the bugs --------------------------------------------------------------------------------

#[test]
fn bug_10_a_task_that_only_takes_free_locks_lets_others_run() {
    run_on(
        || Builder::new_current_thread().build().unwrap(),
        || async {
            let stop = Arc::new(AtomicBool::new(false));
            let greedy = |index: usize| {
                let stop = stop.clone();
                spawn(async move {
                    let (mutex, lock) = (Mutex::new(0), RwLock::new(0));
                    let (semaphore, notify) = (Semaphore::new(1), Notify::new());
                    let barrier = Barrier::new(1);
                    while !stop.load(Ordering::Relaxed) {
                        match index {
                            0 => *mutex.lock().await += 1,
                            1 => *lock.write().await += 1,
                            2 => drop(lock.read().await),
                            3 => drop(semaphore.acquire().await.unwrap()),
                            4 => drop(barrier.wait().await),
                            _ => {
                                notify.notify_one();
                                notify.notified().await;
                            }
                        }
                    }
                })
            };
            let tasks: Vec<_> = (0..6).map(greedy).collect();
            yield_now().await;
            stop.store(true, Ordering::Relaxed);
            for task in tasks {
                soon(task).await.unwrap();
            }
        },
    );
}

#[test]
fn bug_29b_a_lock_handed_to_a_future_that_is_dropped_goes_to_the_next() {
    let mutex = Mutex::new(0);
    let guard = mutex.try_lock().unwrap();
    let mut first = Box::pin(mutex.lock());
    let mut second = Box::pin(mutex.lock());
    assert!(poll_once(first.as_mut()).is_pending());
    assert!(poll_once(second.as_mut()).is_pending());
    drop(guard);
    // It has the lock now, and does not know it.
    assert!(mutex.try_lock().is_err());
    drop(first);
    assert!(poll_once(second.as_mut()).is_ready());
    drop(second);
    assert!(mutex.try_lock().is_ok());
}

#[test]
fn bug_29b_permits_of_a_future_that_is_dropped_come_back() {
    let semaphore = Semaphore::new(3);
    let held = semaphore.try_acquire_many(2).unwrap();
    // It has got the one that is left, and waits for four more.
    let mut large = Box::pin(semaphore.acquire_many(5));
    let mut small = Box::pin(semaphore.acquire());
    assert!(poll_once(large.as_mut()).is_pending());
    assert!(poll_once(small.as_mut()).is_pending());
    assert_eq!(semaphore.available_permits(), 0);
    drop(held);
    assert!(poll_once(small.as_mut()).is_pending(), "no overtaking");
    drop(large);
    assert!(poll_once(small.as_mut()).is_ready());
    drop(small);
    assert_eq!(semaphore.available_permits(), 3);
}

#[test]
fn bug_29b_a_notification_of_a_future_that_is_dropped_goes_to_the_next() {
    let notify = Notify::new();
    let mut futures: Vec<_> = (0..3).map(|_| Box::pin(notify.notified())).collect();
    for future in &mut futures {
        assert!(poll_once(future.as_mut()).is_pending());
    }
    notify.notify_one();
    drop(futures.remove(0));
    assert!(poll_once(futures[0].as_mut()).is_ready());
    notify.notify_last();
    drop(futures);
    // The last one had it, and nobody was left.
    assert!(poll_once(pin!(notify.notified())).is_ready());
    assert!(poll_once(pin!(notify.notified())).is_pending());
}

#[test]
fn bug_29b_timeouts_lose_no_permit() {
    run(|| async {
        let shared = Arc::new((Semaphore::new(2), AtomicUsize::new(0)));
        in_tasks(8, |index| {
            let shared = shared.clone();
            async move {
                for round in 0..300u64 {
                    let limit = Duration::from_micros(10 * ((index as u64 + round) % 5));
                    if let Ok(permit) = timeout(limit, shared.0.acquire()).await {
                        shared.1.fetch_add(1, Ordering::Relaxed);
                        yield_now().await;
                        drop(permit);
                    }
                }
            }
        })
        .await;
        assert_eq!(shared.0.available_permits(), 2);
        assert!(shared.1.load(Ordering::Relaxed) > 0);
    });
}

#[test]
fn bug_31_more_than_a_batch_of_tasks_is_woken_by_one_call() {
    run(|| async {
        let shared = Arc::new((Semaphore::new(0), Notify::new(), Barrier::new(201)));
        let tasks: Vec<_> = (0..200)
            .map(|_| {
                let shared = shared.clone();
                spawn(async move {
                    shared.0.acquire().await.unwrap().forget();
                    let notified = shared.1.notified();
                    shared.2.wait().await;
                    notified.await;
                })
            })
            .collect();
        yield_now().await;
        shared.0.add_permits(200);
        soon(shared.2.wait()).await;
        shared.1.notify_waiters();
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
            let mutex = Mutex::new(0);
            let _guard = mutex.lock().await;
            drop(mutex.blocking_lock());
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
