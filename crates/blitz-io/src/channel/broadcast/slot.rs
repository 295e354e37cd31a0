//! A place for one message that many receivers read, one after the other.
//!
//! One word says which message lies here and whether somebody is at it: `position << 1 | LOCKED`. A receiver that wants message `n`
//! swaps `n << 1` for `n << 1 | LOCKED`: one step that says "it is there, and it is mine for the moment". Giving it back is a plain store.
//! The sender takes the place the same way, whatever lies in it, and gives it back with a new position.
//!
//! Receivers take turns because messages need not be `Sync`: a clone of one is made by one thread at a time. Who finds the place taken waits for a clone;
//! messages that are large to clone are better sent in an `Arc`.
//!
//! # Orderings
//! Taking is Acquire, giving back Release: whoever has the place sees what its predecessors did to it. With either relaxed, a message could be read
//! while it is being written.

use crate::primitives::{AtomicU64, Ordering, UnsafeCell};
use blitz_core::checking::Flaws;
use blitz_core::primitives::SpinWait;

const LOCKED: u64 = 1;

/// What the models break on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "constructed by loom models only")]
pub(super) enum Flaw {
    RelaxedGiving,
    RelaxedTaking,
    WritesUnasked,
}

pub(super) struct Slot<T> {
    word: AtomicU64,
    content: UnsafeCell<Content<T>>,
    flaws: Flaws<Flaw>,
}

pub(super) struct Content<T> {
    /// Receivers that have not read it yet.
    pub(super) remaining: usize,
    /// Gone when all have.
    pub(super) message: Option<T>,
}

// SAFETY: the content is touched by one thread at a time, see above.
unsafe impl<T: Send> Sync for Slot<T> {}

impl<T> Slot<T> {
    /// Empty; `position` is one that nobody will ask for.
    pub(super) fn new(position: u64, flaws: Flaws<Flaw>) -> Self {
        Slot {
            word: AtomicU64::new(position << 1),
            content: UnsafeCell::new(Content {
                remaining: 0,
                message: None,
            }),
            flaws,
        }
    }

    /// Takes the place if message `position` lies in it.
    #[inline]
    pub(super) fn take(&self, position: u64) -> Option<Taken<'_, T>> {
        let wanted = position << 1;
        let mut in_use = SpinWait::new();
        loop {
            let order = self.flaws.relax(Flaw::RelaxedTaking, Ordering::Acquire);
            // A look first: who comes too early does not disturb those who are at it.
            let now = match self.word.load(Ordering::Relaxed) {
                now if now == wanted => {
                    let swapped = self.word.compare_exchange_weak(
                        wanted,
                        wanted | LOCKED,
                        order,
                        Ordering::Relaxed,
                    );
                    match swapped {
                        Ok(_) => {
                            return Some(Taken {
                                slot: self,
                                word: wanted,
                            });
                        }
                        Err(now) => now,
                    }
                }
                now => now,
            };
            if now & !LOCKED != wanted {
                return None;
            }
            in_use.spin();
        }
    }

    /// Takes the place whatever lies in it, to put message `position` there.
    #[inline]
    pub(super) fn take_for(&self, position: u64) -> Taken<'_, T> {
        let mut in_use = SpinWait::new();
        loop {
            let now = self.word.load(Ordering::Relaxed);
            let free = now & LOCKED == 0 || self.flaws.has(Flaw::WritesUnasked);
            if free
                && self
                    .word
                    .compare_exchange_weak(now, now | LOCKED, Ordering::Acquire, Ordering::Relaxed)
                    .is_ok()
            {
                return Taken {
                    slot: self,
                    word: position << 1,
                };
            }
            in_use.spin();
        }
    }

    /// How many receivers have not read message `position` yet, if it is here.
    pub(super) fn remaining(&self, position: u64) -> usize {
        self.take(position)
            .map_or(0, |mut taken| taken.content(|content| content.remaining))
    }
}

/// A place that is this thread's until it is dropped.
pub(super) struct Taken<'a, T> {
    slot: &'a Slot<T>,
    /// What it is left with.
    word: u64,
}

impl<T> Taken<'_, T> {
    #[inline]
    pub(super) fn content<R>(&mut self, access: impl FnOnce(&mut Content<T>) -> R) -> R {
        // SAFETY: taken by us, so it is ours alone until we give it back.
        self.slot
            .content
            .with_mut(|content| access(unsafe { &mut *content }))
    }
}

impl<T> Drop for Taken<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let order = self
            .slot
            .flaws
            .relax(Flaw::RelaxedGiving, Ordering::Release);
        self.slot.word.store(self.word, order);
    }
}
