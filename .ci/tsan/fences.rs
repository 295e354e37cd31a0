//! Teaches ThreadSanitizer fences that acquire.
//!
//! Its runtime ignores fences. The one that matters is in every `Arc`: who gives up a reference releases what it did, and the last one
//! acquires all of it by a fence, before the content is dropped. Without that fence each such drop looks like a race with the
//! last uses by others.
//!
//! A fence acquires what the thread has read before it by weaker accesses. So each atomic access that reads and does not acquire
//! is noted here, and the next fence that acquires does so at the places noted. All accesses come by here because the linker
//! puts these functions in front of the sanitizer's (`--wrap`).
//!
//! It is not exact. A place gives what it holds at the fence, not what it held at the read, which may hide a race; only the last
//! few reads count, which may add a report that is wrong. Fences that release are not taught: nothing in this repository is published
//! by a fence and a relaxed store.

#![no_std]
#![feature(thread_local)]

use core::cell::Cell;
use core::ffi::{c_int, c_void};

const RELAXED: c_int = 0;
const RELEASE: c_int = 3;
/// Reads that a fence remembers.
const NOTED: usize = 8;

#[thread_local]
static READ: [Cell<*const c_void>; NOTED] = [const { Cell::new(core::ptr::null()) }; NOTED];
#[thread_local]
static NEXT: Cell<usize> = Cell::new(0);

fn note(place: *const c_void, order: c_int) {
    if order == RELAXED || order == RELEASE {
        let next = NEXT.get();
        READ[next % NOTED].set(place);
        NEXT.set(next.wrapping_add(1));
    }
}

unsafe extern "C" {
    fn __tsan_acquire(place: *const c_void);
    fn __real___tsan_atomic_thread_fence(order: c_int);
}

/// # Safety
///
/// Called by instrumented code only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __wrap___tsan_atomic_thread_fence(order: c_int) {
    // SAFETY: the sanitizer looks up the places by their addresses and never reads them; they may be gone.
    unsafe {
        __real___tsan_atomic_thread_fence(order);
        if order != RELEASE {
            for place in &READ {
                let place = place.replace(core::ptr::null());
                if !place.is_null() {
                    __tsan_acquire(place);
                }
            }
        }
    }
}

/// Functions of the same name as the sanitizer's that note the place and go on to it.
macro_rules! wrap {
    ($($wrapper:ident => $real:ident($($argument:ident: $type:ty),*) -> $result:ty, $order:ident;)*) => {
        unsafe extern "C" {
            $(fn $real(place: *mut c_void $(, $argument: $type)*) -> $result;)*
        }
        $(
            /// # Safety
            ///
            /// Called by instrumented code only.
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $wrapper(place: *mut c_void $(, $argument: $type)*) -> $result {
                note(place, $order);
                // SAFETY: the caller's arguments, as they came.
                unsafe { $real(place $(, $argument)*) }
            }
        )*
    };
}

wrap! {
    __wrap___tsan_atomic8_load => __real___tsan_atomic8_load(order: c_int) -> u8, order;
    __wrap___tsan_atomic8_exchange => __real___tsan_atomic8_exchange(value: u8, order: c_int) -> u8, order;
    __wrap___tsan_atomic8_fetch_add => __real___tsan_atomic8_fetch_add(value: u8, order: c_int) -> u8, order;
    __wrap___tsan_atomic8_fetch_sub => __real___tsan_atomic8_fetch_sub(value: u8, order: c_int) -> u8, order;
    __wrap___tsan_atomic8_fetch_and => __real___tsan_atomic8_fetch_and(value: u8, order: c_int) -> u8, order;
    __wrap___tsan_atomic8_fetch_or => __real___tsan_atomic8_fetch_or(value: u8, order: c_int) -> u8, order;
    __wrap___tsan_atomic8_fetch_xor => __real___tsan_atomic8_fetch_xor(value: u8, order: c_int) -> u8, order;
    __wrap___tsan_atomic8_fetch_nand => __real___tsan_atomic8_fetch_nand(value: u8, order: c_int) -> u8, order;
    __wrap___tsan_atomic8_compare_exchange_val => __real___tsan_atomic8_compare_exchange_val(old: u8, new: u8, order: c_int, failure: c_int) -> u8, order;
}

wrap! {
    __wrap___tsan_atomic16_load => __real___tsan_atomic16_load(order: c_int) -> u16, order;
    __wrap___tsan_atomic16_exchange => __real___tsan_atomic16_exchange(value: u16, order: c_int) -> u16, order;
    __wrap___tsan_atomic16_fetch_add => __real___tsan_atomic16_fetch_add(value: u16, order: c_int) -> u16, order;
    __wrap___tsan_atomic16_fetch_sub => __real___tsan_atomic16_fetch_sub(value: u16, order: c_int) -> u16, order;
    __wrap___tsan_atomic16_fetch_and => __real___tsan_atomic16_fetch_and(value: u16, order: c_int) -> u16, order;
    __wrap___tsan_atomic16_fetch_or => __real___tsan_atomic16_fetch_or(value: u16, order: c_int) -> u16, order;
    __wrap___tsan_atomic16_fetch_xor => __real___tsan_atomic16_fetch_xor(value: u16, order: c_int) -> u16, order;
    __wrap___tsan_atomic16_fetch_nand => __real___tsan_atomic16_fetch_nand(value: u16, order: c_int) -> u16, order;
    __wrap___tsan_atomic16_compare_exchange_val => __real___tsan_atomic16_compare_exchange_val(old: u16, new: u16, order: c_int, failure: c_int) -> u16, order;
}

wrap! {
    __wrap___tsan_atomic32_load => __real___tsan_atomic32_load(order: c_int) -> u32, order;
    __wrap___tsan_atomic32_exchange => __real___tsan_atomic32_exchange(value: u32, order: c_int) -> u32, order;
    __wrap___tsan_atomic32_fetch_add => __real___tsan_atomic32_fetch_add(value: u32, order: c_int) -> u32, order;
    __wrap___tsan_atomic32_fetch_sub => __real___tsan_atomic32_fetch_sub(value: u32, order: c_int) -> u32, order;
    __wrap___tsan_atomic32_fetch_and => __real___tsan_atomic32_fetch_and(value: u32, order: c_int) -> u32, order;
    __wrap___tsan_atomic32_fetch_or => __real___tsan_atomic32_fetch_or(value: u32, order: c_int) -> u32, order;
    __wrap___tsan_atomic32_fetch_xor => __real___tsan_atomic32_fetch_xor(value: u32, order: c_int) -> u32, order;
    __wrap___tsan_atomic32_fetch_nand => __real___tsan_atomic32_fetch_nand(value: u32, order: c_int) -> u32, order;
    __wrap___tsan_atomic32_compare_exchange_val => __real___tsan_atomic32_compare_exchange_val(old: u32, new: u32, order: c_int, failure: c_int) -> u32, order;
}

wrap! {
    __wrap___tsan_atomic64_load => __real___tsan_atomic64_load(order: c_int) -> u64, order;
    __wrap___tsan_atomic64_exchange => __real___tsan_atomic64_exchange(value: u64, order: c_int) -> u64, order;
    __wrap___tsan_atomic64_fetch_add => __real___tsan_atomic64_fetch_add(value: u64, order: c_int) -> u64, order;
    __wrap___tsan_atomic64_fetch_sub => __real___tsan_atomic64_fetch_sub(value: u64, order: c_int) -> u64, order;
    __wrap___tsan_atomic64_fetch_and => __real___tsan_atomic64_fetch_and(value: u64, order: c_int) -> u64, order;
    __wrap___tsan_atomic64_fetch_or => __real___tsan_atomic64_fetch_or(value: u64, order: c_int) -> u64, order;
    __wrap___tsan_atomic64_fetch_xor => __real___tsan_atomic64_fetch_xor(value: u64, order: c_int) -> u64, order;
    __wrap___tsan_atomic64_fetch_nand => __real___tsan_atomic64_fetch_nand(value: u64, order: c_int) -> u64, order;
    __wrap___tsan_atomic64_compare_exchange_val => __real___tsan_atomic64_compare_exchange_val(old: u64, new: u64, order: c_int, failure: c_int) -> u64, order;
}
