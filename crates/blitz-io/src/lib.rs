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

mod blocking;
mod context;
pub mod coop;
mod cpu;
mod driver;
pub mod net;
mod runtime;
mod scheduler;
mod sync;
pub mod task;
pub mod time;

pub use blocking::spawn_blocking;
pub use cpu::{block_in_place, spawn_cpu};
pub use runtime::{Builder, EnterGuard, Handle, Metrics, Runtime, WorkerMetrics};
pub use task::{JoinError, JoinHandle, spawn};
