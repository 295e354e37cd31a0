//! Sorting over all ranks: sample sort.
//!
//! 1. Every rank sorts its block (by bits, where the type has them).
//! 2. Every rank shows some of its elements at even distances, with their positions; from all of these, `size - 1` *splitters* are taken, the same on
//!    every rank.
//! 3. Every rank cuts its block at the splitters, and one `all_to_all` brings the pieces to their ranks.
//! 4. Every rank merges the pieces.
//!
//! An element is compared with a splitter as (element, rank, index): equal elements are told apart by where they were. So equal elements are
//! cut like any others, however many there are, and the sort is stable: of equal ones, those of earlier ranks come first.
//!
//! With `SHOWN` elements of each rank for each other one, a rank gets at most (1 + 1/SHOWN) of its share, and one element for each rank: between two neighbouring shown elements
//! of a block there are at most 1/(SHOWN · size) of it.

use super::Distributed;
use crate::agree::Kind;
use crate::cluster::Cluster;
use crate::error::Result;
use crate::parts::Parts;
use crate::portable::{Portable, goes_as_it_is};
use crate::steps::Steps;
use blitz::prelude::*;
use std::cmp::Ordering;

/// How many elements each rank shows for each rank there is.
const SHOWN: usize = 16;

impl<T: Portable + Clone> Distributed<T> {
    /// Sorts the whole vector. Stable. Blocks are about as long as each other afterwards.
    ///
    /// One message with a sample and one with data from each rank to each other one. Twice the memory of the block.
    ///
    /// # Errors
    /// What MPI says.
    pub async fn sort(mut self) -> Result<Self>
    where
        T: Ord,
    {
        self.local.par_sort();
        self.sorted(&T::cmp).await
    }

    /// [`sort`](Self::sort) that may exchange equal elements: less memory for each rank's own sort, and faster for numbers.
    ///
    /// # Errors
    /// What MPI says.
    pub async fn sort_unstable(mut self) -> Result<Self>
    where
        T: Ord,
    {
        self.local.par_sort_unstable();
        self.sorted(&T::cmp).await
    }

    /// [`sort`](Self::sort) by a comparison.
    ///
    /// # Errors
    /// What MPI says.
    pub async fn sort_by(
        mut self,
        compare: impl Fn(&T, &T) -> Ordering + Sync + Send,
    ) -> Result<Self> {
        self.local.par_sort_by(&compare);
        self.sorted(&compare).await
    }

    /// [`sort`](Self::sort) by a key, which is computed for every comparison.
    ///
    /// # Errors
    /// What MPI says.
    pub async fn sort_by_key<K: Ord>(self, key: impl Fn(&T) -> K + Sync + Send) -> Result<Self> {
        self.sort_by(|a, b| key(a).cmp(&key(b))).await
    }

    /// Steps 2 to 4, for sorted blocks.
    async fn sorted(self, compare: &(impl Fn(&T, &T) -> Ordering + Sync + Send)) -> Result<Self> {
        let steps = Steps::new(&self.cluster, Kind::SORT);
        let splitters = splitters(&steps, &self.local, compare).await?;
        let counts = cut(&steps, &self.local, &splitters, compare);
        let parts = Parts::new(self.local, counts);
        let local = merge(steps.last().exchange(parts).await?, compare);
        Ok(Distributed {
            cluster: self.cluster,
            local,
        })
    }
}

/// An element and where it was.
type Place<T> = (T, usize, usize);

/// The elements before which the ranks' new blocks begin, but the first.
async fn splitters<T: Portable + Clone>(
    cluster: &Cluster,
    sorted: &[T],
    compare: &(impl Fn(&T, &T) -> Ordering + Sync + Send),
) -> Result<Vec<Place<T>>> {
    let size = cluster.size();
    if size == 1 {
        return Ok(Vec::new());
    }
    // Each stands for the elements up to the next one, so that ranks with more elements have more to say: its weight is its distance.
    let shown = (SHOWN * size).min(sorted.len());
    let sample: Vec<(T, usize, usize)> = (0..shown)
        .map(|at| {
            let (index, next) = (at * sorted.len() / shown, (at + 1) * sorted.len() / shown);
            (sorted[index].clone(), index, next - index)
        })
        .collect();
    let samples = cluster.all_gather_portable(sample).await?;
    let mut all: Vec<(Place<T>, usize)> = samples
        .iter()
        .enumerate()
        .flat_map(|(rank, part)| {
            part.iter()
                .map(move |(item, index, weight)| ((item.clone(), rank, *index), *weight))
        })
        .collect();
    all.par_sort_by(|(a, _), (b, _)| compare_places(a, b, compare));
    let total: usize = all.iter().map(|(_, weight)| weight).sum();
    let mut splitters = Vec::with_capacity(size - 1);
    let mut before = 0;
    for (place, weight) in all {
        while splitters.len() < size - 1
            && before >= (splitters.len() + 1) * total / size
            && total > 0
        {
            splitters.push(place.clone());
        }
        before += weight;
    }
    Ok(splitters)
}

fn compare_places<T>(
    a: &Place<T>,
    b: &Place<T>,
    compare: &impl Fn(&T, &T) -> Ordering,
) -> Ordering {
    compare(&a.0, &b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2))
}

/// How much of this rank's sorted block goes to each rank.
fn cut<T>(
    cluster: &Cluster,
    sorted: &[T],
    splitters: &[Place<T>],
    compare: &impl Fn(&T, &T) -> Ordering,
) -> Vec<usize> {
    let (rank, size) = (cluster.rank(), cluster.size());
    let mut ends: Vec<usize> = splitters
        .iter()
        .map(|(item, place, index)| match place.cmp(&rank) {
            // Everything of this rank that is equal to the splitter comes before it, or after it.
            Ordering::Greater => {
                sorted.partition_point(|other| compare(other, item) != Ordering::Greater)
            }
            Ordering::Less => {
                sorted.partition_point(|other| compare(other, item) == Ordering::Less)
            }
            Ordering::Equal => *index,
        })
        .collect();
    ends.resize(size, sorted.len());
    let mut start = 0;
    ends.into_iter()
        .map(|end| {
            // They are in order, unless the comparison is none.
            let end = end.max(start);
            let count = end - start;
            start = end;
            count
        })
        .collect()
}

/// Sorted parts to one sorted vector; of equal elements, those of earlier parts first.
pub(super) fn merge<T: Portable + Clone>(
    parts: Parts<T>,
    compare: &(impl Fn(&T, &T) -> Ordering + Sync + Send),
) -> Vec<T> {
    let mut runs: Vec<_> = parts
        .ranges()
        .into_iter()
        .filter(|run| !run.is_empty())
        .collect();
    let mut data = parts.into_vec();
    if !goes_as_it_is::<T>() {
        // Merging copies; what is not plain is better moved.
        if runs.len() > 1 {
            data.par_sort_by(compare);
        }
        return data;
    }
    // Neighbours, again and again: every round reads and writes all of it once.
    while runs.len() > 1 {
        if let [left, right] = &runs[..] {
            return data[left.clone()].par_merge_by(&data[right.clone()], compare);
        }
        let mut merged = Vec::with_capacity(data.len());
        let mut next = Vec::with_capacity(runs.len().div_ceil(2));
        for pair in runs.chunks(2) {
            let start = merged.len();
            match pair {
                [left, right] => {
                    merged.extend(data[left.clone()].par_merge_by(&data[right.clone()], compare));
                }
                rest => merged.extend_from_slice(&data[rest[0].clone()]),
            }
            next.push(start..merged.len());
        }
        (data, runs) = (merged, next);
    }
    data
}
