//! Descriptors that are no business of a child made by `fork`.
//!
//! A child has all descriptors of its parent, also those that nobody in it knows of: who listened at a port keeps it taken as long as a child of his lives, although nobody
//! answers there any more. (What the child calls `exec` for has them only if they are not marked `CLOEXEC`; ours are.) So what only the parent can use is
//! wrapped in [`ParentsOnly`], and the child closes it before `fork` returns there.
//!
//! The list is a row of atomic words, because the child of a process with threads may neither allocate nor lock. It is made before there can be a descriptor to be
//! noted, and a descriptor leaves it before it is closed: else the child would close another one that has got its number.

#[cfg(unix)]
use crate::process_fork;
use std::io;
use std::ops::Deref;
#[cfg(unix)]
use std::{
    os::fd::{AsRawFd, RawFd},
    sync::atomic::{AtomicI32, Ordering},
};

/// What has a descriptor, where there are such.
#[cfg(unix)]
pub trait Descriptor: AsRawFd {}
#[cfg(unix)]
impl<T: AsRawFd> Descriptor for T {}

/// What has a descriptor, where there are such.
#[cfg(not(unix))]
pub trait Descriptor {}
#[cfg(not(unix))]
impl<T> Descriptor for T {}

/// Something with a descriptor that children made by `fork` do not inherit.
#[derive(Debug)]
pub struct ParentsOnly<T> {
    // First, because it is dropped first.
    #[cfg(unix)]
    _noted: Option<Noted>,
    value: T,
}

impl<T: Descriptor> ParentsOnly<T> {
    /// What `make` returns. No fork comes in the middle of that, so it must be short and start no threads.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn new(make: impl FnOnce() -> io::Result<T>) -> io::Result<Self> {
        #[cfg(unix)]
        let _no_fork_now = {
            process_fork::notice();
            process_fork::Crossing::begin()
        };
        let value = make()?;
        Ok(ParentsOnly {
            #[cfg(unix)]
            _noted: Noted::new(value.as_raw_fd()),
            value,
        })
    }
}

impl<T> Deref for ParentsOnly<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> std::ops::DerefMut for ParentsOnly<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

/// More than that are inherited.
#[cfg(unix)]
const MOST: usize = 512;

#[cfg(unix)]
const FREE: RawFd = -1;

#[cfg(unix)]
static DESCRIPTORS: [AtomicI32; MOST] = [const { AtomicI32::new(FREE) }; MOST];

/// An entry of the list.
#[cfg(unix)]
#[derive(Debug)]
struct Noted {
    entry: &'static AtomicI32,
    descriptor: RawFd,
}

#[cfg(unix)]
impl Noted {
    fn new(descriptor: RawFd) -> Option<Self> {
        let free = |entry: &&AtomicI32| {
            let noted = (Ordering::Relaxed, Ordering::Relaxed);
            entry
                .compare_exchange(FREE, descriptor, noted.0, noted.1)
                .is_ok()
        };
        let entry = DESCRIPTORS.iter().find(free)?;
        Some(Noted { entry, descriptor })
    }
}

#[cfg(unix)]
impl Drop for Noted {
    fn drop(&mut self) {
        // Not if it is in a child, where this has been closed, and the entry may be another one's.
        let _ = self.entry.compare_exchange(
            self.descriptor,
            FREE,
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
    }
}

/// In the child, before `fork` returns. May be called in the middle of anything.
#[cfg(unix)]
pub(crate) fn close() {
    for entry in &DESCRIPTORS {
        let descriptor = entry.swap(FREE, Ordering::Relaxed);
        if descriptor != FREE {
            // SAFETY: a system call that a child may make. Whoever owns the descriptor is not in this process.
            unsafe { libc::close(descriptor) };
        }
    }
}
