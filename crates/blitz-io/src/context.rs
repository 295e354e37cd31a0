//! Which runtime the current thread belongs to.

use crate::driver;
use crate::scheduler::Shared;
use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    static CURRENT: RefCell<Option<Arc<Shared>>> = const { RefCell::new(None) };
}

const MISSING: &str = "there is no Blitz runtime here: call this inside of `Runtime::block_on` or a task, or hold the guard of `Handle::enter`";

/// Calls `use_it` with the runtime that this thread is in.
///
/// # Panics
/// If it is in none.
#[track_caller]
pub(crate) fn with<R>(use_it: impl FnOnce(&Arc<Shared>) -> R) -> R {
    // A clone, so that `use_it` may run user code that enters another runtime.
    match current() {
        Some(shared) => use_it(&shared),
        None => panic!("{MISSING}"),
    }
}

/// The runtime that this thread is in, if any.
pub(crate) fn current() -> Option<Arc<Shared>> {
    CURRENT.with_borrow(Option::clone)
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
    CURRENT.with_borrow(|shared| Some(Arc::clone(shared.as_ref()?.driver.handle())))
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

/// A thread of the runtime begins.
pub(crate) fn enter_for_good(shared: Arc<Shared>) {
    CURRENT.set(Some(shared));
}

/// And ends.
pub(crate) fn leave_for_good() {
    CURRENT.set(None);
}

/// The thread is in `shared`'s runtime until the guard is dropped.
pub(crate) fn enter(shared: Arc<Shared>) -> Entered {
    Entered(CURRENT.replace(Some(shared)))
}

/// See [`enter`].
pub(crate) struct Entered(Option<Arc<Shared>>);

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}
