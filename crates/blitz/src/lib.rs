//! Parallel iterators, sorting, `join` and scopes. The package is called `blitz-rt`, the library `blitz`.
//!
//! ```
//! use blitz::prelude::*;
//!
//! // `par_iter` where there was `iter`.
//! let words = ["parallel", "is", "never", "slower"];
//! let letters: usize = words.par_iter().map(|word| word.len()).sum();
//! assert_eq!(letters, 21);
//!
//! // Sorts, and two closures at the same time.
//! let mut numbers: Vec<u64> = (0..100_000).rev().collect();
//! numbers.par_sort_unstable();
//! let (min, max) = blitz::join(|| numbers.first(), || numbers.last());
//! assert_eq!((min, max), (Some(&0), Some(&99_999)));
//! ```
//!
//! A loop begins as the plain loop on the calling thread. It is cut, and shared with other threads, only when enough of it is ahead for that to pay. So small work needs no special case, and no size has to
//! be guessed from which parallel pays. A thread that waits runs only parts of what it waits for: a lock may be held across a parallel call.
//!
//! The names, signatures and behaviour are rayon's wherever rayon has them: [Coming from rayon](https://github.com/blitz-rt/blitz/blob/main/docs/coming-from-rayon.md) says what differs. Async tasks on the same threads are in the crate `blitz-io`.
//!
//! # What is where
//!
//! In the order in which data passes: from a source, through adaptors, to a result, on threads.
//!
//! | module | what is in it |
//! |---|---|
//! | [`prelude`] | the traits that give `par_iter()` and its relatives to collections, slices, ranges and strings |
//! | [`slice`](mod@slice), [`vec`](mod@vec), [`array`](mod@array), [`range`], [`range_inclusive`], [`str`](mod@str), [`string`], [`collections`], [`option`], [`result`] | what can be iterated over: chunks, windows and splits of slices, lines and words of strings; the sorts are methods of slices |
//! | [`iter`] | adaptors (`map`, `filter`, `zip`, …) and what they end in (`sum`, `collect`, `for_each`, …); iterators of one's own |
//! | [`pipeline`] | sequential iterators whose items are computed ahead, in parallel and in order |
//! | [`ops`] | loops and algorithms that are no chain: prefix sums, histograms, groups, packing, scattering, shuffling, reproducible sums |
//! | [`join`](fn@join), [`scope`](fn@scope), [`fork`], [`spawn`](fn@spawn), [`broadcast`] | work that is no loop: two closures, any number of them, tasks that nobody waits for |
//! | [`ThreadPoolBuilder`], [`ThreadPool`] | pools of one's own; without one, everything runs in a global pool that starts when it is first needed |
//! | [`CancelToken`], [`Priority`], [`Inherited`] | what work inherits from whoever started it: how to stop it, how urgent it is, values |
//! | `profile`, `trace` | with the features of these names: work and span of a computation, a timeline of the threads |
//! | [`primitives`] | the deque, queues and latches of the engine |
//! | [`demand`] | for libraries with loops of their own: would anybody help right now? May change in any release |
//!
//! # Features
//!
//! None is on by default. A feature that is off is not compiled in.
//!
//! | feature | what it adds | what it costs |
//! |---|---|---|
//! | `profile` | `blitz::profile`: work and span of a computation. Includes `sites` | a load for each fork |
//! | `trace` | `blitz::trace`: a timeline of what the threads do | a load for each theft, search, sleep and task |
//! | `console` | what loops and joins do right now, for the page of `blitz-console`. Includes `sites` | a load for each loop, outermost join and theft |
//! | `sites` | the engine knows which line of the program called it; for the two others that name it | an argument of functions that are not inlined |
//! | `tracing` | `blitz::in_span`: forks and tasks inherit a span of the crate `tracing` | |
//! | `web_spin_lock` | in a web page with threads, the page's own thread spins where others block | nothing elsewhere |
//!
//! # Platforms
//!
//! Linux, Windows, macOS, the BSDs, Android, iOS and WebAssembly, with and without threads: [what is tested how](https://github.com/blitz-rt/blitz/blob/main/docs/guide/platforms.md). Rust 1.85 or later.

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
