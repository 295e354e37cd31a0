//! A place in a line: what the list links, inside the future that waits.
//!
//! A node is part of a pinned future, so a wait costs no allocation. Its one atomic word says who may touch the rest of it:
//!
//! | state | meaning | the fields belong to |
//! |---|---|---|
//! | `Idle` | in no list | the owner of the future |
//! | `Waiting` | linked | whoever holds the list's lock |
//! | `Granted` | it has got what it waits for | the owner of the future |
//! | `Dismissed` | there is nothing to wait for any more | the owner of the future |
//!
//! The owner moves it `Idle -> Waiting` and back, everybody else `Waiting -> Granted` or `Waiting -> Dismissed`: always under the
//! lock. The latter is the last thing that is done to a node by somebody else, and it is done with release: an owner
//! that reads it with acquire may free the node without the lock, since unlinking it and taking its waker have happened before. A
//! relaxed store would let the owner's freeing overtake them. An owner that reads `Waiting` has to take the lock and look again.
//!
//! Most futures never wait, so the fields are written when one does ([`Node::prepare`]). A node that is in no list has no waker in them: whoever takes
//! it out takes the waker.

use super::Flaw;
use crate::primitives::{AtomicU32, Ordering, UnsafeCell};
use blitz_primitives::flaw::Flaws;
use std::marker::PhantomPinned;
use std::mem::MaybeUninit;
use std::ptr;
use std::task::Waker;

/// Where a node stands; see the table above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum State {
    Idle,
    Waiting,
    /// Somebody has handed it what it needs. If its owner does not want it any more, it has to hand it on.
    Granted,
    /// It was woken for another reason (closed, notified with all others): nothing is lost if its owner goes away.
    Dismissed,
}

impl State {
    fn of(word: u32) -> Self {
        match word {
            0 => State::Idle,
            1 => State::Waiting,
            2 => State::Granted,
            _ => State::Dismissed,
        }
    }
}

/// A place in a line. Has to be withdrawn from its list before it is dropped.
#[derive(Debug)]
pub struct Node {
    state: AtomicU32,
    /// Written by [`prepare`](Self::prepare), before it is linked for the first time.
    fields: UnsafeCell<MaybeUninit<Fields>>,
    pub(super) flaws: Flaws<Flaw>,
    /// The list has the address of a waiting node.
    _pinned: PhantomPinned,
}

/// What the list and the owner share.
#[derive(Debug)]
pub(super) struct Fields {
    pub(super) next: *const Node,
    pub(super) previous: *const Node,
    pub(super) waker: Option<Waker>,
    /// How much it still needs.
    pub(super) need: usize,
}

// SAFETY: the raw pointers are only followed by whoever the table above gives the fields to.
unsafe impl Send for Node {}
// SAFETY: as for `Send`; through a shared reference only the atomic word is read without the lock.
unsafe impl Sync for Node {}

impl Node {
    #[inline]
    #[allow(clippy::new_without_default, reason = "hidden: who makes one says so")]
    pub fn new() -> Self {
        Self::with_flaws(Flaws::NONE)
    }

    #[inline]
    pub fn with_flaws(flaws: Flaws<Flaw>) -> Self {
        Self {
            state: AtomicU32::new(State::Idle as u32),
            fields: UnsafeCell::new(MaybeUninit::uninit()),
            flaws,
            _pinned: PhantomPinned,
        }
    }

    /// Makes it ready for a list.
    ///
    /// # Safety
    /// The caller is the owner, and it is in no list.
    pub(super) unsafe fn prepare(&self, waker: Option<Waker>, need: usize) {
        let fields = Fields {
            next: ptr::null(),
            previous: ptr::null(),
            waker,
            need,
        };
        // SAFETY: the fields are the owner's, and have no waker that would be lost.
        self.fields
            .with_mut(|place| unsafe { (*place).write(fields) });
    }

    /// Its state. If that is not `Waiting`, nobody else knows of the node (any more).
    #[inline]
    pub fn state(&self) -> State {
        State::of(self.state.load(Ordering::Acquire))
    }

    /// Its exact state: the caller holds the lock, which orders it.
    pub(super) fn state_under_lock(&self) -> State {
        State::of(self.state.load(Ordering::Relaxed))
    }

    /// The owner gives it to the list, or has it back, under the lock; or it starts anew, and nobody else knows it.
    pub(super) fn set(&self, state: State) {
        debug_assert!(matches!(state, State::Idle | State::Waiting));
        self.state.store(state as u32, Ordering::Relaxed);
    }

    /// Somebody else lets go of it: the caller must not touch it any more.
    pub(super) fn let_go(&self, verdict: State) {
        debug_assert!(matches!(verdict, State::Granted | State::Dismissed));
        let order = self.flaws.relax(Flaw::LetsGoRelaxed, Ordering::Release);
        self.state.store(verdict as u32, order);
    }

    /// Its fields.
    ///
    /// # Safety
    /// The caller has the right to them according to the table above, the node has been [prepared](Self::prepare), and `access` does not call this
    /// again for the same node.
    pub(super) unsafe fn fields<R>(&self, access: impl FnOnce(&mut Fields) -> R) -> R {
        // SAFETY: exclusive and written, as the caller promises.
        self.fields
            .with_mut(|fields| access(unsafe { (*fields).assume_init_mut() }))
    }
}

impl Drop for Node {
    #[inline]
    fn drop(&mut self) {
        debug_assert!(
            std::thread::panicking() || self.state() != State::Waiting,
            "a node goes away while its list links it"
        );
    }
}

/// Nodes one after the other. It follows pointers to nodes that are linked: those are alive, and their fields belong to whoever has the list.
#[derive(Debug)]
pub(super) struct List {
    first: *const Node,
    last: *const Node,
}

// SAFETY: whoever has the list has the lock that it lies under, and with it the right to its nodes.
unsafe impl Send for List {}

impl List {
    pub(super) const fn new() -> Self {
        Self {
            first: ptr::null(),
            last: ptr::null(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_null()
    }

    pub(super) fn first(&self) -> Option<&Node> {
        // SAFETY: null or linked.
        unsafe { self.first.as_ref() }
    }

    pub(super) fn last(&self) -> Option<&Node> {
        // SAFETY: null or linked.
        unsafe { self.last.as_ref() }
    }

    /// # Safety
    /// The node is in no list and [prepared](Node::prepare), its fields are the caller's, and it stays where it is until it is removed.
    pub(super) unsafe fn push(&mut self, node: &Node) {
        // SAFETY: given by the caller.
        unsafe {
            node.fields(|fields| {
                fields.previous = self.last;
                fields.next = ptr::null();
            });
        }
        match self.last() {
            // SAFETY: linked.
            Some(last) => unsafe { last.fields(|fields| fields.next = node) },
            None => self.first = node,
        }
        self.last = node;
    }

    /// # Safety
    /// The node is in this list or, with a neighbour on either side, in another one under the same lock.
    pub(super) unsafe fn remove(&mut self, node: &Node) {
        // SAFETY: linked.
        let (previous, next) = unsafe { node.fields(|fields| (fields.previous, fields.next)) };
        // SAFETY: the neighbours of a linked node are linked.
        match unsafe { previous.as_ref() } {
            // SAFETY: as above.
            Some(previous) => unsafe { previous.fields(|fields| fields.next = next) },
            None => self.first = next,
        }
        // SAFETY: as above.
        match unsafe { next.as_ref() } {
            // SAFETY: as above.
            Some(next) => unsafe { next.fields(|fields| fields.previous = previous) },
            None => self.last = previous,
        }
    }

    /// Puts all nodes of `other` behind those of this list; in constant time.
    pub(super) fn append(&mut self, other: &mut List) {
        let other = std::mem::replace(other, List::new());
        let Some(first) = other.first() else {
            return;
        };
        match self.last() {
            // SAFETY: both are linked.
            Some(last) => unsafe {
                last.fields(|fields| fields.next = first);
                first.fields(|fields| fields.previous = last);
            },
            None => self.first = first,
        }
        self.last = other.last;
    }

    /// Whether it ends with this node on either side.
    pub(super) fn ends_with(&self, node: &Node) -> bool {
        ptr::eq(self.first, node) || ptr::eq(self.last, node)
    }
}
