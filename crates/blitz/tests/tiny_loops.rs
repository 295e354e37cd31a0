//! Tiny loops inside of others, which go without the clock: what they must hear and see all the same.
//!
//! No test here measures time.

use blitz::iter::CancelToken;
use blitz::prelude::*;
use blitz::{ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread::sleep;
use std::time::{Duration, Instant};

const OUTER: usize = 4000;
const INNER: usize = 8;

fn pool(threads: usize) -> ThreadPool {
    let builder = ThreadPoolBuilder::new().num_threads(threads);
    builder.build().unwrap()
}

/// Each item of tiny loops in the items of a long one; one loop in the program for whatever it is given.
fn nested(body: &Body<'_>) {
    (0..OUTER).into_par_iter().for_each(|outer| {
        (0..INNER)
            .into_par_iter()
            .for_each(|inner| body(outer * INNER + inner));
    });
}

/// The same by `flat_map`.
fn flat(body: &Body<'_>) {
    (0..OUTER)
        .into_par_iter()
        .flat_map(|outer| outer * INNER..(outer + 1) * INNER)
        .for_each(body);
}

type Body<'b> = dyn Fn(usize) + Sync + 'b;

const WAYS: [fn(&Body<'_>); 2] = [nested, flat];

#[test]
fn items_of_tiny_loops_that_become_dear_are_shared() {
    for all in WAYS {
        pool(4).install(|| {
            for _ in 0..2 {
                (0..50).for_each(|_| all(&|_| {}));
                let (inside, have_met) = (AtomicUsize::new(0), AtomicBool::new(false));
                let cheap = OUTER * INNER / 2;
                all(&|item| {
                    if item < cheap || have_met.load(SeqCst) {
                        return;
                    }
                    if item < cheap + 100 {
                        // Long enough to be noticed.
                        return sleep(Duration::from_millis(1));
                    }
                    if inside.fetch_add(1, SeqCst) > 0 {
                        have_met.store(true, SeqCst);
                    }
                    let start = Instant::now();
                    while !have_met.load(SeqCst) && start.elapsed() < Duration::from_millis(200) {
                        sleep(Duration::from_micros(100));
                    }
                    inside.fetch_sub(1, SeqCst);
                });
                assert!(have_met.into_inner(), "one thread had them all");
            }
        });
    }
}

#[test]
fn no_tiny_loop_begins_behind_a_cancellation() {
    for all in WAYS {
        pool(1).install(|| {
            (0..50).for_each(|_| all(&|_| {}));
            let (token, late) = (CancelToken::new(), AtomicUsize::new(0));
            let stopped = token.run(|| {
                all(&|item| {
                    if item == OUTER * INNER / 2 {
                        token.cancel();
                    } else if token.is_cancelled() {
                        late.fetch_add(1, SeqCst);
                    }
                });
            });
            assert!(stopped.is_err());
            assert!(late.into_inner() < INNER, "those of the same loop at most");
        });
    }
}

#[test]
fn every_item_of_a_tiny_loop_is_dropped_once_also_if_one_panics() {
    struct Counted<'c>(&'c AtomicUsize);
    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    for threads in [1, 3] {
        for panics_at in [None, Some(2), Some(OUTER / 2), Some(OUTER - 1)] {
            let (made, dropped) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let make = || {
                made.fetch_add(1, SeqCst);
                Counted(&dropped)
            };
            pool(threads).install(|| {
                for _ in 0..3 {
                    let run = || {
                        let loops = (0..OUTER).into_par_iter().flat_map(|outer| {
                            assert!(Some(outer) != panics_at, "as planned");
                            [make(), make(), make()]
                        });
                        loops.collect::<Vec<_>>().len()
                    };
                    match catch_unwind(AssertUnwindSafe(run)) {
                        Ok(len) => assert!(panics_at.is_none() && len == 3 * OUTER),
                        Err(_) => assert!(panics_at.is_some()),
                    }
                }
            });
            assert_eq!(made.into_inner(), dropped.into_inner());
        }
    }
}

#[test]
fn order_and_early_exits_are_as_without() {
    for threads in [1, 3] {
        pool(threads).install(|| {
            for _ in 0..20 {
                let pairs = |n: usize| [2 * n, 2 * n + 1];
                let all: Vec<usize> = (0..OUTER).into_par_iter().flat_map(pairs).collect();
                assert!(all.into_iter().eq(0..2 * OUTER));
                for wanted in [0, 1, 65, OUTER, 2 * OUTER - 1, 2 * OUTER] {
                    let found = (0..OUTER).into_par_iter().flat_map(pairs);
                    let found = found.find_first(|&n| n >= wanted);
                    assert_eq!(found, (wanted < 2 * OUTER).then_some(wanted));
                }
            }
        });
    }
}
