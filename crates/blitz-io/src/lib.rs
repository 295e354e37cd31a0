//! Async tasks, timers, sockets, files, processes, locks and channels, on the threads of the Blitz engine.
//!
//! One set of threads runs everything: tasks, and the parallel computations that tasks or other code start.
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
//!
//! A server, and a client that talks to it:
//!
//! ```
//! use blitz_io::io::{AsyncReadExt, AsyncWriteExt, copy};
//! use blitz_io::net::{TcpListener, TcpStream};
//!
//! #[blitz_io::main]
//! async fn main() -> std::io::Result<()> {
//!     let listener = TcpListener::bind("127.0.0.1:0").await?;
//!     let address = listener.local_addr()?;
//!     blitz_io::spawn(async move {
//!         while let Ok((mut stream, _from)) = listener.accept().await {
//!             blitz_io::spawn(async move {
//!                 let (mut reader, mut writer) = stream.split();
//!                 copy(&mut reader, &mut writer).await
//!             });
//!         }
//!     });
//!
//!     let mut client = TcpStream::connect(address).await?;
//!     client.write_all(b"hello").await?;
//!     client.shutdown().await?;
//!     let mut echo = String::new();
//!     client.read_to_string(&mut echo).await?;
//!     assert_eq!(echo, "hello");
//!     Ok(())
//! }
//! ```
//!
//! Modules, names, signatures and traits are those of tokio: [Coming from tokio](https://github.com/blitz-rt/blitz/blob/main/docs/coming-from-tokio.md) says what differs. Computations run on the same threads: [`spawn_cpu`] starts one from a task, and loops of `blitz-rt` let
//! tasks run in between two of their steps. [`spawn_blocking`] is for calls that block.
//!
//! # What is where
//!
//! In the order in which a program needs them.
//!
//! | module | what is in it |
//! |---|---|
//! | [`main`], [`test`], [`runtime`] | starting a runtime: on the global pool, on a pool of its own, or on the calling thread |
//! | [`task`], [`spawn`], [`scope`](fn@scope) | tasks, handles to their results, sets of tasks, tasks that borrow, tasks that stay on their thread |
//! | [`spawn_cpu`], [`spawn_blocking`], [`block_in_place`] | computations, and calls that block |
//! | [`join!`], [`try_join!`], [`select!`], [`future`] | several futures in one task |
//! | [`net`], [`fs`], [`process`], [`signal`] | sockets, files, child processes, signals |
//! | [`io`] | the traits to read and write, and what is built on them: buffers, lines, copying, pipes in memory |
//! | [`stream`] | sequences of values that arrive one after the other |
//! | [`time`] | sleeping, time limits, intervals; a clock that tests can stop |
//! | [`sync`] | locks, channels, semaphores, barriers, cancellation |
//! | [`shutdown`] | an orderly end of a server |
//! | `hyper` | with the feature of this name: this runtime as hyper's |
//!
//! # Features
//!
//! None is on by default. What tokio has features for is always there. The code of a feature that is off is not compiled.
//!
//! | feature | what it adds |
//! |---|---|
//! | `futures-io` | the traits of `futures-io` for sockets, files and pipes of this crate |
//! | `tokio-io` | the traits of the published `tokio` for them |
//! | `hyper` | the module `hyper`: an executor and timers for hyper |
//! | `console` | what tasks and workers do right now, for the page of `blitz-console`. Costs some stores for each task and each poll |
//! | `profile` | tasks count in `blitz_core::profile` |
//! | `tracing` | tasks inherit a span from `blitz_core::in_span` |
//!
//! # Platforms
//!
//! Linux, Windows, macOS, the BSDs, Android and iOS. On WebAssembly there are tasks, locks, channels, timers and pipes in memory, but no `net`, `fs`, `process` and `signal`. [What is tested how](https://github.com/blitz-rt/blitz/blob/main/docs/guide/platforms.md). Rust 1.85 or later.

// The model checker builds the protocols only (it has no statics, no thread-locals, no sockets), and models do not use all of them.
#![cfg_attr(loom, allow(dead_code, unused_imports))]

// What locks and channels, a crate of their own, have in common with tasks, sockets and timers.
#[cfg(all(test, loom))]
use blitz_sync::modelling;
use blitz_sync::{coop, waiters, wake_batch};

#[cfg(not(loom))]
mod blocking;
#[cfg(all(feature = "console", not(loom)))]
#[doc(hidden)]
pub mod console;
#[cfg(not(loom))]
mod context;
#[cfg(not(loom))]
mod cpu;
mod driver;
#[cfg(all(feature = "console", not(loom)))]
mod ended;
#[cfg(any(unix, windows))]
pub mod fs;
#[cfg(not(loom))]
pub mod future;
#[cfg(not(loom))]
mod host;
#[cfg(all(feature = "hyper", not(loom)))]
pub mod hyper;
#[cfg(not(loom))]
pub mod io;
#[cfg(not(loom))]
mod looks;
#[doc(hidden)]
#[cfg(not(loom))]
pub mod macros;
#[cfg(all(any(unix, windows), not(loom)))]
pub mod net;
mod place;
mod primitives;
#[cfg(all(any(unix, windows), not(loom)))]
pub mod process;
#[cfg(not(loom))]
pub mod runtime;
mod scheduler;
#[cfg(not(loom))]
mod scope;
pub mod shutdown;
#[cfg(any(unix, windows))]
pub mod signal;
#[cfg(not(loom))]
pub mod stream;
#[cfg(not(loom))]
pub mod sync;
pub mod task;
#[cfg(not(loom))]
pub mod time;
mod waker_place;

/// Runs an `async fn main` in a runtime on the global pool, which has one thread for each CPU.
///
/// Arguments: `worker_threads = N` (a pool of the runtime's own), `flavor = "current_thread"` or `"local"`, `start_paused = true`,
/// `name = ".."`, `crate = ".."`.
///
/// ```
/// #[blitz_io::main(worker_threads = 2)]
/// async fn main() {
///     assert_eq!(blitz_io::spawn(async { 2 }).await.unwrap(), 2);
/// }
/// ```
pub use blitz_io_macros::main;

/// Makes an `async fn` a test that runs in a runtime of its own, on the test's thread.
///
/// With `start_paused = true` the clock stands still and jumps to the next timer when there is nothing else to do;
/// `flavor = "multi_thread"` asks for a runtime with threads.
///
/// ```
/// use std::time::Duration;
///
/// #[blitz_io::test(start_paused = true)]
/// async fn an_hour_passes_at_once() {
///     let start = blitz_io::time::Instant::now();
///     blitz_io::time::sleep(Duration::from_secs(3600)).await;
///     assert!(start.elapsed() >= Duration::from_secs(3600));
/// }
/// ```
pub use blitz_io_macros::test;

#[cfg(not(loom))]
pub use cpu::{spawn_cpu, spawn_cpu_detached};
#[cfg(not(loom))]
#[doc(no_inline)]
pub use runtime::{Builder, Handle, Runtime};
#[cfg(not(loom))]
pub use scope::{Scope, ScopedJoinHandle, scope};
#[cfg(not(loom))]
pub use task::spawn;
#[cfg(not(loom))]
#[doc(no_inline)]
pub use task::{JoinError, JoinHandle, block_in_place, spawn_blocking};

/// Where the channels were before they moved to where tokio has them.
#[cfg(not(loom))]
#[doc(hidden)]
pub use sync as channel;

// What the package's front page shows is tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
