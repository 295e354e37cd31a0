//! Runtimes whose workers leave each other's tasks alone.

use blitz_io::runtime::worker_index;
use blitz_io::{Builder, Runtime};
use std::sync::mpsc;
use std::time::Duration;

fn runtime(watcher: bool) -> Runtime {
    let builder = &mut Builder::new_multi_thread();
    let builder = builder.worker_threads(2).enable_stealing(false);
    builder.watcher(watcher).build().unwrap()
}

#[test]
fn what_a_task_spawns_stays_with_its_worker() {
    let runtime = runtime(false);
    for _ in 0..20 {
        let task = runtime.spawn(async {
            let children: Vec<_> = (0..50)
                .map(|_| {
                    blitz_io::spawn(async {
                        blitz_io::task::yield_now().await;
                        worker_index()
                    })
                })
                .collect();
            let mut places = vec![worker_index()];
            for child in children {
                places.push(child.await.unwrap());
            }
            places
        });
        runtime.block_on(task).unwrap();
    }
    let workers = runtime.metrics().snapshot().workers;
    let stolen: u64 = workers.iter().take(2).map(|worker| worker.stolen).sum();
    assert_eq!(stolen, 0, "{workers:?}");
    assert!(workers.iter().map(|worker| worker.polled).sum::<u64>() >= 20 * 51);
}

#[test]
fn what_comes_from_outside_is_done_by_whoever_is_free() {
    let runtime = runtime(true);
    let (release, wait) = mpsc::channel::<()>();
    let blocked = runtime.spawn(async move { blitz_io::block_in_place(|| wait.recv().is_err()) });
    for n in 0..100 {
        let task = runtime.spawn(async move {
            blitz_io::time::sleep(Duration::from_micros(10)).await;
            n
        });
        assert_eq!(runtime.block_on(task).unwrap(), n);
    }
    drop(release);
    assert!(runtime.block_on(blocked).unwrap());
}

#[test]
fn a_task_behind_one_that_blocks_is_taken_over() {
    let runtime = runtime(true);
    for says_so in [true, false] {
        let task = runtime.spawn(async move {
            let (sender, receiver) = mpsc::channel();
            blitz_io::spawn(async move { sender.send(42).unwrap() });
            let receive = || receiver.recv_timeout(Duration::from_secs(100));
            if says_so {
                blitz_io::block_in_place(receive)
            } else {
                receive()
            }
        });
        assert_eq!(runtime.block_on(task).unwrap(), Ok(42));
    }
}
