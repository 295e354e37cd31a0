//! What the counters of a runtime count.

use blitz_io::runtime::{Metrics, Runtime, WorkerMetrics};
use std::time::{Duration, Instant};

fn runtime(poll_times: bool) -> Runtime {
    blitz_io::Builder::new_multi_thread()
        .worker_threads(1)
        .poll_times(poll_times)
        .build()
        .unwrap()
}

fn metrics(runtime: &Runtime) -> Metrics {
    runtime.handle().metrics().snapshot()
}

fn sum(runtime: &Runtime, of: impl Fn(&WorkerMetrics) -> u64) -> u64 {
    metrics(runtime).workers.iter().map(of).sum()
}

#[test]
fn a_task_that_runs_right_after_the_one_that_woke_it_is_a_lifo_hit() {
    let runtime = runtime(false);
    let before = sum(&runtime, |worker| worker.lifo_hits);
    let both = runtime.spawn(async {
        let (sender, receiver) = blitz_io::sync::oneshot::channel();
        let waits = blitz_io::spawn(receiver);
        // It waits by now.
        blitz_io::task::yield_now().await;
        blitz_io::task::yield_now().await;
        sender.send(5).unwrap();
        waits.await.unwrap().unwrap()
    });
    assert_eq!(runtime.block_on(both).unwrap(), 5);
    assert!(sum(&runtime, |worker| worker.lifo_hits) > before);
}

#[test]
fn tasks_from_outside_come_in_batches() {
    let runtime = runtime(false);
    let tasks: Vec<_> = (0..100).map(|n| runtime.spawn(async move { n })).collect();
    let mut total = 0;
    for task in tasks {
        total += runtime.block_on(task).unwrap();
    }
    assert_eq!(total, 4950);
    let batches = sum(&runtime, |worker| worker.injector_batches);
    assert!((1..=100).contains(&batches), "{batches}");
    // Polls are counted at the end of a worker's turn, which may still go on.
    while sum(&runtime, |worker| worker.polled) < 100 {
        std::thread::yield_now();
    }
}

#[test]
fn polls_are_timed_if_somebody_asks_for_it() {
    let runtime = runtime(true);
    let slow = runtime.spawn(async {
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(3) {
            std::hint::spin_loop();
        }
    });
    runtime.block_on(slow).unwrap();
    let times = metrics(&runtime).poll_times;
    let (longest, count) = *times.last().unwrap();
    assert!(
        longest >= Duration::from_millis(3) && count >= 1,
        "{times:?}"
    );
    assert!(times.windows(2).all(|two| two[0].0 < two[1].0));
}

#[test]
fn polls_are_not_timed_otherwise() {
    let runtime = runtime(false);
    runtime.block_on(runtime.spawn(async {})).unwrap();
    assert!(metrics(&runtime).poll_times.is_empty());
}
