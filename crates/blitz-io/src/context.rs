//! Which runtime the current thread is in, and thereby which pool it computes in.
//!
//! One rule for both:
//! * A thread of a pool computes in that pool. While it polls a task it is in the task's runtime, and otherwise in one of those that
//!   use the pool (mostly there is one).
//! * A thread that has entered a runtime (in `block_on`, by a guard of `enter`, as one of its blocking threads) is in that runtime, and computes in its
//!   pool.
//! * Any other thread is in no runtime, and computes in the global pool.
//!
//! Guards may be dropped in any order. Each leads back to the context that was there when it was made. A guard that is dropped while it is not the innermost leaves
//! a note. A guard that leads back to the noted context then goes on to where that guard would have led.

use crate::driver;
use crate::scheduler::{Scheduler, Shared};
use blitz_core::companion::{PoolHandle, set_entered_pool};
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::Arc;

thread_local! {
    /// Owns a reference. Without a destructor, so that it is there as long as the thread: the destructors of other thread-locals may
    /// end a runtime, or start one.
    static CURRENT: Cell<*const Shared> = const { Cell::new(std::ptr::null()) };
    /// The number of the innermost guard; 0: there is none.
    static INNERMOST: Cell<u64> = const { Cell::new(0) };
    static GUARDS: Cell<u64> = const { Cell::new(0) };
    static AT_END: AtEnd = const { AtEnd };
    /// Guards that were dropped while they were not the innermost, and whose followers have not been dropped.
    static NOTES: RefCell<Vec<Place>> = const { RefCell::new(Vec::new()) };
}

/// Frees what a guard that was forgotten has left in `CURRENT`.
struct AtEnd;

impl Drop for AtEnd {
    fn drop(&mut self) {
        drop(replace(None));
    }
}

pub(crate) const MISSING: &str = "there is no reactor running, must be called from the context of a Tokio 1.x runtime (or of a Blitz one: inside of `Runtime::block_on` or a task, or with the guard of `Handle::enter`)";

/// Calls `use_it` with the runtime that this thread is in.
///
/// # Panics
/// If it is in none, or in one of the parent process.
#[track_caller]
#[inline]
pub(crate) fn with<R>(use_it: impl FnOnce(&Arc<Shared>) -> R) -> R {
    let checked = |shared: &Arc<Shared>| {
        shared.assert_of_this_process();
        use_it(shared)
    };
    match try_with(checked) {
        Some(result) => result,
        None => panic!("{MISSING}"),
    }
}

/// The same, if it is in one.
#[inline]
pub(crate) fn try_with<R>(use_it: impl FnOnce(&Arc<Shared>) -> R) -> Option<R> {
    let current = CURRENT.get();
    if current.is_null() {
        let home = Scheduler::of_worker(Scheduler::home).flatten();
        return home.map(|shared| use_it(&shared));
    }
    // SAFETY: the pointer is an `Arc`'s, whose reference `CURRENT` owns. While `use_it` runs, that stays alive: code that enters another
    // runtime keeps it in its guard, and a guard from further up cannot be dropped by `use_it`, since guards do not leave their
    // thread and our callers run nobody's code but what could.
    let shared = ManuallyDrop::new(unsafe { Arc::from_raw(current) });
    Some(use_it(&shared))
}

/// Is this the runtime that the thread has entered?
#[inline]
pub(crate) fn is_current(shared: &Arc<Shared>) -> bool {
    std::ptr::eq(CURRENT.get(), Arc::as_ptr(shared))
}

/// The runtime that this thread is in, if any.
pub(crate) fn current() -> Option<Arc<Shared>> {
    try_with(Arc::clone)
}

/// The driver of the runtime that this thread is in.
///
/// # Panics
/// If it is in none.
#[track_caller]
#[inline]
pub(crate) fn driver() -> Arc<driver::Handle> {
    match try_driver() {
        Some(driver) => driver,
        None => panic!("{MISSING}"),
    }
}

/// The driver of the runtime that this thread is in, if any.
pub(crate) fn try_driver() -> Option<Arc<driver::Handle>> {
    #[cfg(test)]
    if let Some(driver) = bare_driver::get() {
        return Some(driver);
    }
    try_with(|shared| {
        shared.assert_of_this_process();
        Arc::clone(shared.driver.handle())
    })
}

/// Makes `shared` the thread's runtime, and returns what was it.
fn replace(shared: Option<Arc<Shared>>) -> Option<Arc<Shared>> {
    let pool = shared.as_ref().and_then(|shared| shared.pool());
    // Whatever is the global pool then: a program may build it after the runtime.
    let own = pool.filter(|pool: &&PoolHandle| !pool.is_global());
    // SAFETY: the runtime, which `CURRENT` holds until it is replaced here, holds its pool's handle.
    unsafe { set_entered_pool(own) };
    let before = CURRENT.replace(shared.map_or(std::ptr::null(), Arc::into_raw));
    // SAFETY: what is in `CURRENT` came out of `into_raw` right above, and its reference is ours now.
    (!before.is_null()).then(|| unsafe { Arc::from_raw(before) })
}

/// A thread of the runtime begins.
pub(crate) fn enter_for_good(shared: Arc<Shared>) {
    drop(replace(Some(shared)));
}

/// And ends.
pub(crate) fn leave_for_good() {
    drop(replace(None));
}

/// The thread polls a task of this runtime, as often before.
#[inline]
pub(crate) fn be_in(shared: &Arc<Shared>) {
    if !is_current(shared) {
        drop(replace(Some(Arc::clone(shared))));
    }
}

/// Where a thread was before it polled tasks. It is there again when this is dropped.
pub(crate) struct Outside(Place);

/// A runtime to be in, and the guard that counts there as the innermost one.
struct Place {
    /// Of the guard that leads there. Not used otherwise.
    guard: u64,
    innermost: u64,
    shared: Option<Arc<Shared>>,
}

impl Place {
    fn entered(guard: u64, shared: Option<Arc<Shared>>) -> Self {
        Place {
            guard,
            innermost: INNERMOST.get(),
            shared,
        }
    }

    fn go_there(&mut self) {
        INNERMOST.set(self.innermost);
        drop(replace(self.shared.take()));
    }
}

impl Outside {
    #[inline]
    pub(crate) fn remember() -> Self {
        // Not where a worker belongs if it is nowhere else.
        let current = (!CURRENT.get().is_null()).then(current).flatten();
        Outside(Place::entered(0, current))
    }
}

impl Drop for Outside {
    #[inline]
    fn drop(&mut self) {
        self.0.go_there();
    }
}

/// The thread is in `shared`'s runtime until the guard is dropped.
pub(crate) fn enter(shared: Arc<Shared>) -> Entered {
    // Its destructor is called if it has been looked at. It is gone if the thread is ending; then a guard that is forgotten leaks.
    let _ = AT_END.try_with(|_| ());
    let guard = GUARDS.get() + 1;
    GUARDS.set(guard);
    let before = Place::entered(guard, replace(Some(shared)));
    INNERMOST.set(guard);
    Entered(before, PhantomData)
}

/// See [`enter`]. It stays on its thread.
pub(crate) struct Entered(Place, PhantomData<*const ()>);

impl Drop for Entered {
    fn drop(&mut self) {
        let place = &mut self.0;
        if INNERMOST.get() == place.guard {
            place.go_there();
            while INNERMOST.get() != 0 {
                let Some(mut next) = note_of(INNERMOST.get()) else {
                    break;
                };
                next.go_there();
            }
            return;
        }
        let note = Place {
            shared: place.shared.take(),
            ..*place
        };
        // A thread that ends has no notes any more: then the last guard leads to where it was made.
        let _ = NOTES.try_with(|notes| notes.borrow_mut().push(note));
    }
}

/// Takes the note that this guard has left, if it has.
fn note_of(guard: u64) -> Option<Place> {
    let take = |notes: &RefCell<Vec<Place>>| {
        let mut notes = notes.borrow_mut();
        let index = notes.iter().position(|note| note.guard == guard)?;
        Some(notes.swap_remove(index))
    };
    NOTES.try_with(take).ok().flatten()
}

/// Tests of the driver run without a runtime around it.
#[cfg(test)]
pub(crate) mod bare_driver {
    use super::{Arc, driver::Handle};
    use std::cell::RefCell;

    thread_local! {
        static DRIVER: RefCell<Option<Arc<Handle>>> = const { RefCell::new(None) };
    }

    pub(super) fn get() -> Option<Arc<Handle>> {
        DRIVER.with_borrow(Option::clone)
    }

    /// The thread enters a driver; returns what to give to [`leave`].
    pub(crate) fn enter(driver: Arc<Handle>) -> Option<Arc<Handle>> {
        DRIVER.replace(Some(driver))
    }

    /// And leaves it.
    pub(crate) fn leave(before: Option<Arc<Handle>>) {
        DRIVER.set(before);
    }
}
