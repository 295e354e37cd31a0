//! Lines of waiting futures, for locks and channels.
//!
//! # What is guaranteed
//!
//! * **A wait allocates nothing.** A future that has to wait links a [`Node`] that lies in the future itself.
//! * **First come, first served.** Nodes leave a line at its head ([`Line::release_first`]).
//! * **No waker is called under the lock.** Wakers are foreign code: a waker may poll its future on the spot, drop it, and come back to the
//!   same line. Wakers are cloned before the lock is taken and collected under it in a [`WakeBatch`]. They are called (and replaced ones dropped) after it
//!   has been released.
//! * **No pointer to a future is used without a guarantee.** What is called after the lock is the waker, which owns its task. The node
//!   is not accessed any more. Its owner may free it as soon as it reads that it has been released (see `node`).
//! * **A grant is not lost.** [`Waiters::withdraw`] tells a future that goes away whether it has been granted something at the last moment. Then
//!   it hands that on.
//! * **Waking all is finite.** [`Waiters::release_all`] first moves all waiters to a second list. It releases them from there, in batches. A future that comes back
//!   meanwhile waits in the first list and is not woken again.
//!
//! # No wake-up is lost
//!
//! A line does not know what its nodes wait for. The owner of the line keeps that under the same lock ([`Waiters`]'s `S`), or in an atomic word of
//! its own. The first case is simple: a future that finds (under the lock) that it has to wait is linked before anybody can change that.
//!
//! In the second case, say a semaphore's count, three rules make it work:
//! 1. A future that has to wait says so *in the same word*, by a compare-and-swap under the lock (a bit "somebody waits"), and only if the word
//!    still says that it has to.
//! 2. A change of the word that lets a waiter continue is a compare-and-swap as well. It fails if that bit is set. Then the thread takes the lock and
//!    serves the line.
//! 3. The bit is only cleared under the lock, with the line empty.
//!
//! All changes of one word have one order, so either the arrival or the release comes first. If the release does, the arrival sees it and does not
//! wait. If the arrival does, the release sees the bit, and finds the node under the lock. No fence is needed for that, because there is only one
//! location. With *two* locations it is different: a publisher writes the item and then reads a flag, and a waiter writes the flag and then reads the items. Then release and acquire are not enough, not
//! even on x86: both may read the old value. That needs a sequentially consistent fence between the write and the read on both sides.

mod node;

#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod tests;
#[cfg(test)]
mod tokens;

pub use self::node::{Node, State};

use self::node::List;
use crate::primitives::{Mutex, const_fn, ignore_poison};
use crate::wake_batch::WakeBatch;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::Waker;

/// What a model gets wrong on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(all(test, loom)), allow(dead_code))]
pub enum Flaw {
    /// Nothing orders what was done to a node before what its owner does next.
    LetsGoRelaxed,
    /// The waker is taken out of a node after it has been let go.
    LetsGoTooEarly,
    /// The owner believes what it read before it had the lock.
    TrustsOldState,
}

/// A line and its lock, under which its owner may keep something else as well.
#[derive(Debug)]
pub struct Waiters<S> {
    guarded: Mutex<Guarded<S>>,
}

/// What the lock guards.
#[derive(Debug)]
pub struct Guarded<S> {
    pub line: Line,
    pub state: S,
}

/// Futures that wait, in the order in which they came.
#[derive(Debug)]
pub struct Line {
    waiting: List,
    /// Those that [`Waiters::release_all`] is about to release.
    leaving: List,
    /// How often `leaving` has become empty.
    departures: u64,
}

/// Somebody is about to leave: what `Line::departures` said then.
#[must_use = "see them off"]
#[derive(Debug)]
pub struct Leaving(Option<u64>);

impl Line {
    const fn new() -> Self {
        Self {
            waiting: List::new(),
            leaving: List::new(),
            departures: 0,
        }
    }

    /// Whether nobody waits. Those who are about to be released do not count.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Gives the one who has waited longest a part of `amount`, as much as it needs, and takes that from `amount`. `Some(true)`:
    /// it has got all it needs now, and has to be released. `None`: nobody waits.
    #[inline]
    pub fn feed_first(&mut self, amount: &mut usize) -> Option<bool> {
        let first = self.waiting.first()?;
        // SAFETY: linked, and the lock is held.
        let satisfied = unsafe {
            first.fields(|fields| {
                let part = fields.need.min(*amount);
                fields.need -= part;
                *amount -= part;
                fields.need == 0
            })
        };
        Some(satisfied)
    }

    /// Releases the one who has waited longest. `false`: nobody waits.
    #[inline]
    pub fn release_first(&mut self, verdict: State, batch: &mut WakeBatch) -> bool {
        let first = self.waiting.first().map(std::ptr::from_ref);
        // SAFETY: linked.
        first.is_some_and(|node| unsafe { self.release(node, verdict, batch) })
    }

    /// Releases the one who came last. `false`: nobody waits.
    pub fn release_last(&mut self, verdict: State, batch: &mut WakeBatch) -> bool {
        let last = self.waiting.last().map(std::ptr::from_ref);
        // SAFETY: linked.
        last.is_some_and(|node| unsafe { self.release(node, verdict, batch) })
    }

    /// Tells everybody who waits to leave. Whoever calls this has to call [`Waiters::see_off`] after the lock has been released.
    pub fn send_off(&mut self) -> Leaving {
        self.leaving.append(&mut self.waiting);
        Leaving((!self.leaving.is_empty()).then_some(self.departures))
    }

    /// Releases those who are to leave until the batch is full. Returns whether there are more.
    fn release_leaving(&mut self, verdict: State, batch: &mut WakeBatch) -> bool {
        while !batch.is_full() {
            let Some(node) = self.leaving.first().map(std::ptr::from_ref) else {
                return false;
            };
            // SAFETY: linked.
            unsafe { self.release(node, verdict, batch) };
        }
        !self.leaving.is_empty()
    }

    /// Unlinks a node, moves its waker to the batch and lets go of it. Returns `true`.
    ///
    /// # Safety
    /// The node is linked in one of the lists.
    #[inline]
    unsafe fn release(&mut self, node: *const Node, verdict: State, batch: &mut WakeBatch) -> bool {
        // SAFETY: linked nodes are alive, until they are let go.
        unsafe {
            let node = &*node;
            self.unlink(node);
            if node.flaws.has(Flaw::LetsGoTooEarly) {
                node.let_go(verdict);
            }
            batch.extend(node.fields(|fields| fields.waker.take()));
            node.let_go(verdict);
        }
        true
    }

    /// # Safety
    /// The node is linked in one of the lists.
    unsafe fn unlink(&mut self, node: &Node) {
        if self.leaving.ends_with(node) {
            // SAFETY: linked here.
            unsafe { self.leaving.remove(node) };
            if self.leaving.is_empty() {
                self.departures += 1;
            }
        } else {
            // SAFETY: linked here or, with two neighbours, there.
            unsafe { self.waiting.remove(node) };
        }
    }
}

impl<S> Waiters<S> {
    const_fn! {
        pub const fn new(state: S) -> Self {
            Self {
                guarded: Mutex::new(Guarded {
                    line: Line::new(),
                    state,
                }),
            }
        }
    }

    /// Runs `access` under the lock. Nothing in it may call foreign code or panic half way through.
    #[inline]
    pub fn locked<R>(&self, access: impl FnOnce(&mut Guarded<S>) -> R) -> R {
        // Nothing unwinds in the middle of a change.
        let mut guarded = ignore_poison(self.guarded.lock());
        access(&mut guarded)
    }

    /// As [`locked`](Self::locked), and calls the wakers that `access` has collected after the lock has been released.
    #[inline]
    pub fn releasing<R>(&self, access: impl FnOnce(&mut Guarded<S>, &mut WakeBatch) -> R) -> R {
        let mut batch = WakeBatch::new();
        let result = self.locked(|guarded| access(guarded, &mut batch));
        batch.wake();
        result
    }

    /// Releases everybody who waits, if `decide` says so under the same lock. Returns what it says.
    pub fn release_all(&self, verdict: State, decide: impl FnOnce(&mut S) -> bool) -> bool {
        let leaving =
            self.locked(|guarded| decide(&mut guarded.state).then(|| guarded.line.send_off()));
        match leaving {
            Some(leaving) => {
                self.see_off(verdict, leaving);
                true
            }
            None => false,
        }
    }

    /// Releases those whom [`Line::send_off`] has told to leave, and calls their wakers. Those who come meanwhile are not released.
    pub fn see_off(&self, verdict: State, Leaving(departures): Leaving) {
        let Some(departures) = departures else {
            return;
        };
        // Those who left with others of a second call are gone just the same: no reason to see that one to its end.
        while self.releasing(|guarded, batch| {
            let line = &mut guarded.line;
            line.departures == departures && line.release_leaving(verdict, batch)
        }) {}
    }

    /// A future that is in no list may have to wait: `decide` says, under the lock, how much it needs, or that it need not wait after all.
    ///
    /// # Safety
    /// The node is only used with this list, by one caller at a time, and it is withdrawn before its memory goes away, unless it
    /// has been let go by then.
    #[inline]
    pub unsafe fn arrive<R>(
        &self,
        node: Pin<&Node>,
        waker: &Waker,
        decide: impl FnOnce(&mut Guarded<S>) -> ControlFlow<R, usize>,
    ) -> ControlFlow<R> {
        // May run anything, and may panic.
        let mut waker = Some(waker.clone());
        // A waker that is not needed is dropped after the lock.
        self.locked(|guarded| {
            let need = decide(guarded)?;
            // SAFETY: in no list, hence the caller's; it stays until it is withdrawn or let go.
            unsafe {
                node.prepare(waker.take(), need);
                guarded.line.waiting.push(node.get_ref());
            }
            node.set(State::Waiting);
            ControlFlow::Continue(())
        })
    }

    /// A future that waits is polled again: from now on this waker is to be called. Returns the state of the node.
    pub fn again(&self, node: Pin<&Node>, waker: &Waker) -> State {
        let mut fresh = None;
        loop {
            let state = self.locked(|_| {
                let state = node.state_under_lock();
                if state != State::Waiting {
                    return Some(state);
                }
                // SAFETY: waiting, and the lock is held.
                unsafe {
                    node.fields(|fields| match (&mut fields.waker, fresh.is_some()) {
                        (Some(present), _) if present.will_wake(waker) => Some(state),
                        (_, false) => None,
                        (present, true) => {
                            std::mem::swap(present, &mut fresh);
                            Some(state)
                        }
                    })
                }
            });
            match state {
                // What has been replaced is dropped here.
                Some(state) => return state,
                None => fresh = Some(waker.clone()),
            }
        }
    }

    /// A future gives up its place, or begins anew. Returns in which state the node was and how much it still needed; now it is idle.
    ///
    /// `left` is called under the lock if the node was taken out of the line.
    #[inline]
    pub fn withdraw(&self, node: Pin<&Node>, left: impl FnOnce(&mut Guarded<S>)) -> (State, usize) {
        let mut state = node.state();
        if state == State::Idle {
            return (State::Idle, 0);
        }
        if state == State::Waiting {
            state = self.withdraw_waiting(node, left);
        }
        node.set(State::Idle);
        // SAFETY: in no list.
        let need = unsafe { node.fields(|fields| fields.need) };
        (state, need)
    }

    fn withdraw_waiting(&self, node: Pin<&Node>, left: impl FnOnce(&mut Guarded<S>)) -> State {
        let mut waker = None;
        let state = self.locked(|guarded| {
            let state = node.state_under_lock();
            if state != State::Waiting && !node.flaws.has(Flaw::TrustsOldState) {
                return state;
            }
            // SAFETY: waiting nodes are linked, and the lock is held.
            unsafe {
                guarded.line.unlink(node.get_ref());
                waker = node.fields(|fields| fields.waker.take());
            }
            left(guarded);
            State::Waiting
        });
        // Dropping a waker may run anything.
        drop(waker);
        state
    }
}
