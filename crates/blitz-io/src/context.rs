//! Which runtime the current thread belongs to.

use crate::driver;
use crate::scheduler::Shared;
use std::cell::Cell;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::Arc;

thread_local! {
    /// Owns a reference. Without a destructor, so that it is there as long as the thread: the destructors of other thread-locals may
    /// end a runtime, or start one.
    static CURRENT: Cell<*const Shared> = const { Cell::new(std::ptr::null()) };
    static AT_END: AtEnd = const { AtEnd };
}

/// Frees what a guard that was forgotten has left in `CURRENT`.
struct AtEnd;

impl Drop for AtEnd {
    fn drop(&mut self) {
        drop(replace(None));
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
    // SAFETY: the pointer is an `Arc`'s, whose reference `CURRENT` owns. While `use_it` runs, that stays alive: code that enters another
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

/// The thread is in `shared`'s runtime until the guard is dropped.
pub(crate) fn enter(shared: Arc<Shared>) -> Entered {
    // Its destructor is called if it has been looked at. It is gone if the thread is ending; then a guard that is forgotten leaks.
    let _ = AT_END.try_with(|_| ());
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
