//! A worker that expects to be through with its ring soon wakes nobody. What keeps tasks from waiting for it in vain.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

const CHILDREN: usize = 3;

/// A runtime whose workers have learnt that polls are short. Without `reserves` it has neither relief thread nor watcher: what the
/// workers do not say, nobody notices.
fn runtime_of_short_polls(reserves: bool) -> blitz_io::Runtime {
    let runtime = blitz_io::Builder::new_multi_thread()
        .worker_threads(2)
        .relief_thread(reserves)
        .build()
        .unwrap();
    runtime.block_on(async {
        let tasks: Vec<_> = (0..8)
            .map(|_| {
                blitz_io::spawn(async {
                    for _ in 0..5_000 {
                        blitz_io::task::yield_now().await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    runtime
}

/// Spawns a few tasks that note whether they ran on another thread than `parent`.
fn spawn_children(parent: ThreadId) -> Arc<AtomicUsize> {
    let elsewhere = Arc::new(AtomicUsize::new(0));
    for _ in 0..CHILDREN {
        let elsewhere = Arc::clone(&elsewhere);
        blitz_io::spawn(async move {
            if thread::current().id() != parent {
                elsewhere.fetch_add(1, Ordering::SeqCst);
            }
        });
    }
    elsewhere
}

fn wait_for(children: &AtomicUsize, limit: Duration, mut meanwhile: impl FnMut()) -> bool {
    let start = Instant::now();
    while children.load(Ordering::SeqCst) < CHILDREN {
        if start.elapsed() > limit {
            return false;
        }
        meanwhile();
    }
    true
}

#[test]
fn tasks_behind_one_that_blocks_are_taken_by_an_idle_worker() {
    let runtime = runtime_of_short_polls(false);
    for _ in 0..20 {
        let parent = runtime.spawn(async {
            let children = spawn_children(thread::current().id());
            let limit = Duration::from_secs(200);
            blitz_io::block_in_place(|| wait_for(&children, limit, thread::yield_now))
        });
        assert!(runtime.block_on(parent).unwrap());
    }
}

#[test]
fn tasks_behind_a_long_computation_are_taken_by_an_idle_worker() {
    let runtime = runtime_of_short_polls(false);
    for _ in 0..20 {
        let parent = runtime.spawn(async {
            let children = spawn_children(thread::current().id());
            wait_for(
                &children,
                Duration::from_secs(200),
                blitz_core::demand::beat,
            )
        });
        assert!(runtime.block_on(parent).unwrap());
    }
}

#[test]
fn long_polls_that_say_nothing_teach_a_worker_to_ask_for_help() {
    let runtime = runtime_of_short_polls(false);
    let tries = 100;
    let succeeded = (0..tries).any(|_| {
        let parent = runtime.spawn(async {
            let children = spawn_children(thread::current().id());
            wait_for(&children, Duration::from_millis(30), std::hint::spin_loop)
        });
        runtime.block_on(parent).unwrap()
    });
    assert!(succeeded, "{tries} long polls have taught nothing");
}

/// The watcher's work: `std`'s channel says nothing to the runtime.
#[test]
fn a_task_that_blocks_without_a_word_on_its_child_gets_its_answer() {
    for workers in [1, 2, 3] {
        let runtime = blitz_io::Builder::new_multi_thread()
            .worker_threads(workers)
            .build()
            .unwrap();
        for children in [1, 2, 5] {
            let parent = runtime.spawn(async move {
                let (sender, receiver) = std::sync::mpsc::channel();
                for child in 0..children {
                    let sender = sender.clone();
                    blitz_io::spawn(async move { sender.send(child).unwrap() });
                }
                drop(sender);
                // The thread is blocked, with the children in its slot and ring.
                receiver.iter().sum::<u32>()
            });
            let expected = (0..children).sum::<u32>();
            assert_eq!(runtime.block_on(parent).unwrap(), expected);
        }
    }
}

#[test]
fn all_workers_may_block_on_their_children_without_a_word() {
    let runtime = runtime_of_short_polls(true);
    let parents: Vec<_> = (0..2)
        .map(|_| {
            runtime.spawn(async {
                let (sender, receiver) = std::sync::mpsc::channel();
                blitz_io::spawn(async move { sender.send(7).unwrap() });
                receiver.recv().unwrap()
            })
        })
        .collect();
    for parent in parents {
        assert_eq!(runtime.block_on(parent).unwrap(), 7);
    }
}

/// A thread that was relied upon for a task has found a computation instead, which waits for that very task and says nothing.
#[test]
fn a_task_posted_while_the_only_searcher_takes_a_computation_is_not_left_behind() {
    let runtime = blitz_io::Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    for round in 0..2_000 {
        // The last thing that a worker runs is a task: then the computation comes first.
        let idle = runtime.spawn(async {});
        runtime.block_on(idle).unwrap();
        let (sender, receiver) = std::sync::mpsc::channel();
        let limit = Duration::from_secs(100);
        let computation = runtime
            .handle()
            .spawn_cpu(move || receiver.recv_timeout(limit));
        runtime.spawn(async move { sender.send(round).unwrap() });
        assert_eq!(runtime.block_on(computation).unwrap(), Ok(round));
    }
}
