//! The scheduler of tasks, a [companion](blitz_core::companion) of the engine's pool.

#[cfg(not(loom))]
mod companion;
#[cfg(not(loom))]
mod core;
#[cfg(not(loom))]
mod cores;
#[cfg(not(loom))]
mod driver_seat;
#[cfg(all(test, loom))]
mod end_models;
#[cfg(not(loom))]
mod global;
mod injector;
#[cfg(not(loom))]
mod lending;
#[cfg(not(loom))]
mod line;
mod list;
#[cfg(not(loom))]
mod load_estimate;
mod owned;
#[cfg(not(loom))]
mod refusal;
#[cfg(not(loom))]
mod relief;
mod ring;
mod seat_word;
mod service;
#[cfg(not(loom))]
mod shared;
#[cfg(not(loom))]
mod slice;
#[cfg(not(loom))]
mod urgency;
#[cfg(not(loom))]
mod watch;
mod watch_switch;
#[cfg(not(loom))]
mod workers;

#[cfg(not(loom))]
pub(crate) use self::core::Core;
pub(crate) use list::Listed;
pub(crate) use owned::Owned;
#[cfg(not(loom))]
pub(crate) use shared::Shared;
#[cfg(not(loom))]
pub(crate) use workers::{Reserves, Scheduler};
