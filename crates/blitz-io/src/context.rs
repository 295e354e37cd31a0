//! Which runtime the current thread belongs to.

use crate::driver::Handle as DriverHandle;
use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    static DRIVER: RefCell<Option<Arc<DriverHandle>>> = const { RefCell::new(None) };
}

/// The driver of the runtime that this thread is in.
///
/// # Panics
/// If it is in none.
#[track_caller]
pub(crate) fn driver() -> Arc<DriverHandle> {
    try_driver().expect(
        "sockets and timers need a runtime: call this inside `Runtime::block_on` or a task, or hold the guard of `Handle::enter`",
    )
}

/// The driver of the runtime that this thread is in, if any.
pub(crate) fn try_driver() -> Option<Arc<DriverHandle>> {
    DRIVER.with_borrow(|driver| driver.clone())
}

/// The thread enters a runtime; returns what to give to [`leave`].
pub(crate) fn enter(driver: Arc<DriverHandle>) -> Option<Arc<DriverHandle>> {
    DRIVER.replace(Some(driver))
}

/// The thread leaves a runtime.
pub(crate) fn leave(before: Option<Arc<DriverHandle>>) {
    DRIVER.set(before);
}
