//! forte: a worker is passed through the recursion; the *second* closure runs first on the calling thread.
//!
//! As for chili, the default instantiation swaps the closures and `as_written` does not.

use forte::{ThreadPool, Worker};

use super::Cpus;
use crate::pin;
use crate::workloads::fork_join_workloads;

/// The default pool: one thread fewer than CPUs; the caller becomes the last member.
pub static POOL: ThreadPool = ThreadPool::new();
/// A pool without threads of its own: the caller alone.
pub static ONE_THREAD: ThreadPool = ThreadPool::new();

macro_rules! fork {
    (($worker:ident) $first:expr; $second:expr) => {{
        let (second, first) = $worker.join(|$worker| $second, |$worker| $first);
        (first, second)
    }};
}
fork_join_workloads!(fork, (worker: &Worker));

/// `join(left, right)` as one would write it, which walks right subtrees first.
pub mod as_written {
    use super::*;

    macro_rules! fork_as_written {
        (($worker:ident) $first:expr; $second:expr) => {
            $worker.join(|$worker| $first, |$worker| $second)
        };
    }
    fork_join_workloads!(@tree fork_as_written, (worker: &Worker));
}

/// Starts the default pool; forte has no hook for new threads, so they are found by comparing thread lists.
pub fn start(cpus: &Cpus) {
    let (_, threads) = pin::threads_started_by(|| POOL.resize_to_available());
    for (index, tid) in threads.into_iter().enumerate() {
        cpus.pin_thread(tid, index + 1);
    }
}
