//! The kernel's `umtx`, in its process-private form.

use super::AtomicU32;
use std::ptr;
use std::time::Duration;

/// Blocks while `word` holds `expected`; may return early for no reason.
pub(crate) fn wait(word: &AtomicU32, expected: u32) {
    wait_until(word, expected, None);
}

/// The same, for `limit` at most.
pub(crate) fn wait_at_most(word: &AtomicU32, expected: u32, limit: Duration) {
    let limit = libc::timespec {
        tv_sec: libc::time_t::try_from(limit.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: limit.subsec_nanos() as _,
    };
    wait_until(word, expected, Some(&limit));
}

fn wait_until(word: &AtomicU32, expected: u32, limit: Option<&libc::timespec>) {
    // SAFETY: `word` is a live, aligned 32-bit location for the whole call, and so is the time limit, whose size is passed where a size is
    // expected; null means that there is none. Every outcome is a legal return of this function.
    unsafe {
        libc::_umtx_op(
            word.as_ptr().cast(),
            libc::UMTX_OP_WAIT_UINT_PRIVATE,
            libc::c_ulong::from(expected),
            ptr::without_provenance_mut(limit.map_or(0, size_of_val)),
            limit
                .map_or(ptr::null_mut(), |limit| ptr::from_ref(limit).cast_mut())
                .cast(),
        );
    }
}

/// Wakes one thread that blocks on `word`, if there is one.
pub(crate) fn wake_one(word: *const AtomicU32) {
    wake(word, 1);
}

/// Wakes every thread that blocks on `word`.
pub(crate) fn wake_all(word: *const AtomicU32) {
    wake(word, i32::MAX as libc::c_ulong);
}

fn wake(word: *const AtomicU32, count: libc::c_ulong) {
    // SAFETY: the address of a private word is looked up, not read.
    unsafe {
        libc::_umtx_op(
            word.cast_mut().cast(),
            libc::UMTX_OP_WAKE_PRIVATE,
            count,
            ptr::null_mut(),
            ptr::null_mut(),
        );
    }
}
