//! The scheduler of tasks, a [companion](blitz_core::companion) of the engine's pool.

mod core;
mod driver_seat;
mod injector;
mod owned;
mod relief;
mod ring;
mod shared;

pub(crate) use owned::Owned;
pub(crate) use shared::Shared;
