//! What the counters of a pool count.

use blitz_core::{ThreadPool, ThreadPoolBuilder, WorkerStats, join, scope};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
}

fn wait_until(what: impl Fn() -> bool) {
    let start = Instant::now();
    while !what() {
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "it never happens"
        );
        thread::yield_now();
    }
}

fn total(pool: &ThreadPool) -> WorkerStats {
    pool.stats().total
}

#[test]
fn a_half_that_another_thread_runs_is_counted_as_stolen_by_that_one() {
    let pool = pool(2);
    let thief = pool.install(|| {
        let begun = AtomicBool::new(false);
        let ((), thief) = join(
            || wait_until(|| begun.load(SeqCst)),
            || {
                begun.store(true, SeqCst);
                blitz_core::current_thread_index().unwrap()
            },
        );
        thief
    });
    let stats = pool.stats();
    assert_eq!(stats.workers[thief].stolen, 1);
    assert_eq!(
        stats.workers.iter().map(|one| one.stolen).sum::<u64>(),
        stats.total.stolen
    );
}

#[test]
fn a_task_that_another_thread_runs_is_counted_as_stolen() {
    let pool = pool(2);
    pool.install(|| {
        let (me, begun) = (thread::current().id(), AtomicBool::new(false));
        scope(|s| {
            s.spawn(|_| {
                assert_ne!(thread::current().id(), me);
                begun.store(true, SeqCst);
            });
            wait_until(|| begun.load(SeqCst));
        });
    });
    assert_eq!(total(&pool).stolen, 1);
}

#[test]
fn forks_that_were_private_are_counted_as_forced() {
    let pool = pool(2);
    pool.install(|| {
        let (busy, go, begun) = (
            AtomicBool::new(false),
            AtomicBool::new(false),
            AtomicBool::new(false),
        );
        scope(|s| {
            // The other thread takes nothing before there is a private fork.
            s.spawn(|_| {
                busy.store(true, SeqCst);
                wait_until(|| go.load(SeqCst));
            });
            wait_until(|| busy.load(SeqCst));
            join(
                || {
                    join(
                        || {
                            go.store(true, SeqCst);
                            // Behind the public one there is this one's, which somebody has to ask for.
                            wait_until(|| begun.load(SeqCst));
                        },
                        || begun.store(true, SeqCst),
                    )
                },
                || (),
            );
        });
    });
    assert!(total(&pool).forced >= 1);
}

#[test]
fn threads_without_work_are_counted_as_parked_and_those_who_wake_them_as_waking() {
    let pool = pool(3);
    wait_until(|| {
        // An idle sleep counts when it is over.
        pool.broadcast(|_| ());
        thread::sleep(Duration::from_millis(1));
        pool.stats().workers.iter().all(|one| one.parked > 0)
    });
    wait_until(|| {
        // Tasks from inside, while the others sleep.
        pool.install(|| {
            scope(|s| {
                for _ in 0..8 {
                    s.spawn(|_| thread::sleep(Duration::from_micros(200)));
                }
            });
        });
        thread::sleep(Duration::from_millis(1));
        total(&pool).woken > 0
    });
}

#[test]
fn a_search_begins_whenever_a_worker_has_nothing_of_its_own_left() {
    let pool = pool(1);
    for _ in 0..10 {
        // One by one from outside: each is found by a search, and followed by the next.
        pool.install(|| ());
    }
    wait_until(|| total(&pool).searches >= 10);
    pool.install(|| {
        scope(|s| {
            for _ in 0..100 {
                s.spawn(|_| ());
            }
        });
    });
    wait_until(|| total(&pool).searches >= 11);
    // A hundred tasks of its own need none.
    assert!(total(&pool).searches < 30);
    assert_eq!(total(&pool).guests, 0);
}
