//! rayon: `rayon::join`, the first closure on the calling thread first.

use super::Cpus;
use crate::workloads::fork_join_workloads;

macro_rules! fork {
    (() $first:expr; $second:expr) => {
        rayon::join(|| $first, || $second)
    };
}
fork_join_workloads!(fork, ());

/// Iterator chains.
pub mod iterators {
    crate::workloads::iterators::parallel_chains!(rayon);
}

/// Sorts.
pub mod sorts {
    crate::workloads::sorts::parallel_sorts!(rayon);
}

/// Loops over collections and text.
#[cfg(feature = "full")]
pub mod sources {
    use ::rayon::prelude::*;
    crate::workloads::sources::source_loops!(par_iter par_lines par_split_whitespace par_chars par_windows);
}

/// A builder with the placement of this run.
pub fn builder(cpus: &Cpus) -> rayon::ThreadPoolBuilder {
    let builder = rayon::ThreadPoolBuilder::new();
    if !cpus.pinned() {
        return builder;
    }
    let cpus = cpus.clone();
    builder.start_handler(move |index| cpus.pin_current(index))
}

/// Starts the global pool.
pub fn start(cpus: &Cpus) {
    builder(cpus)
        .build_global()
        .expect("rayon's global pool starts");
    // The global pool's threads start in the background; wait until each has been placed.
    rayon::broadcast(|_| ());
}

/// A pool of its own with this many threads.
pub fn pool(threads: usize, cpus: &Cpus) -> rayon::ThreadPool {
    builder(cpus)
        .num_threads(threads)
        .build()
        .expect("a rayon pool starts")
}

/// Runs on a thread of the global pool, so that what follows pays nothing for entering it.
pub fn inside<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    rayon::scope(|_| work())
}
