//! Channels: how tasks and threads hand each other messages.
//!
//! | channel | senders | receivers | each message goes to |
//! |---|---|---|---|
//! | [`broadcast`] | many | many | all receivers |
//! | [`mpmc`] | many | many | one of the receivers |
//! | [`mpsc`] | many | one | the receiver |
//! | [`oneshot`] | one | one | the receiver; there is one message |
//! | [`watch`] | many | many | all receivers; they see the latest only |
//!
//! They need no runtime: the futures run on any executor, and plain threads use the `blocking_…` calls. Inside of a task of this
//! crate every receive takes a unit of the task's [budget](crate::coop), so that a loop over a channel that is always full lets other
//! tasks run.
//!
//! Every wait can be dropped at any time: no message is lost by it, and a wake that was meant for it goes to the next. Waiting allocates nothing.

pub mod broadcast;
mod core;
mod handles;
#[cfg(all(test, loom))]
mod model;
#[cfg(all(test, loom))]
mod models;
pub mod mpmc;
pub mod mpsc;
pub mod oneshot;
mod queue;
mod until;
pub mod watch;
