//! A worker that computes, and has to wait for a CPU, is not stuck: nobody stands in for it, who would need a CPU, too.
//!
//! The only test in this program, so that every thread is known.

#![cfg(target_os = "linux")]

mod common;

use common::{runtime, within_a_minute};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// The calling thread, and those that it starts, have to share one CPU.
fn use_one_cpu() {
    // SAFETY: a set of CPUs may be all zeros, and the kernel only reads it.
    unsafe {
        let mut cpus: libc::cpu_set_t = std::mem::zeroed();
        let here = libc::sched_getcpu();
        libc::CPU_SET(usize::try_from(here).unwrap(), &mut cpus);
        assert_eq!(libc::sched_setaffinity(0, size_of_val(&cpus), &cpus), 0);
    }
}

fn standing_in() -> usize {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let name = |thread: std::fs::DirEntry| std::fs::read_to_string(thread.path().join("comm")).ok();
    let names = threads.filter_map(|thread| name(thread.ok()?));
    names.filter(|name| name.contains("-resc")).count()
}

#[test]
fn who_waits_for_a_cpu_is_not_absent() {
    within_a_minute(|| {
        use_one_cpu();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            // It loses its CPU for many times as long as the watcher waits between two looks.
            for _ in 0..8 {
                scope.spawn(|| {
                    while !over.load(SeqCst) {
                        std::hint::spin_loop();
                    }
                });
            }
            let runtime = runtime(2);
            let start = Instant::now();
            let mut most = 0;
            while start.elapsed() < Duration::from_secs(2) && most == 0 {
                runtime.block_on(async {
                    let compute = || blitz_core::join(spin, || blitz_core::join(spin, spin));
                    blitz_io::spawn(async move { compute() }).await.unwrap();
                });
                most = standing_in();
            }
            over.store(true, SeqCst);
            assert_eq!(most, 0, "somebody stands in");
        });
    });
}

fn spin() {
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(4) {
        std::hint::spin_loop();
    }
}
