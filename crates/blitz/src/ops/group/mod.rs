//! Bringing rows with equal keys together.
//!
//! There are two ways. With few keys, every thread that takes part fills a hash map of its own, as the plain loop would, and
//! the maps are merged: one map per thread that took part, not one per piece. With many keys this would merge as much as it counts,
//! and every access would miss the cache. Then rows are first distributed by the bits of their keys' hashes, so that each part
//! of the keys belongs to one thread and fits its cache (`partitions.rs`). A sample of the keys decides.
//!
//! Either way rows of a group meet in the order of the slice, so the result is the same for any number of threads.

mod by_index;
mod partitions;

pub use self::by_index::{par_collect_reduce_by_index, par_group_by_index, par_histogram};

use super::pieces::pieces_of_at_least;
use super::stopwatch::Stopwatch;
use crate::engine::current_num_threads;
use crate::engine::operation;
use crate::engine::sync::locks::Mutex;
use crate::iter::{IntoParallelRefIterator, ParallelIterator};
use crate::slice::ParallelSliceMut;
use std::collections::HashSet;
use std::collections::hash_map::{Entry, HashMap, RandomState};
use std::hash::{BuildHasher, Hash};
use std::ops::Range;
use std::sync::PoisonError;

/// All rows by their key: for every key the rows that have it, in the order of the slice.
///
/// Work: `O(n)` expected. Span: `O(k + log n)` for `k` keys, and one piece. Allocates the map and its vectors; with many keys
/// also a buffer for a million rows.
///
/// ```
/// let words = ["apple", "fig", "pear", "kiwi", "plum", "nut"];
/// let by_length = blitz::ops::par_group_by(&words, |word| word.len());
/// assert_eq!(by_length[&4], [&"pear", &"kiwi", &"plum"]);
/// assert_eq!(by_length[&3], [&"fig", &"nut"]);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_group_by<T, K, F>(v: &[T], key: F) -> HashMap<K, Vec<&T>>
where
    T: Sync,
    K: Hash + Eq + Send,
    F: Fn(&T) -> K + Sync,
{
    let _operation = operation();
    group(&Together { v, key }, RandomState::new())
}

/// The sum of the values of every key, where `combine` adds a later value to an earlier one.
///
/// `combine` must be associative, and need not be commutative: values of a key are combined in the order of the slice.
///
/// Work: `O(n)` expected. Span: `O(k + log n)` for `k` keys, and one piece. Allocates the map; with many keys also a buffer
/// for a million rows.
///
/// ```
/// let sales = [("tea", 3), ("milk", 1), ("tea", 4)];
/// let total = blitz::ops::par_collect_reduce(&sales, |sale| sale.0, |sale| sale.1, |sum, more| *sum += more);
/// assert_eq!((total["tea"], total["milk"]), (7, 1));
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_collect_reduce<T, K, V, F, G, C>(v: &[T], key: F, value: G, combine: C) -> HashMap<K, V>
where
    T: Sync,
    K: Hash + Eq + Send,
    V: Send,
    F: Fn(&T) -> K + Sync,
    G: Fn(&T) -> V + Sync,
    C: Fn(&mut V, V) + Sync,
{
    let _operation = operation();
    par_collect_reduce_with_hasher(v, key, value, combine, RandomState::new())
}

/// As [`par_collect_reduce`], with a hasher of your choice.
///
/// ```
/// use std::hash::{BuildHasherDefault, DefaultHasher};
///
/// let hasher = BuildHasherDefault::<DefaultHasher>::default();
/// let counts = blitz::ops::par_collect_reduce_with_hasher(b"banana", |c| *c, |_| 1, |sum, more| *sum += more, hasher);
/// assert_eq!(counts[&b'a'], 3);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_collect_reduce_with_hasher<T, K, V, F, G, C, S>(
    v: &[T],
    key: F,
    value: G,
    combine: C,
    hasher: S,
) -> HashMap<K, V, S>
where
    T: Sync,
    K: Hash + Eq + Send,
    V: Send,
    F: Fn(&T) -> K + Sync,
    G: Fn(&T) -> V + Sync,
    C: Fn(&mut V, V) + Sync,
    S: BuildHasher + Clone + Send + Sync,
{
    let _operation = operation();
    let sums = Sums {
        v,
        key,
        value,
        combine,
    };
    group(&sums, hasher)
}

/// How often every key occurs.
///
/// Work and span: as [`par_collect_reduce`]. If the keys are small integers, [`par_histogram`] is faster.
///
/// ```
/// let counts = blitz::ops::par_count_by(&[1, -1, 2, -2, 1], |x: &i32| x.abs());
/// assert_eq!((counts[&1], counts[&2]), (3, 2));
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_count_by<T, K, F>(v: &[T], key: F) -> HashMap<K, usize>
where
    T: Sync,
    K: Hash + Eq + Send,
    F: Fn(&T) -> K + Sync,
{
    let _operation = operation();
    par_collect_reduce(v, key, |_| 1, |count, more| *count += more)
}

/// Every element once, where it occurs first.
///
/// Work: `O(n)` expected, and a sort of the `k` results. Span: `O(k + log n)`, and one piece.
///
/// ```
/// assert_eq!(blitz::ops::par_unique(&[3, 1, 3, 2, 1]), [3, 1, 2]);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_unique<T>(v: &[T]) -> Vec<T>
where
    T: Hash + Eq + Clone + Send + Sync,
{
    let _operation = operation();
    let firsts = group(&Firsts { v }, RandomState::new());
    let mut places: Vec<usize> = firsts.into_values().collect();
    places.par_sort_unstable();
    places.par_iter().map(|&i| v[i].clone()).collect()
}

/// Rows to be grouped: what each contributes, and what becomes of it.
trait Grouping: Sync {
    type Key: Hash + Eq + Send;
    /// What a row contributes to its group.
    type Item: Send;
    /// What a group amounts to.
    type Group: Send;

    /// The number of rows.
    fn len(&self) -> usize;
    fn key(&self, row: usize) -> Self::Key;
    fn item(&self, row: usize) -> Self::Item;
    /// A group with its first item.
    fn begin(&self, item: Self::Item) -> Self::Group;
    fn add(&self, group: &mut Self::Group, item: Self::Item);
    /// Adds what later rows amount to.
    fn merge(&self, group: &mut Self::Group, later: Self::Group);
}

/// For [`par_group_by`].
struct Together<'v, T, F> {
    v: &'v [T],
    key: F,
}

impl<'v, T, K, F> Grouping for Together<'v, T, F>
where
    T: Sync,
    K: Hash + Eq + Send,
    F: Fn(&T) -> K + Sync,
{
    type Key = K;
    type Item = &'v T;
    type Group = Vec<&'v T>;

    fn len(&self) -> usize {
        self.v.len()
    }

    #[inline]
    fn key(&self, row: usize) -> K {
        (self.key)(&self.v[row])
    }

    #[inline]
    fn item(&self, row: usize) -> &'v T {
        &self.v[row]
    }

    fn begin(&self, item: &'v T) -> Vec<&'v T> {
        vec![item]
    }

    fn add(&self, group: &mut Vec<&'v T>, item: &'v T) {
        group.push(item);
    }

    fn merge(&self, group: &mut Vec<&'v T>, later: Vec<&'v T>) {
        group.extend(later);
    }
}

/// For [`par_collect_reduce`].
struct Sums<'v, T, F, G, C> {
    v: &'v [T],
    key: F,
    value: G,
    combine: C,
}

impl<T, K, V, F, G, C> Grouping for Sums<'_, T, F, G, C>
where
    T: Sync,
    K: Hash + Eq + Send,
    V: Send,
    F: Fn(&T) -> K + Sync,
    G: Fn(&T) -> V + Sync,
    C: Fn(&mut V, V) + Sync,
{
    type Key = K;
    type Item = V;
    type Group = V;

    fn len(&self) -> usize {
        self.v.len()
    }

    #[inline]
    fn key(&self, row: usize) -> K {
        (self.key)(&self.v[row])
    }

    #[inline]
    fn item(&self, row: usize) -> V {
        (self.value)(&self.v[row])
    }

    #[inline]
    fn begin(&self, item: V) -> V {
        item
    }

    #[inline]
    fn add(&self, group: &mut V, item: V) {
        (self.combine)(group, item);
    }

    fn merge(&self, group: &mut V, later: V) {
        (self.combine)(group, later);
    }
}

/// For [`par_unique`]: a group is the index of its first row.
struct Firsts<'v, T> {
    v: &'v [T],
}

impl<'v, T: Hash + Eq + Sync> Grouping for Firsts<'v, T> {
    type Key = &'v T;
    type Item = usize;
    type Group = usize;

    fn len(&self) -> usize {
        self.v.len()
    }

    #[inline]
    fn key(&self, row: usize) -> &'v T {
        &self.v[row]
    }

    #[inline]
    fn item(&self, row: usize) -> usize {
        row
    }

    #[inline]
    fn begin(&self, item: usize) -> usize {
        item
    }

    #[inline]
    fn add(&self, _: &mut usize, _: usize) {}

    fn merge(&self, _: &mut usize, _: usize) {}
}

/// Fewer rows than this are never dealt out.
const WORTH_DEALING: usize = 1 << 15;

/// Rows whose cost is measured at most.
const FIRST_ROWS: usize = 1024;

/// A map is begun for no less than this much work: it has to be merged with the others.
const WORTH_A_MAP_NS: f64 = 200_000.0;

/// With more keys than this, a map of them all no longer fits a cache.
const MANY_KEYS: usize = 48 << 10;

fn group<G, S>(grouping: &G, hasher: S) -> HashMap<G::Key, G::Group, S>
where
    G: Grouping,
    S: BuildHasher + Clone + Send + Sync,
{
    let rows = grouping.len();
    if rows == 0 {
        return HashMap::with_hasher(hasher);
    }
    if rows >= WORTH_DEALING && current_num_threads() > 1 {
        let keys = estimate_keys(grouping, &hasher);
        if keys > MANY_KEYS.min(rows / 8) {
            return partitions::group(grouping, hasher, keys);
        }
    }
    // The first rows tell what a row costs, and so how many make a map that is worth its merging.
    let first = (rows / 16).clamp(1, FIRST_ROWS);
    let watch = Stopwatch::start();
    let mut map = HashMap::with_hasher(hasher.clone());
    take_in(grouping, &mut map, 0..first);
    let row_ns = watch.ns() / first as f64;
    // One at least: a single row may be worth more than that.
    let worth_a_map = ((WORTH_A_MAP_NS / row_ns.max(1.0)) as usize).max(1);
    if rows - first < 2 * worth_a_map {
        // Too few for two maps, so nobody could help; maybe none at all, and then there would be no piece that goes on with this map.
        take_in(grouping, &mut map, first..rows);
        return map;
    }
    // Whoever runs the piece after the first rows goes on with their map.
    let begun = Mutex::new(Some(map));
    let begun = || begun.lock().unwrap_or_else(PoisonError::into_inner).take();
    let maps = pieces_of_at_least(first..rows, worth_a_map).fold(
        || HashMap::with_hasher(hasher.clone()),
        |mut map, part| {
            if part.start == first {
                map = begun().unwrap_or(map);
            }
            take_in(grouping, &mut map, part);
            map
        },
    );
    let all = maps.reduce_with(|left, right| merge(grouping, left, right));
    all.expect("there are rows behind the first ones")
}

/// Adds rows to a map.
fn take_in<G, S>(grouping: &G, map: &mut HashMap<G::Key, G::Group, S>, rows: Range<usize>)
where
    G: Grouping,
    S: BuildHasher,
{
    for row in rows {
        match map.entry(grouping.key(row)) {
            Entry::Occupied(entry) => grouping.add(entry.into_mut(), grouping.item(row)),
            Entry::Vacant(entry) => {
                entry.insert(grouping.begin(grouping.item(row)));
            }
        }
    }
}

/// Merges two maps by walking over the smaller one; rows on the left came first.
fn merge<G, S>(
    grouping: &G,
    mut left: HashMap<G::Key, G::Group, S>,
    mut right: HashMap<G::Key, G::Group, S>,
) -> HashMap<G::Key, G::Group, S>
where
    G: Grouping,
    S: BuildHasher,
{
    if left.len() >= right.len() {
        for (key, later) in right {
            match left.entry(key) {
                Entry::Occupied(entry) => grouping.merge(entry.into_mut(), later),
                Entry::Vacant(entry) => {
                    entry.insert(later);
                }
            }
        }
        return left;
    }
    for (key, earlier) in left {
        match right.entry(key) {
            Entry::Occupied(mut entry) => {
                let later = entry.insert(earlier);
                grouping.merge(entry.get_mut(), later);
            }
            Entry::Vacant(entry) => {
                entry.insert(earlier);
            }
        }
    }
    right
}

/// About how many different keys there are, from how often a sample of rows meets one twice.
///
/// `s` rows with keys from `k` equally frequent ones meet about `s² / 2k` pairs. If keys are not equally frequent the
/// estimate is low, and rightly so: frequent keys stay in the cache.
fn estimate_keys<G, S>(grouping: &G, hasher: &S) -> usize
where
    G: Grouping,
    S: BuildHasher,
{
    let rows = grouping.len();
    let sample = if rows < 1 << 20 { 1024 } else { 4096 };
    let mut seen = HashSet::with_capacity(sample);
    for i in 0..sample {
        // Evenly spread, but out of step with anything that repeats in powers of two.
        let row = (i * (rows / sample) + i * 7919 % (rows / sample)) % rows;
        seen.insert(hasher.hash_one(grouping.key(row)));
    }
    let met = (sample - seen.len()).max(1);
    (sample * sample / (2 * met)).min(rows)
}
