//! The building blocks of a work-stealing runtime, each of which stands alone. Nothing here knows of pools, jobs or tasks.
//!
//! ```
//! use blitz_primitives::{CountLatch, deque};
//! use std::sync::atomic::{AtomicUsize, Ordering};
//!
//! // A hundred pieces of work on the deque of one thread. Another one helps.
//! let (owner, stealer) = deque::<usize>();
//! let unfinished = CountLatch::new(100);
//! for piece in 1..=100 {
//!     owner.push(piece);
//! }
//! let sum = AtomicUsize::new(0);
//! let work = |piece| {
//!     sum.fetch_add(piece, Ordering::Relaxed);
//!     unfinished.count_down();
//! };
//! std::thread::scope(|threads| {
//!     threads.spawn(|| {
//!         while let Some(oldest) = stealer.steal_until_settled() {
//!             work(oldest);
//!         }
//!     });
//!     while let Some(newest) = owner.pop() {
//!         work(newest);
//!     }
//!     unfinished.wait();
//! });
//! assert_eq!(sum.into_inner(), 5050);
//! ```
//!
//! The parts, in the order in which work passes them in the engine (`blitz-core`):
//!
//! | part | what it is for |
//! |---|---|
//! | [`Word`] | values that fit into one atomic word: what a deque holds |
//! | [`deque`](deque()), [`Owner`], [`Stealer`] | work of one thread, which others may steal |
//! | [`Injector`] | work from anywhere, first in, first out; and what to do when there is too much |
//! | [`DequeChannel`] | both as one channel: a deque for each worker, one queue for all |
//! | [`XorShift64Star`] | whom to steal from |
//! | [`fence`] | a race of which one side must cost nothing |
//! | [`SpinWait`], [`Backoff`] | waiting for a moment; how long to look before one sleeps |
//! | [`AtomicCounters`] | who looks, who sleeps, and whether something has come since |
//! | [`Parker`], [`futex`] | how a thread sleeps; how it is woken |
//! | [`CoreLatch`], [`OnceLatch`], [`CountLatch`] | that something is done: for one waiter, for many, for a count |
//! | [`SyncPtr`] | results, which many threads write to places of their own |
//!
//! Each protocol is checked by models that run this code under [loom](https://docs.rs/loom), as it is and with faults that they must find.
//! `ARCHITECTURE.md` in the repository says which models there are, and what is outside of them.
//!
//! # Features
//!
//! | feature | what it adds |
//! |---|---|
//! | `web_spin_lock` | in a web page with threads, the page's own thread, which must not block, spins instead, and time is the browser's. Elsewhere it changes nothing |
//!
//! # Platforms
//!
//! Linux, Windows, macOS, the BSDs, Android, iOS and WebAssembly: [what is tested how](https://github.com/blitz-rt/blitz/blob/main/docs/guide/platforms.md). CPUs without 64-bit atomics are served by `portable-atomic`. [`fence`] and [`futex`] say what
//! they use on which system. Rust 1.85 or later.
//!
//! The modules `clock`, `flaw`, `model` and `sync` are hidden: they are for the other crates of Blitz, and may change in any release.

// What all of them stand on: atomics and locks, the time, and how models are run.
#[doc(hidden)]
#[allow(unused_imports, dead_code)]
pub mod sync;

#[cfg(not(loom))]
#[doc(hidden)]
pub mod clock;
#[doc(hidden)]
pub mod flaw;
#[cfg(not(loom))]
#[doc(hidden)]
pub mod host;
#[cfg(loom)]
#[doc(hidden)]
pub mod model;

// In the order of the table above.
mod word;

pub mod deque;

pub mod injector;
mod ring;

pub mod deque_channel;

mod rng;

pub mod fence;

mod backoff;
mod spin_wait;

mod counters;

pub mod futex;
#[cfg_attr(loom, allow(dead_code))]
mod parker;

mod core_latch;
mod count_latch;
mod once_latch;

mod sync_ptr;

pub use backoff::{Backoff, BackoffLimits, BackoffMode};
pub use core_latch::CoreLatch;
pub use count_latch::CountLatch;
pub use counters::{AtomicCounters, Counters};
pub use deque::{Owner, Steal, Stealer, deque};
pub use deque_channel::DequeChannel;
pub use injector::{Full, FullPolicy, Injector};
pub use once_latch::OnceLatch;
pub use parker::Parker;
pub use rng::XorShift64Star;
pub use spin_wait::SpinWait;
pub use sync_ptr::SyncPtr;
pub use word::Word;

// What the package's front page shows is tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
