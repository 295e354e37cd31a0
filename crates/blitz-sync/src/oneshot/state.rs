//! The life of a oneshot channel in one word, with a name for every step.
//!
//! Both ends live by the same rules. An end is **done** when it has said its last word (the sender has sent or was dropped; the
//! receiver was closed or dropped), and **gone** when it touches the memory no more. The end that is gone last frees the memory.
//! An end **waits** when its waker lies in its cell.
//!
//! * The value's cell is the sender's until the step that sets SENT, and the receiver's from then on.
//! * A waker's cell is that of its end while WAITS is unset. With WAITS set it is the other end's, from the moment that end is done;
//!   until then its owner may take it back. Both go through the word, so one of them is first: either the waiting end learns that
//!   the other is done, or the other one finds the waker.
//! * An end that finds nobody waiting is done and gone in the same step: a message costs one compare-and-swap to send, and nothing
//!   to receive, since whoever sees the other end gone has the memory to itself.
//!
//! # Orderings
//! Steps are AcqRel and looks Acquire. Release hands over cells (the value with SENT, a waker with WAITS, everything with GONE),
//! Acquire takes them. Relaxed at any of the three lets the other end touch a cell that is still being written: see the models.

use crate::primitives::{AtomicUsize, Ordering};
use blitz_primitives::flaw::Flaws;

/// The value is in its cell.
const SENT: usize = 1 << 0;

/// What the models break on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "constructed by loom models only")]
pub(crate) enum Flaw {
    RelaxedSend,
    RelaxedWait,
    RelaxedDeparture,
    WaitsBlindly,
    LeavesBeforeWaking,
    SendsToTheClosed,
    GoesUndone,
}

/// The bits of one end.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    done: usize,
    gone: usize,
    waits: usize,
}

const fn end(first_bit: u32) -> End {
    End {
        done: 1 << first_bit,
        gone: 2 << first_bit,
        waits: 4 << first_bit,
    }
}

pub(super) const SENDER: End = end(1);
pub(super) const RECEIVER: End = end(4);

impl End {
    pub(super) const fn is_sender(self) -> bool {
        self.done == SENDER.done
    }

    const fn other(self) -> End {
        if self.is_sender() { RECEIVER } else { SENDER }
    }
}

/// How an end left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leave {
    /// Done and gone.
    Gone,
    /// Done. The other one waits: its waker's cell is ours. [`State::depart`] comes next.
    Wake,
    /// Nothing has changed: the other one was done before. [`State::depart`] comes next.
    OtherIsDone,
}

/// The word.
#[derive(Debug)]
pub(super) struct State(AtomicUsize, Flaws<Flaw>);

impl State {
    pub(super) fn new(flaws: Flaws<Flaw>) -> Self {
        State(AtomicUsize::new(0), flaws)
    }

    #[inline]
    fn look(&self) -> usize {
        self.0.load(Ordering::Acquire)
    }

    /// Has this end said its last word?
    #[inline]
    pub(super) fn is_done(&self, end: End) -> bool {
        self.look() & end.done != 0
    }

    /// Whether the sender is done, and whether it has left a value. The value is the receiver's then.
    #[inline]
    pub(super) fn sent(&self) -> (bool, bool) {
        let now = self.look();
        (now & SENDER.done != 0, now & SENT != 0)
    }

    /// `me` says its last word and leaves, unless the other end has been done before. `sends`: the value is in its cell.
    #[inline]
    pub(super) fn leave(&self, me: End, sends: bool) -> Leave {
        let other = me.other();
        let mut now = self.look();
        loop {
            if now & other.done != 0 && !self.1.has(Flaw::SendsToTheClosed) {
                return Leave::OtherIsDone;
            }
            let waits = now & other.waits != 0;
            let mut next = now | me.done | if sends { SENT } else { 0 };
            if !waits || self.1.has(Flaw::LeavesBeforeWaking) {
                next |= me.gone;
            }
            let order = self.1.relax(Flaw::RelaxedSend, Ordering::AcqRel);
            match self
                .0
                .compare_exchange_weak(now, next, order, Ordering::Acquire)
            {
                Ok(_) if waits => return Leave::Wake,
                Ok(_) => return Leave::Gone,
                Err(changed) => now = changed,
            }
        }
    }

    /// `me` touches nothing any more. `true`: nor does the other one; free the memory.
    ///
    /// Whoever is gone is done, also if it was refused before it could say so: the other end goes by that.
    #[inline]
    #[must_use]
    pub(super) fn depart(&self, me: End) -> bool {
        let other = me.other();
        if self.look() & other.gone != 0 {
            return true;
        }
        let order = self.1.relax(Flaw::RelaxedDeparture, Ordering::AcqRel);
        let word = if self.1.has(Flaw::GoesUndone) {
            me.gone
        } else {
            me.done | me.gone
        };
        self.0.fetch_or(word, order) & other.gone != 0
    }

    /// The receiver wants nothing more, but stays. `true`: the sender waits for that; its waker's cell is ours.
    pub(super) fn close(&self) -> bool {
        let before = self.0.fetch_or(RECEIVER.done, Ordering::AcqRel);
        before & (SENDER.done | RECEIVER.done) == 0 && before & SENDER.waits != 0
    }

    /// `me` has written its waker. `false`: the other one is done, and will not look at it.
    #[must_use]
    pub(super) fn wait(&self, me: End) -> bool {
        let order = self.1.relax(Flaw::RelaxedWait, Ordering::AcqRel);
        let before = self.0.fetch_or(me.waits, order);
        before & me.other().done == 0 || self.1.has(Flaw::WaitsBlindly)
    }

    /// `me` takes its waker's cell back. `false`: the other one is done, and may be looking into it.
    #[must_use]
    pub(super) fn take_back(&self, me: End) -> bool {
        let now = self.look();
        if now & me.waits == 0 {
            // Never given away.
            return now & me.other().done == 0;
        }
        let before = self.0.fetch_and(!me.waits, Ordering::AcqRel);
        before & me.other().done == 0
    }
}
