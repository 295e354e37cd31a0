//! Many senders, one receiver.
//!
//! ```
//! use blitz_sync::mpsc;
//!
//! # blitz_sync::block_on(async {
//! let (sender, mut receiver) = mpsc::channel(8);
//! for worker in 0..4u32 {
//!     let sender = sender.clone();
//!     std::thread::spawn(move || {
//!         for n in 0..100 {
//!             sender.blocking_send(worker * 100 + n).unwrap();
//!         }
//!     });
//! }
//! drop(sender);
//! let mut received = Vec::new();
//! while let Some(message) = receiver.recv().await {
//!     received.push(message);
//! }
//! received.sort();
//! assert!(received.into_iter().eq(0..400));
//! # });
//! ```
//!
//! The names are tokio's. [`channel`] has room for so many messages, and senders wait when there is none;
//! [`unbounded_channel`] takes all that come. Messages of one sender arrive in the order in which they were sent; senders that wait
//! get room in the order in which they came.
//!
//! The memory of a bounded channel, for all the messages that fit, is reserved when it is made (and touched when it is first used), so a capacity is at most
//! 2^28. An unbounded one takes memory in blocks of 31 messages, and uses them again.

mod bounded;
mod permit;
mod receiver;
mod unbounded;

pub mod error;

pub use bounded::{Receiver, Sender, WeakSender, channel};
pub use permit::{OwnedPermit, Permit, PermitIterator};
pub use unbounded::{UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel};
