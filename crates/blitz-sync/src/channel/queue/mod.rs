//! The queues under the channels, and what a channel asks of one.
//!
//! A queue holds messages and knows nothing of futures, but it keeps the bits that say that somebody waits, *in the words that its
//! operations change anyway*. That is the point of the design: "a message has come, does somebody wait for it?" and "I wait, has a message come?"
//! are questions about one location, whose changes have one order. Of a push and an announcement one is first: either the push sees
//! the bit, or the announcement sees the message. No fence is needed, and no flag on a line of its own: a push costs one
//! compare-and-swap and a pop one, all told.

pub(crate) mod bounded;
pub(crate) mod list;
pub(crate) mod locked;
pub(crate) mod ring;

#[cfg(all(test, loom))]
mod models;

/// A message that was not taken.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refused<T> {
    /// There is no room, or others wait for it.
    Full(T),
    Closed(T),
}

/// What a receiver that is about to wait finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// Nothing. From now on each push says that a receiver waits.
    Empty,
    /// There is a message, or was a moment ago.
    Filled,
    /// Nothing, and nothing will come.
    Finished,
}

/// A first-in, first-out queue for any number of threads.
///
/// `pop` never returns `None` about a message whose push happened before the call. A push that is under way in another thread is waited for:
/// some nanoseconds, or until that thread has a processor again.
pub(crate) trait Queue<T> {
    /// Appends a message. `Ok(true)`: a receiver waits, and has to be woken.
    fn push(&self, message: T) -> Result<bool, Refused<T>>;

    /// Takes the oldest message. `true` beside it: a sender waits for room, and has to be served.
    ///
    /// # Safety
    /// Queues for a single receiver: no other thread pops at the same time.
    unsafe fn pop(&self) -> Option<(T, bool)>;

    /// A receiver is about to wait: looks once more, and announces it if there is nothing. Under the lock of the receivers.
    fn announce_receiver(&self) -> Look;

    /// No receiver waits any more. Under the lock of the receivers.
    fn retract_receivers(&self);

    /// What a receiver that does not wait finds.
    fn look(&self) -> Look;

    /// Refuses messages from now on. `true`: that is new.
    fn close(&self) -> bool;

    fn is_closed(&self) -> bool;

    /// How many messages are in it; a snapshot.
    fn len(&self) -> usize;

    /// How many fit, if there is a limit.
    fn capacity(&self) -> Option<usize>;
}

/// A queue whose room can be reserved.
pub(crate) trait Limited<T>: Queue<T> {
    /// Reserves room for `count` messages, if nobody else waits for it.
    fn reserve(&self, count: usize) -> Result<(), Refused<()>>;

    /// As [`push`](Queue::push), into room that was reserved. Also if the queue is closed.
    fn push_reserved(&self, message: T) -> Wake;

    /// Gives room for `count` messages back.
    fn release(&self, count: usize) -> Released;

    /// A sender is about to wait for room for `count`: reserves what there is (if it is the `first`: nobody waits before it), and returns how much. If that is not
    /// enough, announces the wait as well: from now on each pop says so, and `push` and `reserve` refuse. Under the lock of the senders.
    fn announce_sender(&self, count: usize, first: bool) -> Result<usize, Refused<()>>;

    /// No sender waits any more. Under the lock of the senders.
    fn retract_senders(&self);

    /// Reserves whatever room there is, for those who wait. Under the lock of the senders.
    fn reserve_rest(&self) -> usize;

    /// How much room there is; a snapshot.
    fn room(&self) -> usize;
}

/// A queue that is one of two kinds: what is asked of it is asked of that.
macro_rules! one_of_two_queues {
    ($queue:ident: $one:ident, $other:ident) => {
        impl<T> $crate::channel::queue::Queue<T> for $queue<T> {
            #[inline(always)]
            fn push(&self, message: T) -> Result<bool, $crate::channel::queue::Refused<T>> {
                match self {
                    $queue::$one(queue) => queue.push(message),
                    $queue::$other(queue) => queue.push(message),
                }
            }

            #[inline(always)]
            unsafe fn pop(&self) -> Option<(T, bool)> {
                // SAFETY: both are for many receivers.
                unsafe {
                    match self {
                        $queue::$one(queue) => queue.pop(),
                        $queue::$other(queue) => queue.pop(),
                    }
                }
            }

            fn announce_receiver(&self) -> $crate::channel::queue::Look {
                match self {
                    $queue::$one(queue) => queue.announce_receiver(),
                    $queue::$other(queue) => queue.announce_receiver(),
                }
            }

            fn retract_receivers(&self) {
                match self {
                    $queue::$one(queue) => queue.retract_receivers(),
                    $queue::$other(queue) => queue.retract_receivers(),
                }
            }

            fn look(&self) -> $crate::channel::queue::Look {
                match self {
                    $queue::$one(queue) => queue.look(),
                    $queue::$other(queue) => queue.look(),
                }
            }

            fn close(&self) -> bool {
                match self {
                    $queue::$one(queue) => queue.close(),
                    $queue::$other(queue) => queue.close(),
                }
            }

            fn is_closed(&self) -> bool {
                match self {
                    $queue::$one(queue) => queue.is_closed(),
                    $queue::$other(queue) => queue.is_closed(),
                }
            }

            fn len(&self) -> usize {
                match self {
                    $queue::$one(queue) => queue.len(),
                    $queue::$other(queue) => queue.len(),
                }
            }

            fn capacity(&self) -> Option<usize> {
                match self {
                    $queue::$one(queue) => queue.capacity(),
                    $queue::$other(queue) => queue.capacity(),
                }
            }
        }
    };
}
pub(crate) use one_of_two_queues;

/// What to do after room was given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Released {
    /// Senders wait for room.
    pub(crate) serve_senders: bool,
    /// Receivers wait, and nothing will come any more.
    pub(crate) finished: bool,
}

/// Which receivers have to be woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wake {
    None,
    One,
    /// It is the last message: the others would wait for ever.
    All,
}
