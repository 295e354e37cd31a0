//! Tasks: futures that run on their own, and the handles to them.

#[cfg(not(loom))]
pub(crate) mod behind;
#[cfg(not(loom))]
mod builder;
mod cell;
mod error;
mod id;
#[cfg(not(loom))]
pub(crate) mod inheriting;
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

#[cfg(not(loom))]
pub use self::builder::Builder;
#[cfg(not(loom))]
pub use crate::blocking::spawn_blocking;
#[cfg(not(loom))]
pub use crate::cpu::block_in_place;
#[cfg(all(test, loom))]
pub(crate) use cell::new_with_flaws;
pub(crate) use cell::{Header, Queued, Schedule, Task, new, with_current};
#[cfg(not(loom))]
#[doc(inline)]
pub use coop::{consume_budget, unconstrained};
pub(crate) use error::Failure;
pub use error::JoinError;
pub use id::{Id, id, try_id};
#[cfg(not(loom))]
pub use join_handle::{AbortHandle, JoinHandle};
#[cfg(not(loom))]
pub use join_set::JoinSet;
#[cfg(not(loom))]
pub use local_key::LocalKey;
#[cfg(not(loom))]
pub(crate) use local_set::LocalTasks;
#[cfg(not(loom))]
pub use local_set::{LocalEnterGuard, LocalSet, spawn_local};
#[cfg(not(loom))]
pub use shield::{Shield, shield};
#[cfg(all(test, loom))]
pub(crate) use state::Flaw as StateFlaw;
pub(crate) use state::MOST_SHARDS;
#[cfg(not(loom))]
pub use yield_now::yield_now;

/// How much a task may do in one poll before it must let others have the thread.
#[cfg(not(loom))]
pub mod coop {
    #[doc(hidden)]
    pub use crate::coop::{Coop, RestoreOnPending};
    #[doc(inline)]
    pub use crate::coop::{
        Unconstrained, consume_budget, cooperative, has_budget_remaining, poll_proceed,
        unconstrained,
    };
}

/// Futures of this module's functions that have names.
#[cfg(not(loom))]
pub mod futures {
    pub use super::local_key::TaskLocalFuture;
}

/// Spawns a future as the expression says, which is evaluated with it, or with a box that it is in if it is large. On its way into a task, a future is moved from call to call, and each
/// move of an unoptimised program takes that much of the stack: one of a hundred kilobytes would be too much for a worker's. So the first function that has it does this.
#[cfg(not(loom))]
macro_rules! on_heap_if_large {
    ($future:ident: $F:ty, $spawn:expr) => {
        // Constant, so that the compiler leaves the other branch, and the room for its move, out.
        if const { $crate::task::is_large::<$F>() } {
            let $future = Box::pin($future);
            $spawn
        } else {
            $spawn
        }
    };
}
#[cfg(not(loom))]
pub(crate) use on_heap_if_large;

/// See [`on_heap_if_large`].
#[cfg(not(loom))]
pub(crate) const fn is_large<F>() -> bool {
    size_of::<F>()
        > if cfg!(debug_assertions) {
            2 << 10
        } else {
            16 << 10
        }
}

#[cfg(not(loom))]
use crate::context;
#[cfg(not(loom))]
use crate::place::Place;
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
    let place = Place::here();
    on_heap_if_large!(future: F, spawn_at(place, future))
}

#[cfg(not(loom))]
#[track_caller]
fn spawn_at<F>(place: Place, future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    context::with(|shared| JoinHandle::new(shared.spawn(place, future)))
}
