//! The queue of a channel that may have a limit or none.

use crate::channel::queue::bounded::Bounded;
use crate::channel::queue::list::Shared;
use crate::channel::queue::{Limited, Refused, Released, Wake, one_of_two_queues};

pub(super) enum Flow<T> {
    Bounded(Bounded<T>),
    Unbounded(Shared<T>),
}

one_of_two_queues!(Flow: Bounded, Unbounded);

impl<T> Flow<T> {
    /// Room is only ever waited for where a push can be refused for want of it.
    fn limited(&self) -> &Bounded<T> {
        match self {
            Flow::Bounded(queue) => queue,
            Flow::Unbounded(_) => unreachable!("an unbounded queue is never full"),
        }
    }
}

impl<T> Limited<T> for Flow<T> {
    fn reserve(&self, count: usize) -> Result<(), Refused<()>> {
        self.limited().reserve(count)
    }

    fn push_reserved(&self, message: T) -> Wake {
        self.limited().push_reserved(message)
    }

    fn release(&self, count: usize) -> Released {
        self.limited().release(count)
    }

    fn announce_sender(&self, count: usize, first: bool) -> Result<usize, Refused<()>> {
        self.limited().announce_sender(count, first)
    }

    fn retract_senders(&self) {
        self.limited().retract_senders();
    }

    fn reserve_rest(&self) -> usize {
        self.limited().reserve_rest()
    }

    fn room(&self) -> usize {
        match self {
            Flow::Bounded(queue) => queue.room(),
            Flow::Unbounded(_) => usize::MAX,
        }
    }
}
