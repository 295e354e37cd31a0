//! What things cost on this machine, as far as it has the cores to tell.

use crate::machine::Costs;
use std::hint::{black_box, spin_loop};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Measures what can be measured in some tenths of a second; the rest is as in [`Costs::default`].
pub fn costs() -> Costs {
    let mut costs = Costs {
        fork: fork_ns().max(1),
        ..Costs::default()
    };
    if thread::available_parallelism().is_ok_and(|cores| cores.get() > 1) {
        costs.transfer = transfer_ns().max(1);
        (costs.wake, costs.wake_latency) = wake_ns();
    }
    costs
}

/// The least of some rounds: whatever disturbs makes it longer.
fn least(rounds: usize, round: impl FnMut() -> Duration) -> Duration {
    std::iter::repeat_with(round)
        .take(rounds)
        .min()
        .unwrap_or_default()
}

/// One join of nothing that nobody takes.
fn fork_ns() -> u64 {
    fn tree(levels: u32) -> u64 {
        if levels == 0 {
            return black_box(1);
        }
        let (a, b) = blitz_core::join(|| tree(levels - 1), || tree(levels - 1));
        a + b
    }
    fn calls(levels: u32) -> u64 {
        if levels == 0 {
            return black_box(1);
        }
        calls(levels - 1) + calls(levels - 1)
    }
    const LEVELS: u32 = 16;
    let timed = |work: fn(u32) -> u64| {
        least(20, || {
            let begin = Instant::now();
            black_box(work(black_box(LEVELS)));
            begin.elapsed()
        })
    };
    let Ok(pool) = blitz_core::ThreadPoolBuilder::new().num_threads(1).build() else {
        return Costs::default().fork;
    };
    let forks = pool.install(|| timed(tree));
    let plain = timed(calls);
    (forks.saturating_sub(plain).as_nanos() as u64) >> LEVELS
}

/// A word goes to and fro between two threads.
fn transfer_ns() -> u64 {
    const TURNS: u64 = 2000;
    let word = Arc::new(AtomicU64::new(0));
    let theirs = Arc::clone(&word);
    let rounds = 20;
    let other = thread::spawn(move || {
        for turn in 0..TURNS * rounds {
            while theirs.load(Ordering::Acquire) != 2 * turn + 1 {
                spin_loop();
            }
            theirs.store(2 * turn + 2, Ordering::Release);
        }
    });
    let mut turn = 0;
    let fastest = least(rounds as usize, || {
        let begin = Instant::now();
        for _ in 0..TURNS {
            word.store(2 * turn + 1, Ordering::Release);
            while word.load(Ordering::Acquire) != 2 * turn + 2 {
                spin_loop();
            }
            turn += 1;
        }
        begin.elapsed()
    });
    other.join().expect("it only counts");
    fastest.as_nanos() as u64 / (2 * TURNS)
}

/// What waking a thread costs its waker, and how long it takes until that runs.
fn wake_ns() -> (u64, u64) {
    let start = Instant::now();
    let woken_at = Arc::new(AtomicU64::new(0));
    let stop = Arc::new(AtomicBool::new(false));
    let (theirs, until) = (Arc::clone(&woken_at), Arc::clone(&stop));
    let sleeper = thread::spawn(move || {
        while !until.load(Ordering::Acquire) {
            thread::park();
            theirs.store(start.elapsed().as_nanos() as u64, Ordering::Release);
        }
    });
    let mut costs = Vec::new();
    for _ in 0..60 {
        // Long enough for it to be fast asleep.
        thread::sleep(Duration::from_micros(300));
        woken_at.store(0, Ordering::Release);
        let begin = start.elapsed().as_nanos() as u64;
        sleeper.thread().unpark();
        let called = start.elapsed().as_nanos() as u64;
        while woken_at.load(Ordering::Acquire) == 0 {
            spin_loop();
        }
        let awake = woken_at.load(Ordering::Acquire);
        costs.push((called - begin, awake.saturating_sub(begin)));
    }
    stop.store(true, Ordering::Release);
    sleeper.thread().unpark();
    sleeper.join().expect("it only sleeps");
    let middle = |mut times: Vec<u64>| {
        times.sort_unstable();
        times[times.len() / 2].max(1)
    };
    // The woken thread may run before the call returns.
    let (calls, wholes) = costs.into_iter().unzip();
    let (call, whole) = (middle(calls), middle(wholes));
    (call, whole.saturating_sub(call).max(1))
}
