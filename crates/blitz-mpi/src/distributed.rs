//! Vectors in blocks over the ranks.
//!
//! A [`Distributed`] is one vector, of which each rank has a block; the blocks, in the order of ranks, are the vector. Blocks may have any length, also
//! none. What needs no other rank (`par_map`, `par_filter`) is an ordinary method, computed by this rank's pool. What needs others is async and
//! collective. Results are those of the sequential code on the whole vector, for every number of ranks.

mod files;
mod keys;
mod sort;

use crate::agree::Kind;
use crate::cluster::Cluster;
use crate::error::Result;
use crate::parts::{Parts, block};
use crate::portable::{Op, Portable};
use crate::steps::Steps;
use blitz::prelude::*;

/// A vector in blocks over the ranks: `rank 0's block, rank 1's block, …`.
///
/// ```no_run
/// # use blitz_mpi::{Cluster, Distributed, Result};
/// # async fn example(cluster: &Cluster) -> Result<()> {
/// let numbers = Distributed::from_fn(cluster, 1_000_000, |index| index as u64);
/// let even_squares = numbers.par_map(|n| n * n).par_filter(|n| n % 2 == 0);
/// let sum = even_squares.reduce(|| 0, |a, b| a + b).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Distributed<T> {
    cluster: Cluster,
    local: Vec<T>,
}

impl<T: Portable> Distributed<T> {
    /// Each rank's block as it is.
    pub fn from_local(cluster: &Cluster, local: Vec<T>) -> Self {
        Distributed {
            cluster: cluster.clone(),
            local,
        }
    }

    /// `make(0)` to `make(length - 1)`, in even blocks; every rank makes its own, in parallel.
    pub fn from_fn(
        cluster: &Cluster,
        length: usize,
        make: impl Fn(usize) -> T + Sync + Send,
    ) -> Self {
        let mine = block(length, cluster.size(), cluster.rank());
        Self::from_local(cluster, mine.into_par_iter().map(make).collect())
    }

    /// What the root has, in even blocks; the others give `None`. One message from the root to each other rank.
    ///
    /// # Errors
    /// [`Error::Mismatch`](crate::Error::Mismatch) if the root gives `None`, and what MPI says.
    pub async fn scatter(cluster: &Cluster, root: usize, data: Option<Vec<T>>) -> Result<Self> {
        let parts = data.map(|data| Parts::even(data, cluster.size()));
        let local = cluster.scatter_portable(root, parts).await?;
        Ok(Self::from_local(cluster, local))
    }

    /// The cluster it lives on.
    pub fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// This rank's block.
    pub fn local(&self) -> &[T] {
        &self.local
    }

    /// This rank's block, to be changed.
    pub fn local_mut(&mut self) -> &mut Vec<T> {
        &mut self.local
    }

    /// This rank's block, without a copy.
    pub fn into_local(self) -> Vec<T> {
        self.local
    }

    /// How many elements all ranks have together. One short reduction.
    ///
    /// # Errors
    /// What MPI says.
    pub async fn len(&self) -> Result<usize> {
        self.cluster.all_reduce_one(self.local.len(), Op::Sum).await
    }

    /// Whether there are none at all. As [`len`](Self::len).
    ///
    /// # Errors
    /// What MPI says.
    pub async fn is_empty(&self) -> Result<bool> {
        Ok(self.len().await? == 0)
    }

    /// Where this rank's block begins in the whole vector. One short message to each other rank.
    ///
    /// # Errors
    /// What MPI says.
    pub async fn offset(&self) -> Result<usize> {
        let lengths = self.cluster.all_gather(vec![self.local.len()]).await?;
        Ok(lengths.as_slice()[..self.cluster.rank()].iter().sum())
    }

    // Without the other ranks.

    /// Every element changed, in parallel on every rank.
    pub fn par_map<U: Portable>(self, map: impl Fn(T) -> U + Sync + Send) -> Distributed<U> {
        Distributed {
            local: self.local.into_par_iter().map(map).collect(),
            cluster: self.cluster,
        }
    }

    /// The elements that `keep` says yes to, in order. Blocks may be of different lengths afterwards; see [`redistribute`](Self::redistribute).
    pub fn par_filter(self, keep: impl Fn(&T) -> bool + Sync + Send) -> Distributed<T> {
        Distributed {
            local: self
                .local
                .into_par_iter()
                .filter(|item| keep(item))
                .collect(),
            cluster: self.cluster,
        }
    }

    /// All elements that `map` makes of each, in order.
    pub fn par_flat_map<U: Portable, I>(self, map: impl Fn(T) -> I + Sync + Send) -> Distributed<U>
    where
        I: IntoIterator<Item = U>,
    {
        Distributed {
            local: self.local.into_par_iter().flat_map_iter(map).collect(),
            cluster: self.cluster,
        }
    }

    // With them.

    /// Combines all elements, in order; every rank gets the result. `combine` must be associative, and `identity` neutral.
    ///
    /// One message with one element from each rank to each other one.
    ///
    /// # Errors
    /// What MPI says.
    pub async fn reduce(
        self,
        identity: impl Fn() -> T + Sync + Send,
        combine: impl Fn(T, T) -> T + Sync + Send,
    ) -> Result<T> {
        let own = self.local.into_par_iter().reduce(&identity, &combine);
        let all = self.cluster.all_gather_portable(vec![own]).await?;
        Ok(all.into_vec().into_iter().fold(identity(), combine))
    }

    /// Folds all elements into one value of another type; every rank gets it. `fold` takes in an element, `combine` joins two neighbouring
    /// results and must be associative, and `identity` neutral: a fold begins anew wherever the vector is cut.
    ///
    /// # Errors
    /// What MPI says.
    pub async fn fold<A: Portable>(
        self,
        identity: impl Fn() -> A + Sync + Send,
        fold: impl Fn(A, T) -> A + Sync + Send,
        combine: impl Fn(A, A) -> A + Sync + Send,
    ) -> Result<A> {
        let own = self
            .local
            .into_par_iter()
            .fold(&identity, fold)
            .reduce(&identity, &combine);
        let all = self.cluster.all_gather_portable(vec![own]).await?;
        Ok(all.into_vec().into_iter().fold(identity(), combine))
    }

    /// The prefixes: element `i` becomes the combination of elements 0 to `i`. `combine` must be associative.
    ///
    /// Two passes over the block, and one message with at most one element to each other rank.
    ///
    /// # Errors
    /// What MPI says.
    pub async fn scan(mut self, combine: impl Fn(&T, &T) -> T + Sync + Send) -> Result<Self>
    where
        T: Clone,
    {
        blitz::ops::par_scan_in_place(&mut self.local, &combine);
        let last = self.local.last().cloned().into_iter().collect();
        let lasts = self.cluster.all_gather_portable(last).await?;
        let before = lasts.iter().take(self.cluster.rank()).flatten();
        if let Some(before) = before.cloned().reduce(|a, b| combine(&a, &b)) {
            self.local
                .par_iter_mut()
                .for_each(|item| *item = combine(&before, item));
        }
        Ok(self)
    }

    /// Even blocks again: the same vector, and no rank has more than one element more than another.
    ///
    /// Every element moves at most once, and not at all if it is where it should be. The others hear of a rank's length by a short message.
    ///
    /// # Errors
    /// What MPI says.
    pub async fn redistribute(self) -> Result<Self> {
        let steps = Steps::new(&self.cluster, Kind::REDISTRIBUTE);
        let lengths = steps.all_gather(vec![self.local.len()]).await?.into_vec();
        let (rank, size) = (self.cluster.rank(), self.cluster.size());
        let start: usize = lengths[..rank].iter().sum();
        let total = lengths.iter().sum();
        let mine = start..start + self.local.len();
        // How much of this rank's old block is in each new one.
        let counts = (0..size)
            .map(|to| {
                let new = block(total, size, to);
                new.end
                    .min(mine.end)
                    .saturating_sub(new.start.max(mine.start))
            })
            .collect();
        let parts = Parts::new(self.local, counts);
        let local = steps.last().exchange(parts).await?.into_vec();
        Ok(Distributed {
            cluster: self.cluster,
            local,
        })
    }

    /// The whole vector, on one rank; the others get `None`.
    ///
    /// # Errors
    /// What MPI says.
    pub async fn collect(self, root: usize) -> Result<Option<Vec<T>>> {
        let parts = self.cluster.gather_portable(root, self.local).await?;
        Ok(parts.map(Parts::into_vec))
    }

    /// The whole vector, on every rank.
    ///
    /// # Errors
    /// What MPI says.
    pub async fn collect_on_all(self) -> Result<Vec<T>> {
        Ok(self
            .cluster
            .all_gather_portable(self.local)
            .await?
            .into_vec())
    }
}
