//! What Blitz has and rayon has not: every operation against its sequential reading.

use blitz::iter::Reducer;
use blitz::par_range;
use blitz::prelude::*;

/// Lengths at which something changes: nothing, one, a few, both sides of the sizes that loops are cut at.
const LENGTHS: [usize; 13] = [0, 1, 2, 3, 7, 63, 64, 65, 127, 1000, 4095, 4097, 100_000];

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
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
    let pool = blitz::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
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
