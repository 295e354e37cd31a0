//! What forks and loops cost that are not worth sharing, in nanoseconds above plain code: for platforms whose clock is slow (`--cfg blitz_slow_clock` makes one).

use blitz::prelude::*;
use std::hint::black_box;
use std::time::Instant;

/// The fastest of many runs, in nanoseconds.
fn fastest(runs: u32, mut work: impl FnMut()) -> f64 {
    let once = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed().as_nanos() as f64
    };
    (0..runs).map(|_| once(&mut work)).fold(f64::MAX, f64::min)
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

fn main() {
    let pool = blitz::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    pool.install(|| {
        // 28656 joins.
        let (with, without) = (
            fastest(200, || _ = forked(22)),
            fastest(200, || _ = plain(22)),
        );
        println!("a join: {:.1} ns", (with - without) / 28656.0);
        for len in [10, 1000, 100_000] {
            let v: Vec<u64> = (0..len).collect();
            let with = fastest(20_000, || {
                _ = black_box(black_box(&v).par_iter().sum::<u64>())
            });
            let without = fastest(20_000, || _ = black_box(black_box(&v).iter().sum::<u64>()));
            println!(
                "a sum of {len}: {:.0} ns above {without:.0}",
                with - without
            );
        }
    });
}
