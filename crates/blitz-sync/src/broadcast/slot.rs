//! A place for one message that many receivers read, one after the other.
//!
//! One word says which message belongs here, and whether a thread uses the place: `position << 3 | AWAITED | LENT | LOCKED`. A receiver that needs message `n`
//! swaps `n << 3` for `n << 3 | LOCKED`. This one step says "it is there, and it is mine for the moment". Giving it back is a plain store.
//! The sender takes the place in the same way, whatever belongs in it, and gives it back with a new position.
//!
//! # Clones are made without the place
//! A clone runs foreign code. It may take long, block, or use this very channel. Everybody who waits for the place meanwhile would wait for the clone, above all a sender, which has the end of the ring
//! locked. So a receiver that has to clone takes the message with it ([`Taken::lend`]) and leaves the place open, marked **LENT**. It
//! puts the message back afterwards ([`Loan`]). If the place has got another message since, nobody needs the old one any more, and it is dropped.
//!
//! Other receivers of a message that is lent wait for it: messages need not be `Sync`, so only one thread at a time may clone one. Send messages that
//! are expensive to clone in an `Arc`.
//!
//! # Nobody waits for a message that is back
//! Most clones take no longer than a few spins. A receiver that has spun for long enough enters the line of those that wait for loans. Under the lock of that line
//! it marks the place **AWAITED** if the message is still lent ([`Slot::is_lent`]), and waits if so. The receiver or sender that ends the loan puts the message back, or another one in
//! its place. It takes the place to do so, so it sees the mark, and releases the line under the same lock. If the waiter's section comes first, the waiter
//! is released. If it comes second, the waiter finds that the place is no longer marked, and the message not lent.
//!
//! # Orderings
//! Taking is Acquire, and giving back is Release. So the thread that has the place sees what its predecessors did to it. With either relaxed, a message could be read
//! while it is being written.

use crate::primitives::{AtomicU64, Ordering, UnsafeCell};
use crate::waiters::{State, Waiters};
use blitz_primitives::SpinWait;
use blitz_primitives::flaw::Flaws;

const LOCKED: u64 = 1;
const LENT: u64 = 2;
/// Somebody waits for the end of the loan.
const AWAITED: u64 = 4;
/// The lowest bit of the position.
const SHIFT: u32 = 3;

/// How often one looks whether a loan has ended before one waits for it, for twice as long each time: a microsecond or so.
const LOOKS: u32 = if cfg!(loom) { 0 } else { 6 };

/// What the models break on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "constructed by loom models only")]
pub(super) enum Flaw {
    RelaxedGiving,
    RelaxedTaking,
    WritesUnasked,
    ReturnsUnasked,
    ReturnsSilently,
    OverwritesSilently,
    MarksOutsideOfTheLock,
}

/// Why a message is not to be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Absent {
    /// Another one belongs in the place.
    Elsewhere,
    /// Somebody clones it.
    Lent,
}

pub(super) struct Slot<T> {
    word: AtomicU64,
    content: UnsafeCell<Content<T>>,
    flaws: Flaws<Flaw>,
}

pub(super) struct Content<T> {
    /// Receivers that have not read it yet.
    pub(super) remaining: usize,
    /// Gone when all have; elsewhere while it is lent.
    pub(super) message: Option<T>,
}

// SAFETY: the content is touched by one thread at a time, see above.
unsafe impl<T: Send> Sync for Slot<T> {}

impl<T> Slot<T> {
    /// Empty; `position` is one that nobody will ask for.
    pub(super) fn new(position: u64, flaws: Flaws<Flaw>) -> Self {
        Slot {
            word: AtomicU64::new(position << SHIFT),
            content: UnsafeCell::new(Content {
                remaining: 0,
                message: None,
            }),
            flaws,
        }
    }

    /// Takes the place if message `position` belongs in it, and lies there. If it is lent, waits for a moment only.
    #[inline]
    pub(super) fn take(&self, position: u64) -> Result<Taken<'_, T>, Absent> {
        self.take_if(position, Some(LOOKS))
    }

    /// Takes the place if message `position` belongs in it, lent or not.
    #[inline]
    pub(super) fn take_lent(&self, position: u64) -> Option<Taken<'_, T>> {
        self.take_if(position, None).ok()
    }

    /// `looks`: how often one looks again whether a message that is lent is back; `None` if the place is taken without it.
    #[inline]
    fn take_if(&self, position: u64, looks: Option<u32>) -> Result<Taken<'_, T>, Absent> {
        let wanted = position << SHIFT;
        let (mut in_use, mut loan) = (SpinWait::new(), SpinWait::new());
        let mut looked = 0;
        let order = self.flaws.relax(Flaw::RelaxedTaking, Ordering::Acquire);
        // A look first: who comes too early does not disturb those who are at it.
        let mut now = self.word.load(Ordering::Relaxed);
        loop {
            if now & !(AWAITED | LENT | LOCKED) != wanted {
                return Err(Absent::Elsewhere);
            }
            if now & LENT != 0 && looks == Some(looked) {
                return Err(Absent::Lent);
            }
            if now & LENT != 0 && looks.is_some() {
                looked += 1;
                loan.spin();
            } else if now & LOCKED != 0 {
                in_use.spin();
            } else {
                let swapped =
                    self.word
                        .compare_exchange_weak(now, now | LOCKED, order, Ordering::Relaxed);
                match swapped {
                    Ok(word) => return Ok(Taken { slot: self, word }),
                    Err(changed) => now = changed,
                }
                continue;
            }
            now = self.word.load(Ordering::Relaxed);
        }
    }

    /// Takes the place whatever lies in it, to put message `position` there. Also returns whether somebody waits for the end of a loan, which
    /// this is.
    #[inline]
    pub(super) fn take_for(&self, position: u64) -> (Taken<'_, T>, bool) {
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
                let taken = Taken {
                    slot: self,
                    word: position << SHIFT,
                };
                let awaited = now & AWAITED != 0 && !self.flaws.has(Flaw::OverwritesSilently);
                return (taken, awaited);
            }
            in_use.spin();
        }
    }

    /// Whether message `position` is lent. If so, whoever ends the loan releases those who wait for that. For somebody who is about to, under the lock of their line.
    #[cold]
    pub(super) fn is_lent(&self, position: u64) -> bool {
        self.take_lent(position).is_some_and(|mut taken| {
            let lent = taken.word & LENT != 0;
            if lent {
                taken.word |= AWAITED;
            }
            lent
        })
    }

    pub(super) fn has_flaw(&self, flaw: Flaw) -> bool {
        self.flaws.has(flaw)
    }

    /// How many receivers have not read message `position` yet, if it is here.
    pub(super) fn remaining(&self, position: u64) -> usize {
        self.take_lent(position)
            .map_or(0, |mut taken| taken.content(|content| content.remaining))
    }
}

/// A place that is this thread's until it is dropped.
pub(super) struct Taken<'a, T> {
    slot: &'a Slot<T>,
    /// What it is left with.
    word: u64,
}

impl<'a, T> Taken<'a, T> {
    #[inline]
    pub(super) fn content<R>(&mut self, access: impl FnOnce(&mut Content<T>) -> R) -> R {
        // SAFETY: taken by us, so it is ours alone until we give it back.
        self.slot
            .content
            .with_mut(|content| access(unsafe { &mut *content }))
    }

    /// Takes the message along and leaves the place to others; who waits for its return does so in `line`. `None`: there is none.
    #[inline]
    pub(super) fn lend(mut self, line: &'a Waiters<()>) -> Option<Loan<'a, T>> {
        let message = self.content(|content| content.message.take())?;
        let loan = Loan {
            slot: self.slot,
            line,
            position: self.word >> SHIFT,
            message: Some(message),
            read: false,
        };
        self.word |= LENT;
        Some(loan)
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

/// A message on loan. Goes back where it came from when this is dropped, unless nobody needs it there any more.
pub(super) struct Loan<'a, T> {
    slot: &'a Slot<T>,
    /// Those who wait for such returns.
    line: &'a Waiters<()>,
    position: u64,
    /// Until the end.
    message: Option<T>,
    read: bool,
}

impl<T: Clone> Loan<'_, T> {
    /// A clone. It counts as read then, and not if making it panics.
    #[inline]
    pub(super) fn read(mut self) -> Option<T> {
        let message = self.message.clone();
        self.read = true;
        message
    }
}

impl<T> Loan<'_, T> {
    /// Puts the message back; returns it if nobody needs it.
    #[inline]
    fn put_back(&mut self) -> Option<T> {
        let mut place = self.slot.take_lent(self.position);
        if place.is_none() && self.slot.flaws.has(Flaw::ReturnsUnasked) {
            let now = self.slot.word.load(Ordering::Relaxed);
            place = Some(self.slot.take_for(now >> SHIFT).0);
        }
        let Some(mut place) = place else {
            // Another one is there: whoever had not read ours has missed it.
            return self.message.take();
        };
        let awaited = place.word & AWAITED != 0 && !self.slot.flaws.has(Flaw::ReturnsSilently);
        place.word &= !(AWAITED | LENT);
        let read = usize::from(self.read);
        let message = &mut self.message;
        place.content(|content| {
            content.remaining = content.remaining.saturating_sub(read);
            // Those who had not read it may have gone meanwhile.
            if content.remaining > 0 {
                content.message = message.take();
            }
        });
        drop(place);
        if awaited {
            self.line.release_all(State::Dismissed, |()| true);
        }
        self.message.take()
    }
}

impl<T> Drop for Loan<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // Dropped without the place: that is somebody else's code, too.
        drop(self.put_back());
    }
}
