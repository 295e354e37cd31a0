//! For pages with threads: the browser's own clock, in nanoseconds, of which it tells a few microseconds at a time.

use std::sync::atomic::{AtomicU32, Ordering};
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = performance)]
    fn now() -> f64;
    #[wasm_bindgen(thread_local_v2, js_namespace = performance, js_name = timeOrigin)]
    static TIME_ORIGIN: f64;
}

/// Whether ticks tell the time.
pub(super) const IS_CLOCK: bool = true;

pub(super) fn ticks() -> u64 {
    // Each worker counts from its own beginning, in milliseconds.
    thread_local! { static ORIGIN: f64 = TIME_ORIGIN.with(|origin| *origin) }
    ((ORIGIN.with(|origin| *origin) + now()) * 1e6) as u64
}

#[inline]
pub(super) fn ticks_per_us() -> u64 {
    1000
}

/// A reading that takes less than this is like any other load.
const FAST_NS: u64 = 100;

/// Measured once, with as many readings as it takes to see something of so coarse a clock.
#[inline]
pub(super) fn reading_ns() -> u64 {
    static KNOWN: AtomicU32 = AtomicU32::new(u32::MAX);
    match KNOWN.load(Ordering::Relaxed) {
        u32::MAX => {
            let ns = measured_ns();
            KNOWN.store(ns as u32, Ordering::Relaxed);
            ns
        }
        ns => u64::from(ns),
    }
}

#[cold]
fn measured_ns() -> u64 {
    const READINGS: u64 = 500;
    let start = ticks();
    let end = (0..READINGS).fold(start, |_, _| ticks());
    let ns = (end - start) / READINGS;
    if ns < FAST_NS { 0 } else { ns.min(100_000) }
}
