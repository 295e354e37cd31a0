//! What the channels stand on.
//!
//! They need no runtime: the futures run on any executor, and plain threads use the `blocking_…` calls. Inside of a task of
//! `blitz-io` every receive takes a unit of the task's [budget](crate::coop), so that a loop over a channel that is always full lets other
//! tasks run.
//!
//! Every wait can be dropped at any time: no message is lost by it, and a wake that was meant for it goes to the next. Waiting allocates nothing.

pub(super) mod core;
pub(super) mod handles;
#[cfg(all(test, loom))]
pub(super) mod model;
#[cfg(all(test, loom))]
mod models;
pub(super) mod queue;
