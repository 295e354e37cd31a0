//! The building blocks of the engine, public because they are useful on their own.

mod backoff;
mod core_latch;
mod count_latch;
pub(crate) mod counters;
pub mod deque;
pub mod deque_channel;
pub mod fence;
#[doc(hidden)]
pub mod flaw;
pub(crate) mod futex;
pub mod injector;
#[cfg(loom)]
#[doc(hidden)]
pub mod model;
mod once_latch;
#[cfg_attr(loom, allow(dead_code))]
pub(crate) mod parker;
mod ring;
mod rng;
mod spin_wait;
mod sync_ptr;
mod word;

pub use backoff::{Backoff, BackoffLimits, BackoffMode};
pub use core_latch::CoreLatch;
pub use count_latch::CountLatch;
pub use counters::{AtomicCounters, Counters};
pub use deque::{Owner, Steal, Stealer, deque};
pub use deque_channel::DequeChannel;
pub use injector::{Full, FullPolicy, Injector};
pub use once_latch::OnceLatch;
pub use rng::XorShift64Star;
pub use spin_wait::SpinWait;
pub use sync_ptr::SyncPtr;
pub use word::Word;
