//! Which runtime the current thread belongs to.

use crate::driver;
use crate::scheduler::Shared;
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::Arc;

thread_local! {
    /// What is in `HELD`, for a look that counts no reference.
    static CURRENT: Cell<*const Shared> = const { Cell::new(std::ptr::null()) };
    static HELD: Held = const { Held(RefCell::new(None)) };
}

/// The reference behind `CURRENT`. Destructors of other thread-locals may run after this one's, and must not find what it held.
struct Held(RefCell<Option<Arc<Shared>>>);

impl Drop for Held {
    fn drop(&mut self) {
        CURRENT.set(std::ptr::null());
    }
}

const MISSING: &str = "there is no Blitz runtime here: call this inside of `Runtime::block_on` or a task, or hold the guard of `Handle::enter`";

/// Calls `use_it` with the runtime that this thread is in.
///
/// # Panics
/// If it is in none.
#[track_caller]
#[inline]
pub(crate) fn with<R>(use_it: impl FnOnce(&Arc<Shared>) -> R) -> R {
    match try_with(use_it) {
        Some(result) => result,
        None => panic!("{MISSING}"),
    }
}

#[inline]
fn try_with<R>(use_it: impl FnOnce(&Arc<Shared>) -> R) -> Option<R> {
    let current = CURRENT.get();
    if current.is_null() {
        return None;
    }
    // SAFETY: the pointer is that of the `Arc` in `HELD`. While `use_it` runs, that `Arc` stays alive: code that enters another
    // runtime keeps it in its guard, and a guard from further up cannot be dropped by `use_it`, since guards do not leave their
    // thread and our callers run nobody's code but what could.
    let shared = ManuallyDrop::new(unsafe { Arc::from_raw(current) });
    Some(use_it(&shared))
}

/// Is this the runtime that the thread is in?
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
    try_with(|shared| Arc::clone(shared.driver.handle()))
}

/// Makes `shared` the thread's runtime, and returns what was it.
fn replace(shared: Option<Arc<Shared>>) -> Option<Arc<Shared>> {
    let current = shared.as_ref().map_or(std::ptr::null(), Arc::as_ptr);
    // First, since this fails if the thread is about to end.
    let before = HELD.with(|held| held.0.replace(shared));
    CURRENT.set(current);
    before
}

/// A thread of the runtime begins.
pub(crate) fn enter_for_good(shared: Arc<Shared>) {
    drop(replace(Some(shared)));
}

/// And ends.
pub(crate) fn leave_for_good() {
    drop(replace(None));
}

/// The thread is in `shared`'s runtime until the guard is dropped.
pub(crate) fn enter(shared: Arc<Shared>) -> Entered {
    Entered(replace(Some(shared)), PhantomData)
}

/// See [`enter`]. It stays on its thread.
pub(crate) struct Entered(Option<Arc<Shared>>, PhantomData<*const ()>);

impl Drop for Entered {
    fn drop(&mut self) {
        drop(replace(self.0.take()));
    }
}

/// Tests of the driver run without a runtime around it.
#[cfg(test)]
pub(crate) mod bare_driver {
    use super::{Arc, RefCell, driver::Handle};

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
