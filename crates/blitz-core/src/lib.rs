//! The engine of Blitz: a work-stealing thread pool for fork-join, scopes and spawns.
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
//! What it promises, and where the promise is kept:
//! * a fork that nobody takes costs about a nanosecond ([`join()`], `join_stack`);
//! * a thread that waits runs only descendants of what it waits for (`context`, `wait`);
//! * an idle pool makes no system calls, and small work wakes nobody (`sleep`, `wake`);
//! * outside threads take part instead of waiting (`guest`, `occupancy`).
//!
//! The names are rayon-core's wherever rayon-core has one.

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
#[cfg_attr(loom, allow(dead_code))]
mod bell;
#[cfg_attr(loom, allow(dead_code))]
mod context;
#[cfg_attr(loom, allow(dead_code))]
mod crossings;
#[cfg_attr(loom, allow(dead_code))]
mod join_stack;
#[cfg_attr(loom, allow(dead_code))]
mod lease;
#[cfg_attr(loom, allow(dead_code))]
mod life;
#[cfg_attr(loom, allow(dead_code))]
mod occupancy;
#[doc(hidden)]
#[cfg_attr(loom, allow(dead_code))]
pub mod rows;
#[cfg_attr(loom, allow(dead_code))]
mod shared_queue;
#[cfg_attr(loom, allow(dead_code))]
mod sleep;
#[cfg_attr(loom, allow(dead_code))]
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
#[cfg(not(loom))]
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
