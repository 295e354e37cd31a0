//! A bounded first-in, first-out queue for any number of producers and consumers.
//!
//! Dmitry Vyukov's ring: every cell carries a sequence number that says whose turn it is. A producer
//! claims position `p` by moving `tail`, fills cell `p & mask` and stores `p + 1` into its sequence;
//! a consumer claims `p` by moving `head`, empties the cell and stores `p + capacity`, which is the
//! number the producer of the next lap waits for. Uncontended, either side costs one
//! compare-and-swap.
//!
//! # What it guarantees, beyond the original
//!
//! * `try_pop` never says "empty" about an element whose push happened before, unless somebody
//!   else took it. The original gives up when the oldest cell is claimed but not yet filled, even if
//!   younger cells are ready; a scheduler that goes to sleep on that answer strands them. Here
//!   such a pop waits for the few instructions that the producer needs. (If that producer is
//!   preempted in between, the pop yields until it is back: the ring is not lock-free in that
//!   corner.) `try_push` and "full" are symmetric.
//! * Of n threads that have each seen another one of n pushes happen, and pop once each, none is told "empty".
//! * [`is_empty`](Ring::is_empty) never says "empty" about an element whose push happened before.
//!
//! # Why it is correct
//!
//! A position is claimed by one compare-and-swap, hence by one thread. The cell's content changes
//! hands through its sequence number alone: release store by the one who is done with the
//! cell, acquire load by the next. Weaken either and the next one touches the content while the
//! previous one may still be at it. `head` and `tail` carry no data: they only
//! ever grow, so a thread that happens-after a push reads a `tail` beyond that push (coherence),
//! and a `head` at or before the element unless the element is gone. Comparing the two is
//! therefore exact in the direction promised above, whatever the order of the loads.
//!
//! *As many pops as pushes.* Suppose each popper has seen *some* push of its own, and another one takes the element that it has seen. Then that one's
//! own element is left; but the first popper need not have seen that push. So a pop releases `head` and acquires it: whoever finds
//! an element gone learns what its taker knew, and reads a `tail` beyond the taker's element as well. `tail` is relaxed.
//!
//! The capacity is a power of two of at least two: with a single cell the number "filled by `p`"
//! would equal "free for `p + 1`".

use std::iter;
use std::mem::MaybeUninit;

use crossbeam_utils::CachePadded;

use crate::flaw::Flaws;
use crate::spin_wait::SpinWait;
use crate::sync::{AtomicUsize, Ordering, UnsafeCell};

/// What a ring without one of its pillars would do; see [`Flaws`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RingFlaw {
    /// A filled cell is announced without release.
    RelaxedFill,
    /// An emptied cell is announced without release.
    RelaxedRecycle,
    /// A pop gives up on an oldest cell that is claimed but not filled.
    EmptyWhileInFlight,
    /// A pop that finds the oldest element gone does not learn what whoever took it knew.
    RelaxedHead,
}

struct Cell<T> {
    /// `p`: free for the producer of position `p`. `p + 1`: filled by it.
    sequence: AtomicUsize,
    content: UnsafeCell<MaybeUninit<T>>,
}

pub(crate) struct Ring<T> {
    /// Next position to pop.
    head: CachePadded<AtomicUsize>,
    /// Next position to push.
    tail: CachePadded<AtomicUsize>,
    cells: Box<[Cell<T>]>,
    flaws: Flaws<RingFlaw>,
}

// SAFETY: elements move between threads, hence `T: Send`; no reference to one is ever shared. Access
// to `content` is handed over through `sequence`, see the head of the file.
unsafe impl<T: Send> Send for Ring<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Ring<T> {}

impl<T> Ring<T> {
    pub(crate) fn new(capacity: usize, flaws: Flaws<RingFlaw>) -> Self {
        let capacity = capacity.max(2).next_power_of_two();
        let mut position = 0;
        let cells = iter::repeat_with(|| {
            let cell = Cell {
                sequence: AtomicUsize::new(position),
                content: UnsafeCell::new(MaybeUninit::uninit()),
            };
            position += 1;
            cell
        })
        .take(capacity)
        .collect();
        Self {
            head: CachePadded::new(AtomicUsize::new(0)),
            tail: CachePadded::new(AtomicUsize::new(0)),
            cells,
            flaws,
        }
    }

    pub(crate) fn capacity(&self) -> usize {
        self.cells.len()
    }

    /// The cell of a position, and the sequence number it shows.
    #[inline(always)]
    fn cell(&self, position: usize) -> (&Cell<T>, usize) {
        // SAFETY: the length is a power of two, so the masked index is below it.
        let cell = unsafe { self.cells.get_unchecked(position & (self.cells.len() - 1)) };
        // Acquire: whoever set the number is done with the content.
        (cell, cell.sequence.load(Ordering::Acquire))
    }

    /// Appends an element, or gives it back if the ring is full.
    #[inline]
    pub(crate) fn try_push(&self, element: T) -> Result<(), T> {
        let mut in_flight = SpinWait::new();
        let mut position = self.tail.load(Ordering::Relaxed);
        loop {
            let (cell, sequence) = self.cell(position);
            let lead = sequence.wrapping_sub(position) as isize;
            if lead == 0 {
                // Relaxed: claiming carries no data. Weak: we loop anyway.
                match self.tail.compare_exchange_weak(
                    position,
                    position.wrapping_add(1),
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                ) {
                    Ok(_) => {
                        cell.content.with_mut(|content| {
                            // SAFETY: the position is ours alone, and its number said that the
                            // previous consumer is done with the cell.
                            unsafe { (*content).write(element) };
                        });
                        let order = if self.flaws.has(RingFlaw::RelaxedFill) {
                            Ordering::Relaxed
                        } else {
                            Ordering::Release
                        };
                        cell.sequence.store(position.wrapping_add(1), order);
                        return Ok(());
                    }
                    Err(now) => position = now,
                }
                continue;
            }
            if lead < 0 {
                // Still occupied by the previous lap. Full, unless its consumer has claimed it and
                // is about to hand it over.
                let head = self.head.load(Ordering::Relaxed);
                // Signed: our position may be old, and `head` beyond it.
                if position.wrapping_sub(head) as isize >= self.capacity() as isize {
                    return Err(element);
                }
                in_flight.spin();
            }
            // Somebody took the position meanwhile, or we waited: look again.
            position = self.tail.load(Ordering::Relaxed);
        }
    }

    /// Takes the oldest element.
    #[inline]
    pub(crate) fn try_pop(&self) -> Option<T> {
        let mut in_flight = SpinWait::new();
        let seen = self.flaws.relax(RingFlaw::RelaxedHead, Ordering::Acquire);
        let claimed = self.flaws.relax(RingFlaw::RelaxedHead, Ordering::AcqRel);
        let mut position = self.head.load(seen);
        loop {
            let (cell, sequence) = self.cell(position);
            let lead = sequence.wrapping_sub(position.wrapping_add(1)) as isize;
            if lead == 0 {
                match self.head.compare_exchange_weak(
                    position,
                    position.wrapping_add(1),
                    claimed,
                    seen,
                ) {
                    Ok(_) => {
                        let element = cell.content.with_mut(|content| {
                            // SAFETY: the position is ours alone, and its number said that the
                            // producer has filled the cell. It is filled once per lap.
                            unsafe { (*content).assume_init_read() }
                        });
                        let order = if self.flaws.has(RingFlaw::RelaxedRecycle) {
                            Ordering::Relaxed
                        } else {
                            Ordering::Release
                        };
                        cell.sequence
                            .store(position.wrapping_add(self.capacity()), order);
                        return Some(element);
                    }
                    Err(now) => position = now,
                }
                continue;
            }
            if lead < 0 {
                // Not filled. Empty, unless a producer has claimed this position: then something
                // is coming here, and ready elements may lie behind it.
                let tail = self.tail.load(Ordering::Relaxed);
                if tail.wrapping_sub(position) as isize <= 0
                    || self.flaws.has(RingFlaw::EmptyWhileInFlight)
                {
                    return None;
                }
                in_flight.spin();
            }
            position = self.head.load(seen);
        }
    }

    /// Elements pushed and not popped, counting pushes and pops in progress as done.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        let tail = self.tail.load(Ordering::Relaxed);
        // Acquire: who finds an element gone learns what its taker knew.
        let head = self.head.load(Ordering::Acquire);
        // `head` is read later and may have passed the `tail` we hold; or lap it while we were
        // away, hence the upper limit.
        let len = (tail.wrapping_sub(head) as isize).max(0) as usize;
        len.min(self.capacity())
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        // As in `len`.
        let tail = self.tail.load(Ordering::Relaxed);
        let head = self.head.load(Ordering::Acquire);
        tail.wrapping_sub(head) as isize <= 0
    }
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        while let Some(element) = self.try_pop() {
            drop(element);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn ring<T>(capacity: usize) -> Ring<T> {
        Ring::new(capacity, Flaws::NONE)
    }

    #[test]
    fn elements_leave_in_the_order_they_came_over_many_laps() {
        let ring = ring(4);
        for lap in 0..50 {
            for i in 0..3 {
                assert_eq!(ring.try_push(lap * 3 + i), Ok(()));
            }
            assert_eq!(ring.len(), 3);
            for i in 0..3 {
                assert_eq!(ring.try_pop(), Some(lap * 3 + i));
            }
            assert_eq!(ring.try_pop(), None);
            assert!(ring.is_empty());
        }
    }

    #[test]
    fn a_full_ring_gives_the_element_back() {
        for capacity in [1, 2, 3, 8] {
            let ring = ring(capacity);
            for i in 0..ring.capacity() {
                assert_eq!(ring.try_push(i), Ok(()));
            }
            assert_eq!(ring.try_push(99), Err(99));
            assert_eq!(ring.try_pop(), Some(0));
            assert_eq!(ring.try_push(99), Ok(()));
            assert_eq!(ring.len(), ring.capacity());
        }
    }

    #[test]
    fn positions_may_wrap_around() {
        let ring = ring(2);
        let start = usize::MAX - 1;
        ring.head.store(start, Ordering::Relaxed);
        ring.tail.store(start, Ordering::Relaxed);
        ring.cells[start & 1]
            .sequence
            .store(start, Ordering::Relaxed);
        ring.cells[(start + 1) & 1]
            .sequence
            .store(start + 1, Ordering::Relaxed);
        for i in 0..10 {
            assert_eq!(ring.try_pop(), None);
            assert_eq!(ring.try_push(i), Ok(()));
            assert_eq!(ring.try_push(i + 100), Ok(()));
            assert_eq!(ring.try_push(0), Err(0));
            assert_eq!(ring.try_pop(), Some(i));
            assert_eq!(ring.try_pop(), Some(i + 100));
        }
    }
}
