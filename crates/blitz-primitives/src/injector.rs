//! The door through which work enters from outside: a first-in, first-out queue that any thread
//! may push to and any thread may pop from.
//!
//! The normal path is a bounded ring (`ring.rs`), one compare-and-swap per operation. What happens when the ring is full is the [`FullPolicy`]:
//!
//! * [`Grow`](FullPolicy::Grow) spills into a list behind a mutex; the queue is unbounded.
//! * [`Block`](FullPolicy::Block) makes `push` wait for room, asleep.
//! * [`Refuse`](FullPolicy::Refuse) gives the element back.
//!
//! # What it guarantees
//!
//! * Every element comes out once, by one `pop` or by the final drop.
//! * The elements of one producer come out in the order it pushed them.
//! * `is_empty` never says "empty", and `pop` never returns `None`, while an element is in the queue
//!   whose push happened before the call. A scheduler may therefore announce that it is about to
//!   sleep, fence (`SeqCst`), look once more, and sleep; a producer pushes, fences, and looks for
//!   sleepers. One of the two sees the other.
//!
//! # Why it is correct
//!
//! `spilled` counts the elements in the list and is changed under the list's lock only. It is raised
//! before the lock is released, and lowered after an element that moves from the list to the ring is
//! in the ring.
//!
//! *Nothing is overlooked.* Elements only ever move from the list to the ring. `pop` and `is_empty`
//! read `spilled` (acquire) *first* and look into the ring *afterwards*. If they read a positive
//! number, they go and look into the list. If they read zero, then every element whose push happened
//! before was either put into the ring by its producer, or moved there before somebody stored
//! that zero with release: the ring's `tail` shows it. The other way around (ring first, then
//! `spilled`) an element could slip from list to ring between the two looks.
//!
//! *One producer's order.* A producer goes to the ring only if it reads `spilled == 0`, i.e. if none of
//! its earlier elements is in the list; so within the ring its elements are in order, and what is in
//! the list is younger than what is in the ring. A consumer takes from the list only under the lock
//! and only after finding the ring empty *under that lock*: whatever of the same producer is
//! older than the head of the list was in the ring before the head was spilled, hence is gone.
//!
//! *No blocked producer is forgotten.* A producer that found the ring full registers in `waiters`,
//! reads the event number, fences, tries once more and then sleeps on that event number. A
//! consumer that has made room fences and, if anybody is registered, raises the event number and
//! wakes one. If the consumer's fence is first, the producer's last try finds the room; if the
//! producer's is first, the consumer sees it registered, and either the raised number keeps the
//! producer from falling asleep or the wake reaches it. Each pop frees one cell and wakes one.

use std::collections::VecDeque;
use std::fmt;
use std::sync::PoisonError;

use crate::flaw::Flaws;
use crate::futex;
use crate::ring::{Ring, RingFlaw};
use crate::spin_wait::SpinWait;
use crate::sync::{AtomicU32, AtomicUsize, Mutex, Ordering, fence};

/// Cells of the ring of an injector made by [`Injector::new`].
pub const DEFAULT_CAPACITY: usize = if cfg!(loom) { 2 } else { 4096 };

/// What [`Injector::push`] does when the ring is full.
///
/// ```
/// use blitz_primitives::{FullPolicy, Injector};
///
/// let growing = Injector::with_capacity(2, FullPolicy::Grow);
/// let refusing = Injector::with_capacity(2, FullPolicy::Refuse);
/// let fits = |queue: &Injector<u32>| (0..10).filter(|&item| queue.push(item).is_ok()).count();
/// assert_eq!((fits(&growing), fits(&refusing)), (10, 2));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FullPolicy {
    /// Take the element anyway: the queue is unbounded. Pushes that find the ring full, and all
    /// that follow until the surplus is gone, take a lock.
    #[default]
    Grow,
    /// Wait until there is room. The waiting thread spins for some microseconds, then sleeps.
    Block,
    /// Fail with [`Full`].
    Refuse,
}

/// The queue was full; here is your element back.
///
/// ```
/// use blitz_primitives::{Full, FullPolicy, Injector};
///
/// let queue = Injector::with_capacity(2, FullPolicy::Refuse);
/// queue.push("a").unwrap();
/// queue.push("b").unwrap();
/// let Full(back) = queue.push("c").unwrap_err();
/// assert_eq!(back, "c");
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Full<T>(pub T);

impl<T> Full<T> {
    /// The element that did not fit.
    ///
    /// ```
    /// use blitz_primitives::Full;
    ///
    /// assert_eq!(Full("too much").into_inner(), "too much");
    /// ```
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> fmt::Debug for Full<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Full(..)")
    }
}

impl<T> fmt::Display for Full<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the queue is full")
    }
}

impl<T> std::error::Error for Full<T> {}

/// What an injector without one of its pillars would do; see [`Flaws`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flaw {
    /// Look into the ring first and at `spilled` afterwards.
    SpilledReadLate,
    /// Take from the list without looking into the ring under the lock.
    RingNotReexamined,
    /// Producers go to the ring although the list is not empty.
    OvertakeSpilled,
    /// A producer sleeps without a last try.
    SleepWithoutLastTry,
    /// A consumer looks for blocked producers without a fence.
    NoFenceAfterPop,
}

/// A many-producer, many-consumer queue with a choice of what to do when it is full.
///
/// ```
/// use blitz_primitives::Injector;
///
/// let queue = Injector::new();
/// std::thread::scope(|threads| {
///     for producer in 0..4 {
///         let queue = &queue;
///         threads.spawn(move || {
///             for i in 0..100 {
///                 queue.push(producer * 100 + i).unwrap(); // a growing queue is never full
///             }
///         });
///     }
/// });
/// assert_eq!(queue.len(), 400);
/// let mut all: Vec<i32> = std::iter::from_fn(|| queue.pop()).collect();
/// all.sort();
/// assert!(all.into_iter().eq(0..400));
/// ```
pub struct Injector<T> {
    ring: Ring<T>,
    policy: FullPolicy,
    /// Number of elements in `surplus`, kept beside it to be read without the lock.
    spilled: AtomicUsize,
    /// Elements that found the ring full, oldest first.
    surplus: Mutex<VecDeque<T>>,
    /// Producers that are, or are about to be, asleep because the ring is full.
    waiters: AtomicU32,
    /// Raised when there is room for a registered producer. Producers sleep on it.
    room_event: AtomicU32,
    flaws: Flaws<Flaw>,
}

impl<T> Default for Injector<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Injector<T> {
    /// An unbounded queue: [`DEFAULT_CAPACITY`] cells, and [`FullPolicy::Grow`] beyond that.
    ///
    /// ```
    /// let queue = blitz_primitives::Injector::new();
    /// assert!((0..10_000).all(|item| queue.push(item).is_ok()));
    /// ```
    pub fn new() -> Self {
        Self::with_capacity(DEFAULT_CAPACITY, FullPolicy::Grow)
    }

    /// A queue with room for `capacity` elements (rounded up to a power of two, at least two) in
    /// its ring, all of it allocated now.
    ///
    /// ```
    /// use blitz_primitives::{FullPolicy, Injector};
    /// let queue = Injector::<u8>::with_capacity(100, FullPolicy::Block);
    /// assert_eq!(queue.capacity(), 128);
    /// ```
    pub fn with_capacity(capacity: usize, policy: FullPolicy) -> Self {
        Self::with_flaws(capacity, policy, Flaws::NONE, Flaws::NONE)
    }

    fn with_flaws(
        capacity: usize,
        policy: FullPolicy,
        flaws: Flaws<Flaw>,
        ring_flaws: Flaws<RingFlaw>,
    ) -> Self {
        Self {
            ring: Ring::new(capacity, ring_flaws),
            policy,
            spilled: AtomicUsize::new(0),
            surplus: Mutex::new(VecDeque::new()),
            waiters: AtomicU32::new(0),
            room_event: AtomicU32::new(0),
            flaws,
        }
    }

    /// The number of elements that fit into the ring.
    ///
    /// ```
    /// use blitz_primitives::{FullPolicy, Injector};
    ///
    /// assert_eq!(Injector::<u8>::with_capacity(5, FullPolicy::Grow).capacity(), 8);
    /// ```
    pub fn capacity(&self) -> usize {
        self.ring.capacity()
    }

    /// What `push` does when the ring is full.
    ///
    /// ```
    /// use blitz_primitives::{FullPolicy, Injector};
    ///
    /// assert_eq!(Injector::<u8>::new().policy(), FullPolicy::Grow);
    /// ```
    pub fn policy(&self) -> FullPolicy {
        self.policy
    }

    /// Appends an element; a full ring is dealt with according to the policy.
    ///
    /// Costs one compare-and-swap as long as there is room.
    ///
    /// # Errors
    ///
    /// [`Full`] if the ring is full and the policy is [`FullPolicy::Refuse`]. Never with the other
    /// policies.
    ///
    /// ```
    /// use blitz_primitives::{FullPolicy, Injector};
    ///
    /// let queue = Injector::with_capacity(2, FullPolicy::Block);
    /// let sum: u32 = std::thread::scope(|threads| {
    ///     threads.spawn(|| (1..=100).for_each(|item| queue.push(item).unwrap())); // waits for room
    ///     let items = std::iter::repeat_with(|| queue.pop()).flatten();
    ///     items.take(100).sum()
    /// });
    /// assert_eq!(sum, 5050);
    /// ```
    #[inline]
    pub fn push(&self, element: T) -> Result<(), Full<T>> {
        match self.try_push(element) {
            Ok(()) => Ok(()),
            Err(full) => self.push_to_full(full),
        }
    }

    #[cold]
    fn push_to_full(&self, Full(element): Full<T>) -> Result<(), Full<T>> {
        match self.policy {
            FullPolicy::Grow => self.spill(element),
            FullPolicy::Block => self.push_when_there_is_room(element),
            FullPolicy::Refuse => return Err(Full(element)),
        }
        Ok(())
    }

    /// Appends an element if there is room in the ring, whatever the policy.
    ///
    /// # Errors
    ///
    /// [`Full`] if there is none, or if older elements are still waiting for room.
    ///
    /// ```
    /// use blitz_primitives::{Full, FullPolicy, Injector};
    /// let queue = Injector::with_capacity(2, FullPolicy::Grow);
    /// assert!(queue.try_push(1).is_ok() && queue.try_push(2).is_ok());
    /// assert_eq!(queue.try_push(3), Err(Full(3)));
    /// assert!(queue.push(3).is_ok()); // spills
    /// ```
    #[inline]
    pub fn try_push(&self, element: T) -> Result<(), Full<T>> {
        // Acquire: if this zero was stored after moving our own earlier element to the ring, the
        // ring must not look to us as if that element was not there yet.
        if self.policy == FullPolicy::Grow
            && self.spilled.load(Ordering::Acquire) != 0
            && !self.flaws.has(Flaw::OvertakeSpilled)
        {
            return Err(Full(element));
        }
        self.ring.try_push(element).map_err(Full)
    }

    fn spill(&self, element: T) {
        let mut surplus = self.surplus.lock().unwrap_or_else(PoisonError::into_inner);
        // Consumers may have drained ring and list while we waited for the lock.
        let element = if surplus.is_empty() {
            match self.ring.try_push(element) {
                Ok(()) => return,
                Err(element) => element,
            }
        } else {
            element
        };
        surplus.push_back(element);
        // Release pairs with the acquire loads; relaxed readers of the list itself hold the lock.
        self.spilled.store(surplus.len(), Ordering::Release);
    }

    fn push_when_there_is_room(&self, mut element: T) {
        let mut spin = SpinWait::new();
        loop {
            if spin.would_yield() {
                match self.try_or_sleep(element) {
                    Ok(()) => return,
                    Err(back) => element = back,
                }
            } else {
                spin.spin();
            }
            match self.ring.try_push(element) {
                Ok(()) => return,
                Err(back) => element = back,
            }
        }
    }

    /// Registers as waiting, tries a last time, and sleeps until somebody has made room.
    fn try_or_sleep(&self, element: T) -> Result<(), T> {
        self.waiters.fetch_add(1, Ordering::Relaxed);
        let event = self.room_event.load(Ordering::Relaxed);
        // Orders the registration before the last look at the ring; pairs with the fence in `pop`.
        // With less, both sides could miss each other and the producer would sleep for ever
        // beside a free cell.
        fence(Ordering::SeqCst);
        let result = if self.flaws.has(Flaw::SleepWithoutLastTry) {
            Err(element)
        } else {
            self.ring.try_push(element)
        };
        if result.is_err() {
            futex::wait(&self.room_event, event);
        }
        self.waiters.fetch_sub(1, Ordering::Relaxed);
        result
    }

    /// Takes the oldest element.
    ///
    /// Costs one compare-and-swap; under [`FullPolicy::Block`] also a fence, and a wake-up if a
    /// producer waits for room.
    ///
    /// ```
    /// let queue = blitz_primitives::Injector::new();
    /// queue.push(1).unwrap();
    /// queue.push(2).unwrap();
    /// assert_eq!(queue.pop(), Some(1));
    /// assert_eq!(queue.pop(), Some(2));
    /// assert_eq!(queue.pop(), None);
    /// ```
    #[inline]
    pub fn pop(&self) -> Option<T> {
        match self.policy {
            FullPolicy::Refuse => self.ring.try_pop(),
            FullPolicy::Grow => self.pop_growing(),
            FullPolicy::Block => {
                let element = self.ring.try_pop()?;
                self.announce_room();
                Some(element)
            }
        }
    }

    /// [`Injector::pop`] for callers who know that there is an element for each of them: as many have been pushed as are ever popped. Another one may have
    /// taken the caller's, and the one that is left instead may be a moment away from being seen.
    #[doc(hidden)]
    pub fn pop_promised(&self) -> T {
        let mut spin = SpinWait::new();
        loop {
            if let Some(element) = self.pop() {
                return element;
            }
            spin.spin();
        }
    }

    #[inline]
    fn pop_growing(&self) -> Option<T> {
        // Acquire, and before looking into the ring: see the head of the file.
        let mut spilled = self.spilled.load(Ordering::Acquire);
        let popped = self.ring.try_pop();
        if self.flaws.has(Flaw::SpilledReadLate) {
            spilled = self.spilled.load(Ordering::Acquire);
        }
        if popped.is_some() || spilled == 0 {
            return popped;
        }
        self.pop_surplus()
    }

    /// The ring looked empty while the list was not: takes the oldest element and refills the ring.
    #[cold]
    fn pop_surplus(&self) -> Option<T> {
        let mut surplus = self.surplus.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.flaws.has(Flaw::RingNotReexamined) {
            // Somebody may have refilled the ring, or filled ring and list from nothing, since we
            // looked. Only an empty ring entitles us to the head of the list.
            if let Some(element) = self.ring.try_pop() {
                return Some(element);
            }
        }
        let oldest = surplus.pop_front();
        // Move on as much as fits, so that the next pops need no lock.
        while let Some(element) = surplus.pop_front() {
            if let Err(element) = self.ring.try_push(element) {
                surplus.push_front(element);
                break;
            }
        }
        // Release, after the moves: whoever reads the lower number sees the elements in the ring.
        self.spilled.store(surplus.len(), Ordering::Release);
        oldest
    }

    /// Wakes one producer that waits for the room that was just made, if there is one.
    #[inline]
    fn announce_room(&self) {
        if !self.flaws.has(Flaw::NoFenceAfterPop) {
            // Orders the freed cell before the look at `waiters`; pairs with `try_or_sleep`.
            fence(Ordering::SeqCst);
        }
        if self.waiters.load(Ordering::Relaxed) != 0 {
            self.room_event.fetch_add(1, Ordering::Relaxed);
            futex::wake_one(&self.room_event);
        }
    }

    /// The number of elements. A snapshot: exact only while nobody pushes or pops.
    ///
    /// ```
    /// let queue = blitz_primitives::Injector::new();
    /// queue.push('a').unwrap();
    /// assert_eq!(queue.len(), 1);
    /// ```
    pub fn len(&self) -> usize {
        let spilled = self.spilled.load(Ordering::Acquire);
        self.ring.len() + spilled
    }

    /// Whether there is nothing to pop.
    ///
    /// Never `true` while an element is in the queue whose push happened before the call.
    ///
    /// ```
    /// let queue = blitz_primitives::Injector::new();
    /// assert!(queue.is_empty());
    /// queue.push(1).unwrap();
    /// assert!(!queue.is_empty());
    /// ```
    #[inline]
    pub fn is_empty(&self) -> bool {
        // In this order: see the head of the file.
        self.spilled.load(Ordering::Acquire) == 0 && self.ring.is_empty()
    }
}

impl<T> fmt::Debug for Injector<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Injector")
            .field("len", &self.len())
            .field("capacity", &self.capacity())
            .field("policy", &self.policy)
            .finish()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
mod models;
