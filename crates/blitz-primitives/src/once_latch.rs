//! A gate that opens once: any number of threads wait, one thread opens it.
//!
//! ```text
//!   UNSET --get_sleepy--> SLEEPY --fall_asleep--> SLEEPING
//!     |                     |                        |
//!     +------------------ set (swap) ----------------+----> SET   (final)
//!                                                    '- wakes everybody
//! ```
//!
//! # What it guarantees
//!
//! * What happened before `set` is visible to whoever sees the latch set (`probe` returned `true`,
//!   `wait` returned).
//! * No waiter sleeps through `set`. All transitions are read-modify-writes on one word, hence in one
//!   order. The step to `SLEEPING` fails if `SET` came first; if it came first itself, `set`
//!   gets `SLEEPING` as the old value and wakes. Between the step and the actual blocking, the
//!   futex compares the word once more.
//! * `set` makes a system call only if somebody may be asleep. A waiter is first merely `SLEEPY`: it
//!   gives the processor away once and looks again, so a `set` that comes that soon is cheap on
//!   both sides.
//! * After the swap, `set` does not touch the latch any more. A waiter may therefore free the memory
//!   of the latch as soon as it sees it set, even though the setter has not returned:
//!   [`OnceLatch::set_raw`]. The wake-up that follows the swap uses the address as a name only and is
//!   harmless if the memory is gone or in other use (see [`futex`](super::futex)).

use crate::flaw::Flaws;
use crate::futex;
use crate::spin_wait::SpinWait;
use crate::sync::{AtomicU32, Ordering, yield_now};

/// Not set, and nobody sleeps.
const UNSET: u32 = 0;
/// Not set; a waiter is about to sleep but would still notice a `set` by itself.
const SLEEPY: u32 = 1;
/// Not set; waiters may be asleep. Whoever sets the latch has to wake them.
const SLEEPING: u32 = 2;
/// Set, for ever.
const SET: u32 = 3;

/// What a latch without one of its pillars would do; see [`Flaws`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flaw {
    /// `set` looks whether somebody sleeps, and sets in a second step.
    LookThenSet,
    /// `set` does not publish what happened before it.
    RelaxedSet,
    /// A waiter announces its sleep without looking whether the latch is set.
    SleepBlindly,
    /// `set` looks at the latch again after setting it.
    TouchAfterSet,
}

/// A latch that can be set once and waited for by any number of threads.
///
/// Four bytes, no allocation. Waiting spins for some microseconds, then sleeps.
///
/// ```
/// use blitz_primitives::OnceLatch;
///
/// let mut answer = 0;
/// let latch = OnceLatch::new();
/// std::thread::scope(|threads| {
///     threads.spawn(|| {
///         answer = 42;
///         latch.set();
///     });
///     latch.wait(); // `answer` is written now
///     assert!(latch.probe());
/// });
/// assert_eq!(answer, 42);
/// ```
#[derive(Debug)]
pub struct OnceLatch {
    state: AtomicU32,
    flaws: Flaws<Flaw>,
}

impl Default for OnceLatch {
    fn default() -> Self {
        Self::new()
    }
}

impl OnceLatch {
    /// A latch that is not set.
    ///
    /// ```
    /// use blitz_primitives::OnceLatch;
    ///
    /// static STARTED: OnceLatch = OnceLatch::new();
    ///
    /// std::thread::spawn(|| STARTED.set());
    /// STARTED.wait();
    /// ```
    #[cfg(not(loom))]
    #[inline]
    pub const fn new() -> Self {
        Self {
            state: AtomicU32::new(UNSET),
            flaws: Flaws::NONE,
        }
    }

    /// A latch that is not set.
    #[cfg(loom)]
    #[inline]
    pub fn new() -> Self {
        Self::with_flaws(Flaws::NONE)
    }

    #[cfg(loom)]
    fn with_flaws(flaws: Flaws<Flaw>) -> Self {
        Self {
            state: AtomicU32::new(UNSET),
            flaws,
        }
    }

    /// Whether the latch is set. If so, everything before `set` is visible.
    ///
    /// ```
    /// let latch = blitz_primitives::OnceLatch::new();
    /// assert!(!latch.probe());
    /// latch.set();
    /// assert!(latch.probe());
    /// ```
    #[inline]
    pub fn probe(&self) -> bool {
        // Acquire pairs with the release of `set`.
        self.state.load(Ordering::Acquire) == SET
    }

    /// Sets the latch and wakes all waiters. Setting it again does nothing.
    ///
    /// One atomic swap, plus one system call if somebody sleeps. If a waiter may free the latch as
    /// soon as it is set, use [`set_raw`](Self::set_raw).
    ///
    /// ```
    /// let latch = blitz_primitives::OnceLatch::new();
    /// latch.set();
    /// latch.set(); // changes nothing
    /// assert!(latch.probe());
    /// ```
    #[inline]
    pub fn set(&self) {
        // SAFETY: the caller's borrow keeps the latch alive during the call and beyond.
        unsafe { Self::set_raw(self) };
    }

    /// Sets the latch and wakes all waiters, although the latch may be freed as soon as it is set.
    ///
    /// This is for a latch in the frame of the waiter. A reference would promise that the latch
    /// outlives the call; a pointer does not.
    ///
    /// ```
    /// use blitz_primitives::OnceLatch;
    ///
    /// struct Gate(*const OnceLatch);
    /// // SAFETY: a latch may be used from any thread.
    /// unsafe impl Send for Gate {}
    ///
    /// let setter = {
    ///     let latch = OnceLatch::new();
    ///     let gate = Gate(&latch);
    ///     // SAFETY: the latch lives until it is set, because we wait for that.
    ///     let setter = std::thread::spawn(move || unsafe { OnceLatch::set_raw({ gate }.0) });
    ///     latch.wait();
    ///     setter // the latch is gone here, perhaps before the other thread leaves `set_raw`
    /// };
    /// setter.join().unwrap();
    /// ```
    ///
    /// # Safety
    ///
    /// `this` points to a latch that is alive until it is set; and no other thread sets it too, or
    /// the latch outlives both calls.
    #[inline]
    pub unsafe fn set_raw(this: *const Self) {
        // SAFETY: alive until set, by contract, and only the swap below sets it.
        let flaws = unsafe { (*this).flaws };
        // SAFETY: as above. Only the address of the field is formed.
        let state = unsafe { &raw const (*this).state };
        if flaws.has(Flaw::LookThenSet) {
            // SAFETY: alive until set; the store sets it and is the last access.
            let before = unsafe { (*state).load(Ordering::Acquire) };
            // SAFETY: as above.
            unsafe { (*state).store(SET, Ordering::Release) };
            if before == SLEEPING {
                futex::wake_all(state);
            }
            return;
        }
        // Release publishes what came before. It needs no acquire: all we learn is whether to
        // wake. A relaxed swap would let a waiter go on without seeing the result it waited for.
        let order = if flaws.has(Flaw::RelaxedSet) {
            Ordering::Relaxed
        } else {
            Ordering::Release
        };
        // SAFETY: alive until this very swap. The memory may go away while the swap returns: the
        // reference it takes covers an atomic only, and such references make no promise to
        // stay valid until the call ends.
        let before = unsafe { (*state).swap(SET, order) };
        if flaws.has(Flaw::TouchAfterSet) {
            // SAFETY: none; this is the fault that a model has to find.
            unsafe { (*state).load(Ordering::Relaxed) };
        }
        if before == SLEEPING {
            // From here on `state` is a name and not memory.
            futex::wake_all(state);
        }
    }

    /// Blocks until the latch is set.
    ///
    /// Spins first ([`SpinWait`]), then sleeps until `set` wakes it. Everything before `set` is visible
    /// afterwards. Returns at once if the latch is set already.
    ///
    /// ```
    /// use blitz_primitives::OnceLatch;
    ///
    /// let (latch, mut list) = (OnceLatch::new(), vec![]);
    /// std::thread::scope(|threads| {
    ///     threads.spawn(|| {
    ///         list.push("written before `set`");
    ///         latch.set();
    ///     });
    ///     latch.wait();
    /// });
    /// assert_eq!(list.len(), 1);
    /// ```
    pub fn wait(&self) {
        let mut spin = SpinWait::new();
        while !self.probe() {
            if spin.would_yield() {
                return self.sleep_until_set();
            }
            spin.spin();
        }
    }

    #[cold]
    fn sleep_until_set(&self) {
        if self.flaws.has(Flaw::SleepBlindly) {
            self.state.store(SLEEPING, Ordering::Relaxed);
        }
        if self.get_sleepy() {
            // A last chance for a setter that is nearly there.
            yield_now();
            self.fall_asleep();
        }
        // Another waiter may have been here before us. Whatever it has left behind, the word
        // moves only forward, so this ends in SET.
        loop {
            match self.state.load(Ordering::Acquire) {
                SET => return,
                SLEEPING => futex::wait(&self.state, SLEEPING),
                _ => {
                    self.fall_asleep();
                }
            }
        }
    }

    /// `UNSET -> SLEEPY`. Tells whether this call made the step.
    fn get_sleepy(&self) -> bool {
        self.step(UNSET, SLEEPY)
    }

    /// `SLEEPY -> SLEEPING`: from now on `set` owes a wake-up.
    fn fall_asleep(&self) -> bool {
        self.step(SLEEPY, SLEEPING)
    }

    fn step(&self, from: u32, to: u32) -> bool {
        // Relaxed: the steps publish nothing, and whoever acts on SET loads it with acquire. Strong,
        // not weak: a step that fails for no reason would be taken for a step of the other side.
        self.state
            .compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;
    use std::thread;

    #[test]
    fn a_latch_is_unset_until_it_is_set_and_stays_set() {
        let latch = OnceLatch::new();
        assert!(!latch.probe());
        latch.set();
        latch.set();
        assert!(latch.probe());
        latch.wait();
    }

    #[test]
    fn it_is_one_word_and_can_be_a_static() {
        static LATCH: OnceLatch = OnceLatch::new();
        assert_eq!(size_of_val(&LATCH), 4);
        LATCH.set();
        LATCH.wait();
    }

    #[test]
    fn the_named_transitions_happen_only_from_their_own_state() {
        let latch = OnceLatch::new();
        assert!(!latch.fall_asleep());
        assert!(latch.get_sleepy());
        assert!(!latch.get_sleepy());
        assert!(latch.fall_asleep());
        assert!(!latch.fall_asleep());
        latch.set();
        assert!(!latch.get_sleepy() && !latch.fall_asleep());
        assert!(latch.probe());
    }

    #[test]
    fn every_waiter_is_released_and_sees_what_was_written_before() {
        for _ in 0..50 {
            let latch = OnceLatch::new();
            let value = AtomicUsize::new(0);
            thread::scope(|threads| {
                for _ in 0..4 {
                    threads.spawn(|| {
                        latch.wait();
                        assert_eq!(value.load(Ordering::Relaxed), 7);
                    });
                }
                value.store(7, Ordering::Relaxed);
                latch.set();
            });
        }
    }

    #[test]
    fn sleeping_waiters_are_woken() {
        let latch = OnceLatch::new();
        thread::scope(|threads| {
            for _ in 0..3 {
                threads.spawn(|| latch.wait());
            }
            while latch.state.load(Ordering::Relaxed) != SLEEPING {
                thread::yield_now();
            }
            latch.set();
        });
        assert!(latch.probe());
    }

    #[test]
    fn the_frame_of_a_latch_may_die_as_soon_as_it_is_set() {
        struct Gate(*const OnceLatch);
        // SAFETY: latches are for sharing between threads.
        unsafe impl Send for Gate {}

        let setters: Vec<_> = (0..300)
            .map(|_| {
                let latch = Box::new(OnceLatch::new());
                let gate = Gate(&*latch);
                let setter = thread::spawn(move || {
                    let gate = gate;
                    // SAFETY: the box is freed only after it was seen set, and nobody else sets it.
                    unsafe { OnceLatch::set_raw(gate.0) }
                });
                latch.wait();
                drop(latch);
                setter
            })
            .collect();
        for setter in setters {
            setter.join().unwrap();
        }
    }
}

#[cfg(all(test, loom))]
mod models;
