//! Pools whose queues take so many tasks and no more.
#![cfg(not(loom))]

use blitz_core::primitives::{BackoffLimits, BackoffMode, FullPolicy};
use blitz_core::{ThreadPool, ThreadPoolBuilder, current_num_threads, spawn, try_spawn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(100);

fn pool(threads: usize, places: usize, when_full: FullPolicy) -> ThreadPool {
    let builder = ThreadPoolBuilder::new().num_threads(threads);
    builder.queue_capacity(places, when_full).build().unwrap()
}

/// Keeps the pool's only thread busy until what is returned is dropped.
fn keep_busy(pool: &ThreadPool) -> Sender<()> {
    let (release, wait) = mpsc::channel::<()>();
    let (tell, begun) = mpsc::channel();
    pool.spawn(move || {
        tell.send(()).unwrap();
        wait.recv().ok();
    });
    begun.recv_timeout(LONG).unwrap();
    release
}

#[test]
fn a_full_queue_hands_the_task_back() {
    for policy in [FullPolicy::Refuse, FullPolicy::Block] {
        let pool = pool(1, 3, policy);
        let release = keep_busy(&pool);
        let (sender, receiver) = mpsc::channel();
        let task = |n| {
            let sender = sender.clone();
            move || sender.send(n).unwrap()
        };
        for n in 0..3 {
            pool.try_spawn(task(n)).unwrap();
        }
        let refused = pool.try_spawn(task(3)).unwrap_err();
        assert_eq!(refused.to_string(), "the queue is full");
        drop(release);
        let mut all: Vec<i32> = receiver.iter().take(3).collect();
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2]);
        // Now there is room for it, with everything that it had.
        pool.spawn(refused.into_inner());
        assert_eq!(receiver.recv_timeout(LONG), Ok(3));
    }
}

#[test]
fn a_queue_that_refuses_says_what_to_do_and_one_that_grows_does_not_mind() {
    let pool = self::pool(1, 1, FullPolicy::Refuse);
    let release = keep_busy(&pool);
    pool.spawn(|| ());
    let calls: [&dyn Fn(); 3] = [&|| pool.spawn(|| ()), &|| pool.spawn_fifo(|| ()), &|| {
        drop(pool.spawn_handle(|| ()))
    }];
    for call in calls {
        let payload = catch_unwind(AssertUnwindSafe(call)).unwrap_err();
        let text = payload.downcast::<String>().unwrap();
        assert!(text.contains("use try_spawn"), "{text}");
    }
    // What somebody waits for is not refused.
    drop(release);
    assert_eq!(pool.install(|| blitz_core::join(|| 1, || 2)), (1, 2));
    pool.shutdown();

    let pool = self::pool(1, 1, FullPolicy::Grow);
    let release = keep_busy(&pool);
    let count = Arc::new(AtomicUsize::new(0));
    for _ in 0..100 {
        let count = Arc::clone(&count);
        pool.spawn(move || {
            count.fetch_add(1, Ordering::SeqCst);
        });
    }
    drop(release);
    pool.shutdown();
    assert_eq!(count.load(Ordering::SeqCst), 100);
}

#[test]
fn spawners_wait_for_room_and_no_more_tasks_wait_than_the_queue_takes() {
    for threads in [1, 3] {
        let pool = pool(threads, 4, FullPolicy::Block);
        let (spawned, begun) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for n in 0..200 {
                        let counting = Arc::clone(&begun);
                        let task = move || {
                            counting.fetch_add(1, Ordering::SeqCst);
                        };
                        match n % 3 {
                            0 => pool.spawn(task),
                            1 => pool.spawn_fifo(task),
                            _ => drop(pool.spawn_handle(task)),
                        }
                        let spawned = spawned.fetch_add(1, Ordering::SeqCst) + 1;
                        let waiting = spawned.saturating_sub(begun.load(Ordering::SeqCst));
                        // Those that have begun and have not said so are one for each thread.
                        assert!(waiting <= 4 + threads, "{waiting} wait");
                    }
                });
            }
        });
        pool.shutdown();
        assert_eq!(begun.load(Ordering::SeqCst), 600);
    }
}

#[test]
fn tasks_that_spawn_more_than_there_is_room_for_get_on() {
    for threads in [1, 2] {
        let pool = pool(threads, 2, FullPolicy::Block);
        let count = Arc::new(AtomicUsize::new(0));
        let (done, all) = mpsc::channel();
        for _ in 0..3 {
            let (count, done) = (Arc::clone(&count), done.clone());
            pool.spawn(move || {
                for _ in 0..20 {
                    let (count, done) = (Arc::clone(&count), done.clone());
                    // The only thread waits for room here: others run what is queued.
                    spawn(move || {
                        count.fetch_add(1, Ordering::SeqCst);
                        done.send(()).unwrap();
                    });
                }
            });
        }
        for _ in 0..60 {
            all.recv_timeout(LONG).expect("somebody runs them");
        }
        assert_eq!(count.load(Ordering::SeqCst), 60);
        pool.shutdown();
    }
}

#[test]
fn pools_without_a_limit_take_everything() {
    let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let release = keep_busy(&pool);
    assert!((0..1000).all(|_| pool.try_spawn(|| ()).is_ok()));
    drop(release);
    pool.install(|| assert!(try_spawn(|| ()).is_ok()));
    pool.shutdown();
}

#[test]
fn wrong_limits_are_errors_that_say_what_to_do() {
    let built = ThreadPoolBuilder::new()
        .queue_capacity(0, FullPolicy::Block)
        .build();
    assert!(built.unwrap_err().to_string().contains("at least 1"));
    let wrong = BackoffLimits {
        spin: 10,
        multi_spin: 5,
        ..BackoffMode::Balanced.limits()
    };
    let built = ThreadPoolBuilder::new()
        .backoff(BackoffMode::Custom(wrong))
        .build();
    assert!(
        built
            .unwrap_err()
            .to_string()
            .contains("at least the one before")
    );
}

#[test]
fn a_pool_with_a_patience_of_its_own_finishes_its_work() {
    for patience in [Duration::ZERO, Duration::from_micros(500), Duration::MAX] {
        let limits = BackoffLimits {
            patience,
            ..BackoffMode::PowerSaving.limits()
        };
        let builder = ThreadPoolBuilder::new().num_threads(2);
        let pool = builder
            .backoff(BackoffMode::Custom(limits))
            .build()
            .unwrap();
        for _ in 0..20 {
            assert_eq!(
                pool.install(|| blitz_core::join(|| 1, current_num_threads)),
                (1, 2)
            );
        }
        pool.shutdown();
    }
}

/// Counts itself, and spawns two more of the next lower level.
fn tree(levels: u32, count: Arc<AtomicUsize>) {
    count.fetch_add(1, Ordering::SeqCst);
    for _ in 0..if levels == 0 { 0 } else { 2 } {
        let count = Arc::clone(&count);
        spawn(move || tree(levels - 1, count));
    }
}

#[test]
fn tasks_that_spawn_into_their_own_full_pool_get_on_however_few_rescue_threads_there_may_be() {
    for (threads, most) in [(1, 0), (2, 0), (1, 1), (3, 2)] {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .max_rescue_threads(most)
            .queue_capacity(1, FullPolicy::Block)
            .build()
            .unwrap();
        let count = Arc::new(AtomicUsize::new(0));
        let counts = Arc::clone(&count);
        pool.spawn(move || tree(6, counts));
        assert!(
            pool.shutdown_timeout(LONG),
            "{threads} threads, {most} more"
        );
        assert_eq!(count.load(Ordering::SeqCst), (1 << 7) - 1);
    }
}
