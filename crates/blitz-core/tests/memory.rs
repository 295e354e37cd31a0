//! What a pool takes. Alone in its process, since memory is the process's.
#![cfg(target_os = "linux")]

/// In KiB.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.unwrap().trim().trim_end_matches(" kB");
    number.parse().unwrap()
}

#[test]
fn a_thread_that_has_done_nothing_takes_little_memory() {
    const THREADS: usize = 100;
    let before = resident();
    let pool = blitz_core::ThreadPoolBuilder::new()
        .num_threads(THREADS)
        .build()
        .unwrap();
    pool.broadcast(|_| ());
    let each = (resident() - before) / THREADS;
    assert!(each <= 64, "{each} KiB for each thread");
}
