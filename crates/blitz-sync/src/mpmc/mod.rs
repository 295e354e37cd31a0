//! Many senders, many receivers: each message goes to one of the receivers.
//!
//! ```
//! use blitz_sync::mpmc;
//!
//! # blitz_sync::block_on(async {
//! let (sender, receiver) = mpmc::bounded(8);
//! let workers: Vec<_> = (0..4)
//!     .map(|_| {
//!         let receiver = receiver.clone();
//!         std::thread::spawn(move || {
//!             let mut sum = 0u32;
//!             while let Ok(message) = receiver.recv_blocking() {
//!                 sum += message;
//!             }
//!             sum
//!         })
//!     })
//!     .collect();
//! for n in 0..100u32 {
//!     sender.send(n).await.unwrap();
//! }
//! drop(sender);
//! let mut total = 0;
//! for worker in workers {
//!     total += worker.join().unwrap();
//! }
//! assert_eq!(total, 4950);
//! # });
//! ```
//!
//! The names are those of `async-channel`. Messages of one sender are received in the order in which they were sent, by whichever receivers; a receiver
//! that waits longer is woken first. The last sender and the last receiver close the channel when they are dropped, and either half can close it
//! before.

mod error;
mod flow;
mod receiver;
mod sender;

pub use error::{RecvError, SendError, TryRecvError, TrySendError};
pub use receiver::{Receiver, Recv, WeakReceiver};
pub use sender::{Sender, WeakSender};

use super::channel::core::Core;
use super::channel::handles::Tx;
use super::channel::queue::bounded::Bounded;
use super::channel::queue::list::Shared;
use crate::primitives::Arc;
use flow::Flow;

/// Makes a channel with room for `capacity` messages.
///
/// # Panics
/// If `capacity` is 0 or more than `usize::MAX >> 3`.
///
/// ```
/// let (sender, receiver) = blitz_sync::mpmc::bounded(1);
/// sender.try_send(1).unwrap();
/// assert!(sender.try_send(2).unwrap_err().is_full());
/// assert_eq!(receiver.try_recv(), Ok(1));
/// ```
#[track_caller]
pub fn bounded<T>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    halves(Core::new(Flow::Bounded(Bounded::new(capacity))))
}

/// Makes a channel without a limit: sending never waits, and receivers that are too slow fill the memory.
///
/// ```
/// let (sender, receiver) = blitz_sync::mpmc::unbounded();
/// for n in 0..1000 {
///     sender.try_send(n).unwrap();
/// }
/// assert_eq!(receiver.len(), 1000);
/// assert_eq!(receiver.try_recv(), Ok(0));
/// ```
pub fn unbounded<T>() -> (Sender<T>, Receiver<T>) {
    halves(Core::new(Flow::Unbounded(Shared::new())))
}

fn halves<T>(core: Arc<Core<T, Flow<T>>>) -> (Sender<T>, Receiver<T>) {
    (Sender(Tx::new(Arc::clone(&core))), Receiver::new(core))
}

/// What both halves can do; `$core` gives the shared part.
macro_rules! about_the_channel {
    ($Half:ident, |$this:ident| $core:expr) => {
        impl<T> $Half<T> {
            /// Refuses messages from now on; those that were sent before can still be received. `false`: it was closed already.
            pub fn close(&self) -> bool {
                let $this = self;
                $core.close()
            }

            /// Was it closed, or is one of the sides gone?
            pub fn is_closed(&self) -> bool {
                let $this = self;
                $core.queue.is_closed()
            }

            /// Is there no message at the moment?
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Is there no room at the moment?
            pub fn is_full(&self) -> bool {
                let $this = self;
                $core.queue.room() == 0
            }

            /// How many messages there are at the moment.
            pub fn len(&self) -> usize {
                let $this = self;
                $core.queue.len()
            }

            /// How many messages fit, if there is a limit.
            pub fn capacity(&self) -> Option<usize> {
                let $this = self;
                $core.queue.capacity()
            }

            /// How many senders there are.
            pub fn sender_count(&self) -> usize {
                let $this = self;
                read(&$core.sender_count)
            }

            /// How many receivers there are.
            pub fn receiver_count(&self) -> usize {
                let $this = self;
                read(&$core.receiver_count)
            }
        }

        impl<T> fmt::Debug for $Half<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($Half))
                    .field("len", &self.len())
                    .field("capacity", &self.capacity())
                    .field("is_closed", &self.is_closed())
                    .finish()
            }
        }
    };
}

use about_the_channel;
