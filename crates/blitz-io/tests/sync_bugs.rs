//! The bugs of the locks that these replace, by their number in the list that was made of them.

mod common;

use blitz_io::sync::{Barrier, Mutex, Notify, RwLock, Semaphore};
use blitz_io::task::yield_now;
use blitz_io::time::timeout;
use blitz_io::{Builder, spawn};
use common::{in_tasks, poll_once, run, run_on, soon};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

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
