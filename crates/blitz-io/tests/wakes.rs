//! A worker that expects to be through with its ring soon wakes nobody. What keeps tasks from waiting for it in vain.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

const CHILDREN: usize = 3;

/// A runtime whose workers have learnt that polls are short. Without `reserves` it has neither relief thread nor watcher: what the
/// workers do not say, nobody notices.
fn runtime_of_short_polls(reserves: bool) -> blitz_io::Runtime {
    let runtime = blitz_io::Builder::new_multi_thread()
        .worker_threads(2)
        .relief_thread(reserves)
        .watcher(reserves)
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
    // With several workers, one of them is to be had; it takes no relief thread.
    for (workers, relief) in [(1, true), (2, true), (2, false), (3, false)] {
        let runtime = blitz_io::Builder::new_multi_thread()
            .worker_threads(workers)
            .relief_thread(relief)
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

/// Every worker is in a computation that ends with `done`, until the value is dropped.
struct Busy {
    done: Arc<AtomicBool>,
    jobs: Vec<blitz_io::JoinHandle<()>>,
}

impl Busy {
    fn all(
        runtime: &blitz_io::Runtime,
        workers: usize,
        compute: impl Fn() + Send + Sync + Clone + 'static,
    ) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        let (begins, begun) = std::sync::mpsc::channel();
        let job = |_| {
            let (done, begins, compute) = (Arc::clone(&done), begins.clone(), compute.clone());
            runtime.handle().spawn_cpu(move || {
                begins.send(()).unwrap();
                while !done.load(Ordering::SeqCst) {
                    compute();
                }
            })
        };
        let jobs = (0..workers).map(job).collect();
        begun.iter().take(workers).for_each(drop);
        Busy { done, jobs }
    }

    fn end(self, runtime: &blitz_io::Runtime) {
        self.done.store(true, Ordering::SeqCst);
        for job in self.jobs {
            runtime.block_on(job).unwrap();
        }
    }
}

#[test]
fn a_task_on_the_relief_thread_computes_in_the_runtimes_own_pool() {
    // Another number than the global pool has.
    let workers = blitz_core::current_num_threads() + 3;
    let runtime = blitz_io::Builder::new_multi_thread()
        .worker_threads(workers)
        .build()
        .unwrap();
    let lock = Arc::new(std::sync::Mutex::new(0));
    let theirs = Arc::clone(&lock);
    // All workers want the lock that the task holds while it computes.
    let busy = Busy::all(&runtime, workers, move || {
        blitz_core::demand::beat();
        *theirs.lock().unwrap() += 1;
    });
    for _ in 0..20 {
        let lock = Arc::clone(&lock);
        let task = runtime.spawn(async move {
            let name = thread::current().name().map(str::to_owned);
            let held = lock.lock().unwrap();
            let size = blitz_core::current_num_threads;
            let (a, (b, c)) = blitz_core::join(size, || blitz_core::join(size, size));
            let in_scope = AtomicUsize::new(0);
            blitz_core::scope(|scope| {
                (0..50).for_each(|_| {
                    scope.spawn(|_| {
                        in_scope.fetch_add(size(), Ordering::SeqCst);
                    })
                });
            });
            drop(held);
            (name, [size(), a, b, c], in_scope.into_inner())
        });
        let (name, sizes, in_scope) = runtime.block_on(task).unwrap();
        assert_eq!(name.as_deref(), Some("blitz-io relief"));
        assert_eq!((sizes, in_scope), ([workers; 4], 50 * workers));
    }
    busy.end(&runtime);
}

#[test]
fn what_a_task_on_the_relief_thread_spawns_is_run_by_the_workers() {
    let workers = blitz_core::current_num_threads() + 1;
    let runtime = blitz_io::Builder::new_multi_thread()
        .worker_threads(workers)
        .build()
        .unwrap();
    let busy = Busy::all(&runtime, workers, blitz_core::demand::beat);
    let (sender, ran) = std::sync::mpsc::channel();
    let task = runtime.spawn(async move {
        for _ in 0..20 {
            let cpu = sender.clone();
            let told = move || (blitz_core::current_num_threads(), thread::current().id());
            blitz_io::spawn_cpu_detached(move || cpu.send(told()).unwrap());
            let sender = sender.clone();
            blitz_core::spawn(move || sender.send(told()).unwrap());
        }
        thread::current().id()
    });
    let relief = runtime.block_on(task).unwrap();
    busy.end(&runtime);
    let ran: Vec<_> = ran.iter().collect();
    assert_eq!(ran.len(), 40);
    for (size, thread) in ran {
        assert_eq!(size, workers);
        assert_ne!(thread, relief);
    }
}

/// So many kilobytes of stack, at least.
fn deep(kilobytes: usize) -> u8 {
    let frame = std::hint::black_box([1_u8; 1024]);
    if kilobytes == 0 {
        return frame[0];
    }
    deep(kilobytes - 1) | frame[kilobytes % 1024]
}

#[test]
fn the_relief_thread_has_as_large_a_stack_as_the_workers() {
    let runtime = blitz_io::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_stack_size(64 << 20)
        .build()
        .unwrap();
    let busy = Busy::all(&runtime, 1, blitz_core::demand::beat);
    let task = runtime.spawn(async {
        // More than threads have otherwise.
        (deep(6 << 10), thread::current().name().map(str::to_owned))
    });
    let (one, name) = runtime.block_on(task).unwrap();
    assert_eq!((one, name.as_deref()), (1, Some("blitz-io relief")));
    busy.end(&runtime);
}
