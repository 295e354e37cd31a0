//! Promise 1 for work that is not worth sharing: at most a twentieth and 100 ns above plain code, whatever the clock costs (`--cfg blitz_slow_clock` makes one of
//! which a reading takes a microsecond). Ends with a failure if that is not so in three measurements.

use blitz::prelude::*;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

/// One in so many pieces of short work looks at a slow clock; all of them count.
const BATCH: u32 = 128;

/// The mean of the fastest batches, in nanoseconds: of the first, and of the second piece of work. In turns, since a machine is not always as fast.
fn fastest(mut first: impl FnMut(), mut second: impl FnMut()) -> (f64, f64) {
    let batch = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        (0..BATCH).for_each(|_| work());
        start.elapsed().as_nanos() as f64 / f64::from(BATCH)
    };
    let mut best = (f64::MAX, f64::MAX);
    for _ in 0..60 {
        best.0 = best.0.min(batch(&mut first));
        best.1 = best.1.min(batch(&mut second));
    }
    best
}

fn plain(n: u32) -> u64 {
    if n < 2 {
        return u64::from(black_box(n));
    }
    plain(n - 1) + plain(n - 2)
}

fn forked(n: u32) -> u64 {
    if n < 2 {
        return u64::from(black_box(n));
    }
    let (a, b) = blitz::join(|| forked(n - 1), || forked(n - 2));
    a + b
}

/// What is too dear.
#[derive(Default)]
struct Dear(Vec<String>);

impl Dear {
    fn look(&mut self, name: &str, allowed: f64, with: impl Fn(), without: impl Fn()) {
        let mut above = String::new();
        for _ in 0..3 {
            let (with, without) = fastest(&with, &without);
            above = format!("{name}: {:+.0} ns above {without:.0}", with - without);
            if with <= without * 1.05 + allowed {
                println!("{above}");
                return;
            }
        }
        println!("{above}, which is too much");
        self.0.push(above);
    }
}

fn main() -> ExitCode {
    let mut dear = Dear::default();
    for threads in [1, 2] {
        let pool = blitz::ThreadPoolBuilder::new().num_threads(threads);
        pool.build()
            .unwrap()
            .install(|| measure(threads, &mut dear));
    }
    if dear.0.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn measure(threads: usize, dear: &mut Dear) {
    println!("threads: {threads}");
    // 88 joins, of which each may cost what it does elsewhere, and half as much again.
    dear.look(
        "a tree of joins",
        88.0 * 3.0 + 100.0,
        || _ = black_box(forked(black_box(10))),
        || _ = black_box(plain(black_box(10))),
    );
    dear.look(
        "a join",
        100.0,
        || _ = black_box(blitz::join(|| black_box(1), || black_box(2))),
        || _ = black_box((black_box(1), black_box(2))),
    );
    for len in [1, 10, 100, 1000, 10_000, 100_000, 300_000] {
        let v: Vec<u64> = (0..len).collect();
        dear.look(
            &format!("a sum of {len}"),
            100.0,
            || _ = black_box(black_box(&v).par_iter().sum::<u64>()),
            || _ = black_box(black_box(&v).iter().sum::<u64>()),
        );
    }
    let v: Vec<u64> = (0..1000).collect();
    dear.look(
        "a search of 1000",
        // Looking up after every so many items has its price.
        400.0,
        || _ = black_box(black_box(&v).par_iter().any(|n| *n > 1 << 40)),
        || _ = black_box(black_box(&v).iter().any(|n| *n > 1 << 40)),
    );
}
