//! The methods of slices that move, split, select and merge, against the standard library.

use super::{SIZES, on_all_pools, scramble, scrambled};
use blitz::ops::{par_dedup, par_dedup_by_key};
use blitz::prelude::*;
use proptest::prelude::*;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

#[test]
fn reversing_filling_and_copying_agree_with_std() {
    on_all_pools(|| {
        for len in SIZES {
            let v = scrambled(len);
            let mut reversed = v.clone();
            reversed.par_reverse();
            assert!(reversed.iter().eq(v.iter().rev()));
            reversed.par_copy(&v);
            assert_eq!(reversed, v);
            reversed.par_fill(9);
            assert_eq!(reversed, vec![9; len]);
        }
        let mut words: Vec<String> = (0..20_000).map(|i| i.to_string()).collect();
        words.par_reverse();
        assert!(
            words
                .iter()
                .rev()
                .enumerate()
                .all(|(i, word)| *word == i.to_string())
        );
        words.par_fill("same".into());
        assert!(words.iter().all(|word| word == "same"));
        [(); 100_000].par_reverse();
    });
    assert!(catch_unwind(|| [1, 2].par_copy(&[1])).is_err());
}

#[test]
fn rotations_by_any_distance_agree_with_std() {
    on_all_pools(|| {
        for len in [0, 1, 2, 1000, 40_000] {
            let v = scrambled(len);
            let distances = [0, 1, 2, len / 100, len / 9, len / 5, len / 3, len / 2];
            for middle in distances
                .into_iter()
                .flat_map(|d| [d.min(len), len - d.min(len)])
            {
                let (mut by_std, mut left, mut right) = (v.clone(), v.clone(), v.clone());
                by_std.rotate_left(middle);
                left.par_rotate_left(middle);
                right.par_rotate_right(len - middle);
                assert!(left == by_std && right == by_std, "{middle} of {len}");
            }
        }
    });
    assert!(catch_unwind(|| [1, 2].par_rotate_left(3)).is_err());
    assert!(catch_unwind(|| [1, 2].par_rotate_right(3)).is_err());
}

#[test]
fn moving_elements_drops_and_doubles_none() {
    let token = Arc::new(());
    on_all_pools(|| {
        let mut v: Vec<(u64, Arc<()>)> = scrambled(30_000)
            .into_iter()
            .map(|x| (x, token.clone()))
            .collect();
        v.par_reverse();
        v.par_rotate_left(100);
        v.par_rotate_left(11_111);
        let small = v.par_partition(|x| x.0 % 3 == 0);
        assert!(v[..small].iter().all(|x| x.0 % 3 == 0));
        v.par_partition_unstable(|x| x.0 % 2 == 0);
        v.par_select_nth_unstable_by_key(700, |x| x.0);
        assert_eq!(Arc::strong_count(&token), 30_001);
        par_dedup_by_key(&mut v, |x| x.0 % 2);
        assert_eq!(Arc::strong_count(&token), v.len() + 1);
        drop(v);
        assert_eq!(Arc::strong_count(&token), 1);
    });
}

/// Stable and unstable partitions by divisibility, against std's. `Cell`s are not `Sync`, and need not be.
fn check_partition(v: &[u64], modulus: u64) {
    let (front, back): (Vec<u64>, Vec<u64>) = v.iter().partition(|x| *x % modulus == 0);
    let mut stable: Vec<Cell<u64>> = v.iter().copied().map(Cell::new).collect();
    let mut unstable = stable.clone();
    let kept = stable.par_partition(|x| x.get() % modulus == 0);
    assert_eq!(kept, front.len());
    let expected = front.iter().chain(&back).copied();
    assert!(stable.into_iter().map(Cell::into_inner).eq(expected));

    assert_eq!(
        unstable.par_partition_unstable(|x| x.get() % modulus == 0),
        kept
    );
    let sorted = |v: &mut dyn Iterator<Item = u64>| {
        let mut v: Vec<u64> = v.collect();
        v.sort_unstable();
        v
    };
    let halves = unstable.split_at(kept);
    assert_eq!(
        sorted(&mut halves.0.iter().map(Cell::get)),
        sorted(&mut front.into_iter())
    );
    assert_eq!(
        sorted(&mut halves.1.iter().map(Cell::get)),
        sorted(&mut back.into_iter())
    );
}

#[test]
fn partitions_agree_with_std() {
    on_all_pools(|| {
        for len in SIZES {
            for modulus in [1, 2, 3, 1000, 1 << 60] {
                check_partition(&scrambled(len), modulus);
            }
        }
        assert_eq!([(); 9999].par_partition(|()| true), 9999);
    });
}

#[test]
fn a_predicate_that_panics_leaves_every_element_in_its_slice() {
    on_all_pools(|| {
        for last in [0, 100, 5000, 19_999] {
            let original = scrambled(20_000);
            let (mut stable, mut unstable) = (original.clone(), original.clone());
            let calls = AtomicUsize::new(0);
            let predicate = |x: &u64| {
                assert!(calls.fetch_add(1, Relaxed) != last, "the predicate panics");
                x.is_multiple_of(2)
            };
            assert!(catch_unwind(AssertUnwindSafe(|| stable.par_partition(predicate))).is_err());
            assert_eq!(stable, original);
            calls.store(0, Relaxed);
            let result = catch_unwind(AssertUnwindSafe(|| {
                unstable.par_partition_unstable(predicate)
            }));
            assert!(result.is_err());
            let mut sorted = original.clone();
            sorted.sort_unstable();
            unstable.sort_unstable();
            assert_eq!(unstable, sorted);
        }
    });
}

#[test]
fn repeated_elements_go_as_with_std() {
    on_all_pools(|| {
        for len in SIZES {
            for modulus in [1, 2, 5, 1 << 40] {
                let v: Vec<u64> = scrambled(len).into_iter().map(|x| x % modulus).collect();
                let (mut by_std, mut by_blitz) = (v.clone(), v.clone());
                by_std.dedup();
                par_dedup(&mut by_blitz);
                assert_eq!(by_blitz, by_std);
                let mut words: Vec<String> = v.iter().map(u64::to_string).collect();
                let mut expected = words.clone();
                expected.dedup_by_key(|word| word.len());
                par_dedup_by_key(&mut words, |word| word.len());
                assert_eq!(words, expected);
            }
        }
    });
}

#[test]
fn a_comparison_that_panics_in_a_dedup_drops_nothing_twice() {
    let token = Arc::new(());
    on_all_pools(|| {
        for last in [0, 5000, 40_000] {
            let calls = AtomicUsize::new(0);
            let key = |x: u64| {
                assert!(calls.fetch_add(1, Relaxed) < last, "the key panics");
                x % 2
            };
            let mut numbers = scrambled(30_000);
            let plain = AssertUnwindSafe(|| par_dedup_by_key(&mut numbers, |x| key(*x)));
            assert!(catch_unwind(plain).is_err());
            calls.store(0, Relaxed);
            let mut owning: Vec<(u64, Arc<()>)> = Vec::new();
            owning.extend(scrambled(30_000).into_iter().map(|x| (x, token.clone())));
            let owner = AssertUnwindSafe(|| par_dedup_by_key(&mut owning, |x| key(x.0)));
            assert!(catch_unwind(owner).is_err());
            assert_eq!(Arc::strong_count(&token), owning.len() + 1);
        }
    });
    assert_eq!(Arc::strong_count(&token), 1);
}

fn check_selection(v: &[u64], index: usize) {
    let mut sorted = v.to_vec();
    sorted.sort_unstable();
    let mut selected = v.to_vec();
    let (smaller, nth, larger) = selected.par_select_nth_unstable(index);
    assert_eq!(*nth, sorted[index]);
    assert!(smaller.len() == index && smaller.iter().all(|x| *x <= *nth));
    assert!(larger.iter().all(|x| *x >= *nth));
    selected.sort_unstable();
    assert_eq!(selected, sorted);
}

#[test]
fn selection_finds_what_a_sort_would_put_there() {
    on_all_pools(|| {
        for len in [1, 2, 100, 5000, 60_000] {
            for modulus in [1, 3, 1000, 1 << 50] {
                let v: Vec<u64> = scrambled(len).into_iter().map(|x| x % modulus).collect();
                for index in [0, len / 50, len / 3, len / 2, len - 1] {
                    check_selection(&v, index);
                }
            }
        }
        // Sorted and reversed input, and a long one of each shape.
        let up: Vec<u64> = (0..150_000).collect();
        check_selection(&up, 75_000);
        check_selection(&up.into_iter().rev().collect::<Vec<_>>(), 10);
    });
    let empty: &mut [u64] = &mut [];
    let select = AssertUnwindSafe(|| *empty.par_select_nth_unstable(0).1);
    assert!(catch_unwind(select).is_err());
}

#[test]
fn contradictory_and_panicking_comparators_lose_nothing_in_a_selection() {
    on_all_pools(|| {
        let original = scrambled(60_000);
        let mut sorted = original.clone();
        sorted.sort_unstable();
        for panics in [false, true] {
            let calls = AtomicU64::new(1);
            let compare = |_: &u64, _: &u64| {
                let call = calls.fetch_add(1, Relaxed);
                assert!(!panics || call < 80_000, "the comparator panics");
                (scramble(call) % 3).cmp(&1)
            };
            let mut v = original.clone();
            let _ = catch_unwind(AssertUnwindSafe(|| {
                v.par_select_nth_unstable_by(20_000, compare);
            }));
            v.sort_unstable();
            assert_eq!(v, sorted);
        }
    });
}

#[test]
fn sortedness_is_judged_as_by_std() {
    on_all_pools(|| {
        for len in SIZES {
            let mut v: Vec<usize> = (0..len).collect();
            assert!(v.par_is_sorted());
            assert!(v.par_is_sorted_by(|a, b| a < b));
            assert_eq!(v.par_is_sorted_by(|a, b| a > b), len < 2);
            assert!(v.par_is_sorted_by_key(|x| x / 7));
            for place in [1, len / 2, len.saturating_sub(1)] {
                if place > 0 && place < len {
                    v.swap(place - 1, place);
                    assert!(!v.par_is_sorted(), "{place} of {len}");
                    v.swap(place - 1, place);
                }
            }
        }
        assert!(![1.0, f64::NAN, 2.0].par_is_sorted());
        assert!(![f64::NAN, 1.0].par_is_sorted());
    });
}

/// Merges two sorted runs whose tags tell equal elements apart.
fn check_merge(left: usize, right: usize, modulus: u64) {
    let run = |len: usize, tag: usize| {
        let mut run: Vec<(u64, usize)> = scrambled(len)
            .into_iter()
            .map(|x| (x % modulus, 0))
            .collect();
        run.sort_unstable();
        run.iter_mut().zip(tag..).for_each(|(x, tag)| x.1 = tag);
        run
    };
    let (left, right) = (run(left, 0), run(right, 1 << 30));
    let mut expected = [left.clone(), right.clone()].concat();
    expected.sort_by_key(|x| x.0);
    assert_eq!(left.par_merge_by(&right, |a, b| a.0.cmp(&b.0)), expected);
}

#[test]
fn merging_is_a_stable_sort_of_both() {
    on_all_pools(|| {
        for (left, right) in [
            (0, 0),
            (0, 9),
            (9, 0),
            (1, 1),
            (100, 3000),
            (30_000, 25_000),
        ] {
            for modulus in [1, 2, 50, 1 << 40] {
                check_merge(left, right, modulus);
            }
        }
        let words = |from: u32| {
            (from..6000)
                .step_by(2)
                .map(|i| format!("{i:05}"))
                .collect::<Vec<_>>()
        };
        let merged = words(0).par_merge(&words(1));
        assert!(merged.len() == 6000 && merged.is_sorted());
    });
}

#[test]
fn merging_what_is_not_sorted_gives_as_many_elements() {
    on_all_pools(|| {
        let (a, b) = (scrambled(20_000), scrambled(10_000));
        assert_eq!(a.par_merge(&b).len(), 30_000);
        let calls = AtomicU64::new(0);
        let lie = |_: &u64, _: &u64| (scramble(calls.fetch_add(1, Relaxed)) % 3).cmp(&1);
        assert_eq!(a.par_merge_by(&b, lie).len(), 30_000);
    });
}

#[test]
fn batches_of_searches_agree_with_single_ones() {
    on_all_pools(|| {
        let mut v = scrambled(3000);
        v.sort_unstable();
        v.dedup();
        let queries: Vec<u64> = v.iter().flat_map(|x| [*x, x + 1]).collect();
        let found = v.par_binary_search_batch(&queries);
        assert!(
            queries
                .iter()
                .zip(found)
                .all(|(q, found)| v.binary_search(q) == found)
        );
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn any_slice_is_partitioned_selected_and_merged_as_by_std(
        v in prop::collection::vec(0u64..500, 1..3000),
        cut in any::<prop::sample::Index>(),
        modulus in 1u64..6,
    ) {
        on_all_pools(|| {
            check_partition(&v, modulus);
            check_selection(&v, cut.index(v.len()));
            check_merge(cut.index(v.len()), v.len() - cut.index(v.len()), 40 * modulus);
            let mut rotated = v.clone();
            rotated.par_rotate_left(cut.index(v.len()));
            let (end, start) = v.split_at(cut.index(v.len()));
            assert_eq!(rotated, [start, end].concat());
        });
    }
}
