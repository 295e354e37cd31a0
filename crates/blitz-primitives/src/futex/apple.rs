//! The functions of `os/os_sync_wait_on_address.h`. They are looked for by name, once, since programs also run on systems that do not have them; there the
//! [`table`](super::table) does it. (What lies below them, `__ulock_wait`, has been there for longer, but is nobody's to call.)

use super::{AtomicU32, table};
use std::ffi::{CStr, c_int, c_void};
use std::mem::transmute;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;

type Wait = unsafe extern "C" fn(*mut c_void, u64, usize, u32) -> c_int;
/// With a clock and nanoseconds.
type WaitAtMost = unsafe extern "C" fn(*mut c_void, u64, usize, u32, u32, u64) -> c_int;
type Wake = unsafe extern "C" fn(*mut c_void, usize, u32) -> c_int;

/// Neither shared with other processes nor anything else.
const NO_FLAGS: u32 = 0;
const SIZE: usize = size_of::<u32>();

/// A function that the system may have.
struct Symbol {
    name: &'static CStr,
    /// Null: not looked for yet. [`Symbol::NONE`]: there is none.
    found: AtomicPtr<c_void>,
}

impl Symbol {
    const NONE: *mut c_void = std::ptr::dangling_mut::<u128>().cast();

    const fn new(name: &'static CStr) -> Self {
        Symbol {
            name,
            found: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// Not a `OnceLock`: those sleep here, and a fork in the middle of it would leave the child waiting. Whoever looks finds the same.
    fn get(&self) -> Option<*mut c_void> {
        // Relaxed: all there is to see is the pointer; what is behind it is code.
        let mut found = self.found.load(Ordering::Relaxed);
        if found.is_null() {
            // SAFETY: a string that ends with a zero.
            found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, self.name.as_ptr()) };
            if found.is_null() {
                found = Self::NONE;
            }
            self.found.store(found, Ordering::Relaxed);
        }
        (found != Self::NONE).then_some(found)
    }
}

static WAIT: Symbol = Symbol::new(c"os_sync_wait_on_address");
static WAIT_AT_MOST: Symbol = Symbol::new(c"os_sync_wait_on_address_with_timeout");
static WAKE_ONE: Symbol = Symbol::new(c"os_sync_wake_by_address_any");
static WAKE_ALL: Symbol = Symbol::new(c"os_sync_wake_by_address_all");

/// Blocks while `word` holds `expected`; may return early for no reason.
pub(crate) fn wait(word: &AtomicU32, expected: u32) {
    match WAIT.get() {
        // SAFETY: the function has this type. `word` is a live, aligned 32-bit location for the whole call; every outcome is a legal
        // return of this function.
        Some(wait) => unsafe {
            let wait: Wait = transmute(wait);
            wait(word.as_ptr().cast(), expected.into(), SIZE, NO_FLAGS);
        },
        None => table::wait(word, expected),
    }
}

/// The same, for `limit` at most.
pub(crate) fn wait_at_most(word: &AtomicU32, expected: u32, limit: Duration) {
    /// `OS_CLOCK_MACH_ABSOLUTE_TIME`
    const CLOCK: u32 = 32;
    let nanos = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX).max(1);
    match WAIT_AT_MOST.get() {
        // SAFETY: as above.
        Some(wait) => unsafe {
            let wait: WaitAtMost = transmute(wait);
            let address = word.as_ptr().cast();
            wait(address, expected.into(), SIZE, NO_FLAGS, CLOCK, nanos);
        },
        None => table::wait_at_most(word, expected, limit),
    }
}

/// Wakes one thread that blocks on `word`, if there is one.
pub(crate) fn wake_one(word: *const AtomicU32) {
    match WAKE_ONE.get() {
        // SAFETY: the function has this type. The address is looked up, not read.
        Some(wake) => unsafe {
            let wake: Wake = transmute(wake);
            wake(word.cast_mut().cast(), SIZE, NO_FLAGS);
        },
        None => table::wake_one(word),
    }
}

/// Wakes every thread that blocks on `word`.
pub(crate) fn wake_all(word: *const AtomicU32) {
    match WAKE_ALL.get() {
        // SAFETY: as above.
        Some(wake) => unsafe {
            let wake: Wake = transmute(wake);
            wake(word.cast_mut().cast(), SIZE, NO_FLAGS);
        },
        None => table::wake_all(word),
    }
}
