//! The thieves' end of the deque. The argument for its fence and orderings is in the parent module.

use std::fmt;

use super::{Flaw, Shared};
use crate::sync::{Arc, Ordering, fence, spin_loop, yield_now};
use crate::word::Word;

/// What an attempt to steal came to.
///
/// ```
/// use blitz_primitives::{Steal, deque};
///
/// let (owner, stealer) = deque::<usize>();
/// owner.push(5);
/// let item = loop {
///     match stealer.steal() {
///         Steal::Success(item) => break Some(item),
///         Steal::Empty => break None,
///         Steal::Retry => {} // or try somebody else first
///     }
/// };
/// assert_eq!(item, Some(5));
/// ```
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
    /// use blitz_primitives::Steal;
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
    ///
    /// ```
    /// use blitz_primitives::Steal;
    ///
    /// assert!(Steal::<i32>::Retry.is_retry());
    /// assert!(!Steal::<i32>::Empty.is_retry());
    /// ```
    pub fn is_retry(&self) -> bool {
        matches!(self, Steal::Retry)
    }
}

/// The end that steals. Clone it for as many thieves as needed.
///
/// ```
/// let (owner, stealer) = blitz_primitives::deque::<usize>();
/// for item in 0..100 {
///     owner.push(item);
/// }
/// let stolen: usize = std::thread::scope(|threads| {
///     let thieves = [stealer.clone(), stealer].map(|stealer| {
///         threads.spawn(move || std::iter::from_fn(|| stealer.steal_until_settled()).count())
///     });
///     thieves.map(|thief| thief.join().unwrap()).iter().sum()
/// });
/// assert_eq!(stolen, 100);
/// ```
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
    pub(super) fn new(shared: Arc<Shared<T>>) -> Self {
        Self { shared }
    }

    /// Tries once to take the oldest item.
    ///
    /// Lock-free: [`Steal::Retry`] means that somebody else made progress. One fence, and one
    /// compare-and-swap if there is something to take.
    ///
    /// ```
    /// use blitz_primitives::{Steal, deque};
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
    /// let (owner, stealer) = blitz_primitives::deque::<usize>();
    /// owner.push(5);
    /// assert_eq!(stealer.steal_until_settled(), Some(5));
    /// assert_eq!(stealer.steal_until_settled(), None);
    /// ```
    pub fn steal_until_settled(&self) -> Option<T> {
        steal_until_settled(&self.shared)
    }

    /// The number of items at some moment during the call.
    ///
    /// ```
    /// let (owner, stealer) = blitz_primitives::deque::<usize>();
    /// owner.push(1);
    /// assert_eq!(stealer.len(), 1);
    /// ```
    pub fn len(&self) -> usize {
        self.shared.len()
    }

    /// Whether there was nothing to take. An item that was pushed before the call (in the
    /// happens-before sense) and that nobody takes is always seen.
    ///
    /// ```
    /// let (owner, stealer) = blitz_primitives::deque::<usize>();
    /// owner.push(1);
    /// assert!(!stealer.is_empty());
    /// owner.pop();
    /// assert!(stealer.is_empty());
    /// ```
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
pub(super) fn steal_until_settled<T: Word>(shared: &Shared<T>) -> Option<T> {
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
