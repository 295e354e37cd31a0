//! A growable work-stealing deque: one owner at the bottom, any number of thieves at the top.
//!
//! The algorithm is Chase and Lev's circular deque with the C11 orderings of Lê, Pop, Cohen and
//! Zappa Nardelli ("Correct and efficient work-stealing for weak memory models", 2013).
//! [`Owner`] pushes and pops at the bottom, newest first, without a read-modify-write unless it
//! reaches the last item. [`Stealer`] takes the oldest item with one compare-and-swap.
//!
//! # What it guarantees
//!
//! * Every pushed item comes out exactly once: by one `pop`, one `steal`, or the final drop.
//! * An item that was pushed before (in the happens-before sense) is seen by `pop`, `steal`,
//!   `len` and `is_empty` unless somebody else takes it: [`Steal::Empty`] is never a guess.
//! * What the pusher wrote before `push` is visible to whoever gets the item.
//! * `push`, `pop` and `steal` never block; `push` allocates only when it doubles the ring.
//!
//! # Why it is correct
//!
//! `top` only grows, and only by a compare-and-swap of the one who takes item `top`. `bottom` is
//! written by the owner alone. Items live at indices `top .. bottom`, in slot `index & mask`.
//!
//! *No item is taken twice.* Two thieves, or a thief and the owner at the last item, compete
//! through the compare-and-swap on `top`: one wins. The owner takes an item that is not the last
//! without one. For that, `pop` lowers `bottom`, fences, and reads `top`; `steal` reads `top`,
//! fences, and reads `bottom`. Both fences are `SeqCst` and hence ordered one way or the other.
//! If the owner's is first, the thief sees the lowered `bottom` and leaves the item alone. If the
//! thief's is first, the owner reads a `top` at least as new as the thief's, sees that the item is
//! the last, and goes to the compare-and-swap. With anything weaker each side may miss the other's
//! write (this is the store-buffering pattern), and the item comes out twice.
//!
//! *A thief gets the right word.* A slot is overwritten only after the owner has seen a `top`
//! beyond the item in it, in which case the compare-and-swap of a thief that read too late
//! fails. Every store to `bottom` is a release and the thief's load of it an acquire, so a thief
//! that sees an index as occupied also sees the slot's word, the ring that holds it and the
//! memory behind it.
//!
//! *Growth.* The owner copies the live items to a ring of twice the size, publishes the ring and
//! never writes to the old one again. A thief that still holds the old ring finds the items in
//! it that were there when it was current, and later ones it cannot know of: to know of them it
//! would have read a `bottom` stored after the new ring was published. Old rings are kept in a
//! list only the owner touches and freed with the deque, when no thief exists any more. All of
//! them together are smaller than the ring in use, because each is half of the next.
//!
//! An index wraps around after `usize::MAX` pushes. To be fooled, a thief would have to be
//! suspended inside `steal` for exactly that many of them.

mod owner;
mod stealer;

use std::iter;
use std::marker::PhantomData;

use crossbeam_utils::CachePadded;

use crate::flaw::Flaws;
use crate::sync::{Arc, AtomicPtr, AtomicUsize, Ordering, UnsafeCell};
use crate::word::Word;

pub use owner::Owner;
pub use stealer::{Steal, Stealer};

/// Slots of a deque made by [`deque`]. Models start at two, so that growth is within reach.
pub const DEFAULT_CAPACITY: usize = if cfg!(loom) { 2 } else { 256 };

/// Makes an empty deque and returns its two ends.
///
/// ```
/// use blitz_primitives::{Steal, deque};
///
/// let (owner, stealer) = deque::<usize>();
/// owner.push(1);
/// owner.push(2);
/// owner.push(3);
/// assert_eq!(stealer.steal(), Steal::Success(1)); // thieves take the oldest
/// assert_eq!(owner.pop(), Some(3)); // the owner takes the newest
/// assert_eq!(owner.pop(), Some(2));
/// assert_eq!(owner.pop(), None);
/// ```
pub fn deque<T: Word>() -> (Owner<T>, Stealer<T>) {
    with_capacity(DEFAULT_CAPACITY)
}

/// Makes an empty deque with room for `capacity` items (rounded up to a power of two) before it
/// grows for the first time.
///
/// ```
/// let (owner, _stealer) = blitz_primitives::deque::with_capacity::<usize>(3);
/// assert_eq!(owner.capacity(), 4);
/// ```
pub fn with_capacity<T: Word>(capacity: usize) -> (Owner<T>, Stealer<T>) {
    with_flaws(capacity, Flaws::NONE)
}

fn with_flaws<T: Word>(capacity: usize, flaws: Flaws<Flaw>) -> (Owner<T>, Stealer<T>) {
    let ring = Ring::allocate(capacity.max(1).next_power_of_two());
    let shared = Arc::new(Shared {
        top: CachePadded::new(AtomicUsize::new(0)),
        bottom: CachePadded::new(AtomicUsize::new(0)),
        ring: AtomicPtr::new(ring),
        retired: UnsafeCell::new(Vec::new()),
        flaws,
        items: PhantomData,
    });
    let stealer = Stealer::new(shared.clone());
    (Owner::new(shared, ring), stealer)
}

/// What a deque without one of its pillars would do; see [`Flaws`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flaw {
    /// `pop` does not fence between lowering `bottom` and reading `top`.
    NoFenceInPop,
    /// `steal` does not fence between reading `top` and reading `bottom`.
    NoFenceInSteal,
    /// `pop` takes the last item without competing for it.
    LastItemUncontested,
    /// `push` stores `bottom` without release.
    RelaxedPush,
    /// `pop` stores `bottom` without release.
    RelaxedPop,
    /// Growth publishes the new ring but copies nothing into it.
    GrowthForgetsItems,
    /// Growth publishes the new ring without release.
    RelaxedGrowth,
}

/// The circular array. Its length is a power of two, `mask + 1`.
struct Ring {
    mask: usize,
    slots: Box<[AtomicUsize]>,
}

impl Ring {
    fn allocate(capacity: usize) -> *mut Ring {
        debug_assert!(capacity.is_power_of_two());
        Box::into_raw(Box::new(Ring {
            mask: capacity - 1,
            slots: iter::repeat_with(|| AtomicUsize::new(0))
                .take(capacity)
                .collect(),
        }))
    }

    #[inline(always)]
    fn slot(&self, index: usize) -> &AtomicUsize {
        debug_assert!(self.slots.len() == self.mask + 1);
        // SAFETY: `index & mask` is at most `mask`, which is the length minus one.
        unsafe { self.slots.get_unchecked(index & self.mask) }
    }
}

struct Shared<T: Word> {
    /// Index of the oldest item. Written by whoever takes it.
    top: CachePadded<AtomicUsize>,
    /// One past the index of the newest item. Written by the owner.
    bottom: CachePadded<AtomicUsize>,
    /// The current ring. Written by the owner.
    ring: AtomicPtr<Ring>,
    /// Rings that were current once. Touched by the owner, and by the drop.
    retired: UnsafeCell<Vec<*mut Ring>>,
    flaws: Flaws<Flaw>,
    /// The slots own items.
    items: PhantomData<T>,
}

// SAFETY: items are moved between threads, hence `T: Send`. Nothing hands out a reference to an
// item, so `T: Sync` is not needed. `retired` is touched only by the one thread that holds the
// `Owner` (which is neither `Sync` nor `Clone`), or by `drop`, which has exclusive access.
unsafe impl<T: Word + Send> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Word + Send> Sync for Shared<T> {}

impl<T: Word> Shared<T> {
    /// Number of items between two indices read at different moments, never negative.
    #[inline(always)]
    fn distance(top: usize, bottom: usize) -> usize {
        // A popping owner shows `bottom == top - 1` for a moment, and a stale `bottom` may lie
        // before a fresh `top`: both mean that there is nothing to take.
        (bottom.wrapping_sub(top) as isize).max(0) as usize
    }

    fn len(&self) -> usize {
        // Acquire: a caller who then finds the deque empty must not have its later reads moved
        // before these. The order of the two loads does not matter to the guarantee: an index
        // below the `bottom` we read and not below the `top` we read is counted, and an item that
        // was pushed before lies below any `bottom` we can read unless its owner is taking it.
        let bottom = self.bottom.load(Ordering::Acquire);
        let top = self.top.load(Ordering::Acquire);
        Self::distance(top, bottom)
    }
}

impl<T: Word> Drop for Shared<T> {
    fn drop(&mut self) {
        // The last handle is gone and its reference count ordered everything before this: plain
        // reads would do.
        let top = self.top.load(Ordering::Relaxed);
        let bottom = self.bottom.load(Ordering::Relaxed);
        // SAFETY: the pointer came from `Ring::allocate`, is freed nowhere else while current, and
        // nobody else can reach it.
        let ring = unsafe { Box::from_raw(self.ring.load(Ordering::Relaxed)) };
        self.retired.with_mut(|retired| {
            // SAFETY: `&mut self`; each retired ring came from `Ring::allocate`, was moved to the
            // list when it stopped being current, and is in the list once.
            unsafe {
                (*retired)
                    .drain(..)
                    .for_each(|ring| drop(Box::from_raw(ring)))
            }
        });
        for offset in 0..Self::distance(top, bottom) {
            let word = ring.slot(top.wrapping_add(offset)).load(Ordering::Relaxed);
            // SAFETY: the item was pushed and not taken, and `top .. bottom` is visited once.
            drop(unsafe { T::from_word(word) });
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
mod models;
