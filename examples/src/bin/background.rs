//! Requests that stay fast while an index is rebuilt.
//!
//! The rebuild is a parallel loop that fills all threads for as long as it takes; requests are tasks that take microseconds. With one priority for both, a request waits until
//! some thread has nothing to do. A rebuild in the background makes room for it between two blocks.

use blitz::prelude::*;
use blitz::{Priority, ThreadPool, ThreadPoolBuilder};
use blitz_examples::Recipe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A word's entry in the index: a number that takes a while.
fn entry(word: u64) -> u64 {
    (0..20_000).fold(word, |sum, step| {
        (sum ^ step)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(7)
    })
}

/// Answers `requests` while the index is rebuilt over and over; returns how long the slowest of a hundred had to wait to begin.
fn serve(
    pool: &ThreadPool,
    priority: Priority,
    words: u64,
    requests: usize,
    expected: u64,
) -> Duration {
    let over = AtomicBool::new(false);
    let mut late = std::thread::scope(|threads| {
        threads.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let sum = pool.install(|| {
                    let words = (0..words).into_par_iter().with_priority(priority);
                    words.map(entry).reduce(|| 0, u64::wrapping_add)
                });
                assert_eq!(sum, expected);
            }
        });
        let answer = |_| {
            std::thread::sleep(Duration::from_millis(1));
            let came = Instant::now();
            pool.spawn_handle(move || came.elapsed())
                .join()
                .expect("requests do not panic")
        };
        let late: Vec<_> = (0..requests).map(answer).collect();
        over.store(true, Ordering::Relaxed);
        late
    });
    late.sort_unstable();
    late[(late.len() - 1) * 99 / 100]
}

fn main() {
    let recipe = Recipe::start("requests beside a rebuild of the index");
    let pool = ThreadPoolBuilder::new()
        .build()
        .expect("the system has threads");
    let (words, requests) = (recipe.size(5000, 500) as u64, recipe.size(300, 20));
    let expected = (0..words).map(entry).fold(0, u64::wrapping_add);
    for priority in [Priority::Latency, Priority::Background] {
        let late = serve(&pool, priority, words, requests, expected);
        println!("  rebuild of priority {priority:?}: 99 of 100 requests begin within {late:?}");
    }
}
