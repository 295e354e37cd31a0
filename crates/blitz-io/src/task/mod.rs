//! Tasks: futures that run on their own, and the handles to them.

mod cell;
mod error;
#[cfg(not(loom))]
mod join_handle;
#[cfg(not(loom))]
mod join_set;
#[cfg(not(loom))]
mod local_key;
#[cfg(not(loom))]
mod local_set;
#[cfg(not(loom))]
mod shield;
mod state;
#[cfg(not(loom))]
mod yield_now;

#[cfg(all(test, loom))]
pub(crate) use cell::new_with_flaws;
#[cfg_attr(loom, allow(unused_imports))]
pub(crate) use cell::{Header, Links, Queued, Schedule, Task, new};
pub use error::JoinError;
#[cfg(not(loom))]
pub use join_handle::{AbortHandle, Id, JoinHandle};
#[cfg(not(loom))]
pub use join_set::JoinSet;
#[cfg(not(loom))]
pub use local_key::{LocalKey, TaskLocalFuture};
#[cfg(not(loom))]
pub use local_set::{LocalSet, spawn_local};
#[cfg(not(loom))]
pub use shield::{Shield, shield};
#[cfg(all(test, loom))]
pub(crate) use state::Flaw as StateFlaw;
pub(crate) use state::MOST_SHARDS;
#[cfg(not(loom))]
pub use yield_now::{YieldNow, yield_now};

#[cfg(not(loom))]
use crate::context;
#[cfg(not(loom))]
use std::future::Future;

/// Runs a future as a task of the current runtime.
///
/// The task starts at once, awaited or not; dropping the handle detaches it.
///
/// # Panics
/// Outside of a runtime.
///
/// ```
/// let runtime = blitz_io::Runtime::new().unwrap();
/// let sum = runtime.block_on(async {
///     let task = blitz_io::spawn(async { 1 + 1 });
///     task.await.unwrap()
/// });
/// assert_eq!(sum, 2);
/// ```
#[cfg(not(loom))]
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    context::with(|shared| JoinHandle::new(shared.spawn(future)))
}
