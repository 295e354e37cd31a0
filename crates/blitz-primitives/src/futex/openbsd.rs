//! The kernel's futex, in its process-private form: Linux's of the first days.

use super::AtomicU32;
use std::ptr;
use std::time::Duration;

/// Blocks while `word` holds `expected`; may return early for no reason.
pub(crate) fn wait(word: &AtomicU32, expected: u32) {
    wait_until(word, expected, ptr::null());
}

/// The same, for `limit` at most.
pub(crate) fn wait_at_most(word: &AtomicU32, expected: u32, limit: Duration) {
    let limit = libc::timespec {
        tv_sec: libc::time_t::try_from(limit.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: limit.subsec_nanos() as _,
    };
    wait_until(word, expected, &raw const limit);
}

fn wait_until(word: &AtomicU32, expected: u32, limit: *const libc::timespec) {
    // SAFETY: `word` is a live, aligned 32-bit location for the whole call, and so is the time limit; null means that there is none. Every
    // outcome is a legal return of this function.
    unsafe {
        libc::futex(
            word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            expected as libc::c_int,
            limit,
            ptr::null_mut(),
        );
    }
}

/// Wakes one thread that blocks on `word`, if there is one.
pub(crate) fn wake_one(word: *const AtomicU32) {
    wake(word, 1);
}

/// Wakes every thread that blocks on `word`.
pub(crate) fn wake_all(word: *const AtomicU32) {
    wake(word, libc::c_int::MAX);
}

fn wake(word: *const AtomicU32, count: libc::c_int) {
    // SAFETY: the address of a private word is looked up, not read.
    unsafe {
        libc::futex(
            word.cast_mut().cast(),
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            count,
            ptr::null(),
            ptr::null_mut(),
        );
    }
}
