//! What Blitz has and rayon has not: every operation against its sequential reading.

use blitz::iter::{Reducer, Splitter};
use blitz::prelude::*;
use blitz::{ThreadPool, ThreadPoolBuilder, par_range};
use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

/// Lengths at which something changes: nothing, one, a few, both sides of the sizes that loops are cut at.
const LENGTHS: [usize; 13] = [0, 1, 2, 3, 7, 63, 64, 65, 127, 1000, 4095, 4097, 100_000];

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
}

/// Some work that no compiler takes out, and that is different for every number.
fn busy(n: usize) -> f64 {
    (0..40).fold(n as f64, |x, _| (x * 1.000_1 + 0.3).sqrt())
}

/// Repeats `run`, which passes what it calls for every item, until more than one thread has been seen.
fn assert_shared(run: impl Fn(&(dyn Fn() + Sync))) {
    let seen = Mutex::new(HashSet::new());
    for _ in 0..500 {
        run(&|| {
            seen.lock().unwrap().insert(thread::current().id());
        });
        if seen.lock().unwrap().len() > 1 {
            return;
        }
    }
    panic!("only one thread ever took part");
}

#[test]
fn indexed_searches_find_the_hit_and_where_it_is() {
    for len in LENGTHS {
        let data: Vec<usize> = (0..len).map(|n| n * 7 % 101).collect();
        for wanted in [0, 1, 50, 100, 101] {
            let hits = || data.iter().enumerate().filter(|(_, n)| **n == wanted);
            assert_eq!(
                data.par_iter().find_first_indexed(|n| **n == wanted),
                hits().next()
            );
            assert_eq!(
                data.par_iter().find_last_indexed(|n| **n == wanted),
                hits().next_back()
            );
            match data.par_iter().find_any_indexed(|n| **n == wanted) {
                Some((index, value)) => assert_eq!((data[index], *value), (wanted, wanted)),
                None => assert_eq!(hits().next(), None),
            }
        }
    }
}

#[test]
fn indexed_searches_look_at_little_beyond_the_hit() {
    let pool = pool(1);
    let len = 1_000_000;
    let looked_at = AtomicUsize::new(0);
    let look = |hit| {
        looked_at.fetch_add(1, Relaxed);
        hit
    };
    let first = pool.install(|| par_range(0, len).find_first_indexed(|n| look(*n >= 100)));
    assert_eq!(first, Some((100, 100)));
    let last = pool.install(|| par_range(0, len).find_last_indexed(|n| look(*n < len - 100)));
    assert_eq!(last, Some((len as usize - 101, len - 101)));
    let looked_at = looked_at.into_inner();
    assert!(looked_at < len as usize / 10, "looked at {looked_at} items");
}

#[test]
fn presets_reduce_like_the_loops_they_stand_for() {
    for len in LENGTHS {
        let data: Vec<i64> = (0..len as i64).map(|n| n * 31 % 257 - 100).collect();
        let reduced = (
            data.par_iter().copied().reduce_by(Reducer::sum()),
            data.par_iter().copied().reduce_by(Reducer::min()),
            data.par_iter().copied().reduce_by(Reducer::max()),
        );
        let expected = (
            data.iter().sum::<i64>(),
            data.iter().copied().min().unwrap_or(i64::MAX),
            data.iter().copied().max().unwrap_or(i64::MIN),
        );
        assert_eq!(reduced, expected, "{len} items");
        let on_this_thread = Reducer::sum().reduce_slice(&data);
        assert_eq!(on_this_thread, expected.0);
    }
    assert_eq!(
        par_range(1u64, 21).reduce_by(Reducer::product()),
        (1..21).product()
    );
    let with_nan = [f64::NAN, 2.0, -1.0];
    assert_eq!(with_nan.into_par_iter().reduce_by(Reducer::min()), -1.0);
    assert_eq!(with_nan.into_par_iter().reduce_by(Reducer::max()), 2.0);
    let flags = [true, true, false];
    assert!(!flags.into_par_iter().reduce_by(Reducer::all()));
    assert!(flags.into_par_iter().reduce_by(Reducer::any()));
    let nothing: [bool; 0] = [];
    assert!(nothing.into_par_iter().reduce_by(Reducer::all()));
    assert!(!nothing.into_par_iter().reduce_by(Reducer::any()));
}

#[test]
fn a_range_of_any_integer_is_the_range_of_std() {
    assert_eq!(
        par_range(-3i8, 3).collect::<Vec<_>>(),
        (-3..3).collect::<Vec<_>>()
    );
    assert_eq!(par_range(5u64, 2).count(), 0);
    assert_eq!(par_range('a', 'e').collect::<String>(), "abcd");
    assert_eq!(
        par_range(0usize, 10)
            .enumerate()
            .map(|(i, n)| i * n)
            .sum::<usize>(),
        285
    );
}

fn piece_lengths(len: usize, splitter: Splitter) -> Vec<usize> {
    par_range(0, len)
        .with_splitter(splitter)
        .fold(|| 0, |n, _| n + 1)
        .collect()
}

#[test]
fn splitters_cut_as_they_say() {
    for threads in [1, 3] {
        pool(threads).install(|| {
            for len in LENGTHS.into_iter().filter(|len| *len > 0) {
                for pieces in [1, 2, 3, 8, 100] {
                    let lengths = piece_lengths(len, Splitter::pieces(pieces));
                    assert_eq!(lengths.len(), pieces.min(len));
                    assert_eq!(lengths.iter().sum::<usize>(), len);
                    assert!(lengths.iter().max().unwrap() - lengths.iter().min().unwrap() <= 1);
                    let most = par_range(0, len)
                        .with_max_chunks(pieces)
                        .fold(|| 0, |n, _| n + 1);
                    assert!(most.count() <= pieces);
                }
                for block in [1000, 4096] {
                    let lengths = piece_lengths(len, Splitter::recursive(block));
                    let (last, others) = lengths.split_last().unwrap();
                    assert!(others.iter().all(|length| *length == block) && *last <= block);
                    assert_eq!(lengths.iter().sum::<usize>(), len);
                }
                assert_eq!(
                    piece_lengths(len, Splitter::adaptive(1))
                        .iter()
                        .sum::<usize>(),
                    len
                );
            }
        });
    }
    assert_eq!(Splitter::default(), Splitter::adaptive(1));
}

#[test]
fn whatever_the_splitter_order_and_early_exits_are_kept() {
    let splitters = [
        Splitter::adaptive(1),
        Splitter::pieces(7),
        Splitter::recursive(100),
        Splitter::reproducible(),
    ];
    let pool = pool(3);
    for splitter in splitters {
        for len in LENGTHS {
            let doubled: Vec<usize> = par_range(0, len)
                .with_splitter(splitter)
                .with_pool(&pool)
                .map(|n| n * 2)
                .collect();
            assert_eq!(doubled, (0..len).map(|n| n * 2).collect::<Vec<_>>());
            let hit = par_range(0, len)
                .with_splitter(splitter)
                .find_first(|n| n % 64 == 63);
            assert_eq!(hit, (0..len).find(|n| n % 64 == 63));
        }
    }
}

#[test]
#[should_panic(expected = "at least one piece")]
fn no_pieces_at_all_is_an_error() {
    let _ = Splitter::pieces(0);
}

#[test]
fn fixed_pieces_and_reproducible_loops_are_shared() {
    let pool = pool(2);
    assert_shared(|visit| {
        let sum: f64 = par_range(0, 5000)
            .with_max_chunks(8)
            .with_pool(&pool)
            .map(|n| (visit(), busy(n)).1)
            .sum();
        assert!(sum > 0.0);
    });
    assert_shared(|visit| {
        let sum: f64 = par_range(0, 5000)
            .reproducible()
            .with_pool(&pool)
            .map(|n| (visit(), busy(n)).1)
            .sum();
        assert!(sum > 0.0);
    });
}

#[test]
fn a_loop_runs_in_the_pool_it_was_given() {
    let (inner, outer) = (pool(3), pool(2));
    let in_given_pool = |n: usize| {
        assert_eq!(inner.current_thread_index(), blitz::current_thread_index());
        n + blitz::current_num_threads()
    };
    let expected: usize = (0..1000).map(|n| n + 3).sum();
    let total = || -> usize {
        par_range(0, 1000)
            .with_pool(&inner)
            .map(in_given_pool)
            .sum()
    };
    assert_eq!(total(), expected);
    assert_eq!(outer.install(total), expected);
    assert_eq!(inner.install(total), expected);
    // Unindexed iterators, too.
    let words: HashSet<usize> = "to be or not to be"
        .par_split(' ')
        .with_pool(&inner)
        .map(|word| in_given_pool(word.len()))
        .collect();
    assert_eq!(words, HashSet::from([5, 6]));
}

#[test]
fn closures_receive_the_context_first() {
    struct Shift {
        by: usize,
        calls: AtomicUsize,
    }
    for len in LENGTHS {
        let shift = Shift {
            by: 10,
            calls: AtomicUsize::new(0),
        };
        let count = |shift: &Shift| shift.calls.fetch_add(1, Relaxed);
        let data: Vec<usize> = (0..len).collect();
        let iter = || data.par_iter().copied().with_context(&shift);
        iter().for_each(|shift, _| {
            count(shift);
        });
        iter().for_each_indexed(|shift, index, n| {
            assert_eq!(index, n);
            count(shift);
        });
        assert_eq!(shift.calls.load(Relaxed), 2 * len);
        assert_eq!(
            iter().count(|shift, n| *n >= shift.by),
            len.saturating_sub(10)
        );
        assert_eq!(iter().any(|shift, n| n == shift.by), len > 10);
        assert_eq!(iter().all(|shift, n| n < shift.by), len <= 10);
        assert_eq!(
            iter().find(|shift, n| *n >= shift.by),
            (len > 10).then_some(10)
        );
        assert_eq!(
            iter().find_any(|shift, n| *n == shift.by),
            (len > 10).then_some(10)
        );
        // As large as a sum gets, in 32 bits, too.
        let sum = iter().reduce(|_| 0, |_, a, b| a.wrapping_add(b));
        assert_eq!(sum, (0..len).fold(0, usize::wrapping_add));
        let kept: Vec<usize> = iter()
            .map(|shift, n| n + shift.by)
            .map_indexed(|shift, index, n| n - index + shift.by)
            .filter(|shift, n| *n == 2 * shift.by)
            .collect();
        assert_eq!(kept, vec![20; len]);
        let chunks: Vec<usize> = iter()
            .chunks(3)
            .map_indexed(|shift, index, chunk| {
                assert_eq!(chunk[0], index * 3);
                chunk.len() + shift.by
            })
            .collect();
        let expected: Vec<usize> = data.chunks(3).map(|chunk| chunk.len() + 10).collect();
        assert_eq!(chunks, expected);
    }
}

/// What `reproducible` promises to compute, written down once more.
fn in_blocks(values: &[f64], block: usize) -> f64 {
    let blocks = values.len().div_ceil(block);
    if blocks < 2 {
        return values.iter().sum();
    }
    let (left, right) = values.split_at(blocks / 2 * block);
    in_blocks(left, block) + in_blocks(right, block)
}

#[test]
fn reproducible_sums_do_not_depend_on_the_threads() {
    let pools = [1, 2, 3, 8].map(pool);
    for len in LENGTHS.into_iter().chain([300_000, 700_000]) {
        let values: Vec<f64> = (0..len).map(|n| 1.0 / (n as f64 + 0.7)).collect();
        let block = len.div_ceil(64).next_power_of_two().min(4096);
        let expected = in_blocks(&values, block);
        for pool in &pools {
            let sum: f64 = values.par_iter().reproducible().with_pool(pool).sum();
            assert_eq!(sum.to_bits(), expected.to_bits(), "{len} items in {pool:?}");
        }
    }
}

#[test]
fn reproducible_folds_and_reductions_do_not_depend_on_the_threads() {
    let pools = [1, 2, 3, 8].map(pool);
    // The difference is as far from associative as it gets.
    let results = pools.each_ref().map(|pool| {
        (0..5)
            .map(|_| {
                let reduced = par_range(0, 20_000)
                    .map(busy)
                    .reproducible()
                    .with_pool(pool)
                    .filter(|x| x.to_bits() % 3 != 0)
                    .reduce(|| 0.5, |a, b| a * 0.99 - b);
                let folds: Vec<f64> = par_range(0, 20_000)
                    .reproducible()
                    .with_pool(pool)
                    .flat_map_iter(|n| [n, n / 2])
                    .fold(|| 1.0, |sum: f64, n| sum / 1.01 - n as f64)
                    .collect();
                (reduced.to_bits(), folds)
            })
            .collect::<Vec<_>>()
    });
    for runs in &results {
        assert!(runs.iter().all(|run| *run == results[0][0]));
    }
}
