//! Tasks: futures that run on their own, and the handles to them.

mod cell;
mod error;
mod join_handle;
mod join_set;
mod local_key;
mod local_set;
mod shield;
mod state;
mod yield_now;

pub(crate) use cell::{Header, Links, Queued, Schedule, Task, new};
pub use error::JoinError;
pub use join_handle::{AbortHandle, Id, JoinHandle};
pub use join_set::JoinSet;
pub use local_key::{LocalKey, TaskLocalFuture};
pub use local_set::{LocalSet, spawn_local};
pub use shield::{Shield, shield};
pub use yield_now::{YieldNow, yield_now};

use crate::context;
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
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    context::with(|shared| JoinHandle::new(shared.spawn(future)))
}
