//! Packing, scattering, shuffling and transposing.

use super::{SIZES, on_all_pools, scramble, scrambled};
use blitz::ops::*;
use proptest::prelude::*;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

fn check_pack(v: &[u64], keep: &[bool]) {
    let kept = (0..v.len()).filter(|i| keep[*i]);
    let expected: Vec<u64> = kept.clone().map(|i| v[i]).collect();
    assert_eq!(par_pack(v, keep), expected);
    let indices: Vec<usize> = kept.collect();
    assert_eq!(par_filter_index(0..v.len(), |i| keep[i]), indices);
}

#[test]
fn packing_keeps_what_is_flagged_in_order() {
    on_all_pools(|| {
        for len in SIZES {
            let v = scrambled(len);
            for modulus in [1, 2, 3, 1000] {
                let keep: Vec<bool> = v.iter().map(|x| x % modulus == 0).collect();
                check_pack(&v, &keep);
            }
            check_pack(&v, &vec![false; len]);
            assert_eq!(par_pack(&vec![(); len], &vec![true; len]).len(), len);
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn any_flags_are_obeyed(flags in prop::collection::vec(any::<bool>(), 0..10_000)) {
        let v = scrambled(flags.len());
        on_all_pools(|| check_pack(&v, &flags));
    }

    #[test]
    fn a_scatter_by_a_permutation_is_undone_by_a_gather(len in 0usize..3000, seed in any::<u64>()) {
        let v: Vec<String> = (0..len).map(|i| i.to_string()).collect();
        on_all_pools(|| {
            let places = par_random_permutation(len, seed);
            let mut out = vec![String::new(); len];
            par_scatter(&v, &places, &mut out);
            assert!((0..len).all(|i| out[places[i]] == v[i]));
            assert_eq!(par_gather(&out, &places), v);
            let mut again = vec![String::from("old"); len];
            // SAFETY: a permutation of the places.
            unsafe { par_scatter_unchecked(&v, &places, &mut again) };
            assert_eq!(again, out);
        });
    }

    #[test]
    fn transposing_moves_every_element_to_its_mirror_place(rows in 0usize..150, columns in 0usize..150) {
        let v = scrambled(rows * columns);
        on_all_pools(|| {
            let turned = par_transpose(&v, rows, columns);
            for row in 0..rows {
                for column in 0..columns {
                    assert_eq!(turned[column * rows + row], v[row * columns + column]);
                }
            }
            let mut back = vec![0; v.len()];
            par_transpose_into(&turned, columns, rows, &mut back);
            assert_eq!(back, v);
        });
    }
}

#[test]
fn a_scatter_says_what_is_wrong_with_its_indices() {
    on_all_pools(|| {
        let message = |values: &[u8], indices: &[usize], len: usize| {
            let mut out = vec![0; len];
            let error = catch_unwind(AssertUnwindSafe(|| par_scatter(values, indices, &mut out)));
            error.unwrap_err().downcast_ref::<String>().unwrap().clone()
        };
        assert!(message(&[1, 2], &[0, 5], 3).contains("index 5 is out of bounds"));
        assert!(message(&[1, 2, 3], &[2, 0, 2], 3).contains("index 2 occurs twice"));
        assert!(message(&[1, 2], &[0], 3).contains("one index per value"));
        let doubled: Vec<usize> = (0..20_000).map(|i| i % 19_999).collect();
        assert!(message(&[0; 20_000], &doubled, 20_000).contains("index 0 occurs twice"));
    });
}

#[test]
fn values_that_a_scatter_overwrites_are_dropped_once() {
    let (old, new) = (Arc::new(()), Arc::new(()));
    let mut out = vec![old.clone(); 5000];
    let values = vec![new.clone(); 5000];
    par_scatter(&values, &par_random_permutation(5000, 1), &mut out);
    assert_eq!(
        (Arc::strong_count(&old), Arc::strong_count(&new)),
        (1, 10_001)
    );
    drop((out, values));
    assert_eq!(Arc::strong_count(&new), 1);
}

#[test]
fn a_shuffle_is_a_permutation_and_depends_on_the_seed_alone() {
    // Elements of 80 bytes: the last length is one that is dealt out.
    for len in [0, 1, 2, 3, 1000, 110_000] {
        for seed in [0, u64::MAX] {
            let results = Mutex::new(HashSet::new());
            on_all_pools(|| {
                let wide = |i| ([i; 9], Box::new(i));
                let mut elements: Vec<([usize; 9], Box<usize>)> = (0..len).map(wide).collect();
                par_shuffle(&mut elements, seed);
                assert!(
                    elements
                        .iter()
                        .all(|(copies, boxed)| *copies == [**boxed; 9])
                );
                let order: Vec<usize> = elements.into_iter().map(|x| *x.1).collect();
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert!(sorted.into_iter().eq(0..len));
                let numbers = par_random_permutation(len, seed);
                assert!(len >= 100_000 || numbers == order);
                results.lock().unwrap().insert((order, numbers));
            });
            assert_eq!(results.into_inner().unwrap().len(), 1);
        }
    }
    let mut nothing = vec![(); 100_000];
    par_shuffle(&mut nothing, 3);
}

#[test]
fn every_element_may_end_up_everywhere() {
    // In which eighth of the result the first and the last element of long and of short slices end: each about equally often.
    for (len, rounds) in [(100, 4000), (4100, 300)] {
        let mut eighths = [[0; 8]; 2];
        for seed in 0..rounds {
            // Elements of 2 KiB, so that the longer slice is one that is dealt out.
            let mut order: Vec<(usize, [u8; 2048])> = (0..len).map(|i| (i, [0; 2048])).collect();
            par_shuffle(&mut order, scramble(seed));
            for (element, counts) in [0, len - 1].into_iter().zip(&mut eighths) {
                let place = order.iter().position(|x| x.0 == element).unwrap();
                counts[place * 8 / len] += 1;
            }
        }
        let even = rounds as f64 / 8.0;
        for count in eighths.as_flattened() {
            // Six standard deviations, about.
            assert!(
                (f64::from(*count) - even).abs() < 6.0 * even.sqrt(),
                "{eighths:?}"
            );
        }
    }
}

#[test]
fn all_orders_of_a_few_elements_are_equally_likely() {
    let mut counts = std::collections::HashMap::new();
    for seed in 0..24_000 {
        *counts.entry(par_random_permutation(4, seed)).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), 24);
    assert!(
        counts.values().all(|count| (800..1200).contains(count)),
        "{counts:?}"
    );
}

#[test]
fn a_matrix_of_the_wrong_size_is_refused() {
    for (rows, columns) in [(2, 2), (0, 3), (usize::MAX, 2), (3, 1 << (usize::BITS - 1))] {
        let error = catch_unwind(|| par_transpose(&[1, 2, 3], rows, columns)).unwrap_err();
        let message = error.downcast_ref::<String>().unwrap();
        assert!(message.contains("are not the 3 elements"), "{message}");
    }
    assert!(catch_unwind(|| par_transpose_into(&[1, 2], 1, 2, &mut [0])).is_err());
    assert_eq!(par_transpose(&[(); 12], 3, 4).len(), 12);
    assert_eq!(par_transpose::<u8>(&[], 0, 7), []);
}
