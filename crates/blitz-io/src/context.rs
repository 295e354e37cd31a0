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
    with(|shared| Arc::clone(shared.driver.handle()))
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
