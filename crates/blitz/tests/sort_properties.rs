//! Properties of the sorts, on slices that nobody thought of.
//!
//! Slices are pieced together from random stretches, runs up and down and stretches of few values, so that every path of the sorts is
//! taken at some seam. Every comparison burns a little time: that makes slices of a few thousand elements worth several threads.

use blitz::prelude::*;
use proptest::prelude::*;
use std::cmp::Ordering;
use std::hint::black_box;
use std::sync::LazyLock;

static POOLS: LazyLock<Vec<blitz::ThreadPool>> = LazyLock::new(|| {
    let pool = |threads| {
        blitz::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool of threads")
    };
    [1, 2, 3, 8, 65].map(pool).into()
});

/// Values from some stretches: kind, length, and a seed or bound.
fn slice() -> impl Strategy<Value = Vec<u32>> {
    let stretch = (0..5_u8, 1..1500_usize, any::<u32>());
    proptest::collection::vec(stretch, 0..6).prop_map(|stretches| {
        let mut v = Vec::new();
        for (kind, len, seed) in stretches {
            let scrambled = |i: usize| (i as u32 ^ seed).wrapping_mul(0x9e37_79b9).rotate_left(9);
            match kind {
                0 => v.extend((0..len).map(scrambled)),
                1 => v.extend((0..len).map(|i| (seed >> 1) + i as u32)),
                2 => v.extend((0..len).map(|i| (seed | 1 << 30) - i as u32)),
                3 => v.extend((0..len).map(|i| scrambled(i) & 3)),
                _ => v.extend((0..len).map(|_| seed)),
            }
        }
        v
    })
}

/// A comparison that takes some hundred nanoseconds.
fn slowly<T: Ord>(a: &T, b: &T) -> Ordering {
    for i in 0..20 {
        black_box(i);
    }
    a.cmp(b)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn stable_sorts_agree_with_the_standard_library(values in slice(), pool in 0..5_usize) {
        let tagged: Vec<(u32, usize)> = values.into_iter().zip(0..).collect();
        let mut expected = tagged.clone();
        expected.sort_by_key(|x| x.0);
        POOLS[pool].install(|| {
            let (mut by, mut key, mut cached) = (tagged.clone(), tagged.clone(), tagged);
            by.par_sort_by(|a, b| slowly(&a.0, &b.0));
            key.par_sort_by_key(|x| x.0);
            cached.par_sort_by_cached_key(|x| x.0);
            assert!(by == expected && key == expected && cached == expected);
        });
    }

    #[test]
    fn unstable_sorts_agree_with_the_standard_library(values in slice(), pool in 0..5_usize) {
        let mut expected = values.clone();
        expected.sort_unstable();
        POOLS[pool].install(|| {
            let (mut natural, mut by, mut texts) = (values.clone(), values.clone(), Vec::new());
            natural.par_sort_unstable();
            by.par_sort_unstable_by(slowly);
            texts.extend(values.iter().map(|x| format!("{x:010}")));
            texts.par_sort_unstable_by(slowly);
            assert!(natural == expected && by == expected);
            assert!(texts.iter().map(|text| text.parse()).eq(expected.into_iter().map(Ok)));
        });
    }

    #[test]
    fn comparisons_at_random_neither_panic_nor_lose_anything(values in slice(), pool in 0..5_usize) {
        let mut expected = values.clone();
        expected.sort_unstable();
        POOLS[pool].install(|| {
            let at_random = |a: &u32, b: &u32| match (a ^ b.rotate_left(7)).wrapping_mul(0x9e37_79b9) >> 30 {
                0 => Ordering::Equal,
                1 => Ordering::Less,
                _ => slowly(&1, &0),
            };
            let (mut stable, mut unstable) = (values.clone(), values);
            stable.par_sort_by(at_random);
            unstable.par_sort_unstable_by(at_random);
            for mut v in [stable, unstable] {
                v.sort_unstable();
                assert!(v == expected);
            }
        });
    }
}
