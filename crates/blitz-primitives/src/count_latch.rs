//! A gate that opens when a count reaches zero.
//!
//! The word holds the count in its low 31 bits and "somebody may be asleep" in the top bit.
//! Counting is one atomic addition or subtraction; the last one down wakes the waiters, and makes a
//! system call only if the top bit says that there is somebody to wake.
//!
//! # Why it is correct
//!
//! * *Visibility.* Every `count_down` is a release, and all changes of the word are
//!   read-modify-writes, so each of them is part of the release sequence of all before it. The
//!   waiter's acquire load of "zero" therefore sees what happened before *every* `count_down`.
//! * *No lost wake-up.* A waiter sets the top bit with a compare-and-swap from a value that is not
//!   zero, and sleeps on the word with that bit. The last `count_down` gets the bit as part of the old
//!   value if the swap came first; if it came second, the swap fails. Counts that change in
//!   between make the futex return at once, and the waiter looks again.
//! * *Nothing is touched after zero.* The subtraction that reaches zero is the last access; the wake-up
//!   that follows uses the address as a name. A waiter may free the latch as soon as it sees zero:
//!   [`CountLatch::count_down_raw`].

use crate::flaw::Flaws;
use crate::futex;
use crate::spin_wait::SpinWait;
use crate::sync::{AtomicU32, Ordering};

/// Set by a waiter before it sleeps; never cleared, which costs one idle system call at most when a
/// latch is used again.
const ASLEEP: u32 = 1 << 31;
/// The bits that count.
const COUNT: u32 = ASLEEP - 1;

/// What a latch without one of its pillars would do; see [`Flaws`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flaw {
    /// `count_down` does not publish what happened before it.
    RelaxedCountDown,
    /// The waiter sets its bit with a load and a store.
    AnnounceInTwoSteps,
    /// The waiter sleeps without setting its bit.
    SleepUnannounced,
    /// `count_down` looks for sleepers in a second step.
    LookAfterCounting,
}

/// Counts events that are still to come, and lets threads wait until there are none.
///
/// ```
/// use blitz_primitives::CountLatch;
///
/// let latch = CountLatch::new(3);
/// std::thread::scope(|threads| {
///     for _ in 0..3 {
///         threads.spawn(|| latch.count_down());
///     }
///     latch.wait();
///     assert!(latch.is_done());
/// });
/// ```
///
/// A latch may start at zero and be counted up before each task is handed out. Counting up *from zero*
/// while somebody waits is a race of the caller's making: the waiter may or may not have seen the
/// zero. Keep one count for yourself until everything is handed out.
#[derive(Debug)]
pub struct CountLatch {
    word: AtomicU32,
    flaws: Flaws<Flaw>,
}

impl CountLatch {
    /// The highest possible count.
    pub const MAX: u32 = COUNT;

    /// A latch that opens after `count` calls of [`count_down`](Self::count_down). With zero it
    /// is open.
    ///
    /// # Panics
    ///
    /// If `count` exceeds [`CountLatch::MAX`].
    ///
    /// ```
    /// use blitz_primitives::CountLatch;
    ///
    /// assert!(CountLatch::new(0).is_done());
    /// assert!(!CountLatch::new(1).is_done());
    /// ```
    #[inline]
    pub fn new(count: u32) -> Self {
        Self::with_flaws(count, Flaws::NONE)
    }

    #[inline]
    fn with_flaws(count: u32, flaws: Flaws<Flaw>) -> Self {
        assert!(count <= Self::MAX, "the count of a latch has 31 bits");
        Self {
            word: AtomicU32::new(count),
            flaws,
        }
    }

    /// Announces one more event.
    ///
    /// ```
    /// let latch = blitz_primitives::CountLatch::new(0);
    /// latch.count_up();
    /// assert!(!latch.is_done());
    /// latch.count_down();
    /// assert!(latch.is_done());
    /// ```
    ///
    /// # Panics
    ///
    /// If the count is at [`CountLatch::MAX`].
    #[inline]
    pub fn count_up(&self) {
        // Relaxed: it publishes nothing, and the caller keeps the count from reaching zero until
        // then. Being a read-modify-write it does not break the release sequence.
        let before = self.word.fetch_add(1, Ordering::Relaxed);
        if before & COUNT == COUNT {
            self.word.fetch_sub(1, Ordering::Relaxed);
            panic!("the count of a latch has 31 bits");
        }
    }

    /// Reports one event as done; the last one wakes the waiters.
    ///
    /// One atomic subtraction, plus one system call if it was the last and somebody sleeps. If a waiter
    /// may free the latch as soon as it is done, use [`count_down_raw`](Self::count_down_raw).
    ///
    /// # Panics
    ///
    /// If the count is zero already.
    ///
    /// ```
    /// let latch = blitz_primitives::CountLatch::new(2);
    /// latch.count_down();
    /// latch.count_down();
    /// latch.wait(); // returns at once
    /// ```
    #[inline]
    pub fn count_down(&self) {
        // SAFETY: the caller's borrow keeps the latch alive.
        unsafe { Self::count_down_raw(self) };
    }

    /// Reports one event as done, although the latch may be freed as soon as the count is zero.
    ///
    /// # Safety
    ///
    /// `this` points to a latch that is alive until its count reaches zero, and the count includes
    /// the event that is reported.
    ///
    /// # Panics
    ///
    /// If the count is zero already and the latch is alive nevertheless.
    ///
    /// ```
    /// use blitz_primitives::CountLatch;
    ///
    /// struct Part(*const CountLatch);
    /// // SAFETY: a latch may be used from any thread.
    /// unsafe impl Send for Part {}
    ///
    /// let worker = {
    ///     let latch = CountLatch::new(1);
    ///     let part = Part(&latch);
    ///     // SAFETY: the latch lives until the count is zero, because we wait for that.
    ///     let worker = std::thread::spawn(move || unsafe { CountLatch::count_down_raw({ part }.0) });
    ///     latch.wait();
    ///     worker // the latch is gone here, perhaps before the other thread leaves `count_down_raw`
    /// };
    /// worker.join().unwrap();
    /// ```
    #[inline]
    pub unsafe fn count_down_raw(this: *const Self) {
        // SAFETY: alive until the subtraction below, which accounts for our own event.
        let flaws = unsafe { (*this).flaws };
        // SAFETY: as above. Only the address of the field is formed.
        let word = unsafe { &raw const (*this).word };
        // Release publishes what came before. Nothing is read afterwards, so no acquire.
        let order = if flaws.has(Flaw::RelaxedCountDown) {
            Ordering::Relaxed
        } else {
            Ordering::Release
        };
        // SAFETY: alive until this very subtraction; the reference it takes covers an atomic only,
        // and such references make no promise to stay valid until the call ends.
        let mut before = unsafe { (*word).fetch_sub(1, order) };
        if flaws.has(Flaw::LookAfterCounting) {
            // SAFETY: none in general; the models that use this keep the latch alive.
            before = (before & COUNT) | unsafe { (*word).load(Ordering::Relaxed) } & ASLEEP;
        }
        if before & COUNT <= 1 {
            // SAFETY: passes on this function's contract for the case that needs it.
            unsafe { Self::reached_zero(word, before) };
        }
    }

    /// # Safety
    ///
    /// If the count in `before` is zero, `word` is alive.
    #[cold]
    unsafe fn reached_zero(word: *const AtomicU32, before: u32) {
        if before & COUNT == 0 {
            // SAFETY: alive by contract. The subtraction has wrapped; undo it.
            unsafe { (*word).fetch_add(1, Ordering::Relaxed) };
            panic!("a latch was counted down more often than up");
        }
        if before & ASLEEP != 0 {
            futex::wake_all(word);
        }
    }

    /// The number of events that are still to come.
    ///
    /// ```
    /// let latch = blitz_primitives::CountLatch::new(3);
    /// latch.count_down();
    /// assert_eq!(latch.count(), 2);
    /// ```
    #[inline]
    pub fn count(&self) -> u32 {
        self.word.load(Ordering::Acquire) & COUNT
    }

    /// Whether the count is zero. If so, everything before each `count_down` is visible.
    ///
    /// ```
    /// let latch = blitz_primitives::CountLatch::new(1);
    /// assert!(!latch.is_done());
    /// latch.count_down();
    /// assert!(latch.is_done());
    /// ```
    #[inline]
    pub fn is_done(&self) -> bool {
        self.count() == 0
    }

    /// Blocks until the count is zero. Spins first ([`SpinWait`]), then sleeps.
    ///
    /// ```
    /// use blitz_primitives::CountLatch;
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// let (latch, sum) = (CountLatch::new(4), AtomicU32::new(0));
    /// std::thread::scope(|threads| {
    ///     for part in 1..=4 {
    ///         let (latch, sum) = (&latch, &sum);
    ///         threads.spawn(move || {
    ///             sum.fetch_add(part, Ordering::Relaxed);
    ///             latch.count_down();
    ///         });
    ///     }
    ///     latch.wait();
    ///     assert_eq!(sum.load(Ordering::Relaxed), 10);
    /// });
    /// ```
    pub fn wait(&self) {
        let mut spin = SpinWait::new();
        while !self.is_done() {
            if spin.would_yield() {
                return self.sleep_until_done();
            }
            spin.spin();
        }
    }

    #[cold]
    fn sleep_until_done(&self) {
        loop {
            let seen = self.word.load(Ordering::Acquire);
            if seen & COUNT == 0 {
                return;
            }
            if let Some(announced) = self.announce(seen) {
                futex::wait(&self.word, announced);
            }
        }
    }

    /// Sets the sleeper's bit and returns the word to sleep on, or `None` if the count moved.
    fn announce(&self, seen: u32) -> Option<u32> {
        if seen & ASLEEP != 0 || self.flaws.has(Flaw::SleepUnannounced) {
            return Some(seen);
        }
        let announced = seen | ASLEEP;
        if self.flaws.has(Flaw::AnnounceInTwoSteps) {
            self.word.store(announced, Ordering::Relaxed);
            return Some(announced);
        }
        // Relaxed: publishes nothing, continues the release sequence.
        self.word
            .compare_exchange(seen, announced, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
            .then_some(announced)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::panic::catch_unwind;
    use std::sync::atomic::AtomicUsize;
    use std::thread;

    #[test]
    fn it_is_done_exactly_when_the_count_is_zero() {
        let latch = CountLatch::new(2);
        latch.count_up();
        for left in (0..3).rev() {
            assert!(!latch.is_done());
            latch.count_down();
            assert_eq!(latch.count(), left);
        }
        assert!(latch.is_done());
        latch.wait();
        assert!(CountLatch::new(0).is_done());
    }

    #[test]
    fn counting_below_zero_panics_and_leaves_the_latch_done() {
        let latch = CountLatch::new(0);
        assert!(catch_unwind(|| latch.count_down()).is_err());
        assert!(latch.is_done());
    }

    #[test]
    fn counting_beyond_the_maximum_panics_and_leaves_the_count_alone() {
        let latch = CountLatch::new(CountLatch::MAX);
        assert!(catch_unwind(|| latch.count_up()).is_err());
        assert_eq!(latch.count(), CountLatch::MAX);
        assert!(catch_unwind(|| CountLatch::new(CountLatch::MAX + 1)).is_err());
    }

    #[test]
    fn waiters_see_what_every_counting_thread_wrote() {
        for _ in 0..50 {
            let latch = CountLatch::new(3);
            let written = AtomicUsize::new(0);
            thread::scope(|threads| {
                for _ in 0..3 {
                    threads.spawn(|| {
                        written.fetch_add(1, Ordering::Relaxed);
                        latch.count_down();
                    });
                }
                for _ in 0..2 {
                    threads.spawn(|| {
                        latch.wait();
                        assert_eq!(written.load(Ordering::Relaxed), 3);
                    });
                }
            });
        }
    }

    #[test]
    fn a_sleeping_waiter_is_woken_by_the_last_count_only() {
        let latch = CountLatch::new(2);
        thread::scope(|threads| {
            let waiter = threads.spawn(|| latch.wait());
            while latch.word.load(Ordering::Relaxed) & ASLEEP == 0 {
                thread::yield_now();
            }
            latch.count_down();
            assert!(!latch.is_done() && !waiter.is_finished());
            latch.count_down();
        });
        // The bit left behind by the sleeper does not disturb the next round.
        latch.count_up();
        assert!(!latch.is_done());
        latch.count_down();
        latch.wait();
    }

    #[test]
    fn the_frame_of_a_latch_may_die_as_soon_as_it_is_done() {
        struct Gate(*const CountLatch);
        // SAFETY: latches are for sharing between threads.
        unsafe impl Send for Gate {}

        let threads: Vec<_> = (0..150)
            .flat_map(|_| {
                let latch = Box::new(CountLatch::new(2));
                let spawn = || {
                    let gate = Gate(&*latch);
                    thread::spawn(move || {
                        let gate = gate;
                        // SAFETY: the box is freed after zero was seen, and we are one of the two.
                        unsafe { CountLatch::count_down_raw(gate.0) }
                    })
                };
                let threads = [spawn(), spawn()];
                latch.wait();
                drop(latch);
                threads
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    }
}

#[cfg(all(test, loom))]
mod models;
