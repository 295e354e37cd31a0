//! Who descends from whom: the rule behind "waiting never runs unrelated work".
//!
//! Everything that runs away from the frame that created it (a stolen half of a join, a scope's
//! task, an installed closure) runs in a [`Context`]. A context knows its parent: the context of the
//! code that created it. A thread that waits for a context may run something only if the chain of
//! parents of that something passes through the context it waits for: only then is it a descendant,
//! only then would the sequential program have run it before the wait ended, and only then can it
//! not need a lock (or a `RefCell`, or stack space) that the waiting frames below it hold.
//!
//! # Why walking the chain is safe
//!
//! Parallelism here is structured: a join, a scope or an install does not end before everything
//! inside has ended. So while a piece of work is unfinished, every context on its chain is
//! unfinished too, and its memory (a slot of a join stack, a `Scope` or an install in somebody's
//! frame) is alive. Work that may outlive its creator (`spawn`) has [`Context::ROOT`] or its own
//! handle's context as its first and only ancestor. The walker must therefore hold something
//! unfinished: a task that it has taken out of a queue, or a slot of a join stack that it keeps from
//! finishing by holding the stack's lock.

use crate::sync::{AtomicPtr, Ordering};
use std::ptr;

/// One level of ancestry. Its address is its identity.
#[derive(Debug)]
pub(crate) struct Context {
    parent: AtomicPtr<Context>,
}

impl Context {
    #[cfg(not(loom))]
    pub(crate) const fn new(parent: *const Context) -> Self {
        Context {
            parent: AtomicPtr::new(parent.cast_mut()),
        }
    }

    #[cfg(loom)]
    pub(crate) fn new(parent: *const Context) -> Self {
        Context {
            parent: AtomicPtr::new(parent.cast_mut()),
        }
    }

    /// Re-parents a context that lives in a reusable place (a slot of a join stack).
    pub(crate) fn set_parent(&self, parent: *const Context) {
        // Relaxed: readers get here through the lock of a join stack or through a queue, and both
        // order this store before them.
        self.parent.store(parent.cast_mut(), Ordering::Relaxed);
    }

    pub(crate) fn parent(&self) -> *const Context {
        self.parent.load(Ordering::Relaxed)
    }
}

/// The context of work without living ancestors: detached spawns, broadcasts.
#[cfg(not(loom))]
pub(crate) static ROOT: Context = Context::new(ptr::null());

/// Does work in context `start` descend from `target` (or run in it directly)?
///
/// # Safety
/// `start` is null or belongs to unfinished work that stays unfinished during the call.
pub(crate) unsafe fn descends_from(start: *const Context, target: *const Context) -> bool {
    let mut context = start;
    while !context.is_null() {
        if ptr::eq(context, target) {
            return true;
        }
        // SAFETY: the context belongs to unfinished work, so it and its ancestors are alive.
        context = unsafe { (*context).parent() };
    }
    false
}
