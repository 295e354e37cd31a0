//! Blitz: parallel iterators, sorting and structured concurrency.

pub mod array;
pub mod collections;
mod delegate;
mod engine;
pub mod iter;
mod math;
pub mod ops;
pub mod option;
mod par_either;
pub mod pipeline;
pub mod prelude;
pub mod range;
pub mod range_inclusive;
pub mod result;
pub mod slice;
pub mod str;
pub mod string;
pub mod vec;

pub use engine::{
    BroadcastContext, CancelOnDrop, CancelToken, Cancelled, Cpu, FnContext, Forked, Inherited,
    JoinHandle, PoolStats, Priority, Scope, ScopeFifo, ScopedHandle, Share, ThreadBuilder,
    ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder, Topology, WorkerStats, Yield,
    block_in_place, broadcast, checkpoint, current_num_threads, current_priority,
    current_thread_index, current_token, demand, fork, in_place_scope, in_place_scope_fifo,
    is_cancelled, join, join_context, max_num_threads, primitives, scope, scope_fifo, spawn,
    spawn_broadcast, spawn_fifo, spawn_handle, try_join, try_spawn, uncancelled, with_priority,
    yield_local, yield_now,
};
pub use range::par_range;

#[cfg(feature = "profile")]
pub use engine::profile;

#[cfg(feature = "trace")]
pub use engine::trace;

#[cfg(feature = "tracing")]
pub use engine::in_span;

// What the package's front page shows is tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
