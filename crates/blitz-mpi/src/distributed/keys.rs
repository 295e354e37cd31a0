//! Bringing equal keys together.
//!
//! Results are in the order of keys, which does not depend on the number of ranks. So keys are spread by ranges: from a sample of the keys that are there, each once for each
//! rank, `size - 1` splitters are taken; a key goes to the rank whose range it is in, and all of its elements with it. A key with most of the elements makes its
//! rank busy: a group is in one place. [`reduce_by_key`](Distributed::reduce_by_key) combines before anything is sent, so that such keys cost nothing.

use super::Distributed;
use super::sort::merge;
use crate::agree::Kind;
use crate::cluster::Cluster;
use crate::error::Result;
use crate::parts::Parts;
use crate::portable::Portable;
use crate::steps::Steps;
use blitz::prelude::*;

/// How many keys each rank shows for each rank there is.
const SHOWN: usize = 16;

/// The first keys of all ranks' ranges but the first.
async fn range_starts<K: Portable + Ord + Clone>(
    cluster: &Cluster,
    sorted: &[&K],
) -> Result<Vec<K>> {
    let size = cluster.size();
    if size == 1 {
        return Ok(Vec::new());
    }
    let mut distinct: Vec<&K> = sorted.to_vec();
    distinct.dedup();
    let shown = (SHOWN * size).min(distinct.len());
    let sample = (0..shown)
        .map(|at| distinct[at * distinct.len() / shown].clone())
        .collect();
    let mut all = cluster.all_gather_portable(sample).await?.into_vec();
    all.par_sort();
    all.dedup();
    Ok((1..size)
        .filter_map(|rank| all.get(rank * all.len() / size).cloned())
        .collect())
}

/// How many of the sorted elements go to each rank.
fn cut<T, K: Ord>(
    sorted: &[T],
    splitters: &[K],
    key: impl Fn(&T) -> &K,
    size: usize,
) -> Vec<usize> {
    let mut start = 0;
    (0..size)
        .map(|rank| {
            let end = match splitters.get(rank) {
                Some(splitter) => sorted.partition_point(|item| key(item) < splitter),
                None => sorted.len(),
            };
            // Splitters are in order, so that no end comes before a start, unless the keys have none.
            let end = end.max(start);
            let count = end - start;
            start = end;
            count
        })
        .collect()
}

/// Brings sorted pairs to the ranks whose ranges they are in.
async fn to_ranges<K: Portable + Ord + Clone, V: Portable + Clone>(
    cluster: &Cluster,
    sorted: Vec<(K, V)>,
    splitters: &[K],
) -> Result<Vec<(K, V)>> {
    let counts = cut(&sorted, splitters, |(key, _)| key, cluster.size());
    let parts = cluster.exchange(Parts::new(sorted, counts)).await?;
    Ok(merge(parts, &|(a, _): &(K, V), (b, _): &(K, V)| a.cmp(b)))
}

impl<K: Portable + Ord + Clone, V: Portable + Clone> Distributed<(K, V)> {
    /// Pairs with their keys' ranks, sorted by key; of equal keys, in the order in which they were.
    async fn by_key(mut self) -> Result<Vec<(K, V)>> {
        let steps = Steps::new(&self.cluster, Kind::BY_KEY);
        self.local.par_sort_by(|(a, _), (b, _)| a.cmp(b));
        let keys: Vec<&K> = self.local.iter().map(|(key, _)| key).collect();
        let splitters = range_starts(&steps, &keys).await?;
        to_ranges(steps.last(), self.local, &splitters).await
    }

    /// The values of each key together, in their order; the keys in order.
    ///
    /// One message with a sample of the keys and one with data from each rank to each other one.
    ///
    /// # Errors
    /// What MPI says.
    pub async fn group_by_key(self) -> Result<Distributed<(K, Vec<V>)>> {
        let cluster = self.cluster.clone();
        let mut groups: Vec<(K, Vec<V>)> = Vec::new();
        for (key, value) in self.by_key().await? {
            match groups.last_mut() {
                Some((last, values)) if *last == key => values.push(value),
                _ => groups.push((key, vec![value])),
            }
        }
        Ok(Distributed::from_local(&cluster, groups))
    }

    /// The values of each key combined, in their order; the keys in order. `combine` must be associative.
    ///
    /// As [`group_by_key`](Self::group_by_key), but every rank combines its own values of a key before it sends them: each rank sends a key at most once.
    ///
    /// # Errors
    /// What MPI says.
    pub async fn reduce_by_key(
        mut self,
        combine: impl Fn(V, V) -> V + Sync + Send,
    ) -> Result<Distributed<(K, V)>> {
        let cluster = self.cluster.clone();
        self.local.par_sort_by(|(a, _), (b, _)| a.cmp(b));
        self.local = combine_runs(self.local, &combine);
        let sorted = self.by_key().await?;
        Ok(Distributed::from_local(
            &cluster,
            combine_runs(sorted, &combine),
        ))
    }

    /// All pairs of a value here and a value there with the same key: in the order of keys, then of this one's values, then of the other's.
    ///
    /// One message with a sample of the keys and one with data from each rank to each other one, for both sides.
    ///
    /// # Errors
    /// What MPI says.
    pub async fn join_by_key<W: Portable + Clone>(
        mut self,
        mut other: Distributed<(K, W)>,
    ) -> Result<Distributed<(K, (V, W))>> {
        let steps = Steps::new(&self.cluster, Kind::JOIN);
        let mut keys: Vec<&K> = self.local.iter().map(|(key, _)| key).collect();
        keys.extend(other.local.iter().map(|(key, _)| key));
        keys.par_sort_unstable();
        let splitters = range_starts(&steps, &keys).await?;
        self.local.par_sort_by(|(a, _), (b, _)| a.cmp(b));
        let left = to_ranges(&steps, self.local, &splitters).await?;
        other.local.par_sort_by(|(a, _), (b, _)| a.cmp(b));
        let right = to_ranges(steps.last(), other.local, &splitters).await?;
        let runs: Vec<&[(K, V)]> = left.chunk_by(|(a, _), (b, _)| a == b).collect();
        let joined = runs
            .into_par_iter()
            .flat_map_iter(|run| {
                let key = &run[0].0;
                let start = right.partition_point(|(other, _)| other < key);
                let matches = &right[start..];
                let matches = &matches[..matches.partition_point(|(other, _)| other == key)];
                run.iter().flat_map(move |(key, value)| {
                    matches
                        .iter()
                        .map(move |(_, other)| (key.clone(), (value.clone(), other.clone())))
                })
            })
            .collect();
        Ok(Distributed::from_local(&self.cluster, joined))
    }
}

/// Neighbours with the same key become one.
fn combine_runs<K: Ord, V>(sorted: Vec<(K, V)>, combine: &impl Fn(V, V) -> V) -> Vec<(K, V)> {
    let mut combined: Vec<(K, V)> = Vec::new();
    let mut current: Option<(K, V)> = None;
    for (key, value) in sorted {
        current = Some(match current.take() {
            Some((last, sum)) if last == key => (last, combine(sum, value)),
            before => {
                combined.extend(before);
                (key, value)
            }
        });
    }
    combined.extend(current);
    combined
}
