//! chili: a scope is passed through the recursion; the *second* closure runs first on the calling thread.
//!
//! The default instantiation swaps the closures, so that every library walks a tree in the same direction. `every_join`
//! makes every join stealable (chili's own `join` does that for one in 64), `as_written` does not swap.

use std::num::NonZero;

use chili::{Config, Scope, ThreadPool};

use super::Cpus;
use crate::pin;
use crate::workloads::fork_join_workloads;

macro_rules! fork {
    (($scope:ident) $first:expr; $second:expr) => {{
        let (second, first) = $scope.join(|$scope| $second, |$scope| $first);
        (first, second)
    }};
}
fork_join_workloads!(fork, (scope: &mut Scope<'_>));

/// Every join pushes its job, as in the other libraries.
pub mod every_join {
    use super::*;

    macro_rules! fork_always {
        (($scope:ident) $first:expr; $second:expr) => {{
            let (second, first) = $scope
                .join_with_heartbeat_every::<1, _, _, _, _>(|$scope| $second, |$scope| $first);
            (first, second)
        }};
    }
    fork_join_workloads!(@tree fork_always, (scope: &mut Scope<'_>));
    fork_join_workloads!(@fib fork_always, (scope: &mut Scope<'_>));
}

/// `join(left, right)` as one would write it, which walks right subtrees first.
pub mod as_written {
    use super::*;

    macro_rules! fork_as_written {
        (($scope:ident) $first:expr; $second:expr) => {
            $scope.join(|$scope| $first, |$scope| $second)
        };
    }
    fork_join_workloads!(@tree fork_as_written, (scope: &mut Scope<'_>));
}

/// Starts the global pool: one thread fewer than CPUs (the caller is the last worker), and a heartbeat thread.
pub fn start(cpus: &Cpus) {
    let pool = placed(Config::default(), cpus);
    assert!(
        pool.set_global().is_ok(),
        "chili's global pool is started once"
    );
}

/// A pool of one thread, the caller. Its heartbeat thread remains.
pub fn one_thread(cpus: &Cpus) -> ThreadPool {
    let config = Config {
        thread_count: NonZero::new(1),
        ..Config::default()
    };
    placed(config, cpus)
}

/// chili has no hook for new threads: workers come first, the heartbeat thread last. Workers go to the CPUs after the
/// caller's; the heartbeat thread may run anywhere.
fn placed(config: Config, cpus: &Cpus) -> ThreadPool {
    let (pool, mut threads) = pin::threads_started_by(|| ThreadPool::with_config(config));
    threads.pop();
    for (index, tid) in threads.into_iter().enumerate() {
        cpus.pin_thread(tid, index + 1);
    }
    pool
}
