//! A bounded queue: a ring of cells, each with the number of the lap it is in.
//!
//! Producers claim a position by moving `tail`, consumers by moving `head`. Position `p` is lap and index in one word; the
//! cell's stamp says `lap` when it is free for the producer of that lap, `lap | 1` when it has filled it, and the next lap when
//! the consumer has emptied it. Stamp and message lie side by side. There are exactly as many cells as the capacity, laps are counted in powers of two,
//! so there is no division. All cells are used in turn, however few messages there are at a time, so rings are small (`bounded.rs`).
//!
//! `tail` carries more than the position:
//!
//! ```text
//!   63        32 31        3    2        1         0
//!  [ position   | reserved  | SENDERS | RECEIVERS | CLOSED ]
//! ```
//!
//! * *reserved*: room that somebody has a right to but has not used yet. `messages + reserved <= capacity`, always.
//! * RECEIVERS: a receiver waits. Every push sees it in the word that it swaps.
//! * SENDERS: senders wait in line for room; nobody else takes any.
//!
//! `head` has a bit SENDERS, too, which every pop sees in the word that it swaps.
//!
//! # Why it is correct
//! A position is claimed by one compare-and-swap, hence by one thread. The cell's message changes hands through its stamp alone: release
//! store by the one who is done with the cell, acquire load by the next. Relaxed at either lets the next one touch the message while
//! the previous one is still at it. The words' positions carry no data; their swaps are AcqRel so that what an end did before it closed
//! the channel, or gave room back, is seen by who learns of it.
//!
//! A free cell is room if nothing is reserved: then a producer need not look at `head`, which consumers write all the time. Otherwise it looks at both, and
//! believes them only if `tail` is the same before and after: then `head` was that at one moment. `head` only grows, so room
//! that was seen is still there when the swap of `tail` succeeds.
//!
//! Positions are 32 bits wide: a thread would have to sleep between load and swap for exactly 2^32 messages to mistake an old word
//! for a new one.

use super::{Limited, Look, Queue, Refused, Released, Wake};
use crate::primitives::{AtomicU32, AtomicU64, Ordering, UnsafeCell};
use blitz_primitives::SpinWait;
use blitz_primitives::flaw::Flaws;
use crossbeam_utils::CachePadded;
use std::mem::MaybeUninit;

const CLOSED: u64 = 1 << 0;
const RECEIVERS: u64 = 1 << 1;
const SENDERS: u64 = 1 << 2;
const ONE_RESERVED: u64 = 1 << 3;
const RESERVED: u64 = (1 << 32) - ONE_RESERVED;
/// In `head`.
const HEAD_SENDERS: u64 = 1;

/// The largest capacity: counts of reserved room and of messages fit into the word.
const MAX_CAPACITY: usize = 1 << 28;

/// What the models break on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "constructed by loom models only")]
pub(crate) enum Flaw {
    RelaxedFill,
    RelaxedRecycle,
    EmptyWhileInFlight,
    ReceiverWaitsBlindly,
    SenderWaitsBlindly,
}

struct Cell<T> {
    stamp: AtomicU32,
    message: UnsafeCell<MaybeUninit<T>>,
}

impl<T> Cell<T> {
    /// For the producer of the first lap.
    fn free() -> Self {
        Cell {
            stamp: AtomicU32::new(0),
            message: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }
}

pub(crate) struct Ring<T> {
    head: CachePadded<AtomicU64>,
    tail: CachePadded<AtomicU64>,
    cells: Box<[Cell<T>]>,
    /// A power of two that is not below the capacity, and not below two: the lowest bit of a lap is for "filled".
    one_lap: u32,
    flaws: Flaws<Flaw>,
}

// SAFETY: messages move between threads, hence `T: Send`; no reference to one is ever shared. The cells are handed over through their
// stamps, see above.
unsafe impl<T: Send> Send for Ring<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Ring<T> {}

fn position(word: u64) -> u32 {
    (word >> 32) as u32
}

fn reserved(tail: u64) -> usize {
    ((tail & RESERVED) / ONE_RESERVED) as usize
}

impl<T> Ring<T> {
    /// The capacity is not zero, and small (`bounded.rs`).
    pub(crate) fn new(capacity: usize) -> Self {
        Self::with_flaws(capacity, Flaws::NONE)
    }

    pub(crate) fn with_flaws(capacity: usize, flaws: Flaws<Flaw>) -> Self {
        debug_assert!((1..=MAX_CAPACITY).contains(&capacity));
        Ring {
            head: CachePadded::new(AtomicU64::new(0)),
            tail: CachePadded::new(AtomicU64::new(0)),
            // Touched now, so that the first messages need not wait for the system to find memory.
            cells: (0..capacity).map(|_| Cell::free()).collect(),
            one_lap: (capacity as u32).next_power_of_two().max(2),
            flaws,
        }
    }

    /// How many bytes of memory a ring of this capacity takes; too many to count are as many as there are.
    pub(crate) const fn size_for(capacity: usize) -> usize {
        capacity.saturating_mul(size_of::<Cell<T>>())
    }

    #[inline(always)]
    fn cell(&self, position: u32) -> (&Cell<T>, u32) {
        let index = (position & (self.one_lap - 1)) as usize;
        debug_assert!(index < self.cells.len());
        // SAFETY: positions are made by `next`, whose indices stay below the capacity.
        let cell = unsafe { self.cells.get_unchecked(index) };
        (cell, position & !(self.one_lap - 1))
    }

    /// The word with its position moved by one.
    #[inline(always)]
    fn next(&self, word: u64) -> u64 {
        let index = position(word) & (self.one_lap - 1);
        let step = if index as usize + 1 < self.cells.len() {
            1
        } else {
            self.one_lap - index
        };
        word.wrapping_add(u64::from(step) << 32)
    }

    /// How many messages lie between two positions that were there at one moment.
    fn messages(&self, tail: u64, head: u64) -> usize {
        let (tail, head) = (position(tail), position(head));
        let mask = self.one_lap - 1;
        let (end, start) = ((tail & mask) as usize, (head & mask) as usize);
        if tail & !mask == head & !mask {
            end - start
        } else {
            self.cells.len() - start + end
        }
    }

    /// Both words as they were at one moment.
    fn snapshot(&self) -> (u64, u64) {
        let mut tail = self.tail.load(Ordering::Acquire);
        loop {
            let head = self.head.load(Ordering::Acquire);
            let now = self.tail.load(Ordering::Acquire);
            if position(now) == position(tail) {
                return (now, head);
            }
            tail = now;
        }
    }

    /// How many messages more would be too many.
    fn room_of(&self, tail: u64, head: u64) -> usize {
        let taken = self.messages(tail, head) + reserved(tail);
        self.cells.len().saturating_sub(taken)
    }

    fn swap_tail(&self, now: u64, next: u64) -> bool {
        self.tail
            .compare_exchange_weak(now, next, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
    }

    /// Puts a message into the position that was claimed by swapping `tail`. Its consumer has claimed it, otherwise there would have been no room, but may
    /// not be through yet.
    fn fill_when_free(&self, tail: u64, message: T) -> bool {
        let (cell, lap) = self.cell(position(tail));
        let mut in_flight = SpinWait::new();
        while cell.stamp.load(Ordering::Acquire) != lap {
            in_flight.spin();
        }
        // SAFETY: the position is ours alone, and the stamp said that the previous consumer is done with the cell.
        unsafe { self.fill(tail, message) }
    }

    /// # Safety
    /// The position is the caller's, and its cell is free.
    #[inline(always)]
    unsafe fn fill(&self, tail: u64, message: T) -> bool {
        let (cell, lap) = self.cell(position(tail));
        // SAFETY: given by the caller.
        cell.message
            .with_mut(|cell| unsafe { (*cell).write(message) });
        let order = self.flaws.relax(Flaw::RelaxedFill, Ordering::Release);
        cell.stamp.store(lap | 1, order);
        tail & RECEIVERS != 0
    }

    /// As `push`, where something is reserved, or somebody waits, or the ring seems full.
    #[cold]
    fn push_looking_at_both(&self, message: T) -> Result<bool, Refused<T>> {
        loop {
            let (tail, head) = self.snapshot();
            if tail & CLOSED != 0 {
                return Err(Refused::Closed(message));
            }
            if tail & SENDERS != 0 || self.room_of(tail, head) == 0 {
                return Err(Refused::Full(message));
            }
            if self.swap_tail(tail, self.next(tail)) {
                return Ok(self.fill_when_free(tail, message));
            }
        }
    }
}

impl<T> Queue<T> for Ring<T> {
    #[inline(always)]
    fn push(&self, message: T) -> Result<bool, Refused<T>> {
        let mut tail = self.tail.load(Ordering::Relaxed);
        loop {
            if tail & (CLOSED | SENDERS | RESERVED) != 0 {
                return self.push_looking_at_both(message);
            }
            let (cell, lap) = self.cell(position(tail));
            if cell.stamp.load(Ordering::Acquire) != lap {
                let now = self.tail.load(Ordering::Relaxed);
                if now == tail {
                    return self.push_looking_at_both(message);
                }
                tail = now;
                continue;
            }
            match self.tail.compare_exchange_weak(
                tail,
                self.next(tail),
                Ordering::AcqRel,
                Ordering::Relaxed,
            ) {
                // SAFETY: the position is ours alone, and the stamp said that the previous consumer is done with the cell.
                Ok(_) => return Ok(unsafe { self.fill(tail, message) }),
                Err(now) => tail = now,
            }
        }
    }

    #[inline(always)]
    unsafe fn pop(&self) -> Option<(T, bool)> {
        let mut in_flight = SpinWait::new();
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            let (cell, lap) = self.cell(position(head));
            if cell.stamp.load(Ordering::Acquire) != lap | 1 {
                // Not filled. Empty, unless a producer has claimed this position, or our `head` is old.
                let tail = self.tail.load(Ordering::Acquire);
                if position(tail) == position(head) || self.flaws.has(Flaw::EmptyWhileInFlight) {
                    return None;
                }
                let now = self.head.load(Ordering::Acquire);
                if now == head {
                    in_flight.spin();
                }
                head = now;
                continue;
            }
            match self.head.compare_exchange_weak(
                head,
                self.next(head),
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Err(now) => head = now,
                Ok(_) => {
                    // SAFETY: the position is ours alone, and the stamp said that its producer has filled it, as happens once per lap.
                    let message = cell
                        .message
                        .with_mut(|cell| unsafe { (*cell).assume_init_read() });
                    let order = self.flaws.relax(Flaw::RelaxedRecycle, Ordering::Release);
                    cell.stamp.store(lap.wrapping_add(self.one_lap), order);
                    return Some((message, head & HEAD_SENDERS != 0));
                }
            }
        }
    }

    fn announce_receiver(&self) -> Look {
        loop {
            let (tail, head) = self.snapshot();
            if position(tail) != position(head) && !self.flaws.has(Flaw::ReceiverWaitsBlindly) {
                return Look::Filled;
            }
            if tail & CLOSED != 0 && tail & RESERVED == 0 {
                return Look::Finished;
            }
            // If it succeeds, nothing was pushed since the snapshot.
            if self.swap_tail(tail, tail | RECEIVERS) {
                return Look::Empty;
            }
        }
    }

    fn retract_receivers(&self) {
        self.tail.fetch_and(!RECEIVERS, Ordering::AcqRel);
    }

    fn look(&self) -> Look {
        let (tail, head) = self.snapshot();
        if position(tail) != position(head) {
            Look::Filled
        } else if tail & CLOSED != 0 && tail & RESERVED == 0 {
            Look::Finished
        } else {
            Look::Empty
        }
    }

    fn close(&self) -> bool {
        self.tail.fetch_or(CLOSED, Ordering::AcqRel) & CLOSED == 0
    }

    fn is_closed(&self) -> bool {
        self.tail.load(Ordering::Acquire) & CLOSED != 0
    }

    fn len(&self) -> usize {
        let (tail, head) = self.snapshot();
        self.messages(tail, head)
    }

    fn capacity(&self) -> Option<usize> {
        Some(self.cells.len())
    }
}

impl<T> Limited<T> for Ring<T> {
    fn reserve(&self, count: usize) -> Result<(), Refused<()>> {
        loop {
            let (tail, head) = self.snapshot();
            if tail & CLOSED != 0 {
                return Err(Refused::Closed(()));
            }
            if tail & SENDERS != 0 || self.room_of(tail, head) < count {
                return Err(Refused::Full(()));
            }
            if self.swap_tail(tail, tail + count as u64 * ONE_RESERVED) {
                return Ok(());
            }
        }
    }

    fn push_reserved(&self, message: T) -> Wake {
        loop {
            let tail = self.tail.load(Ordering::Relaxed);
            debug_assert!(reserved(tail) > 0, "pushed without a reservation");
            if self.swap_tail(tail, self.next(tail) - ONE_RESERVED) {
                let last = tail & CLOSED != 0 && reserved(tail) == 1;
                return match self.fill_when_free(tail, message) {
                    false => Wake::None,
                    true if last => Wake::All,
                    true => Wake::One,
                };
            }
        }
    }

    fn release(&self, count: usize) -> Released {
        let amount = count as u64 * ONE_RESERVED;
        let before = self.tail.fetch_sub(amount, Ordering::AcqRel);
        debug_assert!(reserved(before) >= count);
        let finished = before & CLOSED != 0 && reserved(before) == count;
        Released {
            serve_senders: before & SENDERS != 0,
            finished: finished && before & RECEIVERS != 0,
        }
    }

    fn announce_sender(&self, count: usize, first: bool) -> Result<usize, Refused<()>> {
        // First, so that every pop that is not in the snapshot sees it.
        if !self.flaws.has(Flaw::SenderWaitsBlindly) {
            self.head.fetch_or(HEAD_SENDERS, Ordering::AcqRel);
        }
        loop {
            let (tail, head) = self.snapshot();
            if tail & CLOSED != 0 {
                return Err(Refused::Closed(()));
            }
            let part = if first {
                self.room_of(tail, head).min(count)
            } else {
                0
            };
            let reserved = tail + part as u64 * ONE_RESERVED;
            let next = if part == count {
                reserved
            } else {
                reserved | SENDERS
            };
            if self.swap_tail(tail, next) {
                if self.flaws.has(Flaw::SenderWaitsBlindly) {
                    self.head.fetch_or(HEAD_SENDERS, Ordering::AcqRel);
                }
                return Ok(part);
            }
        }
    }

    fn retract_senders(&self) {
        self.head.fetch_and(!HEAD_SENDERS, Ordering::AcqRel);
        self.tail.fetch_and(!SENDERS, Ordering::AcqRel);
    }

    fn reserve_rest(&self) -> usize {
        loop {
            let (tail, head) = self.snapshot();
            let room = self.room_of(tail, head);
            if room == 0 || self.swap_tail(tail, tail + room as u64 * ONE_RESERVED) {
                return room;
            }
        }
    }

    fn room(&self) -> usize {
        let (tail, head) = self.snapshot();
        if tail & SENDERS != 0 {
            return 0;
        }
        self.room_of(tail, head)
    }
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        // SAFETY: nobody else has it.
        while let Some((message, _)) = unsafe { self.pop() } {
            drop(message);
        }
    }
}
