//! Computations whose handle is dropped or aborted, tasks under a token, and what both inherit.

mod common;

use blitz_core::{CancelToken, Inherited, checkpoint, is_cancelled};
use blitz_io::{Builder, Runtime, spawn, spawn_blocking, spawn_cpu, spawn_cpu_detached};
use common::within_a_minute;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

static NUMBER: Inherited<u64> = Inherited::new();

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

/// Tells when it is dropped.
struct Tells(Sender<()>);

impl Drop for Tells {
    fn drop(&mut self) {
        self.0.send(()).unwrap();
    }
}

/// Ends by unwinding only: a half of a fork on another thread, perhaps, and this one.
fn for_ever() {
    let spin = || {
        loop {
            checkpoint();
            std::thread::yield_now();
        }
    };
    blitz_core::join(spin, spin);
}

#[test]
fn a_computation_whose_handle_is_dropped_stops() {
    within_a_minute(|| {
        for runtime in runtimes() {
            let (begins, begun) = channel();
            let (ends, ended) = channel();
            let job = runtime.handle().spawn_cpu(move || {
                let _tells = Tells(ends);
                begins.send(()).unwrap();
                for_ever();
            });
            begun.recv().unwrap();
            drop(job);
            ended.recv().unwrap();
        }
    });
}

#[test]
fn a_computation_that_is_aborted_stops_and_says_so() {
    within_a_minute(|| {
        for runtime in runtimes() {
            let (begins, begun) = channel();
            let job = runtime.handle().spawn_cpu(move || {
                begins.send(()).unwrap();
                for_ever();
            });
            begun.recv().unwrap();
            job.abort_handle().abort();
            assert!(runtime.block_on(job).unwrap_err().is_cancelled());
            // As does one that nobody has time to wait for.
            let late = runtime.block_on(async {
                blitz_io::time::timeout(Duration::from_millis(1), spawn_cpu(for_ever)).await
            });
            assert!(late.is_err());
        }
    });
}

#[test]
fn a_computation_that_has_not_begun_is_dropped() {
    within_a_minute(|| {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .build()
            .unwrap();
        let (go, wait) = channel::<()>();
        let (begins, begun) = channel();
        let first = runtime.handle().spawn_cpu(move || {
            begins.send(()).unwrap();
            let _ = wait.recv();
        });
        begun.recv().unwrap();
        let (ends, ended) = channel();
        let tells = Tells(ends);
        let second = runtime.handle().spawn_cpu(move || {
            let _tells = tells;
            unreachable!("nobody wants it");
        });
        drop(second);
        drop(go);
        ended.recv().unwrap();
        runtime.block_on(first).unwrap();
    });
}

#[test]
fn a_detached_computation_runs_to_its_end() {
    within_a_minute(|| {
        for runtime in runtimes() {
            let (ends, ended) = channel();
            runtime.block_on(async {
                spawn_cpu_detached(move || ends.send(is_cancelled()).unwrap());
            });
            assert_eq!(ended.recv(), Ok(false));
        }
    });
}

#[test]
fn what_a_computation_has_spawned_goes_on_when_it_is_through() {
    within_a_minute(|| {
        for runtime in runtimes() {
            let (go, wait) = blitz_io::sync::oneshot::channel::<()>();
            let (tell, told) = channel();
            let spawns = move || {
                blitz_core::spawn(move || tell.send(is_cancelled()).unwrap());
                spawn(async {
                    let _ = wait.await;
                    is_cancelled()
                })
            };
            let job = runtime.handle().spawn_cpu(spawns);
            let task = runtime.block_on(job).unwrap();
            drop(go);
            assert!(!runtime.block_on(task).unwrap());
            assert_eq!(told.recv(), Ok(false));
        }
    });
}

#[test]
fn tasks_and_computations_inherit_values() {
    within_a_minute(|| {
        for runtime in runtimes() {
            let seen = runtime.block_on(async {
                let (task, cpu, blocking) = NUMBER.set(7, || {
                    let task = spawn(async {
                        blitz_io::task::yield_now().await;
                        let inner = spawn(async { NUMBER.get() }).await.unwrap();
                        (NUMBER.get(), inner)
                    });
                    let fork = || blitz_core::join(|| NUMBER.get(), || NUMBER.get());
                    (task, spawn_cpu(fork), spawn_blocking(|| NUMBER.get()))
                });
                let others = spawn(async { NUMBER.get() }).await.unwrap();
                assert_eq!((others, NUMBER.get()), (None, None));
                (
                    task.await.unwrap(),
                    cpu.await.unwrap(),
                    blocking.await.unwrap(),
                )
            });
            let seven = Some(7);
            assert_eq!(seen, ((seven, seven), (seven, seven), seven));
        }
    });
}

#[test]
fn tasks_under_a_token_that_is_cancelled_are_dropped() {
    within_a_minute(|| {
        for runtime in runtimes() {
            runtime.block_on(async {
                let token = CancelToken::new();
                let (ends, ended) = channel();
                let tells = Tells(ends);
                let (task, cpu) = token
                    .run(|| {
                        let task = spawn(async move {
                            let _tells = tells;
                            loop {
                                blitz_io::task::yield_now().await;
                            }
                        });
                        (task, spawn_cpu(for_ever))
                    })
                    .unwrap();
                blitz_io::task::yield_now().await;
                token.cancel();
                assert!(task.await.unwrap_err().is_cancelled());
                assert!(cpu.await.unwrap_err().is_cancelled());
                ended.recv().unwrap();
            });
        }
    });
}
