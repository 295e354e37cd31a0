//! The three counters of the sleep protocol in one word, so that they never disagree.
//!
//! ```text
//!   63            32 31      16 15       0
//!   |  jobs event   | inactive | sleeping |
//! ```
//!
//! * **sleeping**: threads registered as asleep. The sleeper adds itself, whoever wakes it removes it.
//! * **inactive**: threads without work, asleep or looking for it. So `inactive - sleeping` threads are
//!   awake and searching, and a new job need not wake anybody while there is one of them.
//! * **jobs event counter**: odd from the moment a thread announces that it gets sleepy until the next
//!   job is posted, even otherwise. Both edges count it up, so a thread that finds it unchanged since
//!   its own announcement knows that no job was posted in between, however long it took.
//!
//! Everything is `SeqCst`: the word is one side of store-then-load races with the queues (a poster
//! stores a job, then reads the word; a sleeper changes the word, then reads the queues).

use crate::sync::{AtomicU64, Ordering};

const ONE_SLEEPING: u64 = 1;
const ONE_INACTIVE: u64 = 1 << 16;
const ONE_EVENT: u64 = 1 << 32;
const FIELD: u64 = 0xFFFF;

/// A consistent reading of all three counters.
///
/// ```
/// use blitz_primitives::AtomicCounters;
///
/// let counters = AtomicCounters::new();
/// counters.add_inactive();
/// counters.add_inactive();
/// let announced = counters.announce_sleepy();
/// assert!(counters.try_add_sleeping(announced, 0));
///
/// // Two threads have no work. One of them sleeps, the other one looks.
/// let now = counters.load();
/// assert_eq!((now.inactive(), now.sleeping(), now.searching()), (2, 1, 1));
/// assert_eq!(now.events(), announced); // no job has been posted since
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Counters(u64);

impl Counters {
    /// Threads registered as asleep.
    ///
    /// ```
    /// assert_eq!(blitz_primitives::AtomicCounters::new().load().sleeping(), 0);
    /// ```
    #[inline]
    pub fn sleeping(self) -> usize {
        (self.0 & FIELD) as usize
    }

    /// Threads without work, asleep or not.
    ///
    /// ```
    /// let counters = blitz_primitives::AtomicCounters::new();
    /// counters.add_inactive();
    /// assert_eq!(counters.load().inactive(), 1);
    /// ```
    #[inline]
    pub fn inactive(self) -> usize {
        (self.0 >> 16 & FIELD) as usize
    }

    /// Threads that are awake and looking for work.
    ///
    /// ```
    /// let counters = blitz_primitives::AtomicCounters::new();
    /// counters.add_inactive();
    /// assert_eq!(counters.load().searching(), 1); // without work, and awake
    /// ```
    #[inline]
    pub fn searching(self) -> usize {
        // Saturating, because a thread that is woken has been taken out of `sleeping` before it has
        // done anything, and one that falls asleep is in both.
        self.inactive().saturating_sub(self.sleeping())
    }

    /// The jobs event counter.
    ///
    /// ```
    /// let counters = blitz_primitives::AtomicCounters::new();
    /// let before = counters.load().events();
    /// assert_eq!(counters.announce_sleepy(), before + 1);
    /// ```
    #[inline]
    pub fn events(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline]
    fn is_sleepy(self) -> bool {
        self.events() & 1 == 1
    }
}

impl std::fmt::Debug for Counters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Counters")
            .field("sleeping", &self.sleeping())
            .field("inactive", &self.inactive())
            .field("events", &self.events())
            .finish()
    }
}

/// The packed word and its transitions.
///
/// ```
/// use blitz_primitives::AtomicCounters;
///
/// let counters = AtomicCounters::new();
/// counters.add_inactive();
/// let announced = counters.announce_sleepy();
/// counters.post_event(); // a job arrives ...
/// assert!(!counters.try_add_sleeping(announced, 0)); // ... so nobody falls asleep
/// ```
#[derive(Debug)]
pub struct AtomicCounters {
    word: AtomicU64,
}

impl AtomicCounters {
    /// All zero.
    ///
    /// ```
    /// let now = blitz_primitives::AtomicCounters::new().load();
    /// assert_eq!((now.inactive(), now.sleeping(), now.events()), (0, 0, 0));
    /// ```
    #[inline]
    pub fn new() -> Self {
        AtomicCounters {
            word: AtomicU64::new(0),
        }
    }

    /// A consistent reading.
    ///
    /// ```
    /// let counters = blitz_primitives::AtomicCounters::new();
    /// counters.add_inactive();
    /// let then = counters.load();
    /// counters.sub_inactive();
    /// assert_eq!(then.inactive(), 1); // as it was
    /// ```
    #[inline]
    pub fn load(&self) -> Counters {
        Counters(self.word.load(Ordering::SeqCst))
    }

    /// A thread runs out of work.
    ///
    /// ```
    /// let counters = blitz_primitives::AtomicCounters::new();
    /// counters.add_inactive();
    /// assert_eq!(counters.load().inactive(), 1);
    /// ```
    #[inline]
    pub fn add_inactive(&self) {
        self.word.fetch_add(ONE_INACTIVE, Ordering::SeqCst);
    }

    /// A thread has work again. Returns the counters without it, as they were at that moment: of several threads that leave
    /// at the same time, exactly one is the last.
    ///
    /// ```
    /// let counters = blitz_primitives::AtomicCounters::new();
    /// counters.add_inactive();
    /// counters.add_inactive();
    /// assert_eq!(counters.sub_inactive().searching(), 1);
    /// assert_eq!(counters.sub_inactive().searching(), 0); // the last one that looked
    /// ```
    #[inline]
    pub fn sub_inactive(&self) -> Counters {
        let before = Counters(self.word.fetch_sub(ONE_INACTIVE, Ordering::SeqCst));
        debug_assert!(before.inactive() > 0, "more threads active than exist");
        Counters(before.0.wrapping_sub(ONE_INACTIVE))
    }

    /// A thread gets sleepy: makes the event counter odd. Returns the counter to compare later.
    ///
    /// ```
    /// let counters = blitz_primitives::AtomicCounters::new();
    /// let announced = counters.announce_sleepy();
    /// assert_eq!(announced % 2, 1);
    /// assert_eq!(counters.announce_sleepy(), announced); // somebody else is sleepy already
    /// ```
    #[inline]
    pub fn announce_sleepy(&self) -> u32 {
        self.flip(false).events()
    }

    /// A job has been posted: makes the event counter even, so that sleepy threads look again.
    /// Costs one load while nobody is sleepy. Returns the counters as they are then.
    ///
    /// ```
    /// let counters = blitz_primitives::AtomicCounters::new();
    /// let announced = counters.announce_sleepy();
    /// assert_eq!(counters.post_event().events(), announced + 1);
    /// assert_eq!(counters.post_event().events(), announced + 1); // nobody is sleepy any more
    /// ```
    #[inline]
    pub fn post_event(&self) -> Counters {
        let now = self.load();
        if now.is_sleepy() {
            self.flip(true)
        } else {
            now
        }
    }

    /// Makes the counter's "sleepy" differ from `sleepy`.
    #[cold]
    fn flip(&self, sleepy: bool) -> Counters {
        let mut now = self.load();
        while now.is_sleepy() == sleepy {
            // Wraps at the top of the word after 2^32 events, which changes no other field.
            let next = now.0.wrapping_add(ONE_EVENT);
            match self
                .word
                .compare_exchange(now.0, next, Ordering::SeqCst, Ordering::SeqCst)
            {
                Ok(_) => return Counters(next),
                Err(changed) => now = Counters(changed),
            }
        }
        now
    }

    /// A thread registers as asleep, unless a job has been posted since it announced itself with
    /// `announced`, or fewer than `least` threads (itself included) are searching.
    ///
    /// ```
    /// let counters = blitz_primitives::AtomicCounters::new();
    /// counters.add_inactive();
    /// let announced = counters.announce_sleepy();
    /// assert!(!counters.try_add_sleeping(announced, 2)); // two threads are to go on looking
    /// assert!(counters.try_add_sleeping(announced, 1));
    /// ```
    #[inline]
    pub fn try_add_sleeping(&self, announced: u32, least: usize) -> bool {
        let mut now = self.load();
        while now.events() == announced && now.searching() >= least {
            match self.word.compare_exchange(
                now.0,
                now.0 + ONE_SLEEPING,
                Ordering::SeqCst,
                Ordering::SeqCst,
            ) {
                Ok(_) => return true,
                Err(changed) => now = Counters(changed),
            }
        }
        false
    }

    /// Whoever ends a thread's sleep takes it out of the count.
    ///
    /// ```
    /// let counters = blitz_primitives::AtomicCounters::new();
    /// let announced = counters.announce_sleepy();
    /// assert!(counters.try_add_sleeping(announced, 0));
    /// counters.sub_sleeping(); // by whoever wakes it
    /// assert_eq!(counters.load().sleeping(), 0);
    /// ```
    #[inline]
    pub fn sub_sleeping(&self) {
        let before = Counters(self.word.fetch_sub(ONE_SLEEPING, Ordering::SeqCst));
        debug_assert!(before.sleeping() > 0, "more threads woken than slept");
    }
}

impl Default for AtomicCounters {
    fn default() -> Self {
        Self::new()
    }
}
