//! Which CPUs tasks may use while computations have all of them.
#![cfg(target_os = "linux")]

use blitz_io::Builder;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

fn fib(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = blitz_core::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

#[test]
fn tasks_may_use_all_cpus_also_on_a_relief_thread_that_was_called_over() {
    let all = thread::available_parallelism().unwrap();
    let runtime = Builder::new_multi_thread().worker_threads(2).build();
    let runtime = runtime.unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let jobs = [(); 2].map(|()| {
        let over = Arc::clone(&over);
        runtime.handle().spawn_cpu(move || {
            while !over.load(Ordering::Relaxed) {
                fib(20);
            }
        })
    });
    let seen = runtime.block_on(runtime.spawn(async {
        let mut seen = Vec::new();
        for _ in 0..300 {
            blitz_io::time::sleep(Duration::from_millis(1)).await;
            seen.push(thread::available_parallelism().unwrap());
        }
        seen
    }));
    over.store(true, Ordering::Relaxed);
    for job in jobs {
        runtime.block_on(job).unwrap();
    }
    let seen = seen.unwrap();
    let wrong = seen.iter().filter(|&&cpus| cpus != all).count();
    assert_eq!(wrong, 0, "of {} looks", seen.len());
}
