//! Every algorithm on a few rows that take long: what is decided by timing the first rows must not change what comes out.
//!
//! Hashing, comparing, cloning and adding one of these rows takes longer than any of the thresholds, so that a single one is worth a map, a
//! block, a stripe or a thread of its own.

use super::{on_all_pools, scramble};
use blitz::ops::*;
use blitz::prelude::*;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::thread::sleep;
use std::time::Duration;

/// A number. Anything that is done with a slow one takes 300 microseconds.
#[derive(Debug)]
struct Row {
    value: u64,
    is_slow: bool,
}

impl Row {
    fn look(&self) -> u64 {
        if self.is_slow {
            sleep(Duration::from_micros(300));
        }
        self.value
    }

    fn add(&self, other: &Row) -> Row {
        Row {
            value: self.look().wrapping_add(other.value),
            is_slow: self.is_slow,
        }
    }
}

impl Clone for Row {
    fn clone(&self) -> Self {
        Row {
            value: self.look(),
            is_slow: self.is_slow,
        }
    }
}

impl PartialEq for Row {
    fn eq(&self, other: &Row) -> bool {
        self.look() == other.value
    }
}

impl Eq for Row {}

impl Hash for Row {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.look().hash(state);
    }
}

impl PartialOrd for Row {
    fn partial_cmp(&self, other: &Row) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Row {
    fn cmp(&self, other: &Row) -> Ordering {
        self.look().cmp(&other.value)
    }
}

/// A few rows that are all slow, and more of which the first one is: that is the one that gets timed.
fn all_inputs() -> Vec<Vec<Row>> {
    let row = |i: usize, is_slow| Row {
        value: scramble(i as u64) % 4,
        is_slow,
    };
    let mut inputs: Vec<Vec<Row>> = (0..=3)
        .map(|len| (0..len).map(|i| row(i, true)).collect())
        .collect();
    inputs.extend([16, 17, 33].map(|len| (0..len).map(|i| row(i, i == 0)).collect()));
    inputs
}

fn values(rows: &[Row]) -> Vec<u64> {
    rows.iter().map(|row| row.value).collect()
}

/// Calls `check` with every input and its plain numbers, in every pool.
fn for_all(check: impl Fn(&[Row], &[u64]) + Sync) {
    let inputs = all_inputs();
    on_all_pools(|| {
        for rows in &inputs {
            check(rows, &values(rows));
        }
    });
}

#[test]
fn slow_rows_are_grouped_and_counted() {
    for_all(|rows, plain| {
        let mut expected: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (i, x) in plain.iter().enumerate() {
            expected.entry(*x).or_default().push(i);
        }
        let counts: BTreeMap<u64, usize> = expected.iter().map(|(k, v)| (*k, v.len())).collect();

        let by_key = par_count_by(rows, Row::look);
        assert_eq!(by_key.into_iter().collect::<BTreeMap<_, _>>(), counts);
        // The key is made quickly, and is slow to hash and to compare.
        let by_hash = par_count_by(rows, |row| Row { ..*row });
        let by_hash = by_hash.into_iter().map(|(key, count)| (key.value, count));
        assert_eq!(by_hash.collect::<BTreeMap<_, _>>(), counts);

        let groups = par_group_by(rows, Row::look);
        let sizes = groups.iter().map(|(key, group)| (*key, group.len()));
        assert_eq!(sizes.collect::<BTreeMap<_, _>>(), counts);

        let indexed: Vec<(usize, &Row)> = rows.iter().enumerate().collect();
        let lists = par_collect_reduce(&indexed, |r| r.1.look(), |r| vec![r.0], Vec::extend);
        assert_eq!(lists.into_iter().collect::<BTreeMap<_, _>>(), expected);

        let bucket = |row: &Row| row.look() as usize;
        let all: Vec<usize> = (0..4)
            .map(|key| counts.get(&key).copied().unwrap_or(0))
            .collect();
        assert_eq!(par_histogram(rows, 4, bucket), all);
        let (starts, by_bucket) = par_group_by_index(rows, 4, bucket);
        for b in 0..4 {
            let list = expected.get(&(b as u64)).map_or(&[][..], Vec::as_slice);
            assert_eq!(&by_bucket[starts[b]..starts[b + 1]], list);
        }
    });
}

#[test]
fn slow_rows_are_told_apart() {
    for_all(|rows, plain| {
        let mut seen = BTreeSet::new();
        let expected: Vec<u64> = plain.iter().copied().filter(|x| seen.insert(*x)).collect();
        assert_eq!(values(&par_unique(rows)), expected);

        let mut by_std = plain.to_vec();
        by_std.dedup();
        let again = || -> Vec<Row> { rows.iter().map(|row| Row { ..*row }).collect() };
        let mut ours = again();
        par_dedup(&mut ours);
        assert_eq!(values(&ours), by_std);
        let mut ours = again();
        par_dedup_by_key(&mut ours, Row::look);
        assert_eq!(values(&ours), by_std);
    });
}

#[test]
fn slow_rows_are_scanned_and_reduced() {
    for_all(|rows, plain| {
        let sums: Vec<u64> = plain
            .iter()
            .scan(0, |sum, x| {
                *sum += x;
                Some(*sum)
            })
            .collect();
        let total = sums.last().copied().unwrap_or(0);
        assert_eq!(values(&par_scan(rows, Row::add)), sums);
        let zero = || Row {
            value: 0,
            is_slow: false,
        };
        let (before, sum) = par_scan_exclusive(rows, zero(), Row::add);
        assert_eq!(before.len(), rows.len());
        assert!(
            before
                .iter()
                .zip(&sums)
                .zip(plain)
                .all(|((b, s), x)| b.value + x == *s)
        );
        assert_eq!(sum.value, total);
        let mut in_place: Vec<Row> = rows.iter().map(|row| Row { ..*row }).collect();
        par_scan_in_place(&mut in_place, Row::add);
        assert_eq!(values(&in_place), sums);

        let look = |i: usize| rows[i].look();
        let all = 0..rows.len();
        assert_eq!(par_reduce(all.clone(), || 0, look, |a, b| a + b), total);
        let part_sum = |part: std::ops::Range<usize>| part.map(look).sum::<u64>();
        assert_eq!(
            par_reduce_chunked(all.clone(), || 0, part_sum, |a, b| a + b),
            total
        );
        assert_eq!(par_tabulate(rows.len(), look), plain);
        let odd: Vec<usize> = all.clone().filter(|i| plain[*i] % 2 == 1).collect();
        assert_eq!(par_filter_index(all.clone(), |i| look(i) % 2 == 1), odd);
        let first = plain.iter().position(|x| *x == 2);
        assert_eq!(par_find_first(all.clone(), |i| look(i) == 2), first);
        assert_eq!(par_any(all, |i| look(i) == 2), first.is_some());
        let smallest = (0..rows.len()).min_by_key(|i| plain[*i]);
        assert_eq!(par_argmin(rows), smallest);
        let both = par_min_max_by(rows, Row::cmp).map(|(low, high)| (low.value, high.value));
        let expected = plain.iter().min().zip(plain.iter().max());
        assert_eq!(both, expected.map(|(low, high)| (*low, *high)));
    });
}

#[test]
fn slow_rows_are_sorted_and_selected() {
    for_all(|rows, plain| {
        let mut sorted = plain.to_vec();
        sorted.sort_unstable();
        let check = |sort: &dyn Fn(&mut [Row])| {
            let mut ours: Vec<Row> = rows.iter().map(|row| Row { ..*row }).collect();
            sort(&mut ours);
            assert_eq!(values(&ours), sorted);
        };
        check(&|v| v.par_sort());
        check(&|v| v.par_sort_unstable());
        check(&|v| v.par_sort_by_key(Row::look));
        check(&|v| v.par_sort_by_cached_key(Row::look));
        check(&|v| v.par_sort_radix_by_key(Row::look));

        let mut ours: Vec<Row> = rows.iter().map(|row| Row { ..*row }).collect();
        if let Some(middle) = rows.len().checked_sub(1).map(|last| last / 2) {
            let (_, nth, _) = ours.par_select_nth_unstable(middle);
            assert_eq!(nth.value, sorted[middle]);
        }
        let even = |row: &Row| row.look() & 1 == 0;
        let expected: Vec<u64> = plain
            .iter()
            .filter(|x| *x % 2 == 0)
            .chain(plain.iter().filter(|x| *x % 2 == 1))
            .copied()
            .collect();
        let mut ours: Vec<Row> = rows.iter().map(|row| Row { ..*row }).collect();
        let kept = ours.par_partition(even);
        assert_eq!(values(&ours), expected);
        assert_eq!(ours.par_partition_unstable(even), kept);
        assert!(ours[..kept].iter().all(|row| row.value % 2 == 0));
        ours.par_sort_unstable();
        assert_eq!(values(&ours), sorted);
        assert!(ours.par_is_sorted());
        assert_eq!(values(&ours.par_merge(&[])), sorted);
    });
}
