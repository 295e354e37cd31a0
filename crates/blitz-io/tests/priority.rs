//! Background tasks and computations beside those that somebody waits for.

mod common;

use blitz_core::Priority::{Background, Latency};
use blitz_core::{current_priority, with_priority};
use blitz_io::net::{TcpListener, TcpStream};
use blitz_io::{Builder, Runtime, spawn, spawn_cpu};
use common::within_a_minute;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn runtimes() -> [Runtime; 3] {
    let of = |workers| {
        Builder::new_multi_thread()
            .worker_threads(workers)
            .build()
            .unwrap()
    };
    [
        of(1),
        of(2),
        Builder::new_current_thread().enable_all().build().unwrap(),
    ]
}

#[test]
fn background_tasks_run_and_what_they_spawn_is_background() {
    within_a_minute(|| {
        for runtime in runtimes() {
            runtime.block_on(async {
                let task = with_priority(Background, || {
                    spawn(async {
                        blitz_io::task::yield_now().await;
                        blitz_io::time::sleep(Duration::from_millis(1)).await;
                        let inner = spawn(async { current_priority() });
                        let cpu = spawn_cpu(current_priority);
                        (current_priority(), inner.await.unwrap(), cpu.await.unwrap())
                    })
                });
                assert_eq!(task.await.unwrap(), (Background, Background, Background));
                assert_eq!(spawn(async { current_priority() }).await.unwrap(), Latency);
                // One that is aborted while it waits, and one while it is queued.
                let waits = with_priority(Background, || spawn(std::future::pending::<()>()));
                blitz_io::task::yield_now().await;
                waits.abort();
                assert!(waits.await.unwrap_err().is_cancelled());
                let queued = with_priority(Background, || spawn(async {}));
                queued.abort();
                drop(queued.await);
            });
        }
    });
}

#[test]
fn background_tasks_come_after_those_that_somebody_waits_for() {
    within_a_minute(|| {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .build()
            .unwrap();
        let order = Arc::new(Mutex::new(Vec::new()));
        let note = |what| {
            let order = Arc::clone(&order);
            async move { order.lock().unwrap().push(what) }
        };
        // Many, since a thread that stands in for the worker may run some of them before the other one is there.
        let spawns = {
            let behind: Vec<_> = (0..1000).map(|_| note("behind")).collect();
            let first = note("first");
            async move {
                let background = || behind.into_iter().map(spawn).collect::<Vec<_>>();
                (with_priority(Background, background), spawn(first))
            }
        };
        let (behind, first) = runtime.block_on(runtime.spawn(spawns)).unwrap();
        runtime.block_on(async {
            for task in behind {
                task.await.unwrap();
            }
            first.await.unwrap();
        });
        let order = order.lock().unwrap();
        assert_eq!(order.len(), 1001);
        assert_eq!(order.last(), Some(&"behind"), "in the order of spawning");
    });
}

#[test]
fn a_computation_does_not_wait_for_background_ones_that_never_end() {
    within_a_minute(|| {
        for runtime in runtimes() {
            let over = Arc::new(AtomicBool::new(false));
            let endless = |_| {
                let over = Arc::clone(&over);
                with_priority(Background, || {
                    runtime.handle().spawn_cpu(move || {
                        while !over.load(Ordering::SeqCst) {
                            blitz_core::checkpoint();
                        }
                    })
                })
            };
            let jobs: Vec<_> = (0..3).map(endless).collect();
            for n in 0..20 {
                let job = runtime.handle().spawn_cpu(move || n);
                assert_eq!(runtime.block_on(job).unwrap(), n);
            }
            over.store(true, Ordering::SeqCst);
            jobs.into_iter()
                .for_each(|job| runtime.block_on(job).unwrap());
        }
    });
}

#[test]
fn timers_and_sockets_are_heard_of_beside_background_tasks_that_never_end() {
    within_a_minute(|| {
        // Nobody else who might look after them.
        let builder = &mut Builder::new_multi_thread();
        let runtime = builder.worker_threads(1).watcher(false).build().unwrap();
        let over = Arc::new(AtomicBool::new(false));
        for _ in 0..3 {
            let over = Arc::clone(&over);
            with_priority(Background, || {
                runtime.spawn(async move {
                    while !over.load(Ordering::SeqCst) {
                        blitz_io::task::yield_now().await;
                    }
                })
            });
        }
        runtime.block_on(async {
            for _ in 0..20 {
                blitz_io::time::sleep(Duration::from_millis(1)).await;
            }
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let accepts = spawn(async move { listener.accept().await.map(|_| ()) });
            blitz_io::time::sleep(Duration::from_millis(1)).await;
            let _client = TcpStream::connect(address).await.unwrap();
            accepts.await.unwrap().unwrap();
        });
        over.store(true, Ordering::SeqCst);
    });
}

#[test]
fn a_runtime_may_end_with_background_tasks_in_its_queues() {
    within_a_minute(|| {
        for runtime in runtimes() {
            let tasks: Vec<_> = runtime.block_on(async {
                let spawn = |n| with_priority(Background, || spawn(async move { n }));
                (0..100).map(spawn).collect()
            });
            drop(runtime);
            assert!(tasks.iter().all(|task| task.is_finished()));
        }
    });
}
