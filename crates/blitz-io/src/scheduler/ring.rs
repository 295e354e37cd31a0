//! A worker's queue of ready tasks: 256 places in a ring; the owner pushes and pops, thieves take half.
//!
//! Two heads in one word let a thief take many tasks with two compare-and-swaps. The thief first moves the *front* head past what
//! it takes. Those places then belong to it, and it copies them without haste. Then it lets the *back* head follow, which
//! gives the places back to the owner. While the heads differ, a theft is under way: the owner continues to pop and
//! push, and other thieves stay away.
//!
//! ```text
//!        back      front             tail
//!          v         v                 v
//!   . . .  [ being   ][ ready to pop    ]  . . .
//!            stolen
//! ```
//!
//! # Why each task is taken exactly once
//! The owner does not write a place between `back` and `tail` (it checks `tail - back`). A place leaves the ready part
//! only by a compare-and-swap of the word, so exactly one thread, owner or thief, gets it. The counters are 32 bits wide,
//! and a place is reused only after 2^32 steps of the same word. So a stale word never compares equal during a
//! theft: that would take 2^32 pushes inside one theft.
//!
//! # Orderings
//! * `tail` store Release / thief's load Acquire: the place is written before it is seen.
//! * the word's swaps are AcqRel: the owner's Acquire load of `back` sees that the thief has finished copying (Release), before the owner
//!   writes the places again; with Relaxed a place could be overwritten while it is copied.

use crate::primitives::{AtomicU32, AtomicU64, Ordering, UnsafeCell};
use blitz_core::checking::Flaws;

/// Places of a worker's ring.
pub(crate) const CAPACITY: usize = 256;

/// What the models break on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "constructed by loom models only")]
pub(crate) enum Flaw {
    RelaxedTail,
    RelaxedRelease,
    IgnoresBack,
}

/// A ring of `N` places for `T`s that are as good as pointers.
#[derive(Debug)]
pub(crate) struct Ring<T, const N: usize = CAPACITY> {
    /// `back` in the upper half, `front` in the lower.
    heads: AtomicU64,
    /// Written by the owner only.
    tail: AtomicU32,
    places: Box<[UnsafeCell<Option<T>>; N]>,
    flaws: Flaws<Flaw>,
}

// SAFETY: places are handed over by the heads and the tail, see above.
unsafe impl<T: Send, const N: usize> Sync for Ring<T, N> {}

/// The task did not fit.
pub(crate) enum Full<T, const N: usize> {
    /// A theft is under way, so room is about to appear; put this one elsewhere.
    One(T),
    /// Half of the ring has been taken out, oldest first, and the new one is behind them.
    Half(Vec<T>),
}

fn pack(back: u32, front: u32) -> u64 {
    (u64::from(back) << 32) | u64::from(front)
}

fn unpack(heads: u64) -> (u32, u32) {
    ((heads >> 32) as u32, heads as u32)
}

impl<T: Copy, const N: usize> Ring<T, N> {
    pub(crate) fn new() -> Self {
        Self::with_flaws(Flaws::NONE)
    }

    pub(crate) fn with_flaws(flaws: Flaws<Flaw>) -> Self {
        const { assert!(N.is_power_of_two() && N >= 2) };
        let places: Vec<_> = (0..N).map(|_| UnsafeCell::new(None)).collect();
        let places: Box<[_]> = places.into();
        Ring {
            heads: AtomicU64::new(0),
            tail: AtomicU32::new(0),
            places: places.try_into().ok().expect("N places"),
            flaws,
        }
    }

    fn place(&self, index: u32) -> &UnsafeCell<Option<T>> {
        &self.places[index as usize & (N - 1)]
    }

    /// How many tasks are ready here, about.
    pub(crate) fn len(&self) -> usize {
        let (_, front) = unpack(self.heads.load(Ordering::Acquire));
        let len = self.tail.load(Ordering::Acquire).wrapping_sub(front) as usize;
        // The two loads are not one: a pop in between makes the difference negative.
        if len > N { 0 } else { len }
    }

    /// Adds a task at the end.
    ///
    /// # Safety
    /// The caller is the owner.
    #[inline]
    pub(crate) unsafe fn push(&self, task: T) -> Result<(), Full<T, N>> {
        let tail = self.tail.load(Ordering::Relaxed);
        loop {
            let heads = self.heads.load(Ordering::Acquire);
            let (back, front) = unpack(heads);
            let oldest = if self.flaws.has(Flaw::IgnoresBack) {
                front
            } else {
                back
            };
            if (tail.wrapping_sub(oldest) as usize) < N {
                // SAFETY: the place is behind the tail and not being copied: ours.
                self.place(tail)
                    .with_mut(|place| unsafe { *place = Some(task) });
                let order = self.flaws.relax(Flaw::RelaxedTail, Ordering::Release);
                self.tail.store(tail.wrapping_add(1), order);
                return Ok(());
            }
            if back != front {
                return Err(Full::One(task));
            }
            if let Some(half) = self.take_half(heads, task) {
                return Err(Full::Half(half));
            }
            // A thief was faster: there is room now.
        }
    }

    /// The ring is full: takes the older half out.
    #[cold]
    fn take_half(&self, heads: u64, task: T) -> Option<Vec<T>> {
        let (_, front) = unpack(heads);
        let half = (N / 2) as u32;
        let next = front.wrapping_add(half);
        self.heads
            .compare_exchange(heads, pack(next, next), Ordering::AcqRel, Ordering::Relaxed)
            .ok()?;
        let mut taken = Vec::with_capacity(N / 2 + 1);
        for index in 0..half {
            // SAFETY: the swap made these places ours, and only we, the owner, could write them.
            let value = self
                .place(front.wrapping_add(index))
                .with(|place| unsafe { *place });
            taken.push(value.expect("places before the tail are filled"));
        }
        taken.push(task);
        Some(taken)
    }

    /// Takes the oldest task.
    ///
    /// # Safety
    /// The caller is the owner.
    #[inline]
    pub(crate) unsafe fn pop(&self) -> Option<T> {
        let tail = self.tail.load(Ordering::Relaxed);
        let mut heads = self.heads.load(Ordering::Acquire);
        loop {
            let (back, front) = unpack(heads);
            if front == tail {
                return None;
            }
            let next = front.wrapping_add(1);
            let next_back = if back == front { next } else { back };
            match self.heads.compare_exchange(
                heads,
                pack(next_back, next),
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                // SAFETY: the swap made this place ours.
                Ok(_) => return self.place(front).with(|place| unsafe { *place }),
                Err(changed) => heads = changed,
            }
        }
    }

    /// Moves half of this ring (rounded up, at most half of the capacity) into `mine`, except for one, which is
    /// returned to be run at once. Also says how many were taken.
    ///
    /// # Safety
    /// The caller is the owner of `mine`, which is another ring.
    pub(crate) unsafe fn steal_into(&self, mine: &Self) -> Option<(T, usize)> {
        let my_tail = mine.tail.load(Ordering::Relaxed);
        let (my_back, _) = unpack(mine.heads.load(Ordering::Acquire));
        if my_tail.wrapping_sub(my_back) as usize > N / 2 {
            return None;
        }
        let (first, count) = self.claim_half()?;
        for index in 0..count {
            // SAFETY: the claim made these places ours to read.
            let value = self
                .place(first.wrapping_add(index))
                .with(|place| unsafe { *place });
            // SAFETY: the places behind `mine`'s tail are our own, and there is room for N / 2.
            mine.place(my_tail.wrapping_add(index))
                .with_mut(|place| unsafe { *place = value });
        }
        self.release_claim();
        let kept = count - 1;
        // SAFETY: our own place, not visible to anybody before the tail moves.
        let task = mine
            .place(my_tail.wrapping_add(kept))
            .with(|place| unsafe { *place });
        mine.tail
            .store(my_tail.wrapping_add(kept), Ordering::Release);
        Some((task.expect("copied above"), count as usize))
    }

    fn claim_half(&self) -> Option<(u32, u32)> {
        let mut heads = self.heads.load(Ordering::Acquire);
        loop {
            let (back, front) = unpack(heads);
            if back != front {
                return None;
            }
            let tail = self.tail.load(Ordering::Acquire);
            let ready = tail.wrapping_sub(front);
            if ready == 0 || ready as usize > N {
                return None;
            }
            let count = (ready - ready / 2).min((N / 2) as u32);
            match self.heads.compare_exchange(
                heads,
                pack(back, front.wrapping_add(count)),
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => return Some((front, count)),
                Err(changed) => heads = changed,
            }
        }
    }

    fn release_claim(&self) {
        let mut heads = self.heads.load(Ordering::Acquire);
        loop {
            let (_, front) = unpack(heads);
            let order = self.flaws.relax(Flaw::RelaxedRelease, Ordering::AcqRel);
            match self
                .heads
                .compare_exchange(heads, pack(front, front), order, Ordering::Acquire)
            {
                Ok(_) => return,
                Err(changed) => heads = changed,
            }
        }
    }
}

#[cfg(all(test, loom))]
mod models;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    #[test]
    fn a_ring_is_a_queue_that_gives_away_its_older_half_when_it_is_full() {
        let ring = Ring::<usize, 8>::new();
        let mut model = VecDeque::new();
        // SAFETY: this thread owns the ring.
        unsafe {
            for round in 0..1000 {
                match ring.push(round) {
                    Ok(()) => model.push_back(round),
                    Err(Full::One(_)) => panic!("nobody steals"),
                    Err(Full::Half(half)) => {
                        let mut expected: Vec<_> = model.drain(..4).collect();
                        expected.push(round);
                        assert_eq!(half, expected);
                    }
                }
                if round % 3 == 0 {
                    assert_eq!(ring.pop(), model.pop_front());
                }
                assert_eq!(ring.len(), model.len());
            }
        }
    }

    #[test]
    fn a_thief_takes_the_older_half_rounded_up() {
        let ring = Ring::<usize, 8>::new();
        let mine = Ring::<usize, 8>::new();
        // SAFETY: this thread owns both.
        unsafe {
            for index in 0..5 {
                assert!(ring.push(index).is_ok());
            }
            assert_eq!(ring.steal_into(&mine), Some((2, 3)));
            assert_eq!(
                (mine.pop(), mine.pop(), mine.pop()),
                (Some(0), Some(1), None)
            );
            assert_eq!(
                (ring.pop(), ring.pop(), ring.pop()),
                (Some(3), Some(4), None)
            );
            assert_eq!(ring.steal_into(&mine), None);
        }
    }
}
