//! The sorts by bits, asked for by name: every kind of key, stability, constant digits, and any number of threads.

use blitz::prelude::*;
use std::cmp::Reverse;
use std::fmt::Debug;

fn on_threads(threads: usize, test: impl FnOnce() + Send) {
    blitz::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .expect("a pool of threads")
        .install(test);
}

fn numbers(len: usize) -> impl Iterator<Item = u64> + Clone {
    (0..len as u64).map(|i| {
        let x = i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    })
}

/// Lengths around the thresholds: a few, a cached slice, a long one on one thread, and one for several.
const LENGTHS: [usize; 6] = [0, 1, 97, 300, 15_000, 40_000];

/// Sorts keys of one type on two threads and compares with the standard library.
fn check<K>(make: impl Fn(u64) -> K)
where
    K: blitz::slice::RadixKey + Ord + Debug + Send + Sync,
{
    for len in LENGTHS {
        let mut ours: Vec<K> = numbers(len).map(&make).collect();
        let mut expected = ours.clone();
        ours.par_sort_radix();
        expected.sort_unstable();
        assert!(ours == expected, "{len} keys");
    }
}

#[test]
fn every_kind_of_key_sorts_in_its_own_order() {
    on_threads(2, || {
        check(|x| x as u8);
        check(|x| x as i16);
        check(|x| x as u32);
        check(|x| x as i64);
        check(|x| i128::from(x) * i128::from(x as i64));
        check(|x| x as usize);
        check(|x| x & 1 == 0);
        check(|x| char::from_u32(x as u32 >> 12).unwrap_or('?'));
        check(|x| (x as u8 & 3, x as i32));
        check(|x| (x >> 63 == 0, Reverse(x as u16), x));
        check(|x| [x as u8 & 1, x as u8, (x >> 8) as u8]);
        check(Reverse::<u64>);
    });
}

#[test]
fn digits_that_do_not_vary_do_not_matter() {
    on_threads(2, || {
        check(|x| 0xabcd_0000_0000_0000 | (x & 0xff) << 20);
        check(|x| (7_u64, x & 0xfff, 9_u64));
        check(|_| 42_u64);
        check(|x| if x & 0xffff == 3 { x } else { 5 });
        check(|x| i64::from((x & 15) as i8 - 8));
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
        1e-310,
    ];
    for threads in [1, 2, 3, 8, 65] {
        on_threads(threads, || {
            let mut v: Vec<f64> = numbers(40_000)
                .map(|x| match x % 50 {
                    0 => special[x as usize / 50 % special.len()],
                    _ => f64::from_bits(x >> 2 | x << 63),
                })
                .collect();
            let mut expected = v.clone();
            v.par_sort_radix();
            expected.sort_by(f64::total_cmp);
            let bits = |v: &[f64]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert!(bits(&v) == bits(&expected), "{threads} threads");

            let mut single: Vec<f32> = expected.iter().rev().map(|x| *x as f32).collect();
            single.par_sort_radix();
            assert!(single.is_sorted_by(|a, b| a.total_cmp(b).is_le()));
        });
    }
}

#[test]
fn elements_with_equal_keys_keep_their_order() {
    for threads in [1, 2, 3, 8, 65] {
        on_threads(threads, || {
            for len in LENGTHS {
                let mut v: Vec<(u8, String)> = numbers(len)
                    .enumerate()
                    .map(|(i, x)| (x as u8 & 31, i.to_string()))
                    .collect();
                let mut expected = v.clone();
                v.par_sort_radix_by_key(|x| (x.0 & 1, x.0));
                expected.sort_by_key(|x| (x.0 & 1, x.0));
                assert!(v == expected, "{len} elements, {threads} threads");
            }
        });
    }
}

#[test]
fn a_key_that_panics_leaves_the_slice_as_it_was() {
    on_threads(2, || {
        let before: Vec<u64> = numbers(40_000).collect();
        let mut v = before.clone();
        let victim = v[20_000];
        let sorted = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            v.par_sort_radix_by_key(|x| {
                assert!(*x != victim, "the key that panics");
                *x
            })
        }));
        assert!(sorted.is_err());
        assert!(v == before);
    });
}

#[test]
fn descending_is_ascending_backwards() {
    on_threads(2, || {
        for len in LENGTHS {
            let mut numbers: Vec<u64> = numbers(len).collect();
            let mut texts: Vec<String> = numbers.iter().map(u64::to_string).collect();
            blitz::slice::sort_desc(&mut numbers);
            blitz::slice::sort_desc(&mut texts);
            assert!(numbers.is_sorted_by(|a, b| a >= b));
            assert!(texts.is_sorted_by(|a, b| a >= b));
            blitz::slice::sort_asc(&mut texts);
            assert!(texts.is_sorted());
        }
    });
}
