//! What is counted of joins and loops, whoever calls them and whatever they contain.

use blitz::prelude::*;
use blitz_core::console::{self, CallNumbers};
use std::panic::{catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

const MILLISECOND: Duration = Duration::from_millis(1);

/// One test at a time, and somebody looks.
fn looked_at() -> (MutexGuard<'static, ()>, console::Looking) {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    (alone, console::look())
}

fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Of this line of this file.
fn numbers(line: u32) -> CallNumbers {
    let mut sites = console::sites();
    let here = sites.find(|site| site.location.file() == file!() && site.location.line() == line);
    here.map(console::CallSite::numbers).unwrap_or_default()
}

/// A loop that is shared from its first item on.
fn dear_loop() {
    (0..4)
        .into_par_iter()
        .for_each(|_| spin(Duration::from_micros(200)));
}

/// Calls `test` on a pool's thread and outside, beside pools that have nothing to do and one that has.
fn everywhere(test: fn()) {
    for threads in [1, 2] {
        let pool = blitz::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(test);
    }
    test();
    let over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        for _ in 0..3 {
            threads.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    dear_loop();
                    blitz::join(dear_loop, dear_loop);
                }
            });
        }
        let tested = catch_unwind(test);
        over.store(true, Ordering::Relaxed);
        tested.unwrap();
    });
}

#[test]
fn a_join_with_joins_and_loops_in_it_is_counted_once_and_as_long_as_it_takes() {
    fn ten() {
        let line = line!() + 3;
        let before = numbers(line);
        for n in 1..=10 {
            blitz::join(dear_loop, || {
                blitz::join(dear_loop, dear_loop);
                dear_loop();
                spin(MILLISECOND);
            });
            assert_eq!(numbers(line).calls - before.calls, n);
        }
        let took = (numbers(line).ticks - before.ticks) / blitz_core::demand::ticks_per_us();
        assert!(took >= 10_000, "ten times a millisecond are {took} us");
    }
    let _looked_at = looked_at();
    everywhere(ten);
}

#[test]
fn a_join_that_is_left_by_a_panic_ends() {
    fn ten() {
        let fail = || resume_unwind(Box::new("on purpose"));
        let line = line!() + 4;
        let before = numbers(line).calls;
        for n in 0..10 {
            let panicked = catch_unwind(|| {
                blitz::join(
                    || (n % 2 == 0).then(fail),
                    || {
                        dear_loop();
                        (n % 3 == 0).then(fail)
                    },
                )
            });
            assert_eq!(panicked.is_err(), n % 2 == 0 || n % 3 == 0);
            assert_eq!(numbers(line).calls - before, n + 1);
        }
    }
    let _looked_at = looked_at();
    everywhere(ten);
}
