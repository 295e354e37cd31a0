//! The engine of Blitz: a work-stealing pool of threads with `join`, scopes, spawned tasks and broadcasts.
//!
//! ```
//! fn fib(n: u32) -> u64 {
//!     if n < 2 {
//!         return u64::from(n);
//!     }
//!     let (a, b) = blitz_core::join(|| fib(n - 1), || fib(n - 2));
//!     a + b
//! }
//! assert_eq!(fib(20), 6765);
//! ```
//!
//! This crate is for libraries that need a pool and no iterators. Most programs want `blitz-rt` instead, which has parallel iterators and sorting on top of it and re-exports nearly all that is here, or `blitz-io`, the
//! async runtime on the same threads. The names are rayon-core's wherever rayon-core has one.
//!
//! What it promises, and in which file the promise is kept:
//! * a fork that nobody takes costs about a nanosecond ([`join()`], `join_stack.rs`);
//! * a thread that waits runs only descendants of what it waits for (`context.rs`, `wait.rs`);
//! * an idle pool makes no system calls, and small work wakes nobody (`sleep.rs`, `wake.rs`);
//! * outside threads take part instead of waiting (`guest.rs`, `occupancy.rs`).
//!
//! # What is where
//!
//! | to | use |
//! |---|---|
//! | run two closures, or several | [`join()`], [`join_context`], [`join!`](crate::join!), [`fork()`], [`try_join()`], [`try_join!`](crate::try_join!) |
//! | run any number of tasks that borrow | [`scope`](fn@scope), [`scope_fifo`], [`in_place_scope`], [`in_place_scope_fifo`] |
//! | start a task and go on | [`spawn`](fn@spawn), [`spawn_fifo`], [`try_spawn`], [`spawn_handle`] with a [`JoinHandle`] |
//! | run something on every thread | [`broadcast`](fn@broadcast), [`spawn_broadcast`] |
//! | have a pool of one's own | [`ThreadPoolBuilder`], [`ThreadPool`]; [`Topology`] says which CPUs share what |
//! | block, or give way, inside of a task | [`block_in_place`](fn@block_in_place), [`yield_now`], [`yield_local`] |
//! | stop work, or make it less urgent | [`CancelToken`], [`checkpoint`], [`with_priority`] |
//! | pass values on to all that is started | [`Inherited`] |
//! | see what happens | [`PoolStats`], and the features `profile` and `trace` |
//! | cut loops of one's own when somebody has time | [`demand`], which may change in any release |
//! | build something else | [`primitives`]: deque, queues, latches, fences, back-off |
//!
//! # The files
//!
//! For readers of the source, in the order in which work passes them; `ARCHITECTURE.md` in the repository has a line for each file.
//!
//! | part | files |
//! |---|---|
//! | a call comes in | `join`, `scope`, `spawn`, `broadcast`, `forked`, `entered` (which pool), `guest` (from outside) |
//! | a thread and what it has | `seat`, `occupancy`, `join_stack` (forks), `task`, `arena`, `shared_queue` |
//! | somebody is woken, if it is worth that | `wake`, `wake_cost`, `sleep`, `placement` |
//! | another thread takes the work | `worker`, `context` (who may run what) |
//! | the caller waits | `wait`, `handle`, `thread_latch` |
//! | no thread is left | `rescue`, `block_in_place`, `extra` |
//! | what work inherits | `inherited`, `cancel`, `priority` |
//! | pools begin and end | `builder`, `thread_pool`, `global`, `pool`, `life`, `resize`, `fork` (a child of the process) |
//! | others look | `events`, `stats`, `hooks`, `site`, `profile`, `trace`, `console` |
//!
//! # Features
//!
//! None is on by default. A feature that is off is not compiled in.
//!
//! | feature | what it adds | what it costs |
//! |---|---|---|
//! | `profile` | the module `profile`: work and span of a computation. Includes `sites` | a load for each fork |
//! | `trace` | the module `trace`: a timeline of what the threads do | a load for each theft, search, sleep and task |
//! | `console` | what the threads do right now, for `blitz-console`. Includes `sites` | a load for each loop, outermost join and theft |
//! | `sites` | forks, loops, scopes and tasks know which line of the program called them; for the two others that name it | an argument of functions that are not inlined |
//! | `text` | the hidden module of that name, for our other crates | |
//! | `tracing` | `in_span`: forks and tasks inherit a span of the crate `tracing` | |
//! | `web_spin_lock` | in a web page with threads, the page's own thread spins where others block, and time is the browser's | nothing elsewhere |
//!
//! # Platforms
//!
//! Linux, Windows, macOS, the BSDs, Android, iOS and WebAssembly, with and without threads: [what is tested how](https://github.com/blitz-rt/blitz/blob/main/docs/guide/platforms.md). Rust 1.85 or later.
//!
//! The modules `companion`, `console`, `crew`, `inherited`, `rows`, `rules`, `site` and `text` are hidden: they are for the other crates of Blitz, and may change in any release.

// The model checker builds the protocols only, and models do not use all of them.
#![cfg_attr(loom, allow(dead_code))]

// What the engine is built of, and knows nothing of the engine.
#[cfg(not(loom))]
use blitz_primitives::clock;
#[doc(hidden)]
pub use blitz_primitives::sync;

/// The building blocks of the engine, public because they are useful on their own: those of the crate `blitz-primitives`.
pub mod primitives {
    #[doc(hidden)]
    pub use blitz_primitives::flaw;
    #[cfg(loom)]
    #[doc(hidden)]
    pub use blitz_primitives::model;
    #[doc(inline)]
    pub use blitz_primitives::{
        AtomicCounters, Backoff, BackoffLimits, BackoffMode, CoreLatch, CountLatch, Counters,
        DequeChannel, Full, FullPolicy, Injector, OnceLatch, Owner, SpinWait, Steal, Stealer,
        SyncPtr, Word, XorShift64Star, deque, deque_channel, fence, injector,
    };
}

/// How the crates of this workspace check their protocols: one door to atomics, deliberate faults, and races.
#[doc(hidden)]
pub mod checking {
    pub use blitz_primitives::flaw::Flaws;
    #[cfg(loom)]
    pub use blitz_primitives::model;
    pub use blitz_primitives::sync;
}

// The protocols, which the model checker builds as well.
mod bell;
mod context;
mod crossings;
mod join_stack;
mod lease;
mod life;
mod occupancy;
#[doc(hidden)]
pub mod rows;
mod shared_queue;
mod sleep;
mod waiters;

// The scheduler. Models drive the protocols themselves; loom has no statics and no thread-locals.
#[cfg(not(loom))]
mod abort;
#[cfg(not(loom))]
mod arena;
#[cfg(not(loom))]
mod awaited;
#[cfg(not(loom))]
mod away;
#[cfg(not(loom))]
mod block_in_place;
#[cfg(not(loom))]
mod broadcast;
#[cfg(not(loom))]
mod builder;
#[cfg(not(loom))]
mod by_code;
#[cfg(not(loom))]
mod cancel;
#[cfg(not(loom))]
mod capacity;
#[cfg(not(loom))]
#[doc(hidden)]
pub mod companion;
#[cfg(all(feature = "console", not(loom)))]
#[doc(hidden)]
pub mod console;
#[cfg(all(not(feature = "console"), not(loom)))]
#[path = "console/off.rs"]
mod console;
#[cfg(not(loom))]
#[doc(hidden)]
pub mod crew;
#[cfg(not(loom))]
pub mod demand;
#[cfg(not(loom))]
mod entered;
#[cfg(not(loom))]
mod events;
#[cfg(not(loom))]
mod extra;
#[cfg(not(loom))]
mod forked;
#[cfg(not(loom))]
mod global;
#[cfg(not(loom))]
mod guest;
#[cfg(not(loom))]
mod handle;
#[cfg(not(loom))]
mod hooks;
#[cfg(not(loom))]
#[doc(hidden)]
pub mod inherited;
#[cfg(not(loom))]
mod join;
#[cfg(not(loom))]
mod macros;
#[cfg(not(loom))]
mod parents_only;
#[cfg(not(loom))]
mod placement;
#[cfg(not(loom))]
mod pool;
#[cfg(not(loom))]
mod priority;
#[cfg(not(loom))]
mod process_fork;
#[cfg(all(feature = "profile", not(loom)))]
pub mod profile;
#[cfg(all(not(feature = "profile"), not(loom)))]
#[path = "profile/off.rs"]
mod profile;
#[cfg(not(loom))]
mod rescue;
#[cfg(not(loom))]
mod resize;
#[doc(hidden)]
pub mod rules;
#[cfg(not(loom))]
mod scope;
#[cfg(not(loom))]
mod seat;
#[cfg(not(loom))]
#[doc(hidden)]
pub mod site;
#[cfg(not(loom))]
mod spawn;
#[cfg(not(loom))]
mod stats;
#[cfg(not(loom))]
mod steal;
#[cfg(not(loom))]
mod task;
#[cfg(all(feature = "text", not(loom)))]
#[doc(hidden)]
pub mod text;
#[cfg(not(loom))]
mod thread_attributes;
mod thread_latch;
#[cfg(not(loom))]
mod thread_pool;
#[cfg(not(loom))]
mod topology;
#[cfg(all(feature = "trace", not(loom)))]
pub mod trace;
#[cfg(all(not(feature = "trace"), not(loom)))]
#[path = "trace/off.rs"]
mod trace;
#[cfg(not(loom))]
mod try_join;
#[cfg(not(loom))]
mod wait;
#[cfg(not(loom))]
mod wake;
#[cfg(not(loom))]
mod wake_cost;
#[cfg(not(loom))]
mod worker;

#[cfg(not(loom))]
pub use crate::{
    block_in_place::block_in_place,
    broadcast::{BroadcastContext, broadcast, spawn_broadcast},
    builder::{
        CustomSpawn, DefaultSpawn, ThreadBuilder, ThreadPoolBuildError, ThreadPoolBuilder,
        ThreadSpawn,
    },
    cancel::{
        CancelOnDrop, CancelToken, Cancelled, checkpoint, current_token, is_cancelled, uncancelled,
    },
    forked::{Forked, fork},
    handle::{JoinHandle, ScopedHandle},
    inherited::Inherited,
    join::{FnContext, join, join_context},
    priority::{Priority, current_priority, with_priority},
    scope::{Scope, ScopeFifo, in_place_scope, in_place_scope_fifo, scope, scope_fifo},
    spawn::{spawn, spawn_fifo, spawn_handle, try_spawn},
    stats::{PoolStats, WorkerStats},
    thread_pool::{
        ThreadPool, Yield, current_num_threads, current_thread_has_pending_tasks,
        current_thread_index, max_num_threads, yield_local, yield_now,
    },
    topology::{Cpu, Share, Topology},
    try_join::try_join,
};
#[cfg(all(feature = "tracing", not(loom)))]
pub use inherited::in_span;
#[cfg(all(feature = "profile", not(loom)))]
pub use profile::profile;
#[cfg(all(feature = "trace", not(loom)))]
pub use trace::trace;

// What the package's front page shows is tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
