//! Every algorithm against the sequential answer, on pools of several sizes.

mod group;
mod loops;
mod reorder;
mod scan;
mod slices;
mod slow;

use blitz::{ThreadPool, ThreadPoolBuilder};
use std::sync::OnceLock;

/// Pools of these many threads, made once.
const THREADS: [usize; 5] = [1, 2, 3, 8, 65];

/// Runs `test` in a pool of each size.
fn on_all_pools(test: impl Fn() + Sync) {
    static POOLS: OnceLock<Vec<ThreadPool>> = OnceLock::new();
    let pools = POOLS.get_or_init(|| {
        let pool = |threads| ThreadPoolBuilder::new().num_threads(threads).build();
        THREADS.map(|threads| pool(threads).unwrap()).into()
    });
    for pool in pools {
        pool.install(&test);
    }
}

/// Sizes around which cutting tends to go wrong, and one long enough to be shared out.
const SIZES: [usize; 9] = [0, 1, 2, 3, 63, 64, 65, 1000, 50_000];

/// Numbers that look random and are the same in every run.
fn scrambled(len: usize) -> Vec<u64> {
    (0..len as u64).map(scramble).collect()
}

fn scramble(i: u64) -> u64 {
    let x = (i ^ 0x5bf0_3635).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 13
}
