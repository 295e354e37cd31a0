//! A channel made of work-stealing deques: many bounded local queues and one global one.
//!
//! Every worker has a deque of its own and sends to itself at the cost of a push; what does not fit
//! goes to a global queue that all share; threads that are not workers send to the global queue. A
//! worker receives from its own deque, newest first, then from the global queue, oldest first, then
//! steals from the other workers. This is the queueing of the Loom scheduler as a building block
//! of its own, with bounded memory and explicit back-pressure. (The engine's pools use a growing
//! deque instead, so that a waiting thread always finds its own tasks in its own deque.)
//!
//! # What it guarantees
//!
//! * Every item is received once, by one worker, or dropped with the channel, or given back in
//!   [`Full`].
//! * [`Worker::recv`] returns `None` only if it has looked everywhere and nothing was on its way from
//!   one place to another: an item whose send happened before the call is found, or another
//!   worker received it.
//! * A full deque sheds its *oldest* half: the items furthest from what the worker is doing, which it
//!   would have reached last.
//!
//! # Why nothing is overlooked
//!
//! Deques and injector never overlook an item that is in them, and `recv` looks into all of them.
//! What is left is an item on the move: taken out of a deque whose turn is still to come, put into the
//! global queue that was looked at already. Movers therefore count: `started` before they take the
//! first item out, `finished` (release) after the last one is in. A receiver reads `finished`
//! (acquire) before its search and `started` after it. If they are equal, all moves that had started
//! by the end of the search had finished before its beginning, and what they moved was visible to
//! it. Otherwise it searches again. It cannot overlook a start: a deque is seen without the item
//! only by reading the `top` that the mover stored afterwards, and the fence in `steal` makes that an
//! acquire.

use std::cell::RefCell;
use std::fmt;

use crossbeam_utils::CachePadded;

use crate::deque::{self, Owner, Stealer};
use crate::flaw::Flaws;
use crate::injector::{Full, FullPolicy, Injector};
use crate::rng::XorShift64Star;
use crate::spin_wait::SpinWait;
use crate::sync::{Arc, AtomicUsize, Ordering};
use crate::word::Word;

/// What a channel without its pillar would do; see [`Flaws`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flaw {
    /// Receivers do not notice items on the move.
    IgnoreMoves,
}

/// The dimensions of a channel, and the way to make one.
///
/// ```
/// use blitz_primitives::DequeChannel;
///
/// let (workers, sender) = DequeChannel::new().build::<Box<&str>>(2);
/// sender.send(Box::new("from outside")).unwrap();
/// workers[0].send(Box::new("from a worker")).unwrap();
///
/// assert_eq!(*workers[0].recv().unwrap(), "from a worker"); // own deque first
/// assert_eq!(*workers[1].recv().unwrap(), "from outside");
/// assert!(workers[1].recv().is_none());
/// ```
#[derive(Debug, Clone)]
pub struct DequeChannel {
    local_capacity: usize,
    global_capacity: usize,
    when_full: FullPolicy,
}

impl Default for DequeChannel {
    fn default() -> Self {
        Self::new()
    }
}

impl DequeChannel {
    /// 256 items per worker, 4096 in the global queue, and [`FullPolicy::Refuse`] beyond that.
    ///
    /// ```
    /// use blitz_primitives::DequeChannel;
    ///
    /// let (workers, _sender) = DequeChannel::new().build::<usize>(4);
    /// assert_eq!(workers.len(), 4);
    /// ```
    pub const fn new() -> Self {
        Self {
            local_capacity: 256,
            global_capacity: 4096,
            when_full: FullPolicy::Refuse,
        }
    }

    /// How many items a worker keeps to itself, at least two; rounded up to a power of two.
    ///
    /// ```
    /// use blitz_primitives::DequeChannel;
    ///
    /// let (workers, sender) = DequeChannel::new().local_capacity(2).build::<usize>(1);
    /// (0..3).for_each(|item| workers[0].send(item).unwrap());
    /// // The third had no room: the oldest went to the global queue.
    /// assert_eq!((workers[0].local_len(), sender.global_len()), (2, 1));
    /// ```
    pub const fn local_capacity(mut self, items: usize) -> Self {
        self.local_capacity = items;
        self
    }

    /// How many items the global queue holds, at least two; rounded up to a power of two.
    ///
    /// ```
    /// use blitz_primitives::DequeChannel;
    ///
    /// let (_workers, sender) = DequeChannel::new().global_capacity(2).build::<usize>(1);
    /// assert!(sender.send(1).is_ok() && sender.send(2).is_ok());
    /// assert!(sender.send(3).is_err());
    /// ```
    pub const fn global_capacity(mut self, items: usize) -> Self {
        self.global_capacity = items;
        self
    }

    /// What a send does when the global queue is full too.
    ///
    /// With [`FullPolicy::Block`] somebody has to go on receiving: if all workers block in a send,
    /// nobody is left to make room. Workers can use [`Worker::try_send`] to be safe.
    ///
    /// ```
    /// use blitz_primitives::{DequeChannel, FullPolicy};
    ///
    /// let unbounded = DequeChannel::new().global_capacity(2).when_full(FullPolicy::Grow);
    /// let (_workers, sender) = unbounded.build::<usize>(1);
    /// assert!((0..1000).all(|item| sender.send(item).is_ok()));
    /// ```
    pub const fn when_full(mut self, policy: FullPolicy) -> Self {
        self.when_full = policy;
        self
    }

    /// Makes a channel with this many workers.
    ///
    /// Items are words ([`Word`]); put larger ones in a box. All memory of the deques and the
    /// global queue is allocated here.
    ///
    /// ```
    /// use blitz_primitives::DequeChannel;
    ///
    /// let (workers, sender) = DequeChannel::new().build::<usize>(2);
    /// (1..=100).for_each(|item| sender.send(item).unwrap());
    /// let sum: usize = std::thread::scope(|threads| {
    ///     let parts: Vec<_> = workers
    ///         .into_iter()
    ///         .map(|worker| threads.spawn(move || std::iter::from_fn(|| worker.recv()).sum::<usize>()))
    ///         .collect();
    ///     parts.into_iter().map(|part| part.join().unwrap()).sum()
    /// });
    /// assert_eq!(sum, 5050);
    /// ```
    pub fn build<T: Word>(&self, workers: usize) -> (Vec<Worker<T>>, Sender<T>) {
        self.build_with_flaws(workers, Flaws::NONE)
    }

    fn build_with_flaws<T: Word>(
        &self,
        workers: usize,
        flaws: Flaws<Flaw>,
    ) -> (Vec<Worker<T>>, Sender<T>) {
        let local_capacity = self.local_capacity.max(2).next_power_of_two();
        let (owners, stealers): (Vec<_>, Vec<_>) = (0..workers)
            .map(|_| deque::with_capacity(local_capacity))
            .unzip();
        let shared = Arc::new(Shared {
            stealers,
            global: Injector::with_capacity(self.global_capacity, self.when_full),
            started: CachePadded::new(AtomicUsize::new(0)),
            finished: AtomicUsize::new(0),
            flaws,
        });
        let workers = owners
            .into_iter()
            .enumerate()
            .map(|(index, local)| Worker {
                index,
                local,
                local_capacity,
                rng: RefCell::new(XorShift64Star::from_index(index)),
                shared: shared.clone(),
            })
            .collect();
        (workers, Sender { shared })
    }
}

struct Shared<T: Word> {
    stealers: Vec<Stealer<T>>,
    global: Injector<T>,
    /// Moves from a deque to the global queue that have begun, ever.
    started: CachePadded<AtomicUsize>,
    /// Moves that have ended, ever.
    finished: AtomicUsize,
    flaws: Flaws<Flaw>,
}

/// One worker's end: sends to itself, receives from everywhere.
///
/// Like the [`Owner`] of a deque it can be moved to another thread but not shared.
///
/// ```
/// use blitz_primitives::DequeChannel;
///
/// let (workers, _sender) = DequeChannel::new().build::<usize>(1);
/// let worker = &workers[0];
/// worker.send(1).unwrap();
/// worker.send(2).unwrap();
/// assert_eq!((worker.index(), worker.local_len()), (0, 2));
/// assert_eq!(worker.recv(), Some(2)); // the newest
/// ```
pub struct Worker<T: Word> {
    index: usize,
    local: Owner<T>,
    local_capacity: usize,
    /// Where to begin stealing.
    rng: RefCell<XorShift64Star>,
    shared: Arc<Shared<T>>,
}

impl<T: Word> Worker<T> {
    /// This worker's number, from zero.
    ///
    /// ```
    /// let (workers, _sender) = blitz_primitives::DequeChannel::new().build::<usize>(2);
    /// assert_eq!(workers[1].index(), 1);
    /// ```
    pub fn index(&self) -> usize {
        self.index
    }

    /// The number of items in this worker's own deque.
    ///
    /// ```
    /// let (workers, _sender) = blitz_primitives::DequeChannel::new().build::<usize>(1);
    /// workers[0].send(5).unwrap();
    /// assert_eq!(workers[0].local_len(), 1);
    /// ```
    pub fn local_len(&self) -> usize {
        self.local.len()
    }

    /// Sends an item, to this worker's own deque in the first place.
    ///
    /// If the deque is full, its older half moves to the global queue first. If that is full too, the
    /// channel's policy applies.
    ///
    /// # Errors
    ///
    /// [`Full`], with the item, if both are full and the policy is [`FullPolicy::Refuse`].
    ///
    /// ```
    /// use blitz_primitives::{DequeChannel, Full};
    ///
    /// let tiny = DequeChannel::new().local_capacity(2).global_capacity(2);
    /// let (workers, _sender) = tiny.build::<usize>(1);
    /// let refused = (0..).find_map(|i| workers[0].send(i).err());
    /// assert_eq!(refused, Some(Full(4)));
    /// ```
    #[inline]
    pub fn send(&self, item: T) -> Result<(), Full<T>> {
        // Thieves only make it shorter, so room that we see is there.
        if self.local.len() < self.local_capacity || self.shed(self.shared.global.policy()) {
            self.local.push(item);
            return Ok(());
        }
        Err(Full(item))
    }

    /// Sends an item without ever waiting or growing, whatever the policy.
    ///
    /// # Errors
    ///
    /// [`Full`], with the item, if the deque and the global queue are full.
    ///
    /// ```
    /// use blitz_primitives::{DequeChannel, Full, FullPolicy};
    ///
    /// let blocking = DequeChannel::new().local_capacity(2).global_capacity(2).when_full(FullPolicy::Block);
    /// let (workers, _sender) = blocking.build::<usize>(1);
    /// (0..4).for_each(|item| workers[0].try_send(item).unwrap());
    /// // `send` would wait for another thread to receive something.
    /// assert_eq!(workers[0].try_send(4), Err(Full(4)));
    /// ```
    #[inline]
    pub fn try_send(&self, item: T) -> Result<(), Full<T>> {
        if self.local.len() < self.local_capacity || self.shed(FullPolicy::Refuse) {
            self.local.push(item);
            return Ok(());
        }
        Err(Full(item))
    }

    /// Moves the older half of the deque to the global queue. Tells whether there is room now.
    #[cold]
    fn shed(&self, policy: FullPolicy) -> bool {
        let shared = &*self.shared;
        // Relaxed: the compare-and-swap that takes an item out of the deque comes later and is a
        // release, see the head of the file.
        shared.started.fetch_add(1, Ordering::Relaxed);
        for _ in 0..self.local_capacity / 2 {
            // Look first: an item that has left the old end of the deque cannot go back there.
            let global = &shared.global;
            if policy == FullPolicy::Refuse && global.len() >= global.capacity() {
                break;
            }
            let Some(oldest) = self.local.pop_oldest() else {
                break;
            };
            let sent = if policy == FullPolicy::Refuse {
                global.try_push(oldest)
            } else {
                global.push(oldest)
            };
            if let Err(Full(oldest)) = sent {
                // Others filled the global queue in this very moment. The item has lost its place
                // and becomes the newest; its room is there since we took it out ourselves.
                self.local.push(oldest);
                break;
            }
        }
        // Release: a receiver that counts this move as finished sees what was moved.
        shared.finished.fetch_add(1, Ordering::Release);
        self.local.len() < self.local_capacity
    }

    /// Receives an item: the newest of this worker's own, else the oldest of the global queue, else
    /// the oldest of another worker, beginning with a random one. Does not wait.
    ///
    /// `None` means that there was nothing anywhere.
    ///
    /// ```
    /// use blitz_primitives::DequeChannel;
    ///
    /// let (workers, _sender) = DequeChannel::new().build::<usize>(3);
    /// workers[0].send(1).unwrap();
    /// workers[0].send(2).unwrap();
    /// assert_eq!(workers[2].recv(), Some(1)); // stolen
    /// assert_eq!(workers[0].recv(), Some(2));
    /// assert_eq!(workers[1].recv(), None);
    /// ```
    pub fn recv(&self) -> Option<T> {
        if let Some(item) = self.local.pop() {
            return Some(item);
        }
        let shared = &*self.shared;
        let mut wait = SpinWait::new();
        loop {
            let finished = shared.finished.load(Ordering::Acquire);
            if let Some(item) = shared.global.pop().or_else(|| self.steal()) {
                return Some(item);
            }
            // Relaxed: whatever kept an item from us was read by an acquire above.
            let started = shared.started.load(Ordering::Relaxed);
            if started == finished || shared.flaws.has(Flaw::IgnoreMoves) {
                return None;
            }
            wait.spin();
        }
    }

    /// Looks at every other worker once, round from a random start.
    fn steal(&self) -> Option<T> {
        let stealers = &self.shared.stealers;
        let start = self.rng.borrow_mut().below(stealers.len());
        let (before, from) = stealers.split_at(start);
        from.iter()
            .chain(before)
            .enumerate()
            .filter(|(offset, _)| (start + offset) % stealers.len() != self.index)
            .find_map(|(_, victim)| victim.steal_until_settled())
    }

    /// A handle for threads that are not workers.
    ///
    /// ```
    /// let (workers, _sender) = blitz_primitives::DequeChannel::new().build::<usize>(1);
    /// workers[0].sender().send(5).unwrap();
    /// assert_eq!(workers[0].recv(), Some(5));
    /// ```
    pub fn sender(&self) -> Sender<T> {
        Sender {
            shared: self.shared.clone(),
        }
    }
}

impl<T: Word> fmt::Debug for Worker<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("index", &self.index)
            .field("local_len", &self.local_len())
            .finish_non_exhaustive()
    }
}

/// The end for threads that are not workers: sends to the global queue. Clone it freely.
///
/// ```
/// use blitz_primitives::DequeChannel;
///
/// let (workers, sender) = DequeChannel::new().build::<Box<String>>(1);
/// let another = sender.clone();
/// std::thread::spawn(move || another.send(Box::new("hello".to_string()))).join().unwrap().unwrap();
/// assert_eq!(*workers[0].recv().unwrap(), "hello");
/// ```
pub struct Sender<T: Word> {
    shared: Arc<Shared<T>>,
}

impl<T: Word> Clone for Sender<T> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
        }
    }
}

impl<T: Word> Sender<T> {
    /// Sends an item to the global queue; if that is full, the channel's policy applies.
    ///
    /// # Errors
    ///
    /// [`Full`], with the item, if the policy is [`FullPolicy::Refuse`] and there is no room.
    ///
    /// ```
    /// let (workers, sender) = blitz_primitives::DequeChannel::new().build::<usize>(1);
    /// sender.send(1).unwrap();
    /// sender.send(2).unwrap();
    /// assert_eq!(workers[0].recv(), Some(1)); // the oldest
    /// ```
    pub fn send(&self, item: T) -> Result<(), Full<T>> {
        self.shared.global.push(item)
    }

    /// Sends an item without ever waiting or growing, whatever the policy.
    ///
    /// # Errors
    ///
    /// [`Full`], with the item, if there is no room.
    ///
    /// ```
    /// use blitz_primitives::{DequeChannel, Full};
    ///
    /// let (_workers, sender) = DequeChannel::new().global_capacity(2).build::<usize>(1);
    /// assert!(sender.try_send(1).is_ok() && sender.try_send(2).is_ok());
    /// assert_eq!(sender.try_send(3), Err(Full(3)));
    /// ```
    pub fn try_send(&self, item: T) -> Result<(), Full<T>> {
        self.shared.global.try_push(item)
    }

    /// The number of items in the global queue at some moment during the call.
    ///
    /// ```
    /// let (_workers, sender) = blitz_primitives::DequeChannel::new().build::<usize>(1);
    /// sender.send(1).unwrap();
    /// assert_eq!(sender.global_len(), 1);
    /// ```
    pub fn global_len(&self) -> usize {
        self.shared.global.len()
    }
}

impl<T: Word> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("global_len", &self.global_len())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
mod models;
