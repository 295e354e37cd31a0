//! Scenario `ops`: algorithms over slices (groups, scans, packs, extremes, merges, partitions), often of no, one or a few rows, compared with plain code.

use std::collections::BTreeMap;

use ::blitz::ops::{
    par_argmax, par_argmin, par_collect_reduce, par_count_by, par_dedup, par_filter_index,
    par_find_first, par_group_by, par_histogram, par_min_max, par_pack, par_scan,
    par_scan_exclusive, par_shuffle, par_transpose, par_unique,
};
use ::blitz::prelude::*;

use super::dice::Dice;
use super::program::mix;
use super::{Stress, on_some_pool};

pub fn run(stress: &Stress, seed: u64) -> Result<(), String> {
    let mut dice = Dice::new(seed);
    let len = match dice.below(4) {
        0..=1 => dice.below(4),
        2 => dice.below(200),
        _ => dice.below(30_000),
    };
    let (salt, different) = (dice.roll(), dice.between(1, 2000) as u64);
    let values: Vec<u64> = (0..len as u64)
        .map(|index| mix(index ^ salt) % different)
        .collect();
    let operation = dice.below(OPERATIONS.len());
    let (name, right) = OPERATIONS[operation];
    let detail = dice.roll();
    if on_some_pool(stress, &mut dice, || right(&values, detail)) {
        return Ok(());
    }
    Err(format!("{name} of {len} values is wrong"))
}

type Operation = (&'static str, fn(&[u64], u64) -> bool);

/// Each says whether it was right.
const OPERATIONS: &[Operation] = &[
    ("group_by", |values, detail| {
        let key = |value: &u64| value % (1 + detail % 50);
        let mut expected: BTreeMap<u64, Vec<&u64>> = BTreeMap::new();
        for value in values {
            expected.entry(key(value)).or_default().push(value);
        }
        par_group_by(values, key).into_iter().eq_map(expected)
    }),
    ("count_by", |values, detail| {
        let key = |value: &u64| value % (1 + detail % 50);
        let mut expected: BTreeMap<u64, usize> = BTreeMap::new();
        for value in values {
            *expected.entry(key(value)).or_default() += 1;
        }
        par_count_by(values, key).into_iter().eq_map(expected)
    }),
    ("collect_reduce", |values, detail| {
        let key = |value: &u64| value % (1 + detail % 50);
        let mut expected: BTreeMap<u64, u64> = BTreeMap::new();
        for value in values {
            let sum = expected.entry(key(value)).or_default();
            *sum = sum.wrapping_add(*value);
        }
        let add = |sum: &mut u64, value: u64| *sum = sum.wrapping_add(value);
        par_collect_reduce(values, key, |value| *value, add)
            .into_iter()
            .eq_map(expected)
    }),
    ("unique", |values, _| {
        let mut unique = par_unique(values);
        unique.sort();
        let mut expected = values.to_vec();
        expected.sort();
        expected.dedup();
        unique == expected
    }),
    ("histogram", |values, detail| {
        let buckets = 1 + (detail % 300) as usize;
        let bucket = |value: &u64| *value as usize % buckets;
        let mut expected = vec![0; buckets];
        values.iter().for_each(|value| expected[bucket(value)] += 1);
        par_histogram(values, buckets, bucket) == expected
    }),
    ("scan", |values, _| {
        let add = |left: &u64, right: &u64| left.wrapping_add(*right);
        let running = |state: &mut u64, value: &u64| {
            *state = state.wrapping_add(*value);
            Some(*state)
        };
        let inclusive: Vec<u64> = values.iter().scan(0, running).collect();
        let total = inclusive.last().copied().unwrap_or(0);
        let (exclusive, all) = par_scan_exclusive(values, 0, add);
        par_scan(values, add) == inclusive
            && all == total
            && exclusive
                .iter()
                .skip(1)
                .eq(inclusive.iter().take(inclusive.len().saturating_sub(1)))
            && exclusive.len() == values.len()
    }),
    ("pack", |values, detail| {
        let keep: Vec<bool> = values
            .iter()
            .map(|value| mix(value ^ detail).is_multiple_of(3))
            .collect();
        let expected: Vec<u64> = (values.iter().zip(&keep))
            .filter_map(|(value, keep)| keep.then_some(*value))
            .collect();
        let indices = par_filter_index(0..values.len(), |index| keep[index]);
        par_pack(values, &keep) == expected
            && indices.iter().map(|&index| values[index]).eq(expected)
    }),
    ("extremes", |values, _| {
        let min_max = values
            .iter()
            .min()
            .copied()
            .zip(values.iter().max().copied());
        let first = |wanted: Option<u64>| values.iter().position(|value| Some(*value) == wanted);
        par_min_max(values) == min_max
            && par_argmin(values) == first(min_max.map(|both| both.0))
            && par_argmax(values).map(|index| values[index]) == min_max.map(|both| both.1)
    }),
    ("find_first", |values, detail| {
        let wanted = |index: usize| values[index] == detail % 2000;
        par_find_first(0..values.len(), wanted) == (0..values.len()).find(|&index| wanted(index))
    }),
    ("dedup", |values, _| {
        let mut deduped = values.to_vec();
        let mut expected = values.to_vec();
        par_dedup(&mut deduped);
        expected.dedup();
        deduped == expected
    }),
    ("shuffle", |values, detail| {
        let mut shuffled = values.to_vec();
        let mut expected = values.to_vec();
        par_shuffle(&mut shuffled, detail);
        shuffled.sort();
        expected.sort();
        shuffled == expected
    }),
    ("transpose", |values, detail| {
        let rows = 1 + (detail % 20) as usize;
        let columns = values.len() / rows;
        let values = &values[..rows * columns];
        let there = par_transpose(values, rows, columns);
        par_transpose(&there, columns, rows) == values
            && (columns == 0 || rows == 1 || there.get(1) == values.get(columns))
    }),
    ("merge", |values, detail| {
        let (left, right) = values.split_at(detail as usize % (values.len() + 1));
        let (mut left, mut right) = (left.to_vec(), right.to_vec());
        left.sort();
        right.sort();
        let mut expected = values.to_vec();
        expected.sort();
        left.par_merge(&right) == expected && expected.par_is_sorted()
    }),
    ("partition", |values, detail| {
        let goes_first = |value: &u64| mix(value ^ detail).is_multiple_of(2);
        let mut parted = values.to_vec();
        let first = parted.par_partition(goes_first);
        let expected = values.iter().filter(|value| goes_first(value));
        let rest = values.iter().filter(|value| !goes_first(value));
        parted[..first].iter().eq(expected) && parted[first..].iter().eq(rest)
    }),
    ("rotate", |values, detail| {
        let middle = detail as usize % (values.len() + 1);
        let mut expected = values.to_vec();
        expected.rotate_left(middle);
        let mut rotated = values.to_vec();
        rotated.par_rotate_left(middle);
        let same = rotated == expected;
        expected.reverse();
        rotated.par_reverse();
        same && rotated == expected
    }),
];

/// Compares pairs in any order with a map.
trait EqMap<V> {
    fn eq_map(self, expected: BTreeMap<u64, V>) -> bool;
}

impl<V: PartialEq, I: Iterator<Item = (u64, V)>> EqMap<V> for I {
    fn eq_map(self, expected: BTreeMap<u64, V>) -> bool {
        self.collect::<BTreeMap<u64, V>>() == expected
    }
}
