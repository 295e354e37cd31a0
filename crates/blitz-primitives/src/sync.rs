//! One door to everything that is shared between threads.
//!
//! Protocol code imports atomics, fences, cells and parking from here and nowhere else. A normal
//! build gets the standard library's; `RUSTFLAGS="--cfg loom"` gets the model checker's, so that
//! the code that is checked is the code that runs.

#[cfg(not(loom))]
pub use std::{
    hint::spin_loop,
    sync::Arc,
    sync::atomic::{self, AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, fence},
    thread::yield_now,
};

#[cfg(not(loom))]
pub use locks::{Condvar, Mutex};

pub use locks::ignore_poison;

/// What blocks, for code that is no part of a model: the standard library's. Their guards and errors are, in any case.
///
/// The thread of a web page must not block, not even for a moment: the browser ends what tries to. With the feature `web_spin_lock`, and in a program whose page has
/// threads at all, it spins instead, as rayon's does, with the same crate's help.
pub mod locks {
    #[cfg(not(all(
        feature = "web_spin_lock",
        target_family = "wasm",
        target_os = "unknown",
        target_feature = "atomics"
    )))]
    pub use std::sync::{Condvar, Mutex, OnceLock};
    use std::sync::{LockResult, MutexGuard, PoisonError};
    use std::time::Duration;
    #[cfg(all(
        feature = "web_spin_lock",
        target_family = "wasm",
        target_os = "unknown",
        target_feature = "atomics"
    ))]
    pub use wasm_sync::{Condvar, Mutex, OnceLock};

    /// As `Condvar::wait_timeout_while`, which asks a clock that a web page does not have. Whoever is woken in vain may wait for `limit` once more.
    pub fn wait_while_at_most<'a, T>(
        condvar: &Condvar,
        mut guard: MutexGuard<'a, T>,
        limit: Duration,
        mut goes_on: impl FnMut(&mut T) -> bool,
    ) -> MutexGuard<'a, T> {
        let mut in_time = true;
        while in_time && goes_on(&mut guard) {
            let waited = ignore_poison(condvar.wait_timeout(guard, limit));
            (guard, in_time) = (waited.0, !waited.1.timed_out());
        }
        guard
    }

    /// What is behind a lock whose holder has panicked is as good as ever here: no invariant is broken while one is held.
    pub fn ignore_poison<G>(result: LockResult<G>) -> G {
        result.unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(all(test, not(loom)))]
    mod tests {
        use super::*;

        #[test]
        fn a_wait_ends_with_its_reason_or_with_its_time() {
            let (lock, condvar) = (Mutex::new(0), Condvar::new());
            let guard = lock.lock().unwrap();
            let guard = wait_while_at_most(&condvar, guard, Duration::from_millis(1), |_| true);
            drop(guard);
            std::thread::scope(|threads| {
                threads.spawn(|| {
                    for _ in 0..3 {
                        *lock.lock().unwrap() += 1;
                        condvar.notify_all();
                    }
                });
                let guard = lock.lock().unwrap();
                let enough = wait_while_at_most(&condvar, guard, Duration::MAX, |n| *n < 3);
                assert_eq!(*enough, 3);
            });
        }
    }
}

/// Some 32-bit CPUs have no such words. There, a lock for each does: slower, and otherwise the same.
#[cfg(all(not(target_has_atomic = "64"), not(loom)))]
pub use portable_atomic::AtomicU64;
#[cfg(all(target_has_atomic = "64", not(loom)))]
pub use std::sync::atomic::AtomicU64;

#[cfg(loom)]
pub use loom::{
    hint::spin_loop,
    sync::atomic::{self, AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, fence},
    sync::{Arc, Condvar, Mutex},
    thread::yield_now,
};

pub use atomic::Ordering;

/// `UnsafeCell` with loom's access-tracking interface in both builds.
#[cfg(not(loom))]
#[derive(Debug)]
#[repr(transparent)]
pub struct UnsafeCell<T: ?Sized>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    #[inline(always)]
    pub const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// Calls `read` with a pointer that may be read through.
    #[inline(always)]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        read(self.0.get())
    }

    /// Calls `write` with a pointer that may be written through.
    #[inline(always)]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        write(self.0.get())
    }
}

#[cfg(loom)]
pub use loom::cell::UnsafeCell;
