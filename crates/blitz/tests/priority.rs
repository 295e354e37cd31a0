//! Loops of the background.

use blitz::prelude::*;
use blitz::{Priority, ThreadPoolBuilder, spawn, with_priority};
use blitz_core::demand::{ticks, ticks_at_work};
use std::sync::mpsc;
use std::time::Duration;

#[test]
fn the_time_that_a_loop_makes_room_is_none_that_its_items_take() {
    let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let (over, wait) = mpsc::channel::<()>();
    let (all, at_work) = pool.install(|| {
        // Takes the thread's place until the loop has ended: the loop waits a millisecond for it each time.
        spawn(move || wait.recv().unwrap_or_default());
        let start = (ticks(), ticks_at_work());
        with_priority(Priority::Background, || {
            (0..100).into_par_iter().for_each(|_| spin());
        });
        let end = (ticks(), ticks_at_work());
        drop(over);
        (end.0 - start.0, end.1 - start.1)
    });
    // Where it has not waited, or waits are counted, the two are the same.
    assert!(at_work < all / 2, "{at_work} of {all} ticks");
}

/// Longer than a block: it waits after each. Shorter than a wait.
fn spin() {
    let start = std::time::Instant::now();
    while start.elapsed() < Duration::from_micros(20) {}
}
