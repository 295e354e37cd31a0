//! Loops, sorts and `ops` under a token: they stop at any of their check points, and nothing is lost.

use blitz::iter::Outcome;
use blitz::prelude::*;
use blitz::{CancelToken, Cancelled, ThreadPoolBuilder, ops};
use std::collections::{BTreeSet, HashMap, HashSet, LinkedList};
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

/// A token that is cancelled when it has been asked so often: at one check point or another.
fn cancelled_at(check_point: usize) -> CancelToken {
    let asked = AtomicUsize::new(0);
    CancelToken::watching(move || asked.fetch_add(1, Relaxed) >= check_point)
}

/// Runs `work` with tokens that stop it at its first check point, at the second, and so on in growing steps, until it is through. Returns how often it was
/// stopped.
fn at_every_check_point(work: impl Fn(&CancelToken) -> Result<(), Cancelled>) -> usize {
    // `run` asks as well, before it begins.
    let (mut check_point, mut stopped) = (1, 0);
    while work(&cancelled_at(check_point)).is_err() {
        stopped += 1;
        check_point += 1 + check_point / 2;
    }
    stopped
}

/// Something is done with it.
fn ignore<T>(value: T) {
    black_box(value);
}

fn numbers(len: usize) -> Vec<u64> {
    let mut x = 0x2545_f491_4f6c_dd1d_u64;
    let next = |_| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x
    };
    (0..len).map(next).collect()
}

fn in_pools(check: impl Fn() + Sync) {
    for threads in [1, 2, 3] {
        let builder = ThreadPoolBuilder::new().num_threads(threads);
        builder.build().unwrap().install(&check);
    }
}

/// Sorts copies of `v`, stopped at any check point, and finds all elements afterwards; in order if it was through.
fn check_sort<T: Ord + Clone + Send + Sync + std::fmt::Debug>(
    v: &[T],
    sort: impl Fn(&mut [T]) + Sync,
) {
    let mut expected = v.to_vec();
    expected.sort();
    in_pools(|| {
        let stopped = at_every_check_point(|token| {
            let mut sorted = v.to_vec();
            let result = token.run(|| sort(&mut sorted));
            let in_order = sorted == expected;
            sorted.sort();
            assert!(sorted == expected, "elements were lost");
            assert!(in_order || result.is_err(), "through, but not sorted");
            result
        });
        assert!(stopped > 0, "there was no check point");
    });
}

#[test]
fn a_sort_of_integers_that_is_stopped_keeps_its_elements() {
    let v = numbers(60_000);
    check_sort(&v, |v| v.par_sort());
    check_sort(&v, |v| v.par_sort_unstable());
    check_sort(&v, |v| v.par_sort_by_key(|x| *x));
}

#[test]
fn a_sort_by_comparison_that_is_stopped_keeps_its_elements() {
    let v: Vec<_> = numbers(20_000)
        .into_iter()
        .map(|x| (x.to_string(), x))
        .collect();
    check_sort(&v, |v| v.par_sort());
    check_sort(&v, |v| v.par_sort_unstable());
    check_sort(&v, |v| v.par_sort_by(|a, b| a.cmp(b)));
    check_sort(&v, |v| v.par_sort_by_cached_key(|x| x.clone()));
    let mut runs = v;
    for run in runs.chunks_mut(8_000) {
        run.sort();
    }
    check_sort(&runs, |v| v.par_sort());
}

#[test]
fn a_sort_stops_soon_after_it_is_told() {
    in_pools(|| {
        let token = CancelToken::new();
        let comparisons = AtomicUsize::new(0);
        let mut v = numbers(300_000);
        let stopped = token.run(|| {
            v.par_sort_by(|a, b| {
                if comparisons.fetch_add(1, Relaxed) == 10_000 {
                    token.cancel();
                }
                a.cmp(b)
            });
        });
        assert!(stopped.is_err());
        let comparisons = comparisons.into_inner();
        // All of it takes five million.
        assert!(comparisons < 2_000_000, "{comparisons}");
    });
}

#[test]
fn loops_stop_and_drop_what_they_have_made() {
    in_pools(|| {
        let held = Arc::new(());
        let stopped = at_every_check_point(|token| {
            let result = token.run(|| {
                let all = (0..100_000).into_par_iter().map(|_| Arc::clone(&held));
                all.collect::<Vec<_>>().len()
            });
            assert_eq!(Arc::strong_count(&held), 1);
            assert!(result.is_err() || result == Ok(100_000));
            result.map(drop)
        });
        assert!(stopped > 0);
        let items: Vec<_> = (0..10_000).map(|_| Arc::clone(&held)).collect();
        let stopped = cancelled_at(2).run(|| items.into_par_iter().for_each(drop));
        assert!(stopped.is_err());
        assert_eq!(Arc::strong_count(&held), 1);
    });
}

#[test]
fn all_kinds_of_loops_have_check_points() {
    let text = "one two three ".repeat(5_000);
    let map: HashMap<u64, u64> = (0..5_000).map(|n| (n, n)).collect();
    let tree: BTreeSet<u64> = (0..5_000).collect();
    let list: LinkedList<u64> = (0..5_000).collect();
    let loops: [(&str, &(dyn Fn() + Sync)); 11] = [
        ("hash map", &|| map.par_iter().for_each(ignore)),
        ("tree", &|| ignore(tree.par_iter().max())),
        ("search of a list", &|| {
            ignore(list.par_iter().find_any(|n| **n == u64::MAX))
        }),
        ("range", &|| {
            (0..100_000u64).into_par_iter().for_each(ignore)
        }),
        ("filter and fold", &|| {
            let evens = (0..100_000u64).into_par_iter().filter(|n| n % 2 == 0);
            black_box(evens.fold(|| 0, |a, b| a ^ b).reduce(|| 0, |a, b| a ^ b));
        }),
        ("words", &|| ignore(text.par_split_whitespace().count())),
        ("bridge", &|| (0..10_000u64).par_bridge().for_each(ignore)),
        ("few items", &|| {
            (0..3u32).into_par_iter().with_max_len(1).for_each(ignore)
        }),
        ("search", &|| {
            ignore(
                (0..1_000_000u64)
                    .into_par_iter()
                    .find_any(|n| *n == u64::MAX),
            )
        }),
        ("par_for", &|| ops::par_for(0..100_000, ignore)),
        ("reproducible sum", &|| {
            let all = (0..100_000u64).into_par_iter().map(|n| n as f64);
            let _: f64 = all.sum();
        }),
    ];
    in_pools(|| {
        for (name, run) in &loops {
            // Twice: the second time, the loop is known.
            for _ in 0..2 {
                let stopped = at_every_check_point(|token| token.run(run));
                assert!(stopped > 0, "{name}");
            }
        }
    });
}

#[test]
fn a_long_walk_through_a_collection_stops_long_before_its_end() {
    let set: HashSet<u64> = (0..200_000).collect();
    in_pools(|| {
        let (token, done) = (CancelToken::new(), AtomicUsize::new(0));
        let stopped = token.run(|| {
            set.par_iter().for_each(|item| {
                black_box((0..100).fold(*item, |sum, n| black_box(sum ^ n)));
                if done.fetch_add(1, Relaxed) == 5_000 {
                    token.cancel();
                }
            });
        });
        assert!(stopped.is_err());
        // The next block is a part of what has been done before.
        let done = done.into_inner();
        assert!(done < 100_000, "{done} items");
    });
}

#[test]
fn a_loop_with_a_token_of_its_own_tells_how_it_ended() {
    let token = CancelToken::with_timeout(Duration::ZERO);
    let run = (0..100u64).into_par_iter().with_cancel(&token).sum::<u64>();
    assert_eq!((run.outcome, run.done), (Outcome::TimedOut, 0));
    let parent = CancelToken::new();
    let child = parent.child();
    parent.cancel();
    let run = (0..100u64).into_par_iter().with_cancel(&child).sum::<u64>();
    assert_eq!((run.outcome, run.done), (Outcome::Cancelled, 0));
}

#[test]
fn ops_stop_and_drop_what_they_have_made() {
    let v = numbers(60_000);
    in_pools(|| {
        let held = Arc::new(());
        let stopped = at_every_check_point(|token| {
            let result = token.run(|| {
                let groups = ops::par_group_by(&v, |n| n % 100);
                let arcs = ops::par_tabulate(v.len(), |_| Arc::clone(&held));
                assert_eq!((groups.len(), arcs.len()), (100, v.len()));
            });
            assert_eq!(Arc::strong_count(&held), 1);
            result
        });
        assert!(stopped > 0);
    });
}

/// Wide, so that a few of them fill the caches, and must be dropped once.
type Element = (Box<u64>, [u64; 15]);

/// Moves elements about, stopped at any check point, and finds each of them once afterwards. Returns how often it was stopped.
fn check_moves(len: usize, moves: impl Fn(&mut [Element]) + Sync) -> usize {
    let all = AtomicUsize::new(0);
    in_pools(|| {
        let stopped = at_every_check_point(|token| {
            let mut v: Vec<_> = (0..len as u64).map(|n| (Box::new(n), [n; 15])).collect();
            let result = token.run(|| moves(&mut v));
            v.sort();
            assert!(v.into_iter().map(|x| *x.0).eq(0..len as u64));
            result
        });
        all.fetch_add(stopped, Relaxed);
    });
    all.into_inner()
}

#[test]
fn elements_that_are_only_moved_are_not_lost() {
    // This one swaps, and is through before anybody has asked.
    check_moves(5_000, |v| v.par_rotate_left(2_000));
    let stopped = [
        check_moves(5_000, |v| v.par_rotate_left(100)),
        check_moves(5_000, |v| v.par_reverse()),
        check_moves(70_000, |v| ops::par_shuffle(v, 7)),
        check_moves(5_000, |v| ignore(v.par_partition(|x| *x.0 % 3 == 0))),
    ];
    assert!(stopped.iter().all(|stopped| *stopped > 0), "{stopped:?}");
}

/// Calls its closure when it is dropped.
struct AtTheEnd<F: FnMut()>(F);

impl<F: FnMut()> Drop for AtTheEnd<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Loops, sorts and pipelines that are long enough to be shared.
fn compute(total: &AtomicUsize) {
    fn slowly(n: usize) -> usize {
        (0..100).fold(n, |n, _| std::hint::black_box(n))
    }
    let sum: usize = (0..20_000_usize).into_par_iter().map(slowly).sum();
    let found = (0..20_000)
        .into_par_iter()
        .find_first(|&n| slowly(n) == 19_999);
    let mut v: Vec<usize> = (0..50_000).map(|n| n * 7919 % 50_000).collect();
    v.par_sort_by_key(|&n| slowly(n));
    let mapped: usize = (0..5000_usize).par_map(|n| slowly(slowly(n))).sum();
    let seq: usize = (0..5000_usize).into_par_iter().map(slowly).into_seq().sum();
    assert!(found == Some(19_999) && v.is_sorted() && mapped == seq);
    total.fetch_add(sum, Relaxed);
}

#[test]
fn a_destructor_may_compute_while_its_thread_unwinds() {
    in_pools(|| {
        for by_panic in [false, true] {
            let (token, total) = (CancelToken::new(), AtomicUsize::new(0));
            let run = || {
                token.run(|| {
                    let _last = AtTheEnd(|| compute(&total));
                    (0..1000).into_par_iter().for_each(|n| {
                        let _first = AtTheEnd(|| {
                            if n == 500 {
                                token.cancel();
                                compute(&total);
                            }
                        });
                        if by_panic && n == 500 {
                            std::panic::resume_unwind(Box::new("a panic"));
                        }
                        if n == 500 {
                            token.cancel();
                            blitz::checkpoint();
                        }
                    });
                })
            };
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
            // Where one half of the loop panics and the other is stopped, either may be what is told.
            assert!(by_panic || result.is_ok());
            assert!(result.is_err() || result.is_ok_and(|stopped| stopped.is_err()));
            assert_eq!(total.into_inner(), 2 * 199_990_000);
        }
    });
}

#[test]
fn a_dear_loop_behind_a_tiny_one_inside_of_another_is_stopped() {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    let pool = blitz::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .unwrap();
    let ran = AtomicUsize::new(0);
    let nested = |token: Option<&blitz::CancelToken>| {
        pool.install(|| {
            (0..2_usize).into_par_iter().for_each(|outer| {
                (0..8_usize).into_par_iter().for_each(|_| {
                    if let (Some(token), 1) = (token, outer) {
                        ran.fetch_add(1, SeqCst);
                        token.cancel();
                        std::thread::sleep(std::time::Duration::from_millis(1));
                    }
                });
            });
        });
    };
    for _ in 0..50 {
        for _ in 0..1000 {
            nested(None);
        }
        let token = blitz::CancelToken::new();
        let stopped = token.run(|| nested(Some(&token)));
        let ran = ran.swap(0, SeqCst);
        assert!(
            stopped.is_err() && ran < 4,
            "{ran} of 8 items were run; {stopped:?}"
        );
    }
}
