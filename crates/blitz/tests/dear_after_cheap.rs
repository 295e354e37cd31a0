//! A loop of few items that has been tiny a thousand times and is dear from now on.

use blitz::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

/// How many of eight items the caller has done itself.
fn items_of_the_caller(pause: Duration) -> usize {
    let caller = thread::current().id();
    let own = AtomicUsize::new(0);
    (0..8).into_par_iter().for_each(|_| {
        own.fetch_add(usize::from(thread::current().id() == caller), Relaxed);
        if !pause.is_zero() {
            thread::sleep(pause);
        }
    });
    own.into_inner()
}

/// Its first run does two items alone, one of them before it looks at the clock. The second one knows: two items of 20 ms in a row are none that
/// has lost its CPU.
#[test]
fn the_second_dear_run_after_a_thousand_cheap_ones_is_shared_at_once() {
    let pool = blitz::ThreadPoolBuilder::new().num_threads(16).build();
    let rounds: Vec<Vec<usize>> = pool.unwrap().install(|| {
        let round = || {
            for _ in 0..1000 {
                items_of_the_caller(Duration::ZERO);
            }
            let dear = (0..3).map(|_| items_of_the_caller(Duration::from_millis(20)));
            dear.collect::<Vec<_>>()
        };
        // On a busy machine the others may come too late for the items, now and then.
        let mut rounds = Vec::new();
        while rounds.len() < 20 && rounds.last().is_none_or(|own: &Vec<usize>| own[1] > 1) {
            rounds.push(round());
        }
        rounds
    });
    let last = rounds.last().unwrap();
    assert!(
        last[1] <= 1,
        "items of the caller, by round and run: {rounds:?}"
    );
}
