//! Tasks in profiles, by a clock that they advance themselves: exact, whatever the machine does.
#![cfg(feature = "profile")]

use blitz_core::join;
use blitz_core::profile::{Profile, Profiler};
use blitz_io::task::yield_now;
use blitz_io::{Builder, Runtime, spawn, spawn_blocking, spawn_cpu};
use std::cell::Cell;
use std::time::Duration;

thread_local! {
    static NOW: Cell<u64> = const { Cell::new(0) };
}

/// Takes this many microseconds of the thread's own time.
fn busy(us: u64) {
    NOW.set(NOW.get() + us);
}

fn us(us: u64) -> Duration {
    Duration::from_micros(us)
}

fn exactly<R>(computation: impl FnOnce() -> R) -> Profile {
    let profiler = Profiler::new().clock(NOW_OF_THREAD, 1).burden(us(0));
    profiler.recording(us(2)).run(computation).1
}

const NOW_OF_THREAD: fn() -> u64 = || NOW.get();

fn runtimes() -> [Runtime; 2] {
    let threads = &mut Builder::new_multi_thread();
    [
        threads.worker_threads(3).build().unwrap(),
        Builder::new_current_thread().build().unwrap(),
    ]
}

#[test]
fn polls_of_a_task_are_a_path_from_its_spawn_to_whoever_awaits_it() {
    for runtime in runtimes() {
        let profile = exactly(|| {
            busy(7);
            runtime.block_on(async {
                busy(1);
                let polled_often = spawn(async {
                    for _ in 0..5 {
                        busy(3);
                        yield_now().await;
                    }
                });
                let forks = spawn(async {
                    busy(20);
                    join(|| busy(3), || busy(4));
                });
                busy(2);
                polled_often.await.unwrap();
                busy(4);
                forks.await.unwrap();
                busy(1);
            });
            busy(6);
        });
        // 7, 1, then the longest of 2 + 4, 15 + 4 and 20 + 4, then 1 and 6.
        assert_eq!((profile.work(), profile.span()), (us(63), us(39)));
        // That of `block_on`, two tasks, a join.
        assert_eq!(profile.forks(), 4);
        let longest = profile.longest().unwrap();
        assert_eq!(longest.time, us(20));
        assert!(longest.origin.contains("profile.rs:"), "{longest:?}");
    }
}

#[test]
fn tasks_of_tasks_and_closures_count_and_what_nobody_awaits_counts_as_far_as_it_got() {
    for runtime in runtimes() {
        let profile = exactly(|| {
            runtime.block_on(async {
                let outer = spawn(async {
                    busy(5);
                    let computed = spawn_cpu(|| busy(10));
                    let blocked = spawn_blocking(|| busy(11));
                    computed.await.unwrap();
                    blocked.await.unwrap();
                });
                outer.await.unwrap();
                let (told, tells) = blitz_io::sync::oneshot::channel();
                drop(spawn(async {
                    busy(100);
                    yield_now().await;
                    told.send(()).unwrap();
                    std::future::pending::<()>().await;
                }));
                tells.await.unwrap();
            });
        });
        assert_eq!((profile.work(), profile.span()), (us(126), us(116)));
    }
}

/// They cannot, on any machine: they are not `Send`.
#[test]
fn tasks_of_a_local_set_do_not_run_beside_each_other() {
    use blitz_io::task::{LocalSet, spawn_local};
    for runtime in runtimes() {
        let profile = exactly(|| {
            LocalSet::new().block_on(&runtime, async {
                busy(1);
                let polled_often = |us| async move {
                    for _ in 0..3 {
                        busy(us);
                        yield_now().await;
                    }
                };
                let tasks = [1, 2, 3, 4].map(|us| spawn_local(polled_often(us)));
                busy(5);
                for task in tasks {
                    task.await.unwrap();
                }
                let forks = spawn_local(async { join(|| busy(3), || busy(7)) });
                forks.await.unwrap();
                drop(spawn_local(async { busy(6) }));
                yield_now().await;
                busy(2);
            });
        });
        // The halves of a fork may, whoever forks.
        assert_eq!((profile.work(), profile.span()), (us(54), us(51)));
        // Tasks of the runtime may, too.
        let profile = exactly(|| {
            LocalSet::new().block_on(&runtime, async {
                let elsewhere = spawn(async { busy(20) });
                let local = [3, 4].map(|us| spawn_local(async move { busy(us) }));
                for task in local {
                    task.await.unwrap();
                }
                elsewhere.await.unwrap();
                busy(1);
            });
        });
        assert_eq!((profile.work(), profile.span()), (us(28), us(21)));
    }
}

#[test]
fn a_local_set_inside_of_another_is_on_its_path_and_a_panic_does_not_end_that() {
    use blitz_io::task::{LocalSet, spawn_local};
    let runtime = Builder::new_current_thread().build().unwrap();
    let profile = exactly(|| {
        LocalSet::new().block_on(&runtime, async {
            let inner = LocalSet::new();
            let tasks = [3, 4].map(|us| inner.spawn_local(async move { busy(us) }));
            let outer = spawn_local(async { busy(5) });
            inner.await;
            for task in tasks {
                task.await.unwrap();
            }
            outer.await.unwrap();
        });
    });
    assert_eq!((profile.work(), profile.span()), (us(12), us(12)));
    let panics = exactly(|| {
        LocalSet::new().block_on(&runtime, async {
            let panics = spawn_local(async {
                busy(5);
                panic!("on purpose");
            });
            assert!(panics.await.is_err());
            spawn_local(async { busy(2) }).await.unwrap();
            busy(1);
        });
    });
    assert_eq!((panics.work(), panics.span()), (us(8), us(8)));
}

#[test]
fn what_computes_in_block_in_place_is_the_tasks() {
    let [runtime, _] = runtimes();
    let profile = exactly(|| {
        runtime.block_on(async {
            let task = spawn(async {
                busy(1);
                blitz_io::block_in_place(|| {
                    busy(10);
                    join(|| busy(20), || busy(30));
                });
                busy(2);
            });
            task.await.unwrap();
        });
    });
    assert_eq!((profile.work(), profile.span()), (us(63), us(43)));
}

#[test]
fn tasks_that_were_spawned_elsewhere_are_nobodys() {
    for runtime in runtimes() {
        let (begin, begun) = blitz_io::sync::oneshot::channel();
        let elsewhere = runtime.spawn(async {
            begun.await.unwrap();
            busy(1000);
        });
        let profile = exactly(|| {
            runtime.block_on(async {
                busy(1);
                begin.send(()).unwrap();
                elsewhere.await.unwrap();
                busy(1);
            });
        });
        assert_eq!((profile.work(), profile.span()), (us(2), us(2)));
        // A task may outlive the profile.
        let mut late = None;
        let (begin, begun) = blitz_io::sync::oneshot::channel();
        let profile = exactly(|| {
            late = Some(runtime.spawn(async {
                begun.await.unwrap();
                busy(1000);
            }));
        });
        assert_eq!(profile.work(), us(0));
        begin.send(()).unwrap();
        runtime.block_on(late.unwrap()).unwrap();
    }
}

#[test]
fn a_recording_has_tasks_with_their_lines() {
    for runtime in runtimes() {
        let profile = exactly(|| {
            runtime.block_on(async {
                let tasks: Vec<_> = (0..3).map(|_| spawn(async { busy(50) })).collect();
                for task in tasks {
                    task.await.unwrap();
                }
            });
        });
        let recording = profile.recording().unwrap();
        let begins = |word: &str| {
            recording
                .lines()
                .filter(|line| line.starts_with(word))
                .count()
        };
        // Three tasks, and the future that spawns them; each is awaited, and the end of all is told at the end.
        assert_eq!((begins("s "), begins("m ")), (4, 5), "{recording}");
        assert_eq!(begins("r 50000 50000 0 "), 3, "{recording}");
        assert!(recording.contains("profile.rs:"), "{recording}");
    }
}

#[test]
fn a_task_that_panics_leaves_its_thread_outside_of_any_profile() {
    let runtime = Builder::new_current_thread().build().unwrap();
    let profile = exactly(|| {
        runtime.block_on(async {
            let panics = spawn(async {
                busy(5);
                panic!("on purpose");
            });
            assert!(panics.await.is_err());
            busy(1);
        });
    });
    // What it has done until then counts.
    assert_eq!((profile.work(), profile.span()), (us(6), us(6)));
    let after = exactly(|| busy(3));
    assert_eq!(after.work(), us(3));
}
