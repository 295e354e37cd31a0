//! Loops that are stopped from outside, and loops that are watched: what they report, and that no item is lost or dropped
//! twice.

use blitz::iter::{CancelToken, Outcome, Progress, Splitter};
use blitz::prelude::*;
use blitz::{ThreadPool, ThreadPoolBuilder, par_range};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

const LENGTHS: [usize; 10] = [0, 1, 2, 3, 64, 65, 4095, 4096, 4097, 100_000];

fn pools() -> [ThreadPool; 3] {
    [1, 2, 8].map(|threads| {
        ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap()
    })
}

/// Counts itself among the living.
struct Counted<'c>(&'c AtomicUsize, usize);

impl<'c> Counted<'c> {
    fn several(alive: &'c AtomicUsize, len: usize) -> Vec<Self> {
        alive.fetch_add(len, Relaxed);
        (0..len).map(|n| Counted(alive, n)).collect()
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        // Goes below zero, and is noticed, if an item is dropped twice.
        assert_ne!(self.0.fetch_sub(1, Relaxed), 0);
    }
}

#[test]
fn a_loop_that_nobody_stops_is_completed() {
    let token = CancelToken::new();
    for len in LENGTHS {
        // Sums do not fit a usize everywhere.
        let end = len as u64;
        let sum = par_range(0, end).with_cancel(&token).sum::<u64>();
        assert_eq!((sum.outcome, sum.done), (Outcome::Completed, len));
        assert_eq!(sum.completed(), Ok((0..end).sum()));
        let list = par_range(0, end)
            .with_timeout(Duration::MAX)
            .with_cancel(&token)
            .collect::<Vec<_>>();
        assert_eq!(list.completed(), Ok((0..end).collect()));
        let odd = par_range(0, end)
            .filter(|n| n % 2 == 1)
            .with_deadline(Instant::now() + Duration::from_secs(3600))
            .reduce(|| 0, |a, b| a + b);
        assert_eq!(odd.done, len / 2);
        assert_eq!(odd.completed(), Ok((0..end).filter(|n| n % 2 == 1).sum()));
    }
}

#[test]
fn an_early_exit_of_the_body_is_no_stop() {
    let token = CancelToken::new();
    let run = par_range(0, 1_000_000)
        .with_cancel(&token)
        .run(|items| items.find_any(|n| *n >= 1000));
    assert_eq!(run.outcome, Outcome::Completed);
    assert!(run.value >= Some(1000));
    assert!((1..=1_000_000).contains(&run.done));
}

#[test]
fn a_cancelled_loop_stops_soon_and_counts_what_it_did() {
    for pool in &pools() {
        let (token, called) = (CancelToken::new(), AtomicUsize::new(0));
        let run = pool.install(|| {
            par_range(0, 50_000_000).with_cancel(&token).for_each(|_| {
                if called.fetch_add(1, Relaxed) == 5000 {
                    token.clone().cancel();
                }
            })
        });
        let called = called.into_inner();
        assert_eq!((run.outcome, run.done), (Outcome::Cancelled, called));
        assert!((5001..10_000_000).contains(&called), "{called} calls");
        assert!(
            run.completed()
                .unwrap_err()
                .to_string()
                .contains("cancelled")
        );
    }
}

#[test]
fn what_a_cancelled_loop_has_collected_is_in_order_and_complete_as_far_as_it_goes() {
    for pool in &pools() {
        let token = CancelToken::new();
        let run = pool.install(|| {
            let items = par_range(0, 10_000_000).map(|n| {
                if n == 10_000 {
                    token.cancel();
                }
                n
            });
            items.with_cancel(&token).collect::<Vec<usize>>()
        });
        assert_eq!(run.value.len(), run.done);
        assert!(run.value.is_sorted_by(|a, b| a < b));
        assert!(!run.is_completed());
    }
}

#[test]
fn every_item_is_dropped_once_whether_it_was_done_or_not() {
    let alive = AtomicUsize::new(0);
    for pool in &pools() {
        for (stop_at, len) in [(0, 1), (0, 100_000), (70, 100), (60_000, 100_000)] {
            let (token, done) = (CancelToken::new(), AtomicUsize::new(0));
            let run = pool.install(|| {
                let items = Counted::several(&alive, len).into_par_iter();
                items.with_cancel(&token).run(|items| {
                    let kept: Vec<Counted<'_>> = items
                        .map(|item| {
                            if done.fetch_add(1, Relaxed) == stop_at {
                                token.cancel();
                            }
                            item
                        })
                        .filter(|item| item.1 % 2 == 0)
                        .collect();
                    kept
                })
            });
            assert_eq!(alive.load(Relaxed), run.value.len());
            drop(run);
            assert_eq!(alive.load(Relaxed), 0);
        }
        // A panic in a loop that could have been stopped.
        let attempt = catch_unwind(AssertUnwindSafe(|| {
            pool.install(|| {
                let items = Counted::several(&alive, 10_000).into_par_iter();
                let run = items
                    .with_timeout(Duration::from_secs(3600))
                    .for_each(|item| assert_ne!(item.1, 7777));
                run.outcome
            })
        }));
        assert!(attempt.is_err());
        assert_eq!(alive.load(Relaxed), 0);
    }
}

#[test]
fn a_loop_without_end_ends_at_its_deadline() {
    for pool in &pools() {
        let start = Instant::now();
        let run = pool.install(|| {
            blitz::iter::repeat(1usize)
                .with_timeout(Duration::from_millis(20))
                .sum::<usize>()
        });
        assert!(start.elapsed() >= Duration::from_millis(20));
        assert_eq!((run.outcome, run.value), (Outcome::TimedOut, run.done));
        let error = run.completed().unwrap_err();
        assert!(error.to_string().contains("deadline"));
    }
}

#[test]
fn sequential_iterators_are_pulled_no_further() {
    let token = CancelToken::new();
    let pulled = AtomicUsize::new(0);
    let endless = std::iter::repeat_with(|| pulled.fetch_add(1, Relaxed));
    let run = endless.par_bridge().with_cancel(&token).for_each(|n| {
        if n == 10_000 {
            token.cancel();
        }
    });
    assert_eq!(run.outcome, Outcome::Cancelled);
    assert!(run.done <= pulled.into_inner());
}

#[test]
fn long_pieces_look_up_too() {
    let token = CancelToken::new();
    let run = par_range(0, 40_000_000)
        .with_splitter(Splitter::pieces(1))
        .with_cancel(&token)
        .for_each(|n| {
            if n == 20_000 {
                token.cancel();
            }
        });
    assert_eq!(run.outcome, Outcome::Cancelled);
    assert!(run.done < 1_000_000, "{} done", run.done);
}

#[test]
fn progress_counts_every_item_exactly_once() {
    for pool in &pools() {
        for len in LENGTHS {
            let (before, after, zipped) = (Progress::new(), Progress::new(), Progress::new());
            let kept = pool.install(|| {
                par_range(0, len)
                    .with_progress(&zipped)
                    .rev()
                    .zip(par_range(0, len).with_progress(&zipped))
                    .with_progress(&before)
                    .filter(|(n, _)| n % 3 == 0)
                    .with_progress(&after)
                    .collect::<Vec<_>>()
            });
            assert_eq!(kept.len(), len.div_ceil(3));
            assert_eq!(before.done(), len as u64);
            assert_eq!(after.done(), len.div_ceil(3) as u64);
            assert_eq!(zipped.reset(), 2 * len as u64);
            assert_eq!(zipped.done(), 0);
        }
    }
}

#[test]
fn progress_shows_while_the_loop_runs_and_after_a_panic() {
    let progress = Progress::new();
    let (seen, waited) = (AtomicBool::new(false), Instant::now());
    // The loop cannot end before somebody has seen it progress.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while progress.done() < 100 && waited.elapsed() < Duration::from_secs(60) {
                std::thread::yield_now();
            }
            seen.store(true, Relaxed);
        });
        let mut rounds = 0;
        while !seen.load(Relaxed) {
            par_range(0, 1000).with_progress(&progress).for_each(|_| ());
            rounds += 1;
        }
        assert!(rounds > 0 && progress.done() >= 100);
    });
    progress.reset();
    let attempt = catch_unwind(|| {
        let items = par_range(0, 1000).with_splitter(Splitter::pieces(1));
        items
            .with_progress(&progress)
            .for_each(|n| assert_ne!(n, 600));
    });
    assert!(attempt.is_err());
    assert_eq!(progress.done(), 601);
}
