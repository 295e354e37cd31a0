//! Loops of the background.

use blitz::prelude::*;
use blitz::{Priority, ThreadPoolBuilder, spawn, with_priority};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

#[test]
fn a_loop_that_makes_room_goes_on_by_blocks_however_long_it_had_to_wait() {
    const ITEMS: usize = 5000;
    const PAUSE: Duration = Duration::from_micros(500);
    let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let (over, wait) = mpsc::channel::<()>();
    let gaps = Mutex::new((Instant::now(), Vec::with_capacity(2 * ITEMS)));
    let item = |_| {
        let mut gaps = gaps.lock().unwrap_or_else(PoisonError::into_inner);
        let gap = gaps.0.elapsed();
        gaps.1.push(gap);
        gaps.0 = Instant::now();
    };
    (0..ITEMS).for_each(item);
    pool.install(|| {
        // Takes the thread's place until the loop has ended.
        spawn(move || wait.recv().unwrap_or_default());
        with_priority(Priority::Background, || {
            (0..ITEMS).into_par_iter().for_each(item)
        });
        drop(over);
    });
    let (_, mut gaps) = gaps.into_inner().unwrap_or_else(PoisonError::into_inner);
    let (alone, in_background) = gaps.split_at_mut(ITEMS);
    let pauses = in_background.iter().filter(|gap| **gap > PAUSE).count();
    assert!(pauses > 0, "it has not made room");
    // A block is 8 us of items. Where one of them takes about as long, as under a sanitizer, it is a block.
    alone.sort_unstable();
    let typical = alone[ITEMS / 2];
    if typical < Duration::from_micros(1) {
        assert!(pauses < ITEMS * 2 / 5, "it waits after each item");
    } else {
        eprintln!("no blocks of several items where one takes {typical:?}");
    }
}
