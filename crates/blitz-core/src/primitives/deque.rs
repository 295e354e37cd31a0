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

use std::cell::Cell;
use std::fmt;
use std::iter;
use std::marker::PhantomData;

use crossbeam_utils::CachePadded;

use super::flaw::Flaws;
use super::word::Word;
use crate::sync::{Arc, AtomicPtr, AtomicUsize, Ordering, UnsafeCell, fence, spin_loop, yield_now};

/// Slots of a deque made by [`deque`]. Models start at two, so that growth is within reach.
pub const DEFAULT_CAPACITY: usize = if cfg!(loom) { 2 } else { 256 };

/// Makes an empty deque and returns its two ends.
///
/// ```
/// use blitz_core::primitives::{Steal, deque};
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
/// let (owner, _stealer) = blitz_core::primitives::deque::with_capacity::<usize>(3);
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
    let stealer = Stealer {
        shared: shared.clone(),
    };
    let owner = Owner {
        shared,
        ring: Cell::new(ring),
    };
    (owner, stealer)
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

/// The end that pushes and pops. There is one per deque.
///
/// It can be sent to another thread but not shared, and not cloned: that is what makes its
/// operations cheap, and why the compiler enforces it.
///
/// ```compile_fail
/// fn needs_sync<T: Sync>(_: &T) {}
/// let (owner, _stealer) = blitz_core::primitives::deque::<usize>();
/// needs_sync(&owner); // two threads would both be "the" owner
/// ```
///
/// Dropping the owner leaves its items to the stealers; the last handle to go drops what is left.
pub struct Owner<T: Word> {
    shared: Arc<Shared<T>>,
    /// The current ring, kept beside so that the owner need not read the shared pointer.
    ring: Cell<*mut Ring>,
}

// SAFETY: the handle may move between threads along with the items (`T: Send`). The raw pointer
// refers to memory kept alive by `shared`. The `Cell` keeps the type from being `Sync`.
unsafe impl<T: Word + Send> Send for Owner<T> {}

impl<T: Word> Owner<T> {
    #[inline(always)]
    fn ring(&self) -> &Ring {
        // SAFETY: the current ring lives until `shared` is dropped, and `self` keeps that alive.
        // Rings are never borrowed mutably after they are published.
        unsafe { &*self.ring.get() }
    }

    /// Adds an item at the bottom and tells whether the deque looked empty before.
    ///
    /// "Looked", because a thief may be taking the last item at this moment: `false` may be
    /// out of date, `true` never is. Costs a few plain loads and stores; when the ring is full
    /// it is replaced by one of twice the size (amortised constant).
    ///
    /// ```
    /// let (owner, _stealer) = blitz_core::primitives::deque::<usize>();
    /// assert!(owner.push(1));
    /// assert!(!owner.push(2));
    /// ```
    #[inline]
    pub fn push(&self, item: T) -> bool {
        let shared = &*self.shared;
        let bottom = shared.bottom.load(Ordering::Relaxed);
        // Acquire pairs with the thieves' compare-and-swap: a thief has read its slot before it
        // moved `top`, so once we see the move we may overwrite the slot. Relaxed would allow
        // our store to be read by the thief that made room for it.
        let top = shared.top.load(Ordering::Acquire);
        let len = bottom.wrapping_sub(top);
        if len > self.ring().mask {
            self.grow(top, bottom);
        }
        self.ring()
            .slot(bottom)
            .store(item.into_word(), Ordering::Relaxed);
        let order = if shared.flaws.has(Flaw::RelaxedPush) {
            Ordering::Relaxed
        } else {
            // Release: whoever sees the index as occupied sees the word and what is behind it.
            Ordering::Release
        };
        shared.bottom.store(bottom.wrapping_add(1), order);
        len == 0
    }

    /// Replaces the full ring by one of twice the size.
    #[cold]
    fn grow(&self, top: usize, bottom: usize) {
        let shared = &*self.shared;
        let old = self.ring();
        let new = Ring::allocate((old.mask + 1) * 2);
        {
            // SAFETY: freshly allocated, not yet published, freed only after being replaced.
            let new = unsafe { &*new };
            // Items that thieves take while we copy are copied in vain: their indices lie below
            // the `top` of whoever looks next.
            for offset in 0..bottom.wrapping_sub(top) {
                if shared.flaws.has(Flaw::GrowthForgetsItems) {
                    break;
                }
                let index = top.wrapping_add(offset);
                let word = old.slot(index).load(Ordering::Relaxed);
                new.slot(index).store(word, Ordering::Relaxed);
            }
        }
        let order = if shared.flaws.has(Flaw::RelaxedGrowth) {
            Ordering::Relaxed
        } else {
            // Release: a thief that gets the new ring must see what was copied into it, even if
            // it has not seen any later `bottom`.
            Ordering::Release
        };
        shared.ring.store(new, order);
        let old = self.ring.replace(new);
        shared.retired.with_mut(|retired| {
            // SAFETY: only the owner gets here, and the owner is on one thread.
            unsafe { (*retired).push(old) }
        });
    }

    /// Takes the newest item.
    ///
    /// One fence; a compare-and-swap only for the last item. Not even the fence when the deque is
    /// visibly empty.
    ///
    /// ```
    /// let (owner, _stealer) = blitz_core::primitives::deque::<usize>();
    /// owner.push(1);
    /// assert_eq!(owner.pop(), Some(1));
    /// assert_eq!(owner.pop(), None);
    /// ```
    #[inline]
    pub fn pop(&self) -> Option<T> {
        let shared = &*self.shared;
        let bottom = shared.bottom.load(Ordering::Relaxed);
        // Only we add items and `top` never exceeds `bottom`: if they are equal even in an old
        // view of `top`, the deque is empty. Relaxed: nothing is read on the strength of it.
        if shared.top.load(Ordering::Relaxed) == bottom {
            return None;
        }
        let newest = bottom.wrapping_sub(1);
        let order = if shared.flaws.has(Flaw::RelaxedPop) {
            Ordering::Relaxed
        } else {
            // Release, although nothing new is published: a thief may learn of *older* items
            // through this very store, and needs their words and contents.
            Ordering::Release
        };
        shared.bottom.store(newest, order);
        if !shared.flaws.has(Flaw::NoFenceInPop) {
            // Orders the store of `bottom` before the load of `top`. Release and acquire do not
            // order a store before a later load; without SeqCst a thief and we could both miss
            // the other's move.
            fence(Ordering::SeqCst);
        }
        let top = shared.top.load(Ordering::Relaxed);
        let older = newest.wrapping_sub(top) as isize;
        if older > 0 {
            return Some(self.take(newest));
        }
        // The last item, or none.
        let won = older == 0 && self.compete_for_last(top);
        let item = if won { Some(self.take(newest)) } else { None };
        // Either way `top` is at `bottom` now. The item was read before this store because
        // afterwards the slot is free.
        shared.bottom.store(bottom, Ordering::Release);
        item
    }

    /// Moves `top` past the last item as a thief would, and tells whether we were first. SeqCst for
    /// the same reason as in `steal`.
    #[inline(always)]
    fn compete_for_last(&self, top: usize) -> bool {
        let next = top.wrapping_add(1);
        let shared = &*self.shared;
        if shared.flaws.has(Flaw::LastItemUncontested) {
            shared.top.store(next, Ordering::SeqCst);
            return true;
        }
        shared
            .top
            .compare_exchange(top, next, Ordering::SeqCst, Ordering::Relaxed)
            .is_ok()
    }

    /// Reads back an item the owner has just won.
    #[inline(always)]
    fn take(&self, index: usize) -> T {
        let word = self.ring().slot(index).load(Ordering::Relaxed);
        // SAFETY: the owner stored the word at this index and nobody else can have taken it: see
        // the head of the file. Indices are won once.
        unsafe { T::from_word(word) }
    }

    /// Takes the *oldest* item, as a thief would: the owner's way to run first in, first out.
    ///
    /// One fence and one compare-and-swap, more if thieves interfere.
    ///
    /// ```
    /// let (owner, _stealer) = blitz_core::primitives::deque::<usize>();
    /// owner.push(1);
    /// owner.push(2);
    /// assert_eq!(owner.pop_oldest(), Some(1));
    /// ```
    pub fn pop_oldest(&self) -> Option<T> {
        steal_until_settled(&self.shared)
    }

    /// The number of items. Thieves may lower it at any time.
    pub fn len(&self) -> usize {
        self.shared.len()
    }

    /// Whether there is nothing to pop. Only this owner can change `true` to `false`.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of items that fit before the ring grows.
    pub fn capacity(&self) -> usize {
        self.ring().mask + 1
    }

    /// Another handle for a thief.
    pub fn stealer(&self) -> Stealer<T> {
        Stealer {
            shared: self.shared.clone(),
        }
    }
}

impl<T: Word> fmt::Debug for Owner<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owner").field("len", &self.len()).finish()
    }
}

/// What an attempt to steal came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a stolen item is owned by the result"]
pub enum Steal<T> {
    /// There was nothing to take.
    Empty,
    /// The oldest item, now the caller's.
    Success(T),
    /// Somebody else took the item the thief had its eyes on. Trying again may succeed.
    Retry,
}

impl<T> Steal<T> {
    /// The stolen item, if there is one.
    ///
    /// ```
    /// use blitz_core::primitives::Steal;
    /// assert_eq!(Steal::Success(1).success(), Some(1));
    /// assert_eq!(Steal::<i32>::Retry.success(), None);
    /// ```
    pub fn success(self) -> Option<T> {
        match self {
            Steal::Success(item) => Some(item),
            Steal::Empty | Steal::Retry => None,
        }
    }

    /// Whether the thief lost a race and may try again.
    pub fn is_retry(&self) -> bool {
        matches!(self, Steal::Retry)
    }
}

/// The end that steals. Clone it for as many thieves as needed.
pub struct Stealer<T: Word> {
    shared: Arc<Shared<T>>,
}

impl<T: Word> Clone for Stealer<T> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
        }
    }
}

impl<T: Word> Stealer<T> {
    /// Tries once to take the oldest item.
    ///
    /// Lock-free: [`Steal::Retry`] means that somebody else made progress. One fence, and one
    /// compare-and-swap if there is something to take.
    ///
    /// ```
    /// use blitz_core::primitives::{Steal, deque};
    /// let (owner, stealer) = deque::<usize>();
    /// assert_eq!(stealer.steal(), Steal::Empty);
    /// owner.push(5);
    /// assert_eq!(stealer.steal(), Steal::Success(5));
    /// ```
    #[inline]
    pub fn steal(&self) -> Steal<T> {
        steal(&self.shared)
    }

    /// Tries until the answer is an item or "empty".
    ///
    /// Each lost race doubles the pause before the next attempt (1 to 64 spin hints, then the
    /// thread also yields), so that many thieves at one deque do not fight over its line.
    ///
    /// ```
    /// let (owner, stealer) = blitz_core::primitives::deque::<usize>();
    /// owner.push(5);
    /// assert_eq!(stealer.steal_until_settled(), Some(5));
    /// assert_eq!(stealer.steal_until_settled(), None);
    /// ```
    pub fn steal_until_settled(&self) -> Option<T> {
        steal_until_settled(&self.shared)
    }

    /// The number of items at some moment during the call.
    pub fn len(&self) -> usize {
        self.shared.len()
    }

    /// Whether there was nothing to take. An item that was pushed before the call (in the
    /// happens-before sense) and that nobody takes is always seen.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: Word> fmt::Debug for Stealer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stealer").field("len", &self.len()).finish()
    }
}

#[inline]
fn steal<T: Word>(shared: &Shared<T>) -> Steal<T> {
    // Relaxed is enough because the fence that follows is an acquire fence too.
    let top = shared.top.load(Ordering::Relaxed);
    if !shared.flaws.has(Flaw::NoFenceInSteal) {
        // Orders the two loads against the owner's store and load in `pop`. An acquire fence would
        // keep the loads in order on this side but leave the two sides unordered: we could
        // read a `bottom` from before the owner lowered it while the owner reads a `top` that does
        // not yet show that everything older is gone, and both would take one item.
        fence(Ordering::SeqCst);
    }
    // Acquire pairs with the owner's release: index occupied means word, ring and content visible.
    let bottom = shared.bottom.load(Ordering::Acquire);
    if Shared::<T>::distance(top, bottom) == 0 {
        return Steal::Empty;
    }
    // Acquire: a ring can be seen before any `bottom` stored after it, and its slots with it.
    let ring = shared.ring.load(Ordering::Acquire);
    // SAFETY: rings are freed only when `shared` is dropped, and the caller holds a handle.
    let word = unsafe { &*ring }.slot(top).load(Ordering::Relaxed);
    // The word is ours if `top` has not moved since we read it. Release, so that the owner does
    // not overwrite the slot before our read (see `push`). SeqCst and not just that, because
    // the argument about the two fences speaks of what a fenced read of `top` must see, and the
    // older C11 wording grants that for SeqCst writes only; it costs nothing where
    // compare-and-swap is a full barrier or acquire-release anyway.
    match shared.top.compare_exchange(
        top,
        top.wrapping_add(1),
        Ordering::SeqCst,
        Ordering::Relaxed,
    ) {
        // SAFETY: the word was stored by `push` at index `top`, and whoever moves `top` past an
        // index is the only one to own its item.
        Ok(_) => Steal::Success(unsafe { T::from_word(word) }),
        Err(_) => Steal::Retry,
    }
}

#[inline]
fn steal_until_settled<T: Word>(shared: &Shared<T>) -> Option<T> {
    const MOST_PAUSES: u32 = 64;
    let mut pauses = 1;
    loop {
        match steal(shared) {
            Steal::Success(item) => return Some(item),
            Steal::Empty => return None,
            Steal::Retry => {}
        }
        for _ in 0..pauses {
            spin_loop();
        }
        if pauses < MOST_PAUSES {
            pauses *= 2;
        } else {
            yield_now();
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
mod models;
