//! One pool, really: a program that computes everywhere (in the body of `block_on`, in tasks, in computations, in closures that block, on its own threads) has as many
//! workers as CPUs.
//!
//! The only test in this program, so that every thread is known.

#![cfg(target_os = "linux")]

mod common;

use blitz_io::{Runtime, spawn, spawn_blocking, spawn_cpu};
use common::within_a_minute;
use std::collections::BTreeMap;
use std::time::Duration;

/// Enough for everybody to be woken.
fn fib(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = blitz_core::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

fn threads() -> BTreeMap<String, usize> {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let name = |thread: std::fs::DirEntry| std::fs::read_to_string(thread.path().join("comm")).ok();
    let mut names = BTreeMap::new();
    for name in threads.filter_map(|thread| name(thread.ok()?)) {
        *names.entry(name.trim_end().to_owned()).or_default() += 1;
    }
    names
}

#[test]
fn a_program_that_computes_everywhere_has_as_many_workers_as_cpus() {
    within_a_minute(|| {
        let before: usize = threads().values().sum();
        let expected = fib(18);
        let runtime = Runtime::new().unwrap();
        let other = Runtime::new().unwrap();
        runtime.block_on(async {
            assert_eq!(fib(18), expected);
            let task = spawn(async { fib(18) });
            let computation = spawn_cpu(|| fib(18));
            let blocking = spawn_blocking(|| fib(18));
            let outside = std::thread::spawn(|| fib(18));
            let elsewhere = other.spawn(async { fib(18) });
            for job in [task, computation, blocking, elsewhere] {
                assert_eq!(job.await.unwrap(), expected);
            }
            assert_eq!(outside.join().unwrap(), expected);
        });
        blitz_core::scope(|scope| scope.spawn(|_| assert_eq!(fib(18), expected)));
        // The kernel counts a thread that has ended for a moment longer.
        std::thread::sleep(Duration::from_millis(30));
        let mut names = threads();
        let mut take = |name: &str| names.remove(name).unwrap_or_default();
        let extras = [
            take("blitz-io relief"),
            take("blitz-io watch"),
            take("blitz-io blocki"),
        ];
        assert!(extras.iter().all(|&count| count <= 1), "{extras:?}");
        let cpus = std::thread::available_parallelism().unwrap().get();
        let workers = names.values().sum::<usize>() - before;
        assert_eq!(workers, cpus, "{names:?}");
    });
}
