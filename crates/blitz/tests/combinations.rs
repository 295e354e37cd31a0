//! `with_pool`, `with_context`, `with_min_len`, `with_max_len`, `with_max_chunks` and `with_splitter`: in any order, and positions stay.

use blitz::iter::Splitter;
use blitz::prelude::*;
use blitz::{ThreadPool, ThreadPoolBuilder, current_num_threads, par_range};

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
}

/// The lengths of the pieces.
fn pieces(iter: impl ParallelIterator) -> Vec<usize> {
    iter.fold(|| 0, |n, _| n + 1).collect()
}

#[test]
fn splitters_mean_what_their_names_say() {
    let of = |splitter| pieces(par_range(0, 1000).with_splitter(splitter));
    assert_eq!(of(Splitter::fixed(300)), [300, 300, 300, 100]);
    assert_eq!(of(Splitter::recursive(300)), [300, 300, 300, 100]);
    assert_eq!(of(Splitter::pieces(3)), [334, 333, 333]);
    assert_eq!(of(Splitter::adaptive(501)), [1000]);
    assert!(of(Splitter::adaptive(100)).iter().all(|len| *len >= 100));
    assert_eq!(Splitter::adaptive(1), Splitter::default());
}

#[test]
fn a_minimum_holds_for_every_rule_before_or_after_it() {
    let items = || par_range(0, 2000);
    assert_eq!(
        pieces(items().with_min_len(1000).with_max_chunks(8)),
        [1000, 1000]
    );
    assert_eq!(
        pieces(items().with_max_chunks(8).with_min_len(1000)),
        [1000, 1000]
    );
    assert_eq!(
        pieces(items().with_min_len(1001).with_max_chunks(8)),
        [2000]
    );
    assert_eq!(
        pieces(items().with_min_len(700).with_splitter(Splitter::fixed(10))),
        [700, 700, 600]
    );
    assert_eq!(
        pieces(
            items()
                .with_splitter(Splitter::fixed(1500))
                .with_max_len(800)
        ),
        [800, 800, 400]
    );
    assert_eq!(pieces(items().with_max_chunks(3)).len(), 3);
    assert_eq!(pieces(par_range(0, 2).with_max_chunks(3)), [1, 1]);
    assert_eq!(pieces(par_range(0, 0).with_max_chunks(3)), [0]);
}

#[test]
fn rules_pass_through_adaptors_that_keep_positions() {
    let items = || par_range(0, 1000).with_splitter(Splitter::fixed(100));
    let ten = vec![100; 10];
    assert_eq!(pieces(items().enumerate()), ten);
    assert_eq!(pieces(items().map(|n| n + 1).rev()), ten);
    assert_eq!(pieces(items().zip(par_range(5, 2000))), ten);
    assert_eq!(pieces(par_range(5, 2000).zip(items())), ten);
    assert_eq!(pieces(items().with_max_len(5000)), ten);
    assert_eq!(pieces(items().chunks(10)), vec![10; 10]);
    assert_eq!(pieces(items().step_by(10)), vec![10; 10]);
    assert_eq!(pieces(items().filter(|n| n % 2 == 0)), vec![50; 10]);
    assert_eq!(pieces(items().take(250)), [100, 100, 50]);
}

#[test]
fn the_pool_passes_through_adaptors_that_keep_positions() {
    let three = pool(3);
    let here = pool(2);
    let items = || par_range(0, 500).with_pool(&three);
    let threads = |_| current_num_threads();
    let all_three = |found: Vec<usize>| assert!(found.into_iter().all(|n| n == 3));
    here.install(|| {
        all_three(
            items()
                .enumerate()
                .map(|(at, n)| {
                    assert_eq!(at, n);
                    threads(n)
                })
                .collect(),
        );
        all_three(items().rev().map(threads).collect());
        all_three(
            items()
                .zip(par_range(0, 500))
                .map(|(a, b)| {
                    assert_eq!(a, b);
                    threads(a)
                })
                .collect(),
        );
        all_three(
            par_range(0, 500)
                .zip(items())
                .map(|(a, _)| threads(a))
                .collect(),
        );
        all_three(items().chain(items()).map(threads).collect());
        all_three(items().chunks(7).map(|_| threads(0)).collect());
        all_three(
            items()
                .with_min_len(10)
                .with_max_chunks(4)
                .map(threads)
                .collect(),
        );
        all_three(items().filter(|n| n % 2 == 0).map(threads).collect());
        assert_eq!(items().position_first(|n| n == 77), Some(77));
        assert_eq!(current_num_threads(), 2);
    });
}

#[test]
fn contexts_pools_and_rules_come_in_any_order() {
    let three = pool(3);
    let weights: Vec<usize> = (0..100).collect();
    let expected: Vec<usize> = (0..100).map(|n| 3 * n + n).collect();
    let data = vec![3; 100];
    let weigh = |weights: &Vec<usize>, at: usize, n: &usize| {
        assert_eq!(current_num_threads(), 3);
        n * weights[at] + at
    };
    let data = || data.par_iter();
    let c = &weights;
    let results: [Vec<usize>; 6] = [
        data()
            .with_pool(&three)
            .with_context(c)
            .map_indexed(weigh)
            .collect(),
        data()
            .with_context(c)
            .with_pool(&three)
            .map_indexed(weigh)
            .collect(),
        data()
            .with_min_len(10)
            .with_context(c)
            .with_max_chunks(4)
            .with_pool(&three)
            .map_indexed(weigh)
            .collect(),
        data()
            .with_pool(&three)
            .with_max_chunks(4)
            .with_context(c)
            .with_min_len(10)
            .map_indexed(weigh)
            .collect(),
        data()
            .with_context(c)
            .with_splitter(Splitter::fixed(9))
            .with_max_len(3)
            .with_pool(&three)
            .map_indexed(weigh)
            .collect(),
        data()
            .with_splitter(Splitter::adaptive(9))
            .with_pool(&three)
            .with_context(c)
            .map_indexed(weigh)
            .collect(),
    ];
    for result in results {
        assert_eq!(result, expected);
    }
    let mut scaled = vec![1; 100];
    let each = scaled.par_iter_mut().with_pool(&three).with_context(c);
    each.for_each_indexed(|weights, at, n| *n *= weights[at]);
    assert_eq!(scaled, weights);
}

#[test]
fn a_sequential_iterator_of_results_keeps_pool_and_positions() {
    let three = pool(3);
    let items = par_range(0, 300).with_pool(&three).enumerate();
    let all: Vec<_> = items
        .map(|(at, n)| (at, n, current_num_threads()))
        .with_seq(|seq| seq.collect());
    assert!(all.into_iter().eq((0..300).map(|n| (n, n, 3))));
}
