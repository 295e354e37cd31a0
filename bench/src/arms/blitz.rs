//! Blitz: the same program text as for rayon.
//!
//! The one difference is how workers are pinned: with the builder's own switch. A start handler would do as for rayon,
//! but a pool with start handlers promises that nobody else runs its work, which takes away the guest seat.

use super::Cpus;
use crate::workloads::fork_join_workloads;

macro_rules! fork {
    (() $first:expr; $second:expr) => {
        blitz_core::join(|| $first, || $second)
    };
}
fork_join_workloads!(fork, ());

/// Iterator chains.
pub mod iterators {
    crate::workloads::iterators::parallel_chains!(blitz);
}

/// Sorts.
pub mod sorts {
    crate::workloads::sorts::parallel_sorts!(blitz);
}

/// Loops over collections and text.
#[cfg(feature = "full")]
pub mod sources {
    use ::blitz::prelude::*;
    crate::workloads::sources::source_loops!(par_iter par_lines par_split_whitespace par_chars par_windows);
}

pub use blitz_core::{
    ThreadPool, broadcast, in_place_scope, in_place_scope_fifo, join, join_context, scope,
    scope_fifo, spawn, yield_now,
};

/// A builder with the placement of this run.
pub fn builder(cpus: &Cpus) -> blitz_core::ThreadPoolBuilder {
    blitz_core::ThreadPoolBuilder::new().pin_workers(cpus.pinned())
}

/// Starts the global pool.
pub fn start(cpus: &Cpus) {
    builder(cpus)
        .build_global()
        .expect("the global Blitz pool starts");
    // Wait until every thread is up and placed.
    blitz_core::broadcast(|_| ());
}

/// A pool of its own with this many threads.
pub fn pool(threads: usize, cpus: &Cpus) -> ThreadPool {
    builder(cpus)
        .num_threads(threads)
        .build()
        .expect("a Blitz pool starts")
}

/// Runs as part of the global pool, so that what follows pays nothing for entering it.
pub fn inside<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    scope(|_| work())
}
