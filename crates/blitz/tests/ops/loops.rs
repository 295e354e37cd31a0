//! Loops, reductions, searches and filling memory.

use super::{SIZES, on_all_pools, scramble, scrambled};
use blitz::ops::*;
use blitz::{ThreadPoolBuilder, join};
use std::collections::HashSet;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Barrier, Mutex};

/// Runs a loop and checks that each index was covered once, by pieces that are not empty.
fn covers_once(len: usize, run: impl Fn(Range<usize>, &(dyn Fn(Range<usize>) + Sync))) {
    let seen: Vec<AtomicU32> = (0..len + 7).map(|_| AtomicU32::new(0)).collect();
    run(7..len + 7, &|part| {
        assert!(!part.is_empty(), "an empty piece");
        for i in part {
            seen[i].fetch_add(1, Relaxed);
        }
    });
    let expected = |i| u32::from(i >= 7);
    assert!((0..len + 7).all(|i| seen[i].load(Relaxed) == expected(i)));
}

#[test]
fn every_loop_covers_its_range_once_and_sees_no_empty_piece() {
    on_all_pools(|| {
        for len in SIZES {
            covers_once(len, |range, body| par_for(range, body));
            covers_once(len, |range, body| {
                par_for_each_index(range, |i| body(i..i + 1))
            });
            for grain in [0, 1, 7, 1000, usize::MAX] {
                covers_once(len, |range, body| par_for_with_grain(range, grain, body));
            }
            covers_once(len, |range, body| {
                assert!(par_for_early_exit(range, &AtomicBool::new(false), body));
            });
            for policy in [OnError::StopEarly, OnError::RunAll] {
                covers_once(len, |range, body| {
                    let outcome: Result<(), ()> = try_par_for(range, policy, |part| {
                        body(part);
                        Ok(())
                    });
                    assert_eq!(outcome, Ok(()));
                });
            }
        }
    });
}

#[test]
fn two_threads_take_part_in_one_loop() {
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let (meeting, threads) = (Barrier::new(2), Mutex::new(HashSet::new()));
    // Two pieces that wait for each other end only if two threads run them.
    pool.install(|| {
        par_for_with_grain(0..2, 1, |_| {
            threads
                .lock()
                .unwrap()
                .insert(blitz::current_thread_index());
            meeting.wait();
        });
    });
    assert_eq!(threads.into_inner().unwrap().len(), 2);
}

#[test]
fn the_grain_bounds_pieces_from_above_per_call_and_from_below_per_pool() {
    par_for_with_grain(0..10_000, 300, |part| assert!(part.len() <= 300));
    let coarse = ThreadPoolBuilder::new().num_threads(3).grain(500);
    let coarse = coarse.build().unwrap();
    coarse.install(|| {
        par_for(0..10_000, |part| assert!(part.len() >= 500));
        par_for(0..300, |part| assert_eq!(part, 0..300));
        let shortest = par_reduce_chunked(0..10_000, || usize::MAX, |part| part.len(), usize::min);
        assert!(shortest >= 500);
    });
}

#[test]
fn an_early_exit_leaves_the_rest_of_the_range_alone() {
    let (stop, ran) = (AtomicBool::new(false), AtomicUsize::new(0));
    let complete = par_for_early_exit(0..10_000_000, &stop, |part| {
        ran.fetch_add(part.len(), Relaxed);
        stop.store(true, Relaxed);
    });
    assert!(!complete);
    assert!(ran.into_inner() < 10_000_000);
    stop.store(true, Relaxed);
    assert!(!par_for_early_exit(0..5, &stop, |_| panic!(
        "told to stop before"
    )));
    assert!(par_for_early_exit(0..0, &stop, |_| panic!("nothing to do")));
}

#[test]
fn running_everything_reports_the_leftmost_error_and_stopping_early_some_error() {
    on_all_pools(|| {
        let calls = AtomicUsize::new(0);
        let fail = |i: usize| {
            calls.fetch_add(1, Relaxed);
            if i % 1000 == 999 { Err(i) } else { Ok(i) }
        };
        for len in [0, 999, 1000, 30_000] {
            calls.store(0, Relaxed);
            let all = try_par_reduce(0..len, OnError::RunAll, || 0, fail, |a, b| a + b);
            assert_eq!(calls.load(Relaxed), len);
            let expected = if len < 1000 {
                Ok((0..len).sum())
            } else {
                Err(999)
            };
            assert_eq!(all, expected);
            let some = try_par_reduce(0..len, OnError::StopEarly, || 0, fail, |a, b| a + b);
            assert_eq!(some.is_ok(), len < 1000);
            assert!(some.is_ok() || some.is_err_and(|i| i % 1000 == 999));
            let first = try_par_for(0..len, OnError::RunAll, |mut part| {
                part.find(|i| i % 1000 == 999).map_or(Ok(()), Err)
            });
            assert_eq!(first.err(), expected.err());
            let any = try_par_for(0..len, OnError::StopEarly, |mut part| {
                part.find(|i| i % 1000 == 999).map_or(Ok(()), Err)
            });
            assert_eq!(any.is_ok(), len < 1000);
        }
    });
}

#[test]
fn reductions_keep_the_order_of_what_they_combine() {
    on_all_pools(|| {
        for len in [0, 1, 2, 100, 3000] {
            let expected: String = (0..len).map(|i| format!("{i},")).collect();
            let one = |i: usize| format!("{i},");
            let many = |part: Range<usize>| part.map(one).collect::<String>();
            let join = |a: String, b: String| a + &b;
            assert_eq!(par_reduce(0..len, String::new, one, join), expected);
            assert_eq!(
                par_reduce_chunked(0..len, String::new, many, join),
                expected
            );
            let grained = par_reduce_with_grain(0..len, 7, String::new, many, join);
            assert_eq!(grained, expected);
        }
    });
}

#[test]
fn sums_of_floats_are_the_same_to_the_last_bit_where_promised() {
    let v: Vec<f64> = scrambled(30_000)
        .iter()
        .map(|x| 1.0 / (1 + x) as f64)
        .collect();
    let sum = |part: Range<usize>| v[part].iter().sum::<f64>();
    let results = Mutex::new(HashSet::new());
    on_all_pools(|| {
        let grained = par_reduce_with_grain(0..v.len(), 1000, || 0.0, sum, |a, b| a + b);
        let dot = par_dot(&v, &v);
        results
            .lock()
            .unwrap()
            .insert((grained.to_bits(), dot.to_bits()));
    });
    assert_eq!(results.into_inner().unwrap().len(), 1);
}

#[test]
fn searches_agree_with_plain_ones() {
    on_all_pools(|| {
        for len in SIZES {
            for target in [0, len / 2, len.saturating_sub(1), len + 5] {
                let hit = |i: usize| i == target;
                let found = (target < len).then_some(target);
                assert_eq!(par_any(0..len, hit), found.is_some());
                assert_eq!(par_all(0..len, |i| !hit(i)), found.is_none());
                assert_eq!(par_find(0..len, hit), found);
                assert_eq!(par_find_first(0..len, |i| i >= target), found);
            }
        }
    });
}

#[test]
fn mapping_and_flattening_agree_with_plain_code() {
    on_all_pools(|| {
        for len in SIZES {
            let v = scrambled(len);
            let mapped: Vec<String> = v.iter().map(u64::to_string).collect();
            let mut out = vec![String::new(); len];
            par_collect_into(&v, &mut out, u64::to_string);
            assert_eq!(out, mapped);
            assert_eq!(par_tabulate(len, |i| v[i].to_string()), mapped);
            par_map_in_place(&mut out, |s| s.len().to_string());
            assert!(
                out.iter()
                    .zip(&mapped)
                    .all(|(a, b)| *a == b.len().to_string())
            );
            let places: Vec<usize> = (0..len)
                .map(|i| scramble(i as u64) as usize % len)
                .collect();
            let gathered = par_gather(&mapped, &places);
            assert!(gathered.iter().zip(&places).all(|(s, i)| *s == mapped[*i]));
        }
        for counts in [&[][..], &[0], &[0, 0], &[3, 0, 1], &[0, 40_000, 0, 5, 0]] {
            let nested: Vec<Vec<u64>> = counts.iter().map(|n| scrambled(*n)).collect();
            let flat = par_flatten(&nested);
            assert_eq!(flat, nested.concat());
            let mut target = vec![0; flat.len()];
            let starts = par_flatten_into(&nested, &mut target);
            assert_eq!(target, flat);
            assert!(
                nested
                    .iter()
                    .zip(starts.windows(2))
                    .all(|(v, w)| flat[w[0]..w[1]] == v[..])
            );
        }
    });
}

#[test]
fn extremes_and_dot_products_agree_with_plain_code() {
    on_all_pools(|| {
        for (len, modulus) in [
            (0, 9),
            (1, 9),
            (5, 2),
            (1000, 3),
            (50_000, 7),
            (50_000, 1 << 40),
        ] {
            // The tag tells equal elements apart.
            #[derive(Debug, Clone, Copy)]
            struct Tagged(u64, usize);
            impl PartialEq for Tagged {
                fn eq(&self, other: &Self) -> bool {
                    self.0 == other.0
                }
            }
            impl Eq for Tagged {}
            impl PartialOrd for Tagged {
                fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                    Some(self.cmp(other))
                }
            }
            impl Ord for Tagged {
                fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                    self.0.cmp(&other.0)
                }
            }
            let numbers = scrambled(len).into_iter().enumerate();
            let v: Vec<Tagged> = numbers.map(|(i, x)| Tagged(x % modulus, i)).collect();
            let tags = par_min_max_by(&v, Ord::cmp).map(|(low, high)| (low.1, high.1));
            let ends = v.iter().min().copied().zip(v.iter().max().copied());
            assert_eq!(par_min_max(&v), ends);
            let first_min = v.iter().min().map(|x| x.1);
            assert_eq!(tags, first_min.zip(v.iter().max().map(|x| x.1)));
            assert_eq!(par_argmin(&v), first_min);
            let first_max = v.iter().rev().max().map(|x| x.1);
            assert_eq!(par_argmax(&v), first_max);
            let a: Vec<u64> = v.iter().map(|x| x.0 % 1000).collect();
            let expected = a.iter().map(|x| x * x).sum();
            assert_eq!(par_dot(&a, &a), expected);
        }
    });
}

#[test]
fn mismatched_lengths_are_named() {
    let message = |run: &dyn Fn()| {
        let error = catch_unwind(AssertUnwindSafe(run)).unwrap_err();
        error.downcast_ref::<String>().unwrap().clone()
    };
    let into = message(&|| par_collect_into(&[1, 2], &mut [0], |x| *x));
    assert!(
        into.contains("par_collect_into: input and output"),
        "{into}"
    );
    let flatten = message(&|| drop(par_flatten_into(&[vec![1, 2]], &mut [0])));
    assert!(flatten.contains("as long as all slices"), "{flatten}");
    let dot = message(&|| {
        par_dot(&[1], &[]);
    });
    assert!(dot.contains("par_dot"), "{dot}");
}

#[test]
fn a_panic_in_a_body_comes_out_of_the_loop() {
    on_all_pools(|| {
        let result = catch_unwind(AssertUnwindSafe(|| {
            par_for_each_index(0..10_000, |i| assert_ne!(i, 7777, "this index panics"));
        }));
        assert!(result.is_err());
    });
    // Also from both sides of a join, and the pool still works.
    let loops = || par_for(0..100, |_| panic!("every piece panics"));
    assert!(catch_unwind(|| join(loops, loops)).is_err());
    assert_eq!(par_reduce(0..10, || 0, |i| i, |a, b| a + b), 45);
}
