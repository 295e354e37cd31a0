//! Every sort gives what the standard library gives: on all patterns, sizes around every threshold, and any number of threads.

use blitz::prelude::*;
use std::cmp::{Ordering, Reverse};

/// SplitMix64: small, and the same numbers on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

const PATTERNS: [&str; 17] = [
    "random",
    "small range",
    "sorted",
    "reversed",
    "equal",
    "sixteen values",
    "one percent swapped",
    "sorted with random tail",
    "descending, then random",
    "two sorted halves",
    "random, then sorted",
    "saw",
    "crowded with outliers",
    "around zero",
    "two values",
    "organ pipe",
    "almost all equal",
];

fn numbers(len: usize, pattern: &str) -> Vec<i64> {
    let mut random = Random(len as u64 ^ pattern.len() as u64);
    let mut v: Vec<i64> = (0..len).map(|_| random.next() as i64).collect();
    match pattern {
        "random" => {}
        "small range" => v.iter_mut().for_each(|x| *x &= 0xfff),
        "sorted" => v.sort_unstable(),
        "reversed" => v.sort_unstable_by_key(|x| Reverse(*x)),
        "equal" => v.fill(42),
        "sixteen values" => v
            .iter_mut()
            .for_each(|x| *x = (*x & 15).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as i64)),
        "one percent swapped" => {
            v.sort_unstable();
            for _ in 0..len / 200 {
                v.swap(random.below(len), random.below(len));
            }
        }
        "sorted with random tail" => v[..len * 9 / 10].sort_unstable(),
        "descending, then random" => v[..len * 6 / 10].sort_unstable_by_key(|x| Reverse(*x)),
        "random, then sorted" => v[len / 10..].sort_unstable(),
        "two sorted halves" => {
            let (left, right) = v.split_at_mut(len / 2);
            left.sort_unstable();
            right.sort_unstable();
        }
        "saw" => v
            .iter_mut()
            .enumerate()
            .for_each(|(i, x)| *x = (i % (len / 7 + 1)) as i64),
        "crowded with outliers" => v.iter_mut().for_each(|x| {
            *x = if *x & 1023 == 0 {
                *x
            } else {
                1_000_000 + (*x & 255)
            }
        }),
        "around zero" => v.iter_mut().for_each(|x| *x %= 1000),
        "two values" => v.iter_mut().for_each(|x| *x &= 1),
        "organ pipe" => v
            .iter_mut()
            .enumerate()
            .for_each(|(i, x)| *x = i.min(len - i) as i64),
        "almost all equal" => v
            .iter_mut()
            .for_each(|x| *x = if *x & 4095 == 0 { *x } else { 7 }),
        other => panic!("unknown pattern {other}"),
    }
    v
}

fn on_threads(threads: usize, test: impl FnOnce() + Send) {
    blitz::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .expect("a pool of threads")
        .install(test);
}

/// Everything on two threads, at sizes around every threshold.
const SIZES: [usize; 11] = [0, 1, 2, 3, 20, 33, 257, 1000, 4097, 17_000, 45_000];

/// Other numbers of threads: what changes is how long slices are cut.
const OTHER_THREADS: [usize; 4] = [1, 3, 8, 65];
const ON_OTHER_THREADS: [(usize, &str); 2] = [(34_000, "random"), (34_000, "sixteen values")];

/// Checks one way of sorting against another on everything.
fn check<T, F, E>(make: impl Fn(i64, usize) -> T + Sync, sort: F, expected: E)
where
    T: Clone + PartialEq + std::fmt::Debug + Send + Sync,
    F: Fn(&mut Vec<T>) + Sync,
    E: Fn(&mut Vec<T>) + Sync,
{
    let check_one = |len: usize, pattern: &str, threads: usize| {
        let input: Vec<T> = numbers(len, pattern)
            .into_iter()
            .enumerate()
            .map(|(i, x)| make(x, i))
            .collect();
        let (mut ours, mut theirs) = (input.clone(), input);
        sort(&mut ours);
        expected(&mut theirs);
        assert!(
            ours == theirs,
            "{pattern}, {len} elements, {threads} threads"
        );
    };
    on_threads(2, || {
        for (turn, len) in SIZES.into_iter().enumerate() {
            // The longest size meets every other pattern, and each of the others every third, by turns.
            let step = if len == 45_000 { 2 } else { 3 };
            for (index, pattern) in PATTERNS.into_iter().enumerate() {
                if index % step == turn % step {
                    check_one(len, pattern, 2);
                }
            }
        }
    });
    for threads in OTHER_THREADS {
        on_threads(threads, || {
            for (len, pattern) in ON_OTHER_THREADS {
                check_one(len, pattern, threads);
            }
        });
    }
}

#[test]
fn primitive_integers_sort_as_in_the_standard_library() {
    check(|x, _| x, |v| v.par_sort_unstable(), |v| v.sort_unstable());
    check(|x, _| x as u64, |v| v.par_sort(), |v| v.sort());
    check(
        |x, _| x as u8,
        |v| v.par_sort_unstable(),
        |v| v.sort_unstable(),
    );
    check(|x, _| x as i16, |v| v.par_sort(), |v| v.sort());
    check(
        |x, _| x as u32,
        |v| v.par_sort_unstable(),
        |v| v.sort_unstable(),
    );
    check(
        |x, _| i128::from(x) << 40,
        |v| v.par_sort_unstable(),
        |v| v.sort_unstable(),
    );
    check(|x, _| x & 1 == 0, |v| v.par_sort(), |v| v.sort());
    check(
        |x, _| char::from_u32(x as u32 & 0xffff).unwrap_or('x'),
        |v| v.par_sort_unstable(),
        |v| v.sort_unstable(),
    );
}

#[test]
fn comparison_functions_sort_as_in_the_standard_library() {
    check(
        |x, _| x,
        |v| v.par_sort_unstable_by(|a, b| b.cmp(a)),
        |v| v.sort_unstable_by(|a, b| b.cmp(a)),
    );
    check(
        |x, i| (x, i),
        |v| v.par_sort_by(|a, b| a.0.cmp(&b.0)),
        |v| v.sort_by_key(|a| a.0),
    );
    check(
        |x, i| (x, i),
        |v| v.par_sort_by(|a, b| b.0.cmp(&a.0)),
        |v| v.sort_by_key(|a| std::cmp::Reverse(a.0)),
    );
}

#[test]
fn stable_sorts_keep_equal_elements_in_order() {
    check(
        |x, i| (x as i8, i),
        |v| v.par_sort_by(|a, b| a.0.cmp(&b.0)),
        |v| v.sort_by_key(|a| a.0),
    );
    check(
        |x, i| (x as i8, i),
        |v| v.par_sort_by_key(|x| x.0),
        |v| v.sort_by_key(|x| x.0),
    );
    check(
        |x, i| (x, i),
        |v| v.par_sort_by_key(|x| x.0),
        |v| v.sort_by_key(|x| x.0),
    );
    check(
        |x, i| (x, i),
        |v| v.par_sort_by_key(|x| (x.0 >> 3, true)),
        |v| v.sort_by_key(|x| (x.0 >> 3, true)),
    );
    check(
        |x, i| (x as u16, i),
        |v| v.par_sort_by_cached_key(|x| x.0),
        |v| v.sort_by_cached_key(|x| x.0),
    );
    check(
        |x, i| (x, i),
        |v| v.par_sort_by_cached_key(|x| x.0.to_string()),
        |v| v.sort_by_cached_key(|x| x.0.to_string()),
    );
}

#[test]
fn elements_of_any_size_sort() {
    check(|x, _| x.to_string(), |v| v.par_sort(), |v| v.sort());
    check(
        |x, _| x.to_string(),
        |v| v.par_sort_unstable(),
        |v| v.sort_unstable(),
    );
    check(
        |x, i| [x, i as i64, 0, 0, 0, 0, 0, 0],
        |v| v.par_sort_by(|a, b| a[0].cmp(&b[0])),
        |v| v.sort_by(|a, b| a[0].cmp(&b[0])),
    );
    check(
        |x, _| [x; 8],
        |v| v.par_sort_unstable(),
        |v| v.sort_unstable(),
    );
    check(
        |x, _| [x; 8],
        |v| v.par_sort_unstable_by_key(|x| x[0]),
        |v| v.sort_unstable(),
    );
    check(
        |x, _| Box::new(x),
        |v| v.par_sort_unstable(),
        |v| v.sort_unstable(),
    );
}

#[test]
fn zero_sized_elements_are_sorted_already() {
    on_threads(2, || {
        let mut v = [(); 100_000];
        v.par_sort();
        v.par_sort_unstable();
        v.par_sort_by(|_, _| Ordering::Greater);
        v.par_sort_by_key(|()| 7_u8);
        v.par_sort_by_cached_key(|()| 7_u8);
        assert_eq!(v.len(), 100_000);
    });
}

#[test]
fn floats_sort_in_total_order() {
    let special = [
        f64::NAN,
        -f64::NAN,
        0.0,
        -0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MIN_POSITIVE,
        1e-310,
    ];
    check(
        |x, i| {
            if i % 50 == 0 {
                special[x as usize % special.len()]
            } else {
                x as f64
            }
            .to_bits()
        },
        |v| v.par_sort_by(|a, b| f64::from_bits(*a).total_cmp(&f64::from_bits(*b))),
        |v| v.sort_by(|a, b| f64::from_bits(*a).total_cmp(&f64::from_bits(*b))),
    );
}

#[test]
fn outside_threads_sort_too() {
    let mut v = numbers(300_000, "random");
    let mut expected = v.clone();
    v.par_sort_by(|a, b| a.cmp(b));
    expected.sort();
    assert_eq!(v, expected);
}
