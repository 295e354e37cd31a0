//! `par_bridge` over iterators that use the pool themselves.
//!
//! A thread that is inside `next` holds the lock of the bridge. If it waits there for work of its own, and the wait made it run
//! a pull of the same bridge, it would wait for itself. (Other libraries do that.)

use blitz::prelude::*;
use blitz::{ThreadPool, ThreadPoolBuilder, join, scope, yield_now};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// Runs `test` in pools of several sizes, and fails instead of hanging for ever.
fn in_pools(test: impl Fn(&ThreadPool) + Send + Sync + 'static) {
    let (done, finished) = channel();
    thread::spawn(move || {
        for threads in [1, 2, 3, 8] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build();
            test(&pool.unwrap());
        }
        done.send(()).unwrap();
    });
    finished
        .recv_timeout(Duration::from_secs(120))
        .expect("a bridge hangs, or its test has panicked");
}

/// Takes long enough for others to come and help.
fn work(n: u64) -> u64 {
    let mixed = (0..300).fold(n, |a, b| std::hint::black_box(a.rotate_left(3) ^ b));
    mixed % 1_000_003
}

const ITEMS: u64 = 300;

#[test]
fn the_iterator_may_run_parallel_loops() {
    in_pools(|pool| {
        let next = |n: u64| {
            (0..200u64)
                .into_par_iter()
                .map(|m| work(m) % 2 + n)
                .sum::<u64>()
        };
        let sequential: u64 = (0..ITEMS).map(|n| work(next(n)) % 1000).sum();
        let total: u64 = pool.install(|| {
            let iter = (0..ITEMS).map(next);
            iter.par_bridge().map(|n| work(n) % 1000).sum()
        });
        assert_eq!(total, sequential);
    });
}

#[test]
fn the_iterator_may_fork_and_open_scopes() {
    in_pools(|pool| {
        let next = |n: u64| {
            let (a, b) = join(|| work(n), || work(n + 1));
            let count = AtomicUsize::new(0);
            scope(|s| {
                for _ in 0..3 {
                    s.spawn(|_| {
                        count.fetch_add(work(n) as usize % 2 + 1, Relaxed);
                    });
                }
            });
            (a ^ b).wrapping_add(count.into_inner() as u64)
        };
        let mut expected: Vec<u64> = (0..ITEMS).map(next).collect();
        let mut got: Vec<u64> = pool.install(|| (0..ITEMS).map(next).par_bridge().collect());
        expected.sort_unstable();
        got.sort_unstable();
        assert_eq!(got, expected);
    });
}

#[test]
fn bridges_nest_in_the_iterator_and_in_the_closure() {
    in_pools(|pool| {
        let inner = |n: u64| {
            (0..20u64)
                .map(work)
                .par_bridge()
                .map(|m| m % 5 + n)
                .sum::<u64>()
        };
        let expected: u64 = (0..ITEMS).map(|n| inner(inner(n) % 7)).sum();
        let total: u64 = pool.install(|| {
            let iter = (0..ITEMS).map(inner);
            iter.par_bridge().map(|n| inner(n % 7)).sum()
        });
        assert_eq!(total, expected);
    });
}

#[test]
fn the_iterator_may_ask_for_unrelated_work_and_get_a_pull() {
    in_pools(|pool| {
        let yielding = |n: u64| {
            // Whatever comes, on top of this stack: maybe a pull of this very bridge.
            yield_now();
            work(n)
        };
        let count = pool.install(|| {
            let iter = (0..ITEMS).map(yielding);
            iter.par_bridge().map(work).count()
        });
        assert_eq!(count, ITEMS as usize);
    });
}

#[test]
fn a_pull_that_came_on_top_of_next_does_not_wait_for_threads_that_wait_for_that_next() {
    in_pools(|pool| {
        for _ in 0..200 {
            let yielding = |n: u64| {
                // A share of several pulls may come. If it were forked again, its thief would wait for this call to end, and
                // this call for the thief.
                for _ in 0..3 {
                    yield_now();
                }
                work(n)
            };
            let count = pool.install(|| (0..20).map(yielding).par_bridge().map(work).count());
            assert_eq!(count, 20);
        }
    });
}

#[test]
fn a_panic_in_next_arrives_after_parallel_work_in_next() {
    in_pools(|pool| {
        let attempt = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            pool.install(|| {
                let iter = (0..ITEMS).map(|n| {
                    let sum: u64 = (0..50u64).into_par_iter().map(work).sum();
                    if n == ITEMS / 2 {
                        std::panic::resume_unwind(Box::new("planned"));
                    }
                    sum
                });
                iter.par_bridge().map(work).sum::<u64>()
            })
        }));
        let payload = attempt.expect_err("the panic is lost");
        assert_eq!(payload.downcast_ref(), Some(&"planned"));
    });
}

#[test]
fn the_first_items_run_at_the_same_time_unless_they_are_known_to_be_cheap() {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    for _ in 0..3 {
        let met = AtomicUsize::new(0);
        let limit = std::time::Instant::now() + Duration::from_secs(10);
        let meet = |_| {
            met.fetch_add(1, Relaxed);
            while met.load(Relaxed) < 2 && std::time::Instant::now() < limit {
                thread::yield_now();
            }
            met.load(Relaxed)
        };
        let seen: Vec<usize> = pool.install(|| (0..2).par_bridge().map(meet).collect());
        assert_eq!(seen, [2, 2]);
    }
}
