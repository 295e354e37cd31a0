//! Async tasks, timers and sockets on the threads of the Blitz engine.
//!
//! One set of threads runs everything: tasks, and the parallel computations that tasks (or anybody else) start.
//!
//! ```
//! let runtime = blitz_io::Runtime::new().unwrap();
//! let total = runtime.block_on(async {
//!     let tasks: Vec<_> = (0..10u64).map(|n| blitz_io::spawn(async move { n * n })).collect();
//!     let mut total = 0;
//!     for task in tasks {
//!         total += task.await.unwrap();
//!     }
//!     total
//! });
//! assert_eq!(total, 285);
//! ```

// The model checker builds the protocols only: it has no statics, no thread-locals, no sockets.
#[cfg(not(loom))]
mod blocking;
#[cfg(not(loom))]
mod context;
#[cfg(not(loom))]
pub mod coop;
#[cfg(not(loom))]
mod cpu;
#[cfg_attr(loom, allow(dead_code, unused_imports))]
mod driver;
#[cfg(not(loom))]
pub mod net;
#[cfg(not(loom))]
mod runtime;
#[cfg_attr(loom, allow(dead_code))]
mod scheduler;
mod sync;
#[cfg_attr(loom, allow(dead_code))]
pub mod task;
#[cfg(not(loom))]
pub mod time;

#[cfg(not(loom))]
pub use blocking::spawn_blocking;
#[cfg(not(loom))]
pub use cpu::{block_in_place, spawn_cpu};
#[cfg(not(loom))]
pub use runtime::{Builder, EnterGuard, Handle, Metrics, Runtime, WorkerMetrics};
#[cfg(not(loom))]
pub use task::{JoinError, JoinHandle, spawn};

// The book's chapter, as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/async.md")]
struct AsyncChapter;
