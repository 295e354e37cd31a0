//! Which pool a call goes to. One rule, for `join`, scopes, `spawn`, broadcasts and parallel iterators alike:
//!
//! 1. on a thread that sits in a pool: that pool;
//! 2. on a thread that has entered a runtime (in its `block_on`, between `enter` and the guard's end, or on one of its blocking threads): the runtime's pool;
//! 3. anywhere else: the global pool, which is started when it is first needed.
//!
//! The default runtime lives on the global pool, so that with it 2 and 3 are the same; a current-thread runtime has no pool, and its thread computes in
//! the global one. A runtime's pool may end while a thread is still in the runtime: then that thread computes in the global pool.

use crate::global;
use crate::pool::{Pool, Visit};
use crate::process_fork;
use crate::seat;
use std::cell::Cell;
use std::ops::Deref;
use std::ptr;

thread_local! {
    /// The pool of the runtime that this thread has entered, or null.
    static ENTERED: Cell<*const Pool> = const { Cell::new(ptr::null()) };
}

/// Makes `pool` the one of rule 2 for this thread; null: none.
///
/// # Safety
/// The pool is not freed before this is called again.
pub(crate) unsafe fn set(pool: *const Pool) {
    ENTERED.set(pool);
}

/// A pool that a call goes to; from [`current`], one that does not end while this value is there.
pub(crate) struct Current<'a> {
    pool: &'a Pool,
    visit: Option<Visit<'a>>,
}

impl Deref for Current<'_> {
    type Target = Pool;

    #[inline]
    fn deref(&self) -> &Pool {
        self.pool
    }
}

impl<'a> Current<'a> {
    /// The pool as it is for the calling thread: kept going by something else, or by nothing.
    #[inline]
    fn unvisited(pool: &'a Pool) -> Self {
        Current { pool, visit: None }
    }

    /// The pool with the calling thread in it, for a while. `None`: it has been closed.
    pub(crate) fn visiting(pool: &'a Pool) -> Option<Self> {
        if pool.current_seat().is_some() {
            return Some(Self::unvisited(pool));
        }
        let visit = Some(pool.admit()?);
        Some(Current { pool, visit })
    }
}

/// The pool that the calling thread's calls go to.
#[inline]
pub(crate) fn current<'a>() -> Current<'a> {
    match seat::current() {
        Some(seat) => Current::unvisited(seat.pool()),
        None => from_outside(),
    }
}

#[cold]
fn from_outside<'a>() -> Current<'a> {
    let found = found();
    if found.visit.is_some() {
        return found;
    }
    loop {
        // If it has been stopped meanwhile, there is another one.
        if let Some(current) = Current::visiting(global::pool()) {
            return current;
        }
    }
}

/// The same for those who take a seat there or ask it something, and do not mind if it is closed before they do.
#[inline]
pub(crate) fn found<'a>() -> Current<'a> {
    if let Some(seat) = seat::current() {
        return Current::unvisited(seat.pool());
    }
    let entered = entered().and_then(|pool| {
        let visit = Some(pool.visit()?);
        Some(Current { pool, visit })
    });
    entered.unwrap_or_else(|| Current::unvisited(global::pool()))
}

/// The same pool, if it has been started; it may end at any time.
#[inline]
pub(crate) fn started<'a>() -> Option<&'a Pool> {
    match seat::current() {
        Some(seat) => Some(seat.pool()),
        None => entered().or_else(global::started),
    }
}

#[inline]
fn entered<'a>() -> Option<&'a Pool> {
    let pool = ENTERED.get();
    // SAFETY: `set` has promised it.
    let pool = unsafe { pool.as_ref() };
    // A parent's pool has no threads here.
    pool.filter(|pool| pool.generation == process_fork::generation())
}
