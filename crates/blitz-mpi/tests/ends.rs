//! How clusters end: well, by panics, by signals, with things left over.

mod support;

use blitz_mpi::{Cluster, Distributed, Error, Op};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use support::{finish, inside, mpirun, text};

/// Runs `body` on 3 ranks and returns what became of that.
fn outcome(test: &str, body: impl FnOnce()) -> Option<(Option<i32>, String)> {
    if inside() {
        body();
        return None;
    }
    let output = finish(mpirun(test, 3));
    Some((output.status.code(), text(&output)))
}

#[test]
fn a_panic_on_one_rank_ends_all_with_its_message_rank_and_code() {
    let outcome = outcome(
        "a_panic_on_one_rank_ends_all_with_its_message_rank_and_code",
        || {
            let _ = Cluster::run(async |cluster| {
                assert!(cluster.rank() != 1, "something that is wrong");
                // The others wait for it.
                cluster.all_reduce_one(1u64, Op::Sum).await.unwrap();
            });
        },
    );
    if let Some((code, text)) = outcome {
        assert_eq!(code, Some(101), "{text}");
        assert!(
            text.contains("rank 1 of 3 panicked: something that is wrong"),
            "{text}"
        );
    }
}

#[test]
fn a_panic_in_a_parallel_loop_ends_all_too() {
    let outcome = outcome("a_panic_in_a_parallel_loop_ends_all_too", || {
        let session = Cluster::init().unwrap();
        session.block_on(async {
            let bad = session.rank() == 2;
            session
                .for_each_dynamic(100, |index| assert!(!bad || index % 7 != 1, "no {index}"))
                .await
                .unwrap();
        });
    });
    if let Some((code, text)) = outcome {
        assert_eq!(code, Some(101), "{text}");
        assert!(text.contains("rank 2 of 3 panicked"), "{text}");
    }
}

#[test]
fn a_rank_that_is_killed_is_reported_and_not_waited_for() {
    let outcome = outcome(
        "a_rank_that_is_killed_is_reported_and_not_waited_for",
        || {
            let _ = Cluster::run(async |cluster| {
                if cluster.rank() == 1 {
                    // No destructor, no word to anybody.
                    let own = std::process::id().to_string();
                    std::process::Command::new("kill")
                        .args(["-9", &own])
                        .status()
                        .unwrap();
                }
                cluster.barrier().await.unwrap();
                unreachable!("rank 1 is gone");
            });
        },
    );
    if let Some((code, text)) = outcome {
        assert!(code != Some(0), "{text}");
        assert!(!text.contains("unreachable"), "{text}");
        assert!(text.contains("signal 9"), "{text}");
    }
}

#[test]
fn a_rank_that_calls_once_more_than_the_others_is_told() {
    let outcome = outcome(
        "a_rank_that_calls_once_more_than_the_others_is_told",
        || {
            let _ = Cluster::run(async |cluster| {
                if cluster.rank() == 0 {
                    let error = cluster.barrier().await.unwrap_err();
                    assert!(matches!(error, Error::Mismatch(_)), "{error}");
                }
            });
        },
    );
    if let Some((code, text)) = outcome {
        assert!(code != Some(0), "{text}");
        assert!(
            text.contains("rank 0 is in barrier; rank 1 is in the end of the program"),
            "{text}"
        );
    }
}

#[test]
fn messages_that_nobody_received_are_reported_and_handles_are_closed() {
    let outcome = outcome(
        "messages_that_nobody_received_are_reported_and_handles_are_closed",
        || {
            let mut kept = None;
            let error = Cluster::run(async |cluster| {
                // Short ones and one that waits for its receiver; futures that are forgotten, dropped, and left in a task.
                if cluster.rank() == 0 {
                    drop(cluster.send(1, 1, vec![1u8]));
                    std::mem::forget(cluster.send(1, 1, vec![1u8; 1_000_000]));
                    drop(cluster.send(1, 9, vec![1u64; 10]));
                }
                let task = cluster.clone();
                drop(blitz_io::spawn(async move { task.recv::<u64>(2, 7).await }));
                kept = Some(cluster.clone());
                cluster.rank()
            });
            let cluster = kept.unwrap();
            match cluster.rank() {
                1 => assert_eq!(error, Err(Error::Unreceived(3))),
                rank => assert_eq!(error, Ok(rank)),
            }
            let runtime = blitz_io::Runtime::new().unwrap();
            runtime.block_on(async {
                assert_eq!(cluster.barrier().await, Err(Error::Closed));
                assert_eq!(cluster.send(0, 0, vec![1u8]).await, Err(Error::Closed));
                assert_eq!(cluster.recv::<u8>(0, 0).await, Err(Error::Closed));
                assert_eq!(cluster.broadcast(0, vec![1u8]).await, Err(Error::Closed));
            });
            assert_eq!(Cluster::init().err(), Some(Error::Initialised));
        },
    );
    if let Some((code, text)) = outcome {
        assert_eq!(code, Some(0), "{text}");
        assert_eq!(text.matches("1 passed").count(), 3, "{text}");
    }
}

#[test]
fn a_long_message_that_nobody_receives_does_not_keep_its_sender() {
    let outcome = outcome(
        "a_long_message_that_nobody_receives_does_not_keep_its_sender",
        || {
            let end = Cluster::run(async |cluster| {
                // Too long to be on its way before somebody takes it. The others are at the end by then, or come there meanwhile.
                if cluster.rank() == 2 {
                    cluster.send(0, 5, vec![1u64; 1_000_000]).await.unwrap();
                }
                cluster.rank()
            });
            assert!(
                matches!(end, Ok(1 | 2) | Err(Error::Unreceived(1))),
                "{end:?}"
            );
        },
    );
    if let Some((code, text)) = outcome {
        assert_eq!(code, Some(0), "{text}");
        assert_eq!(text.matches("1 passed").count(), 3, "{text}");
    }
}

#[test]
fn without_mpirun_it_is_a_cluster_of_one() {
    // A process of its own: MPI starts once in a process.
    if inside() {
        let sum = Cluster::run(async |cluster| {
            assert_eq!((cluster.rank(), cluster.size()), (0, 1));
            cluster.barrier().await.unwrap();
            cluster.all_reduce_one(5u32, Op::Sum).await.unwrap()
        });
        assert_eq!(sum, Ok(5));
        return;
    }
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "without_mpirun_it_is_a_cluster_of_one",
            "--exact",
            "--nocapture",
        ])
        .env("BLITZ_MPI_TEST", "alone")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output));
}

/// The CPU time of this process, in hundredths of a second.
fn cpu() -> u64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat
        .rsplit(')')
        .next()
        .unwrap()
        .split_whitespace()
        .collect();
    fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()
}

/// Waits for a future without any runtime.
fn alone<F: Future>(future: F) -> F::Output {
    struct Unpark(std::thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut future = std::pin::pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        std::thread::park();
    }
}

#[test]
fn a_handle_needs_no_runtime_around_it_and_outlives_its_cluster() {
    let outcome = outcome(
        "a_handle_needs_no_runtime_around_it_and_outlives_its_cluster",
        || {
            let session = Cluster::init().unwrap();
            let cluster = (*session).clone();
            let passwords = "/etc/passwd";
            let thread = std::thread::spawn(move || {
                alone(async {
                    cluster.barrier().await.unwrap();
                    let calls = AtomicUsize::new(0);
                    let work = |_| _ = calls.fetch_add(1, Ordering::Relaxed);
                    cluster.for_each_dynamic(100, work).await.unwrap();
                    let calls = cluster.all_reduce_one(calls.into_inner(), Op::Sum).await;
                    assert_eq!(calls, Ok(100));
                    let lines = Distributed::read_lines(&cluster, passwords).await.unwrap();
                    assert!(lines.len().await.unwrap() > 0);
                });
                cluster
            });
            let cluster = thread.join().expect("a plain thread may use it");
            session.close().unwrap();
            assert_eq!(alone(cluster.barrier()), Err(Error::Closed));
            let dynamic = alone(cluster.for_each_dynamic(3, |_| ()));
            assert_eq!(dynamic, Err(Error::Closed));
            let lines = alone(Distributed::read_lines(&cluster, passwords));
            assert_eq!(lines.map(drop), Err(Error::Closed));
        },
    );
    if let Some((code, text)) = outcome {
        assert_eq!(code, Some(0), "{text}");
    }
}

#[test]
fn a_wait_costs_next_to_nothing() {
    let outcome = outcome("a_wait_costs_next_to_nothing", || {
        Cluster::run(async |cluster| {
            cluster.barrier().await.unwrap();
            let before = cpu();
            if cluster.rank() == 0 {
                blitz_io::time::sleep(Duration::from_secs(2)).await;
            }
            cluster.barrier().await.unwrap();
            let used = cpu() - before;
            // A wait that looks all the time would take 200, a blocking call of MPI too.
            assert!(
                used < 60,
                "two seconds of waiting took {used} hundredths of a second"
            );
        })
        .unwrap();
    });
    if let Some((code, text)) = outcome {
        assert_eq!(code, Some(0), "{text}");
    }
}

#[test]
fn so_do_many_waits_each_too_long_to_look_all_the_time() {
    let outcome = outcome(
        "so_do_many_waits_each_too_long_to_look_all_the_time",
        || {
            Cluster::run(async |cluster| {
                cluster.barrier().await.unwrap();
                let before = cpu();
                for _ in 0..250 {
                    if cluster.rank() == 0 {
                        blitz_io::time::sleep(Duration::from_millis(8)).await;
                    }
                    cluster.barrier().await.unwrap();
                }
                let used = cpu() - before;
                // Looking for 4 ms each time would take 100.
                assert!(
                    used < 60,
                    "250 waits of 8 ms took {used} hundredths of a second"
                );
            })
            .unwrap();
        },
    );
    if let Some((code, text)) = outcome {
        assert_eq!(code, Some(0), "{text}");
    }
}
