//! Parallel loops nest, and each level costs stack.

use blitz::prelude::*;
use std::sync::Mutex;

/// What a level may cost. Without optimisation, nothing is inlined and every value has a place of its own.
const BOUND: usize = if cfg!(debug_assertions) {
    24 << 10
} else {
    1536
};

const DEPTH: usize = 16;

/// Where the stack is, roughly.
fn here() -> usize {
    let here = 0_u8;
    std::hint::black_box(&raw const here) as usize
}

/// The dearest level of a nest on one thread: `level` notes where the stack is, and goes one level deeper if it is told to.
fn dearest_level(nest: impl Fn(usize, &(dyn Fn() + Sync)) + Sync) -> usize {
    let pool = blitz::ThreadPoolBuilder::new().num_threads(1).build();
    let places = Mutex::new(Vec::new());
    pool.unwrap()
        .install(|| nest(DEPTH, &|| places.lock().unwrap().push(here())));
    let places = places.into_inner().unwrap();
    assert!(places.len() > DEPTH, "every level has been there");
    let steps = places.windows(2).map(|two| two[0].saturating_sub(two[1]));
    steps.max().unwrap()
}

fn pairs(depth: usize, note: &(dyn Fn() + Sync)) {
    note();
    if depth > 0 {
        [true, false].par_iter().for_each(|&deeper| {
            if deeper {
                pairs(depth - 1, note);
            }
        });
    }
}

fn collected(depth: usize, note: &(dyn Fn() + Sync)) -> Vec<usize> {
    note();
    let inner = |first| match (first, depth) {
        (0, 1..) => collected(depth - 1, note).len(),
        _ => 1,
    };
    (0..2).into_par_iter().map(inner).collect()
}

#[test]
fn a_level_of_nested_loops_takes_little_stack() {
    for run in 0..3 {
        let pairs = dearest_level(pairs);
        assert!(pairs <= BOUND, "{pairs} bytes for a pair in run {run}");
        let collected = dearest_level(|depth, note| drop(collected(depth, note)));
        assert!(
            collected <= 2 * BOUND,
            "{collected} bytes for a vector in run {run}"
        );
    }
}

/// Only one of its six joins runs.
#[inline(never)]
fn one_of_six_joins(depth: usize, way: usize, top: usize) -> usize {
    if depth == 0 {
        return top.abs_diff(here());
    }
    let deeper = || one_of_six_joins(depth - 1, way, top);
    match way {
        0 => blitz::join(deeper, || [0_u64; 8]).0,
        1 => blitz::join(deeper, || [1_u64; 8]).0,
        2 => blitz::join(deeper, || [2_u64; 8]).0,
        3 => blitz::join(deeper, || [3_u64; 8]).0,
        4 => blitz::join(deeper, || [4_u64; 8]).0,
        _ => blitz::join(deeper, || [5_u64; 8]).0,
    }
}

/// Where nothing is optimised, each inlined join has its own places in its caller's frame, and nobody needs it inlined.
#[test]
fn a_function_with_several_joins_takes_little_more_stack_than_one_with_one() {
    let pool = blitz::ThreadPoolBuilder::new().num_threads(1).build();
    let all = pool.unwrap().install(|| one_of_six_joins(64, 3, here()));
    assert!(all / 64 <= 3 << 10, "{} bytes a level", all / 64);
}
