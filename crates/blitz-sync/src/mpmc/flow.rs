//! The queue of a channel that may have a limit or none.

use crate::channel::queue::bounded::Bounded;
use crate::channel::queue::list::Shared;
use crate::channel::queue::{Limited, Look, Queue, Refused, Released, Wake};

pub(super) enum Flow<T> {
    Bounded(Bounded<T>),
    Unbounded(Shared<T>),
}

macro_rules! either {
    ($self:ident, $queue:ident => $call:expr) => {
        match $self {
            Flow::Bounded($queue) => $call,
            Flow::Unbounded($queue) => $call,
        }
    };
}

impl<T> Queue<T> for Flow<T> {
    #[inline(always)]
    fn push(&self, message: T) -> Result<bool, Refused<T>> {
        either!(self, queue => queue.push(message))
    }

    #[inline(always)]
    unsafe fn pop(&self) -> Option<(T, bool)> {
        // SAFETY: both are for many receivers.
        either!(self, queue => unsafe { queue.pop() })
    }

    fn announce_receiver(&self) -> Look {
        either!(self, queue => queue.announce_receiver())
    }

    fn retract_receivers(&self) {
        either!(self, queue => queue.retract_receivers());
    }

    fn look(&self) -> Look {
        either!(self, queue => queue.look())
    }

    fn close(&self) -> bool {
        either!(self, queue => queue.close())
    }

    fn is_closed(&self) -> bool {
        either!(self, queue => queue.is_closed())
    }

    fn len(&self) -> usize {
        either!(self, queue => queue.len())
    }

    fn capacity(&self) -> Option<usize> {
        either!(self, queue => queue.capacity())
    }
}

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
