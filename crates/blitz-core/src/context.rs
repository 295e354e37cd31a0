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
//!
//! # Tasks
//! A detached task has a context of its own while it runs, a [`TaskContext`]: so a stolen half knows which task it is a part of
//! (`wait_idle` asks). What a task leaves behind when it has ended (a panic for the handler) does not descend from what it descended from, which may be
//! gone by then: [`TaskContext::outlive`].
//!
//! # Values
//! What work inherits ([`crate::inherited`]) is found among its ancestors as well: a [`ValueContext`] is in the frame of whoever provides it.

#[cfg(not(loom))]
use crate::sync::AtomicUsize;
use crate::sync::{AtomicPtr, Ordering, UnsafeCell};
use std::ptr;

/// In a frame that waits for whoever finds it.
#[cfg(not(loom))]
type Provided = crate::inherited::Provided<'static>;
/// For models, which only compare addresses.
#[cfg(loom)]
type Provided = u32;

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
        self.parent
            .load(Ordering::Relaxed)
            .map_addr(|address| address & !(TASK | VALUE))
    }

    /// Is it the head of a [`ValueContext`]?
    fn is_values(&self) -> bool {
        self.parent.load(Ordering::Relaxed).addr() & VALUE != 0
    }

    /// Is it the head of a [`TaskContext`]?
    #[cfg(not(loom))]
    fn is_tasks(&self) -> bool {
        self.parent.load(Ordering::Relaxed).addr() & TASK != 0
    }
}

/// Set in the `parent` of a context that is the head of a [`TaskContext`]. Contexts are aligned to more than that.
const TASK: usize = 1;
/// Of a [`ValueContext`].
const VALUE: usize = 2;

/// The context of work that inherits something, in the frame of whoever provides it.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct ValueContext {
    head: Context,
    /// Read by those who hold work that descends from it, which the frame waits for; so it is written before they get the work, and not again before they are through with it.
    provided: UnsafeCell<*const Provided>,
}

impl ValueContext {
    /// Room for one, which is none yet.
    pub(crate) fn room() -> Self {
        ValueContext {
            head: Context::new(ptr::null()),
            provided: UnsafeCell::new(ptr::null()),
        }
    }

    /// What runs in it runs in `parent`, and inherits `provided`. Before anybody else knows of it.
    pub(crate) fn set(&self, parent: *const Context, provided: *const Provided) {
        // SAFETY: nobody else knows of it.
        self.provided.with_mut(|place| unsafe { *place = provided });
        self.head
            .set_parent(parent.map_addr(|address| address | VALUE));
    }

    pub(crate) fn context(&self) -> *const Context {
        // A pointer to all of it: that is what `provided_to` needs.
        ptr::from_ref(self).cast()
    }
}

/// What code in context `start` inherits, or null.
///
/// # Safety
/// As for [`descends_from`]. The same goes for what is returned.
#[inline]
pub(crate) unsafe fn provided_to(start: *const Context) -> *const Provided {
    let mut context = start;
    while !context.is_null() {
        // SAFETY: the context belongs to unfinished work, so it and its ancestors are alive; those that say so are the head of more.
        unsafe {
            if (*context).is_values() {
                let values = &*context.cast::<ValueContext>();
                return values.provided.with(|provided| *provided);
            }
            context = (*context).parent();
        }
    }
    ptr::null()
}

/// The context of a detached task that runs, in the frame that runs it.
#[cfg(not(loom))]
#[derive(Debug)]
#[repr(C)]
pub(crate) struct TaskContext {
    head: Context,
    /// The pool, by its address.
    pool: usize,
    /// Calls of `wait_idle` that the task is inside of: in its own frames, or in halves that others have stolen. Changed by the pool, under a lock.
    pub(crate) idling: AtomicUsize,
}

#[cfg(not(loom))]
impl TaskContext {
    /// For a task of the pool at this address, which its queue knew by the context `parent`.
    pub(crate) fn new(pool: usize, parent: *const Context) -> Self {
        TaskContext {
            head: Context::new(parent.map_addr(|address| address | TASK)),
            pool,
            idling: AtomicUsize::new(0),
        }
    }

    pub(crate) fn context(&self) -> *const Context {
        // A pointer to all of it: that is what `each_task` needs.
        ptr::from_ref(self).cast()
    }

    /// The task itself has ended, and with it everything that descended from it. What is still to come descends from nothing else.
    pub(crate) fn outlive(&self) {
        self.head
            .set_parent((&raw const ROOT).map_addr(|address| address | TASK));
    }
}

/// Calls `found` for each detached task of the pool at this address that code in context `start` is a part of.
///
/// # Safety
/// As for [`descends_from`].
#[cfg(not(loom))]
pub(crate) unsafe fn each_task(
    start: *const Context,
    pool: usize,
    mut found: impl FnMut(&TaskContext),
) {
    let mut context = start;
    while !context.is_null() {
        // SAFETY: the context belongs to unfinished work, so it and its ancestors are alive; those that say so are the head of more.
        context = unsafe {
            if (*context).is_tasks() {
                let task = &*context.cast::<TaskContext>();
                if task.pool == pool {
                    found(task);
                }
            }
            (*context).parent()
        };
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
    // SAFETY: passed on.
    unsafe { descends_from_beside(start, target, ptr::null()) }
}

/// The same for callers who know a `stranger` that does not: what descends from that one need not be followed any further.
///
/// # Safety
/// As for [`descends_from`], and if `stranger` is among the ancestors of `start`, it does not descend from `target`.
pub(crate) unsafe fn descends_from_beside(
    start: *const Context,
    target: *const Context,
    stranger: *const Context,
) -> bool {
    let mut context = start;
    while !context.is_null() && !ptr::eq(context, stranger) {
        if ptr::eq(context, target) {
            return true;
        }
        // SAFETY: the context belongs to unfinished work, so it and its ancestors are alive.
        context = unsafe { (*context).parent() };
    }
    false
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_known_stranger_is_not_followed_and_changes_no_answer() {
        let target = Context::new(&raw const ROOT);
        let stranger = Context::new(&raw const ROOT);
        let below_stranger = Context::new(&raw const stranger);
        let below_target = Context::new(&raw const target);
        let answer = |start: &Context| {
            // SAFETY: they are all alive.
            unsafe {
                let target = &raw const target;
                let plain = descends_from(start, target);
                assert_eq!(
                    descends_from_beside(start, target, &raw const stranger),
                    plain
                );
                plain
            }
        };
        assert!(answer(&target) && answer(&below_target));
        assert!(!answer(&stranger) && !answer(&below_stranger) && !answer(&ROOT));
        // What is beyond it would lead to the target, if anybody looked.
        stranger.set_parent(&raw const target);
        // SAFETY: as above.
        let followed = unsafe {
            descends_from_beside(
                &raw const below_stranger,
                &raw const target,
                &raw const stranger,
            )
        };
        assert!(!followed);
    }
}
