//! An unbounded queue: a chain of blocks with 31 cells each.
//!
//! Producers claim a position by moving `tail`. Whoever claims the last cell of a block hangs the next one behind it, which it has made
//! before, and moves `tail` over a position that stands for "the next block is coming", which others wait through.
//! `tail` carries two bits beside the position: CLOSED, and RECEIVERS: a receiver waits. Every push sees them in the word that it swaps.
//!
//! # Who may touch a block
//! A producer touches a block only with a position in it, and its last touch is to mark its cell as filled; the producer of the last cell
//! hangs on the next block before that. So a block whose cells have all been emptied is nobody's: the consumer
//! that emptied the last one takes it away, and leaves it for the next producer that needs one. A queue in steady use
//! allocates nothing.
//!
//! The two kinds of consumers:
//! * **a single one** ([`Single`]) owns the front: it looks at the next cell, and takes. No read-modify-write at all.
//! * **many** ([`Shared`]) claim positions by moving `head`, and then count in the block how many of its cells are
//!   empty. They do not look into a block before they have a position in it: it might be gone.
//!
//! # Orderings
//! `filled` is stored with release and read with acquire: the message is written before it is read; relaxed would show a cell that is being written. The count
//! of emptied cells is AcqRel: who takes the block away comes after everybody's last touch. A block's pointer is
//! published with release before the index that needs it, so who reads the index (acquire) and swaps it has the right block: had
//! the block changed in between, so had the index.

use super::{Look, Queue, Refused};
use crate::primitives::{AtomicBool, AtomicPtr, AtomicUsize, Ordering, UnsafeCell};
use blitz_primitives::SpinWait;
use blitz_primitives::flaw::Flaws;
use crossbeam_utils::CachePadded;
use std::mem::MaybeUninit;
use std::ptr;

const CLOSED: usize = 1 << 0;
const RECEIVERS: usize = 1 << 1;
const ONE: usize = 1 << 2;
/// In `head`: the next block is there, so there is a message whatever `tail` says.
const HAS_NEXT: usize = 1 << 0;

/// Positions per block; the last one stands for the way to the next block.
const LAP: usize = if cfg!(loom) { 3 } else { 32 };
const CELLS: usize = LAP - 1;

/// What the models break on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "constructed by loom models only")]
pub(crate) enum Flaw {
    RelaxedFill,
    RelaxedEmptied,
    EmptyWhileInFlight,
    ReceiverWaitsBlindly,
}

struct Cell<T> {
    filled: AtomicBool,
    message: UnsafeCell<MaybeUninit<T>>,
}

struct Block<T> {
    next: AtomicPtr<Block<T>>,
    /// How many cells have been emptied, by [`Shared`] consumers.
    emptied: AtomicUsize,
    cells: [Cell<T>; CELLS],
}

impl<T> Block<T> {
    fn allocate() -> *mut Self {
        Box::into_raw(Box::new(Block {
            next: AtomicPtr::new(ptr::null_mut()),
            emptied: AtomicUsize::new(0),
            cells: std::array::from_fn(|_| Cell {
                filled: AtomicBool::new(false),
                message: UnsafeCell::new(MaybeUninit::uninit()),
            }),
        }))
    }

    /// The next block: it is there or about to be, because somebody has the position before it.
    fn wait_for_next(&self) -> *mut Self {
        let mut in_flight = SpinWait::new();
        loop {
            let next = self.next.load(Ordering::Acquire);
            if !next.is_null() {
                return next;
            }
            in_flight.spin();
        }
    }

    /// As new. The caller has it to itself.
    fn reset(&self) {
        // Relaxed: it is published again with release.
        self.next.store(ptr::null_mut(), Ordering::Relaxed);
        self.emptied.store(0, Ordering::Relaxed);
        for cell in &self.cells {
            cell.filled.store(false, Ordering::Relaxed);
        }
    }
}

impl<T> Cell<T> {
    /// Takes the message out, which is there or about to be.
    #[inline(always)]
    unsafe fn take(&self) -> T {
        let mut in_flight = SpinWait::new();
        while !self.filled.load(Ordering::Acquire) {
            in_flight.spin();
        }
        // SAFETY: filled, and the position is the caller's, who says so.
        self.message
            .with_mut(|cell| unsafe { (*cell).assume_init_read() })
    }
}

/// One end: a position and the block that it is in.
struct End<T> {
    index: AtomicUsize,
    block: AtomicPtr<Block<T>>,
}

struct List<T> {
    head: CachePadded<End<T>>,
    tail: CachePadded<End<T>>,
    /// A block for the next producer that needs one.
    spare: AtomicPtr<Block<T>>,
    flaws: Flaws<Flaw>,
}

// SAFETY: messages move between threads, hence `T: Send`; no reference to one is ever shared. Cells and blocks are handed over as the head
// of the file says.
unsafe impl<T: Send> Send for List<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for List<T> {}

fn offset(index: usize) -> usize {
    (index / ONE) % LAP
}

/// Messages before this position: one position in each lap stands for none.
fn count(index: usize) -> usize {
    let position = index / ONE;
    position / LAP * CELLS + (position % LAP).min(CELLS)
}

impl<T> List<T> {
    fn new(flaws: Flaws<Flaw>) -> Self {
        let block = Block::allocate();
        let end = || {
            CachePadded::new(End {
                index: AtomicUsize::new(0),
                block: AtomicPtr::new(block),
            })
        };
        List {
            head: end(),
            tail: end(),
            spare: AtomicPtr::new(ptr::null_mut()),
            flaws,
        }
    }

    /// A block that nobody else has.
    #[cold]
    fn fresh_block(&self) -> *mut Block<T> {
        // Acquire: whoever left it is through with it.
        let spare = self.spare.swap(ptr::null_mut(), Ordering::Acquire);
        if spare.is_null() {
            Block::allocate()
        } else {
            spare
        }
    }

    /// Takes a block away that nobody touches any more.
    ///
    /// # Safety
    /// So it is, and the caller is the only one who says so.
    #[cold]
    unsafe fn retire(&self, block: *mut Block<T>) {
        // SAFETY: the caller's.
        unsafe { (*block).reset() };
        // Release: with all that was done to it.
        let kept = self.spare.compare_exchange(
            ptr::null_mut(),
            block,
            Ordering::Release,
            Ordering::Relaxed,
        );
        if kept.is_err() {
            // SAFETY: made by `allocate`, and the caller's.
            drop(unsafe { Box::from_raw(block) });
        }
    }

    #[inline]
    fn push(&self, message: T) -> Result<bool, Refused<T>> {
        let mut in_flight = SpinWait::new();
        let mut next: *mut Block<T> = ptr::null_mut();
        let mut tail = self.tail.index.load(Ordering::Acquire);
        let result = loop {
            let block = self.tail.block.load(Ordering::Acquire);
            if tail & CLOSED != 0 {
                break Err(Refused::Closed(message));
            }
            let offset = offset(tail);
            if offset == CELLS {
                in_flight.spin();
                tail = self.tail.index.load(Ordering::Acquire);
                continue;
            }
            if offset + 1 == CELLS && next.is_null() {
                next = self.fresh_block();
            }
            if let Err(now) = self.tail.index.compare_exchange_weak(
                tail,
                tail + ONE,
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                tail = now;
                continue;
            }
            // SAFETY: with a position in it, the block stays until we have marked our cell.
            let block = unsafe { &*block };
            if offset + 1 == CELLS {
                let next = std::mem::replace(&mut next, ptr::null_mut());
                self.tail.block.store(next, Ordering::Release);
                // Not a store: somebody may have set a bit.
                self.tail.index.fetch_add(ONE, Ordering::Release);
                block.next.store(next, Ordering::Release);
            }
            let cell = &block.cells[offset];
            // SAFETY: the position is ours alone, and the cell has not been used in this block's turn.
            cell.message
                .with_mut(|cell| unsafe { (*cell).write(message) });
            let order = self.flaws.relax(Flaw::RelaxedFill, Ordering::Release);
            cell.filled.store(true, order);
            break Ok(tail & RECEIVERS != 0);
        };
        if !next.is_null() {
            // Somebody else has claimed the last cell.
            // SAFETY: nobody has seen it.
            unsafe { self.retire(next) };
        }
        result
    }

    /// Takes the oldest message.
    ///
    /// # Safety
    /// No other thread takes one at the same time, here or by [`pop_shared`](Self::pop_shared).
    #[inline]
    unsafe fn pop_single(&self) -> Option<T> {
        // Relaxed: nobody else writes it.
        let head = self.head.index.load(Ordering::Relaxed);
        let pointer = self.head.block.load(Ordering::Relaxed);
        // SAFETY: the front block stays until we take it away.
        let block = unsafe { &*pointer };
        let offset = offset(head);
        let cell = &block.cells[offset];
        if !cell.filled.load(Ordering::Acquire) {
            // Empty, unless a producer has this position.
            let tail = self.tail.index.load(Ordering::Acquire);
            if tail / ONE == head / ONE || self.flaws.has(Flaw::EmptyWhileInFlight) {
                return None;
            }
        }
        // SAFETY: the only consumer.
        let message = unsafe { cell.take() };
        if offset + 1 == CELLS {
            let next = block.wait_for_next();
            self.head.block.store(next, Ordering::Relaxed);
            self.head.index.store(head + 2 * ONE, Ordering::Release);
            // SAFETY: all cells have been filled, hence left by their producers, and emptied by us.
            unsafe { self.retire(pointer) };
        } else {
            self.head.index.store(head + ONE, Ordering::Release);
        }
        Some(message)
    }

    /// Takes the oldest message.
    #[inline]
    fn pop_shared(&self) -> Option<T> {
        let mut in_flight = SpinWait::new();
        let mut head = self.head.index.load(Ordering::Acquire);
        loop {
            let pointer = self.head.block.load(Ordering::Acquire);
            let offset = offset(head);
            if offset == CELLS {
                // Somebody is about to move on to the next block.
                in_flight.spin();
                head = self.head.index.load(Ordering::Acquire);
                continue;
            }
            let mut next_head = head + ONE;
            if head & HAS_NEXT == 0 {
                let tail = self.tail.index.load(Ordering::Acquire);
                if tail / ONE == head / ONE {
                    return None;
                }
                if tail / ONE / LAP != head / ONE / LAP {
                    next_head |= HAS_NEXT;
                }
            }
            if let Err(now) = self.head.index.compare_exchange_weak(
                head,
                next_head,
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                head = now;
                continue;
            }
            // SAFETY: with a position in it, the block stays until we have counted our cell.
            let block = unsafe { &*pointer };
            if offset + 1 == CELLS {
                let next = block.wait_for_next();
                self.head.block.store(next, Ordering::Release);
                // A bit less is only a look more; the position is for us to move, since all others wait for it.
                let moved = (next_head & !HAS_NEXT) + ONE;
                self.head.index.store(moved, Ordering::Release);
            }
            // SAFETY: the position is ours alone.
            let message = unsafe { block.cells[offset].take() };
            let order = self.flaws.relax(Flaw::RelaxedEmptied, Ordering::AcqRel);
            if block.emptied.fetch_add(1, order) + 1 == CELLS {
                // SAFETY: all producers and consumers are through with it, and we are the last.
                unsafe { self.retire(pointer) };
            }
            return Some(message);
        }
    }

    fn look(&self) -> (usize, Look) {
        // The front first: it never overtakes the back.
        let head = self.head.index.load(Ordering::Acquire);
        let tail = self.tail.index.load(Ordering::Acquire);
        let look = if count(tail) != count(head) {
            Look::Filled
        } else if tail & CLOSED != 0 {
            Look::Finished
        } else {
            Look::Empty
        };
        (tail, look)
    }

    fn announce_receiver(&self) -> Look {
        loop {
            let (tail, look) = self.look();
            let blind = self.flaws.has(Flaw::ReceiverWaitsBlindly);
            if look != Look::Empty && !blind {
                return look;
            }
            // If it succeeds, nothing was pushed since we looked.
            let swapped = self.tail.index.compare_exchange_weak(
                tail,
                tail | RECEIVERS,
                Ordering::AcqRel,
                Ordering::Relaxed,
            );
            if swapped.is_ok() {
                return Look::Empty;
            }
        }
    }

    fn len(&self) -> usize {
        loop {
            let tail = self.tail.index.load(Ordering::Acquire);
            let head = self.head.index.load(Ordering::Acquire);
            if self.tail.index.load(Ordering::Acquire) / ONE == tail / ONE {
                return count(tail) - count(head);
            }
        }
    }
}

impl<T> Drop for List<T> {
    fn drop(&mut self) {
        // SAFETY: nobody else has it.
        unsafe {
            while let Some(message) = self.pop_single() {
                drop(message);
            }
            let front = self.head.block.load(Ordering::Relaxed);
            drop(Box::from_raw(front));
            let spare = self.spare.load(Ordering::Relaxed);
            if !spare.is_null() {
                drop(Box::from_raw(spare));
            }
        }
    }
}

/// A list for a single receiver.
pub(crate) struct Single<T>(List<T>);

/// A list for many receivers.
pub(crate) struct Shared<T>(List<T>);

macro_rules! list_queue {
    ($Kind:ident, |$list:ident| $pop:expr) => {
        impl<T> $Kind<T> {
            pub(crate) fn new() -> Self {
                Self::with_flaws(Flaws::NONE)
            }

            pub(crate) fn with_flaws(flaws: Flaws<Flaw>) -> Self {
                $Kind(List::new(flaws))
            }
        }

        impl<T> Queue<T> for $Kind<T> {
            #[inline]
            fn push(&self, message: T) -> Result<bool, Refused<T>> {
                self.0.push(message)
            }

            #[inline]
            unsafe fn pop(&self) -> Option<(T, bool)> {
                let $list = &self.0;
                $pop.map(|message| (message, false))
            }

            fn announce_receiver(&self) -> Look {
                self.0.announce_receiver()
            }

            fn retract_receivers(&self) {
                self.0.tail.index.fetch_and(!RECEIVERS, Ordering::AcqRel);
            }

            fn look(&self) -> Look {
                self.0.look().1
            }

            fn close(&self) -> bool {
                self.0.tail.index.fetch_or(CLOSED, Ordering::AcqRel) & CLOSED == 0
            }

            fn is_closed(&self) -> bool {
                self.0.tail.index.load(Ordering::Acquire) & CLOSED != 0
            }

            fn len(&self) -> usize {
                self.0.len()
            }

            fn capacity(&self) -> Option<usize> {
                None
            }
        }
    };
}

list_queue!(Single, |list| {
    // SAFETY: one consumer at a time, says the caller.
    unsafe { list.pop_single() }
});
list_queue!(Shared, |list| list.pop_shared());
