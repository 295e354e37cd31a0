//! Grouping, counting and histograms against maps filled by a plain loop.

use super::{SIZES, on_all_pools, scramble, scrambled};
use blitz::ops::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Rows with a key below `keys`, and their index.
fn rows(len: usize, keys: u64) -> Vec<(u64, usize)> {
    let numbers = scrambled(len).into_iter().enumerate();
    numbers.map(|(i, x)| (x % keys, i)).collect()
}

fn plain_groups(rows: &[(u64, usize)]) -> BTreeMap<u64, Vec<usize>> {
    let mut groups: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (key, i) in rows {
        groups.entry(*key).or_default().push(*i);
    }
    groups
}

/// All ways to group, against the plain one. Lists, unlike sums, show the order in which rows are combined.
fn check(rows: &[(u64, usize)]) {
    let expected = plain_groups(rows);
    let groups = par_group_by(rows, |row| row.0);
    assert_eq!(groups.len(), expected.len());
    let indices = |group: &Vec<&(u64, usize)>| group.iter().map(|row| row.1).collect::<Vec<_>>();
    assert!(
        groups
            .iter()
            .all(|(key, group)| indices(group) == expected[key])
    );

    let lists = par_collect_reduce(rows, |row| row.0, |row| vec![row.1], Vec::extend);
    assert_eq!(lists.into_iter().collect::<BTreeMap<_, _>>(), expected);

    let counts = par_count_by(rows, |row| row.0);
    assert_eq!(counts.len(), expected.len());
    assert!(
        counts
            .iter()
            .all(|(key, count)| *count == expected[key].len())
    );

    let keys: Vec<u64> = rows.iter().map(|row| row.0).collect();
    let mut firsts: Vec<usize> = expected.values().map(|group| group[0]).collect();
    firsts.sort_unstable();
    let unique: Vec<u64> = firsts.into_iter().map(|i| keys[i]).collect();
    assert_eq!(par_unique(&keys), unique);
}

#[test]
fn groups_are_those_of_the_plain_loop_with_few_and_with_many_keys() {
    on_all_pools(|| {
        for len in SIZES {
            for keys in [1, 2, 100, 1 << 40] {
                check(&rows(len, keys));
            }
        }
    });
}

#[test]
fn several_batches_of_many_keys_make_one_map() {
    let rows = rows(1_200_000, 150_000);
    let sums = par_collect_reduce(&rows, |r| r.0, |r| r.1, |sum, more| *sum += more);
    let mut expected: HashMap<u64, usize> = HashMap::new();
    for (key, value) in &rows {
        *expected.entry(*key).or_default() += value;
    }
    assert_eq!(sums, expected);
}

#[test]
fn hashers_that_put_everything_in_one_place_only_cost_time() {
    #[derive(Clone, Default)]
    struct Constant;
    impl Hasher for Constant {
        fn finish(&self) -> u64 {
            7
        }
        fn write(&mut self, _: &[u8]) {}
    }
    // Equal hashes look like few keys to the sample, so this hasher has enough of them, but deals them all to one part.
    #[derive(Clone)]
    struct Weak;
    impl BuildHasher for Weak {
        type Hasher = WeakHasher;
        fn build_hasher(&self) -> WeakHasher {
            WeakHasher(0)
        }
    }
    struct WeakHasher(u64);
    impl Hasher for WeakHasher {
        fn finish(&self) -> u64 {
            // The bits between are those by which rows are dealt out.
            ((self.0 / 2) % 1024) | ((self.0 / 2 / 1024) << 50)
        }
        fn write(&mut self, bytes: &[u8]) {
            bytes
                .iter()
                .for_each(|byte| self.write_u64(u64::from(*byte)));
        }
        fn write_u64(&mut self, x: u64) {
            self.0 = self.0 << 8 ^ x;
        }
    }
    on_all_pools(|| {
        let few = rows(2000, 50);
        let hasher = BuildHasherDefault::<Constant>::default();
        let lists = |rows: &[(u64, usize)]| -> BTreeMap<u64, Vec<usize>> {
            let list = |row: &(u64, usize)| vec![row.1];
            let map =
                par_collect_reduce_with_hasher(rows, |r| r.0, list, Vec::extend, hasher.clone());
            map.into_iter().collect()
        };
        assert_eq!(lists(&few), plain_groups(&few));

        let many = rows(33_000, 20_000);
        let list = |row: &(u64, usize)| vec![row.1];
        let map = par_collect_reduce_with_hasher(&many, |r| r.0, list, Vec::extend, Weak);
        assert_eq!(
            map.into_iter().collect::<BTreeMap<_, _>>(),
            plain_groups(&many)
        );
    });
}

#[test]
fn keys_and_values_may_own_memory() {
    on_all_pools(|| {
        for keys in [10, 1 << 30] {
            let rows = rows(40_000, keys);
            let hasher = BuildHasherDefault::<DefaultHasher>::default();
            let texts = par_collect_reduce_with_hasher(
                &rows,
                |row| format!("key {}", row.0),
                |row| row.1.to_string(),
                |text, more| *text += &more,
                hasher,
            );
            for (key, group) in plain_groups(&rows) {
                let expected: String = group.iter().map(usize::to_string).collect();
                assert_eq!(texts[&format!("key {key}")], expected);
            }
        }
    });
}

#[test]
fn a_panic_in_key_or_combine_comes_out() {
    on_all_pools(|| {
        for keys in [10, 1 << 30] {
            let rows = rows(40_000, keys);
            let key = |row: &(u64, usize)| {
                assert_ne!(row.1, 39_000, "this row has no key");
                row.0.to_string()
            };
            let result = catch_unwind(AssertUnwindSafe(|| par_group_by(&rows, key)));
            assert!(result.is_err());
        }
    });
}

/// Everything that groups by small integers, against counting by a plain loop.
fn check_buckets(v: &[u64], buckets: usize) {
    let bucket = |x: &u64| *x as usize % buckets;
    let mut lists = vec![Vec::new(); buckets];
    for (i, x) in v.iter().enumerate() {
        lists[bucket(x)].push(i);
    }
    let counts: Vec<usize> = lists.iter().map(Vec::len).collect();
    assert_eq!(par_histogram(v, buckets, bucket), counts);

    let (starts, rows) = par_group_by_index(v, buckets, bucket);
    assert_eq!((starts.len(), rows.len()), (buckets + 1, v.len()));
    assert!((0..buckets).all(|b| rows[starts[b]..starts[b + 1]] == lists[b]));

    let numbers: Vec<(usize, usize)> = v.iter().map(bucket).zip(0..).collect();
    let collected = par_collect_reduce_by_index(
        &numbers,
        buckets,
        |row| row.0,
        |row| vec![row.1],
        Vec::new(),
        Vec::extend,
    );
    assert_eq!(collected, lists);
}

#[test]
fn buckets_hold_what_the_plain_loop_puts_there() {
    on_all_pools(|| {
        for len in SIZES {
            for buckets in [1, 2, 10, 256, 5000] {
                check_buckets(&scrambled(len), buckets);
            }
        }
        assert_eq!(par_histogram(&[0; 0], 0, |_| 0), [0; 0]);
    });
}

#[test]
fn a_bucket_that_does_not_exist_is_named() {
    let error = catch_unwind(|| par_histogram(&[1, 12, 3], 10, |x| *x)).unwrap_err();
    let message = error.downcast_ref::<String>().unwrap();
    assert!(
        message.contains("bucket 12") && message.contains("only 10"),
        "{message}"
    );
    assert!(catch_unwind(|| par_group_by_index(&[1, 12, 3], 10, |x| *x)).is_err());
    // A bucket that changes between the two calls is found out as well.
    let calls = std::sync::atomic::AtomicU64::new(0);
    let fickle =
        |_: &u64| scramble(calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) as usize % 16;
    let v = scrambled(50_000);
    assert!(catch_unwind(AssertUnwindSafe(|| par_group_by_index(&v, 16, fickle))).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn any_rows_are_grouped_as_by_the_plain_loop(
        keys in prop::collection::vec(0u64..40, 0..2000),
        buckets in 1usize..50,
    ) {
        let rows: Vec<(u64, usize)> = keys.iter().copied().zip(0..).collect();
        on_all_pools(|| {
            check(&rows);
            check_buckets(&keys, buckets);
        });
    }
}
