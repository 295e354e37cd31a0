//! Loops of the background.

use blitz::prelude::*;
use blitz::{Priority, ThreadPoolBuilder, spawn, with_priority};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

#[test]
fn a_loop_that_makes_room_goes_on_by_blocks_however_long_it_had_to_wait() {
    const ITEMS: usize = 5000;
    let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let (over, wait) = mpsc::channel::<()>();
    let (pauses, last) = (AtomicUsize::new(0), Mutex::new(Instant::now()));
    pool.install(|| {
        // Takes the thread's place until the loop has ended.
        spawn(move || wait.recv().unwrap_or_default());
        with_priority(Priority::Background, || {
            (0..ITEMS).into_par_iter().for_each(|_| {
                let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
                let waited = last.elapsed() > Duration::from_micros(500);
                let pauses = pauses.fetch_add(usize::from(waited), SeqCst);
                assert!(pauses < ITEMS / 2, "it waits after each item");
                *last = Instant::now();
            });
        });
        drop(over);
    });
    assert!(pauses.into_inner() > 0, "it has not made room");
}
