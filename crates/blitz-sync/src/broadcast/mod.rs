//! Many senders, many receivers: each message goes to all of them.
//!
//! ```
//! use blitz_sync::broadcast;
//!
//! # blitz_sync::block_on(async {
//! let (sender, mut first) = broadcast::channel(16);
//! let mut second = sender.subscribe();
//! sender.send("hello").unwrap();
//! drop(sender);
//! assert_eq!(first.recv().await, Ok("hello"));
//! assert_eq!(second.recv().await, Ok("hello"));
//! assert_eq!(second.recv().await, Err(broadcast::error::RecvError::Closed));
//! # });
//! ```
//!
//! The names are tokio's. Sending never waits: the channel keeps only the newest messages, as many as its capacity. A receiver that is too slow is told how many
//! it has missed ([`Lagged`](error::RecvError::Lagged)), and continues with the oldest that is left. A receiver that is dropped unsubscribes. A message is dropped
//! when the last receiver has read it.
//!
//! # How it works
//! The channel is a ring of slots (`slot.rs`), with a lock around the end of the ring. Senders take the lock to send. Receivers take it only to wait, or to find out
//! how far they lag. Reading a message that is there takes two compare-and-swaps, and one for the last of its readers. A send is one section under the lock, and so is the last check of a receiver
//! that is about to wait. So no wake-up is lost. Messages are cloned and dropped, and wakers called, without the lock and without a slot. So a message's `clone` may block, and may use the
//! channel. But it must not wait for another receiver to get the same message, because that receiver has to wait for the clone. Receivers that wait for a clone do so in a line of their own: no thread spins or
//! sleeps meanwhile (except in `try_recv` and `blocking_recv`, which have no other way to wait).

pub mod error;
mod receiver;
mod slot;

#[cfg(all(test, loom))]
mod models;

pub use receiver::{Receiver, Recv};

use super::channel::core::add;
use super::channel::handles::read;
use super::until::Until;
use crate::primitives::{Arc, AtomicUsize, Ordering};
use crate::waiters::{State, Waiters};
use blitz_primitives::flaw::Flaws;
use error::SendError;
use slot::Slot;
use std::fmt;

/// The largest number of messages that a channel keeps.
const MAX_CAPACITY: usize = 1 << 28;

struct Shared<T> {
    slots: Box<[Slot<T>]>,
    /// The end of the ring, and those who wait for a message.
    end: Waiters<End>,
    /// Those who wait for a message that another one clones.
    loans: Waiters<()>,
    /// Those who wait until no receiver is left.
    watchers: Waiters<()>,
    senders: AtomicUsize,
    weak_senders: AtomicUsize,
}

/// What the lock guards.
#[derive(Debug)]
struct End {
    /// Where the next message goes.
    position: u64,
    receivers: usize,
    closed: bool,
}

impl<T> Shared<T> {
    #[inline]
    fn slot(&self, position: u64) -> &Slot<T> {
        &self.slots[position as usize & (self.slots.len() - 1)]
    }

    fn capacity(&self) -> u64 {
        self.slots.len() as u64
    }

    fn receivers(&self) -> usize {
        self.end.locked(|guarded| guarded.state.receivers)
    }
}

/// Makes a channel that keeps the last `capacity` messages (rounded up to a power of two) for receivers that are slow.
///
/// # Panics
/// If `capacity` is 0 or more than 2^28.
///
/// ```
/// use blitz_sync::broadcast;
/// # blitz_sync::block_on(async {
/// let (sender, mut one) = broadcast::channel(16);
/// let mut two = sender.subscribe();
/// sender.send("news").unwrap();
/// assert_eq!(one.recv().await, Ok("news"));
/// assert_eq!(two.recv().await, Ok("news"));
/// # });
/// ```
#[track_caller]
pub fn channel<T: Clone>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    with_flaws(capacity, Flaws::NONE)
}

#[track_caller]
fn with_flaws<T: Clone>(capacity: usize, flaws: Flaws<slot::Flaw>) -> (Sender<T>, Receiver<T>) {
    let sender = Sender::with_flaws(capacity, flaws);
    let receiver = sender.subscribe();
    (sender, receiver)
}

/// The half that sends: clone it for more of them. The channel is closed when the last one is dropped.
///
/// ```
/// # fn block_on<F: Future>(f: F) -> F::Output { let mut f = std::pin::pin!(f); loop { if let std::task::Poll::Ready(x) = f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) { return x } std::thread::yield_now() } }
/// # block_on(async {
/// let (sender, mut first) = blitz_sync::broadcast::channel(8);
/// let mut second = sender.subscribe(); // sees what is sent from now on
/// assert_eq!(sender.send("hello"), Ok(2)); // two receivers
/// assert_eq!((first.try_recv(), sender.len()), (Ok("hello"), 1));
/// assert_eq!(second.try_recv(), Ok("hello"));
/// assert!(sender.is_empty() && sender.receiver_count() == 2);
///
/// let weak = sender.downgrade(); // does not keep the channel open
/// assert_eq!((sender.strong_count(), sender.weak_count()), (1, 1));
/// assert!(weak.upgrade().unwrap().same_channel(&sender));
/// drop((first, second));
/// sender.closed().await; // nobody listens any more
/// # });
/// ```
pub struct Sender<T> {
    shared: Arc<Shared<T>>,
}

impl<T> Sender<T> {
    /// A sender of a channel that has no receivers yet.
    ///
    /// # Panics
    /// If `capacity` is 0 or more than 2^28.
    ///
    /// ```
    /// let sender = blitz_sync::broadcast::Sender::new(8);
    /// assert!(sender.send(1).is_err()); // nobody listens yet
    /// let mut receiver = sender.subscribe();
    /// sender.send(2).unwrap();
    /// assert_eq!(receiver.try_recv(), Ok(2));
    /// ```
    #[must_use]
    #[track_caller]
    pub fn new(capacity: usize) -> Self {
        Self::with_flaws(capacity, Flaws::NONE)
    }

    #[track_caller]
    fn with_flaws(capacity: usize, flaws: Flaws<slot::Flaw>) -> Self {
        assert!(
            (1..=MAX_CAPACITY).contains(&capacity),
            "a broadcast channel keeps between 1 and {MAX_CAPACITY} messages, not {capacity}"
        );
        let capacity = capacity.next_power_of_two() as u64;
        // What was sent a lap ago, as it were. Positions are shifted by three bits in a slot: they wrap after 2^61 messages.
        let before = |index: u64| index.wrapping_sub(capacity);
        let slots = (0..capacity).map(|index| Slot::new(before(index), flaws));
        Sender {
            shared: Arc::new(Shared {
                slots: slots.collect(),
                end: Waiters::new(End {
                    position: 0,
                    receivers: 0,
                    closed: false,
                }),
                loans: Waiters::new(()),
                watchers: Waiters::new(()),
                senders: AtomicUsize::new(1),
                weak_senders: AtomicUsize::new(0),
            }),
        }
    }

    /// Sends a message to all receivers, and returns how many there are. Never waits for them.
    ///
    /// # Errors
    /// The message, if there is no receiver at the moment. There may be one later: see [`subscribe`](Self::subscribe).
    #[inline]
    pub fn send(&self, message: T) -> Result<usize, SendError<T>> {
        let shared = &*self.shared;
        let mut message = Some(message);
        let mut replaced = None;
        let (mut receivers, mut ends_loan) = (0, false);
        shared.end.release_all(State::Dismissed, |end| {
            receivers = end.receivers;
            if receivers == 0 {
                return false;
            }
            let position = end.position;
            end.position = position.wrapping_add(1);
            let (mut taken, awaited) = shared.slot(position).take_for(position);
            ends_loan = awaited;
            taken.content(|content| {
                content.remaining = receivers;
                replaced = std::mem::replace(&mut content.message, message.take());
            });
            true
        });
        if ends_loan {
            shared.loans.release_all(State::Dismissed, |()| true);
        }
        // Somebody else's code, and so not under the lock.
        drop(replaced);
        match message {
            Some(message) => Err(SendError(message)),
            None => Ok(receivers),
        }
    }

    /// A receiver of all that is sent from now on.
    pub fn subscribe(&self) -> Receiver<T> {
        Receiver::new(&self.shared)
    }

    /// How many messages are kept because some receiver has not read them yet.
    pub fn len(&self) -> usize {
        let shared = &*self.shared;
        shared.end.locked(|guarded| {
            let end = guarded.state.position;
            // Receivers read in order: whatever all have read is older than whatever somebody has not.
            let (mut unread, mut oldest) = (0, shared.capacity().min(end));
            while unread < oldest {
                let middle = unread + (oldest - unread) / 2;
                let position = end - 1 - middle;
                if shared.slot(position).remaining(position) > 0 {
                    unread = middle + 1;
                } else {
                    oldest = middle;
                }
            }
            unread as usize
        })
    }

    /// Have all receivers read all messages?
    pub fn is_empty(&self) -> bool {
        let shared = &*self.shared;
        shared.end.locked(|guarded| {
            let last = guarded.state.position.wrapping_sub(1);
            guarded.state.position == 0 || shared.slot(last).remaining(last) == 0
        })
    }

    /// How many receivers there are.
    pub fn receiver_count(&self) -> usize {
        self.shared.receivers()
    }

    /// Waits until there is no receiver any more. Cancel-safe.
    pub async fn closed(&self) {
        let shared = &*self.shared;
        loop {
            Until::new(&shared.watchers, || shared.receivers() == 0).await;
            // One that came meanwhile counts.
            if shared.receivers() == 0 {
                return;
            }
        }
    }

    /// Do both belong to the same channel?
    pub fn same_channel(&self, other: &Self) -> bool {
        std::ptr::eq::<Shared<T>>(&*self.shared, &*other.shared)
    }

    /// A handle that does not keep the channel open.
    #[must_use]
    pub fn downgrade(&self) -> WeakSender<T> {
        add(&self.shared.weak_senders);
        WeakSender {
            shared: Arc::clone(&self.shared),
        }
    }

    /// How many senders there are.
    pub fn strong_count(&self) -> usize {
        read(&self.shared.senders)
    }

    /// How many weak senders there are.
    pub fn weak_count(&self) -> usize {
        read(&self.shared.weak_senders)
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        add(&self.shared.senders);
        Sender {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if self.shared.senders.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.shared.end.release_all(State::Dismissed, |end| {
                end.closed = true;
                true
            });
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("receiver_count", &self.receiver_count())
            .finish()
    }
}

/// A sender that does not keep the channel open.
///
/// ```
/// let (sender, receiver) = blitz_sync::broadcast::channel::<u32>(8);
/// let weak = sender.downgrade();
/// assert_eq!((weak.strong_count(), weak.weak_count()), (1, 1));
/// assert!(weak.upgrade().is_some());
/// drop(sender);
/// assert!(weak.upgrade().is_none() && receiver.is_closed());
/// ```
pub struct WeakSender<T> {
    shared: Arc<Shared<T>>,
}

impl<T> WeakSender<T> {
    /// A sender, unless all senders are gone.
    #[must_use]
    pub fn upgrade(&self) -> Option<Sender<T>> {
        let one_more = |count: usize| (count > 0).then_some(count + 1);
        let senders = &self.shared.senders;
        senders
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more)
            .ok()?;
        Some(Sender {
            shared: Arc::clone(&self.shared),
        })
    }

    /// How many senders there are.
    pub fn strong_count(&self) -> usize {
        read(&self.shared.senders)
    }

    /// How many weak senders there are.
    pub fn weak_count(&self) -> usize {
        read(&self.shared.weak_senders)
    }
}

impl<T> Clone for WeakSender<T> {
    fn clone(&self) -> Self {
        add(&self.shared.weak_senders);
        WeakSender {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<T> Drop for WeakSender<T> {
    fn drop(&mut self) {
        self.shared.weak_senders.fetch_sub(1, Ordering::AcqRel);
    }
}

impl<T> fmt::Debug for WeakSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakSender")
            .field("strong_count", &self.strong_count())
            .finish()
    }
}
