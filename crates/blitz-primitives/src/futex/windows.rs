//! Windows has had it since version 8. What is waited for and woken is an address; waking reads nothing there.

use super::AtomicU32;
use std::time::Duration;
use windows_sys::Win32::System::Threading::{
    INFINITE, WaitOnAddress, WakeByAddressAll, WakeByAddressSingle,
};

/// Blocks while `word` holds `expected`; may return early for no reason.
pub(crate) fn wait(word: &AtomicU32, expected: u32) {
    wait_for_millis(word, expected, INFINITE);
}

/// The same, for `limit` at most, in whole milliseconds.
pub(crate) fn wait_at_most(word: &AtomicU32, expected: u32, limit: Duration) {
    let millis = limit.as_nanos().div_ceil(1_000_000);
    // The last number means for ever.
    let millis = millis.min(u128::from(INFINITE - 1)) as u32;
    wait_for_millis(word, expected, millis);
}

fn wait_for_millis(word: &AtomicU32, expected: u32, millis: u32) {
    // SAFETY: both are live, aligned 32-bit locations for the whole call. Every outcome is a legal return of this function.
    unsafe {
        WaitOnAddress(
            word.as_ptr().cast(),
            (&raw const expected).cast(),
            size_of::<u32>(),
            millis,
        );
    }
}

/// Wakes one thread that blocks on `word`, if there is one.
pub(crate) fn wake_one(word: *const AtomicU32) {
    // SAFETY: the address is looked up, not read.
    unsafe { WakeByAddressSingle(word.cast()) };
}

/// Wakes every thread that blocks on `word`.
pub(crate) fn wake_all(word: *const AtomicU32) {
    // SAFETY: as above.
    unsafe { WakeByAddressAll(word.cast()) };
}
