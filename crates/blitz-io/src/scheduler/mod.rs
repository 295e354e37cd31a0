//! The scheduler of tasks, a [companion](blitz_core::companion) of the engine's pool.

#[cfg(not(loom))]
mod core;
#[cfg(not(loom))]
mod driver_seat;
#[cfg(all(test, loom))]
mod end_models;
#[cfg_attr(loom, allow(dead_code))]
mod holds;
mod injector;
#[cfg(not(loom))]
mod outlook;
mod owned;
#[cfg(not(loom))]
#[cfg(not(loom))]
mod relief;
mod ring;
#[cfg(not(loom))]
mod shared;
#[cfg_attr(loom, allow(dead_code))]
mod vigil;
#[cfg(not(loom))]
mod watch;

#[cfg_attr(loom, allow(unused_imports))]
pub(crate) use owned::Owned;
#[cfg(not(loom))]
pub(crate) use shared::{Reserves, Shared};
