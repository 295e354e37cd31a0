//! The queue of a channel with a limit: a ring, or a queue under a lock where a ring would take much memory.

use super::locked::Locked;
use super::ring::Ring;
use super::{Limited, Refused, Released, Wake, one_of_two_queues};

/// The largest capacity, which is that of tokio's channels.
pub(crate) const MAX_CAPACITY: usize = usize::MAX >> 3;

/// Rings take no more bytes than this: room for 2,048 words, or for 32 messages of a kilobyte. A channel is often one of thousands.
const LARGEST_RING: usize = 32 << 10;

#[allow(
    clippy::large_enum_variant,
    reason = "the larger one is the usual one, and a box would be one more step to it"
)]
pub(crate) enum Bounded<T> {
    Ring(Ring<T>),
    Locked(Locked<T>),
}

impl<T> Bounded<T> {
    /// # Panics
    /// If the capacity is zero or larger than [`MAX_CAPACITY`].
    #[track_caller]
    pub(crate) fn new(capacity: usize) -> Self {
        assert!(
            (1..=MAX_CAPACITY).contains(&capacity),
            "the capacity of a channel is between 1 and {MAX_CAPACITY}, not {capacity}; take an unbounded one if there is no limit"
        );
        if Ring::<T>::size_for(capacity) <= LARGEST_RING {
            Bounded::Ring(Ring::new(capacity))
        } else {
            Bounded::Locked(Locked::new(capacity))
        }
    }
}

macro_rules! either {
    ($self:ident, $queue:ident => $call:expr) => {
        match $self {
            Bounded::Ring($queue) => $call,
            Bounded::Locked($queue) => $call,
        }
    };
}

one_of_two_queues!(Bounded: Ring, Locked);

impl<T> Limited<T> for Bounded<T> {
    fn reserve(&self, count: usize) -> Result<(), Refused<()>> {
        either!(self, queue => queue.reserve(count))
    }

    fn push_reserved(&self, message: T) -> Wake {
        either!(self, queue => queue.push_reserved(message))
    }

    fn release(&self, count: usize) -> Released {
        either!(self, queue => queue.release(count))
    }

    fn announce_sender(&self, count: usize, first: bool) -> Result<usize, Refused<()>> {
        either!(self, queue => queue.announce_sender(count, first))
    }

    fn retract_senders(&self) {
        either!(self, queue => queue.retract_senders());
    }

    fn reserve_rest(&self) -> usize {
        either!(self, queue => queue.reserve_rest())
    }

    fn room(&self) -> usize {
        either!(self, queue => queue.room())
    }
}
