//! One door to everything that is shared between threads.
//!
//! Protocol code imports atomics, fences, cells and parking from here and nowhere else. A normal
//! build gets the standard library's; `RUSTFLAGS="--cfg loom"` gets the model checker's, so that
//! the code that is proved is the code that runs.

#[cfg(not(loom))]
pub use std::{
    hint::spin_loop,
    sync::atomic::{self, AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, fence},
    sync::{Arc, Condvar, Mutex},
    thread::yield_now,
};

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
