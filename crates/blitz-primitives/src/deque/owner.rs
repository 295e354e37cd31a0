//! The owner's end of the deque: push, pop, growth. The argument for its fences and orderings is in
//! the parent module.

use std::cell::Cell;
use std::fmt;

use super::stealer::{Stealer, steal_until_settled};
use super::{Flaw, Ring, Shared};
use crate::sync::{Arc, Ordering, fence};
use crate::word::Word;

/// The end that pushes and pops. There is one per deque.
///
/// It can be sent to another thread but not shared, and not cloned: that is what makes its
/// operations cheap, and why the compiler enforces it.
///
/// ```compile_fail
/// fn needs_sync<T: Sync>(_: &T) {}
/// let (owner, _stealer) = blitz_primitives::deque::<usize>();
/// needs_sync(&owner); // two threads would both be "the" owner
/// ```
///
/// Dropping the owner leaves its items to the stealers; the last handle to go drops what is left.
///
/// ```
/// let (owner, stealer) = blitz_primitives::deque::<usize>();
/// let rest = std::thread::spawn(move || {
///     for item in 1..=10 {
///         owner.push(item);
///     }
///     owner.pop() // the newest: 10
/// });
/// assert_eq!(rest.join().unwrap(), Some(10));
/// assert_eq!(std::iter::from_fn(|| stealer.steal_until_settled()).sum::<usize>(), 45);
/// ```
pub struct Owner<T: Word> {
    pub(super) shared: Arc<Shared<T>>,
    /// The current ring, kept beside so that the owner need not read the shared pointer.
    ring: Cell<*mut Ring>,
}

// SAFETY: the handle may move between threads along with the items (`T: Send`). The raw pointer
// refers to memory kept alive by `shared`. The `Cell` keeps the type from being `Sync`.
unsafe impl<T: Word + Send> Send for Owner<T> {}

impl<T: Word> Owner<T> {
    /// The one owner of a new deque whose current ring is `ring`.
    pub(super) fn new(shared: Arc<Shared<T>>, ring: *mut Ring) -> Self {
        Self {
            shared,
            ring: Cell::new(ring),
        }
    }

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
    /// let (owner, _stealer) = blitz_primitives::deque::<usize>();
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
    /// let (owner, _stealer) = blitz_primitives::deque::<usize>();
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
        // Only the owner writes to slots, so the word may be read before it is known to be ours:
        // the loads overlap with the fence, which is what `pop` spends its time on.
        let word = self.ring().slot(newest).load(Ordering::Relaxed);
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
        if older <= 0 {
            // The last item, or none. Either way `top` ends up where `bottom` was.
            let won = older == 0 && self.compete_for_last(top);
            shared.bottom.store(bottom, Ordering::Release);
            if !won {
                return None;
            }
        }
        // SAFETY: the owner stored the word at this index and nobody else can have taken it: see the
        // parent module. Indices are won once.
        Some(unsafe { T::from_word(word) })
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

    /// Takes the *oldest* item, as a thief would: the owner's way to run first in, first out.
    ///
    /// One fence and one compare-and-swap, more if thieves interfere.
    ///
    /// ```
    /// let (owner, _stealer) = blitz_primitives::deque::<usize>();
    /// owner.push(1);
    /// owner.push(2);
    /// assert_eq!(owner.pop_oldest(), Some(1));
    /// ```
    pub fn pop_oldest(&self) -> Option<T> {
        steal_until_settled(&self.shared)
    }

    /// The number of items. Thieves may lower it at any time.
    ///
    /// ```
    /// let (owner, stealer) = blitz_primitives::deque::<usize>();
    /// owner.push(1);
    /// owner.push(2);
    /// stealer.steal_until_settled();
    /// assert_eq!(owner.len(), 1);
    /// ```
    pub fn len(&self) -> usize {
        self.shared.len()
    }

    /// Whether there is nothing to pop. Only this owner can change `true` to `false`.
    ///
    /// ```
    /// let (owner, _stealer) = blitz_primitives::deque::<usize>();
    /// assert!(owner.is_empty());
    /// owner.push(1);
    /// assert!(!owner.is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of items that fit before the ring grows.
    ///
    /// ```
    /// let (owner, _stealer) = blitz_primitives::deque::with_capacity::<usize>(2);
    /// for item in 0..3 {
    ///     owner.push(item);
    /// }
    /// assert_eq!(owner.capacity(), 4);
    /// ```
    pub fn capacity(&self) -> usize {
        self.ring().mask + 1
    }

    /// Another handle for a thief.
    ///
    /// ```
    /// let (owner, _stealer) = blitz_primitives::deque::<usize>();
    /// owner.push(7);
    /// assert_eq!(owner.stealer().steal_until_settled(), Some(7));
    /// ```
    pub fn stealer(&self) -> Stealer<T> {
        Stealer::new(self.shared.clone())
    }
}

impl<T: Word> fmt::Debug for Owner<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owner").field("len", &self.len()).finish()
    }
}
