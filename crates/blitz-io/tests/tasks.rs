//! Tasks from a user's point of view: they run, finish, fail, are aborted and shut down, each exactly once.

use blitz_io::task::{AbortHandle, JoinSet, LocalSet, shield, spawn_local, yield_now};
use blitz_io::{Builder, Runtime, spawn};
use std::collections::HashSet;
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

fn runtime(workers: usize) -> Runtime {
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(workers).build().unwrap()
}

fn all_flavours(check: impl Fn(Runtime)) {
    check(Builder::new_current_thread().build().unwrap());
    for workers in [1, 2, 3, 8, 65] {
        check(runtime(workers));
    }
}

/// Counts how often it is dropped.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        Counted(Arc::clone(count))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn every_task_runs_once_and_its_output_arrives() {
    all_flavours(|runtime| {
        let sum = runtime.block_on(async {
            let mut tasks = Vec::new();
            for n in 0..1000u64 {
                tasks.push(spawn(async move {
                    for _ in 0..n % 4 {
                        yield_now().await;
                    }
                    n
                }));
            }
            let mut sum = 0;
            for task in tasks {
                sum += task.await.unwrap();
            }
            sum
        });
        assert_eq!(sum, 499_500);
    });
}

#[test]
fn tasks_run_on_more_than_one_thread_at_once() {
    let runtime = runtime(2);
    // Both tasks have to be polled at the same time to get past the barrier.
    let barrier = Arc::new(Barrier::new(2));
    let meet = || {
        let barrier = Arc::clone(&barrier);
        runtime.spawn(async move {
            barrier.wait();
            std::thread::current().id()
        })
    };
    let (a, b) = (meet(), meet());
    assert_ne!(runtime.block_on(a).unwrap(), runtime.block_on(b).unwrap());
}

#[test]
fn bug_4_what_a_worker_has_queued_is_run_by_another_while_it_is_busy() {
    let runtime = runtime(2);
    for round in 0..50 {
        if round % 2 == 0 {
            // The other worker is asleep.
            std::thread::sleep(Duration::from_millis(1));
        }
        let both = Arc::new(Barrier::new(2));
        let task = runtime.spawn(async move {
            let theirs = Arc::clone(&both);
            let first = spawn(async move {
                theirs.wait();
            });
            // Pushes the first one out of the slot in every other round.
            let second = (round % 4 < 2).then(|| spawn(async {}));
            blitz_io::block_in_place(|| both.wait());
            first.await.unwrap();
            if let Some(second) = second {
                second.await.unwrap();
            }
        });
        runtime.block_on(task).unwrap();
    }
}

#[test]
fn a_panic_ends_up_in_the_handle_and_nowhere_else() {
    all_flavours(|runtime| {
        runtime.block_on(async {
            let error = spawn(async { panic!("on purpose") }).await.unwrap_err();
            assert!(error.is_panic() && error.to_string().contains("on purpose"));
            assert_eq!(spawn(async { 5 }).await.unwrap(), 5);
        });
    });
}

#[test]
fn bug_15_an_aborted_idle_task_drops_its_future_and_says_so() {
    all_flavours(|runtime| {
        let dropped = Arc::new(AtomicUsize::new(0));
        let counted = Counted::new(&dropped);
        runtime.block_on(async {
            let task = spawn(async move {
                let _counted = counted;
                pending::<()>().await;
            });
            yield_now().await;
            task.abort();
            assert!(task.await.unwrap_err().is_cancelled());
        });
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn a_task_that_aborts_itself_ends_at_its_next_pause() {
    let runtime = runtime(2);
    let me: Arc<Mutex<Option<AbortHandle>>> = Arc::default();
    let theirs = Arc::clone(&me);
    let task = runtime.spawn(async move {
        loop {
            if let Some(me) = theirs.lock().unwrap().take() {
                me.abort();
                break;
            }
            yield_now().await;
        }
        pending::<()>().await;
    });
    *me.lock().unwrap() = Some(task.abort_handle());
    assert!(runtime.block_on(task).unwrap_err().is_cancelled());
}

#[test]
fn bug_16_the_end_of_a_runtime_drops_every_future_idle_queued_or_running() {
    all_flavours(|runtime| {
        let dropped = Arc::new(AtomicUsize::new(0));
        let polled = Arc::new(AtomicUsize::new(0));
        let spawn = |kind: u32| {
            let counted = Counted::new(&dropped);
            let polled = Arc::clone(&polled);
            runtime.spawn(async move {
                let _counted = counted;
                polled.fetch_add(1, Ordering::SeqCst);
                match kind % 3 {
                    0 => pending::<()>().await,
                    1 => loop {
                        yield_now().await;
                    },
                    _ => blitz_io::time::sleep(Duration::from_secs(3600)).await,
                }
            });
        };
        (0..200).for_each(spawn);
        // These are idle by now, or run; of the next ones some are still queued.
        runtime.block_on(async {
            while polled.load(Ordering::SeqCst) < 200 {
                yield_now().await;
            }
        });
        (0..100).for_each(spawn);
        drop(runtime);
        assert_eq!(dropped.load(Ordering::SeqCst), 300);
    });
}

#[test]
fn a_spawn_after_the_end_is_a_cancelled_task() {
    all_flavours(|runtime| {
        let handle = runtime.handle().clone();
        let has_pool = runtime.pool().is_some();
        drop(runtime);
        let dropped = Arc::new(AtomicUsize::new(0));
        let counted = Counted::new(&dropped);
        let task = handle.spawn(async move { drop(counted) });
        assert!(task.is_finished());
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
        assert!(handle.spawn_cpu(|| 1).is_finished() || !has_pool);
        assert!(handle.spawn_blocking(|| 1).is_finished());
    });
}

#[test]
fn a_handle_that_outlives_its_runtime_reports_a_cancellation() {
    let runtime = runtime(2);
    let task = runtime.spawn(pending::<()>());
    drop(runtime);
    let other = Builder::new_current_thread().build().unwrap();
    assert!(other.block_on(task).unwrap_err().is_cancelled());
}

/// A task that leaves its waker and is ready once `done` is set.
fn stashing(
    done: &Arc<AtomicBool>,
    stash: &Arc<Mutex<Option<Waker>>>,
) -> impl Future<Output = ()> + use<> {
    let (done, stash) = (Arc::clone(done), Arc::clone(stash));
    poll_fn(move |cx| {
        *stash.lock().unwrap() = Some(cx.waker().clone());
        if done.load(Ordering::SeqCst) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
}

#[test]
fn a_waker_that_outlives_its_task_and_runtime_does_nothing() {
    let runtime = runtime(2);
    let (done, stash) = (Arc::default(), Arc::default());
    let task = runtime.spawn(stashing(&done, &stash));
    while stash.lock().unwrap().is_none() {
        std::thread::yield_now();
    }
    drop(runtime);
    let waker = stash.lock().unwrap().take().unwrap();
    waker.wake_by_ref();
    assert!(task.is_finished());
    drop(task);
    waker.wake();
}

#[test]
fn wakes_from_many_threads_are_not_lost() {
    let runtime = runtime(2);
    let (done, stash) = (Arc::default(), Arc::default());
    let task = runtime.spawn(stashing(&done, &stash));
    let wake = || {
        if let Some(waker) = stash.lock().unwrap().clone() {
            waker.wake();
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..500).for_each(|_| wake()));
        }
    });
    while stash.lock().unwrap().is_none() {
        std::thread::yield_now();
    }
    done.store(true, Ordering::SeqCst);
    wake();
    runtime.block_on(task).unwrap();
}

#[test]
fn a_join_set_returns_everything_and_aborts_the_rest() {
    all_flavours(|runtime| {
        let dropped = Arc::new(AtomicUsize::new(0));
        let counts = Arc::clone(&dropped);
        runtime.block_on(async move {
            let mut set = JoinSet::new();
            for n in 0..200usize {
                set.spawn(async move {
                    for _ in 0..n % 7 {
                        yield_now().await;
                    }
                    n
                });
            }
            let mut seen = HashSet::new();
            while let Some(joined) = set.join_next().await {
                assert!(seen.insert(joined.unwrap()));
            }
            assert_eq!(seen.len(), 200);
            assert!(set.is_empty() && set.join_next().await.is_none());
            let mut endless = JoinSet::new();
            for _ in 0..50 {
                let counted = Counted::new(&counts);
                endless.spawn(async move {
                    let _counted = counted;
                    pending::<()>().await;
                });
            }
            endless.shutdown().await;
        });
        assert_eq!(dropped.load(Ordering::SeqCst), 50);
    });
}

#[test]
fn a_local_set_runs_tasks_that_are_not_send_on_its_thread() {
    all_flavours(|runtime| {
        let here = std::thread::current().id();
        let local = LocalSet::new();
        let count = Rc::new(std::cell::Cell::new(0));
        let theirs = Rc::clone(&count);
        runtime.block_on(local.run_until(async move {
            let mut tasks = Vec::new();
            for _ in 0..100 {
                let count = Rc::clone(&theirs);
                tasks.push(spawn_local(async move {
                    yield_now().await;
                    count.set(count.get() + 1);
                    std::thread::current().id()
                }));
            }
            for task in tasks {
                assert_eq!(task.await.unwrap(), here);
            }
            // Woken from a worker.
            let remote = spawn(async {
                yield_now().await;
                3
            });
            assert_eq!(spawn_local(remote).await.unwrap().unwrap(), 3);
        }));
        assert_eq!(count.get(), 100);
        let theirs = Rc::clone(&count);
        local.spawn_local(async move {
            let _theirs = theirs;
            pending::<()>().await;
        });
        drop(local);
        assert_eq!(Rc::strong_count(&count), 1);
    });
}

#[test]
fn bug_10_a_loop_of_ready_steps_lets_its_neighbours_run() {
    let runtime = Builder::new_current_thread().build().unwrap();
    let stop = Arc::new(AtomicBool::new(false));
    let theirs = Arc::clone(&stop);
    runtime.block_on(async {
        // The one that was spawned last runs first.
        let stopper = spawn(async move { stop.store(true, Ordering::SeqCst) });
        let busy = spawn(async move {
            while !theirs.load(Ordering::SeqCst) {
                blitz_io::task::coop::consume_budget().await;
            }
        });
        stopper.await.unwrap();
        busy.await.unwrap();
    });
}

#[test]
fn bug_1_a_self_waking_task_on_every_worker_does_not_starve_spawns() {
    for workers in [1, 2] {
        // Nobody else would take them, so the workers have to.
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(workers).relief_thread(false);
        builder.watcher(false);
        let runtime = builder.build().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let threads: Arc<Mutex<HashSet<_>>> = Arc::default();
        let mut busy = Vec::new();
        for _ in 0..4 {
            let (stop, threads) = (Arc::clone(&stop), Arc::clone(&threads));
            busy.push(runtime.spawn(async move {
                while !stop.load(Ordering::SeqCst) {
                    threads.lock().unwrap().insert(std::thread::current().id());
                    yield_now().await;
                }
            }));
        }
        while threads.lock().unwrap().len() < workers {
            std::thread::yield_now();
        }
        for n in 0..100 {
            let task = runtime.spawn(async move { n });
            assert_eq!(runtime.block_on(task).unwrap(), n);
        }
        stop.store(true, Ordering::SeqCst);
        busy.into_iter()
            .for_each(|task| runtime.block_on(task).unwrap());
    }
}

#[test]
fn computations_and_tasks_share_the_threads() {
    all_flavours(|runtime| {
        let total = runtime.block_on(async {
            let job = |n: u64| {
                blitz_io::spawn_cpu(move || {
                    let (a, b) = blitz_core::join(|| n, || n * n);
                    a + b
                })
            };
            let jobs: Vec<_> = (0..50).map(job).collect();
            let mut total = 0;
            for job in jobs {
                total += job.await.unwrap();
            }
            total
        });
        assert_eq!(total, (0..50).map(|n| n + n * n).sum::<u64>());
    });
}

#[test]
fn a_computation_that_panics_or_is_aborted_tells_its_handle() {
    let runtime = runtime(1);
    let handle = runtime.handle();
    let failing = handle.spawn_cpu(|| panic!("in a computation"));
    assert!(runtime.block_on(failing).unwrap_err().is_panic());
    let go = Arc::new(AtomicBool::new(false));
    let theirs = Arc::clone(&go);
    let first = handle.spawn_cpu(move || {
        while !theirs.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
    });
    let second = handle.spawn_cpu(|| 2);
    second.abort();
    go.store(true, Ordering::SeqCst);
    runtime.block_on(first).unwrap();
    assert!(runtime.block_on(second).unwrap_err().is_cancelled());
}

#[test]
fn computations_may_wait_for_tasks_even_if_all_workers_do() {
    for workers in [1, 2] {
        let runtime = runtime(workers);
        let job = |n: usize| {
            let handle = runtime.handle().clone();
            runtime.handle().spawn_cpu(move || {
                let task = handle.spawn(async move {
                    yield_now().await;
                    blitz_io::time::sleep(Duration::from_millis(2)).await;
                    n
                });
                handle.block_on(task).unwrap()
            })
        };
        let jobs: Vec<_> = (0..2 * workers).map(job).collect();
        for (n, job) in jobs.into_iter().enumerate() {
            assert_eq!(runtime.block_on(job).unwrap(), n);
        }
    }
}

#[test]
fn tasks_are_served_while_every_worker_computes() {
    let runtime = runtime(2);
    let stop = Arc::new(AtomicBool::new(false));
    let job = |_| {
        let stop = Arc::clone(&stop);
        runtime.handle().spawn_cpu(move || {
            while !stop.load(Ordering::Relaxed) {
                blitz_core::join(|| std::hint::black_box(1), || std::hint::black_box(2));
            }
        })
    };
    let jobs: Vec<_> = (0..2).map(job).collect();
    // Neither job ends before these tasks have run.
    for n in 0..20 {
        let task = runtime.spawn(async move {
            blitz_io::time::sleep(Duration::from_millis(1)).await;
            n
        });
        assert_eq!(runtime.block_on(task).unwrap(), n);
    }
    stop.store(true, Ordering::Relaxed);
    jobs.into_iter()
        .for_each(|job| runtime.block_on(job).unwrap());
}

#[test]
fn a_task_that_needs_a_lock_of_a_computation_gets_it_when_that_is_through() {
    // The computation holds the lock at its beats; a task on top of its stack would wait for ever.
    let runtime = runtime(1);
    let lock = Arc::new(Mutex::new(0u64));
    let theirs = Arc::clone(&lock);
    let started = Arc::new(AtomicBool::new(false));
    let began = Arc::clone(&started);
    let job = runtime.handle().spawn_cpu(move || {
        let mut sum = theirs.lock().unwrap();
        began.store(true, Ordering::SeqCst);
        for _ in 0..20_000 {
            let (a, b) = blitz_core::join(|| std::hint::black_box(1), || std::hint::black_box(1));
            *sum += a + b;
        }
    });
    while !started.load(Ordering::SeqCst) {
        std::thread::yield_now();
    }
    let task = runtime.spawn(async move { *lock.lock().unwrap() });
    assert_eq!(runtime.block_on(task).unwrap(), 40_000);
    runtime.block_on(job).unwrap();
}

#[test]
fn blocking_closures_run_on_their_own_threads_up_to_the_cap() {
    let mut builder = Builder::new_multi_thread();
    let runtime = builder
        .worker_threads(1)
        .max_blocking_threads(4)
        .build()
        .unwrap();
    let now = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let job = |n: usize| {
        let (now, most) = (Arc::clone(&now), Arc::clone(&most));
        runtime.spawn_blocking(move || {
            let running = now.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(running, Ordering::SeqCst);
            std::thread::sleep(Duration::from_micros(300));
            now.fetch_sub(1, Ordering::SeqCst);
            n
        })
    };
    let jobs: Vec<_> = (0..40).map(job).collect();
    for (n, job) in jobs.into_iter().enumerate() {
        assert_eq!(runtime.block_on(job).unwrap(), n);
    }
    assert!((1..=4).contains(&most.load(Ordering::SeqCst)));
}

#[test]
fn a_current_thread_runtime_may_be_driven_by_several_threads_in_turn() {
    let runtime = Builder::new_current_thread().build().unwrap();
    std::thread::scope(|scope| {
        for n in 0..4u64 {
            let runtime = &runtime;
            scope.spawn(move || {
                for round in 0..20 {
                    let task = runtime.spawn(async move {
                        yield_now().await;
                        n * round
                    });
                    assert_eq!(runtime.block_on(task).unwrap(), n * round);
                    runtime.block_on(async {
                        blitz_io::time::sleep(Duration::from_micros(100)).await
                    });
                }
            });
        }
    });
}

#[test]
fn handles_and_runtimes_can_be_sent() {
    fn assert_send<T: Send>(_: &T) {}
    let runtime = runtime(1);
    assert_send(&runtime.spawn(async { 1 }));
    assert_send(&async { spawn(async {}).await });
    assert_send(&runtime);
}

#[test]
fn a_task_may_have_any_number_of_shields_side_by_side() {
    runtime(2).block_on(async {
        let (opened, open) = blitz_io::sync::watch::channel(false);
        let (begun, begins) = blitz_io::sync::oneshot::channel();
        let task = spawn(async move {
            let section = |_| {
                let mut open = open.clone();
                Box::pin(shield(
                    async move { open.wait_for(|open| *open).await.is_ok() },
                ))
            };
            let mut sections: Vec<_> = (0..1000).map(section).collect();
            let mut begun = Some(begun);
            poll_fn(|cx| {
                sections.retain_mut(|section| section.as_mut().poll(cx).is_pending());
                if let Some(begun) = begun.take() {
                    begun.send(sections.len()).unwrap();
                }
                if sections.is_empty() {
                    return Poll::Ready(());
                }
                Poll::Pending
            })
            .await;
            std::future::pending::<()>().await;
        });
        assert_eq!(begins.await, Ok(1000));
        // Not before all of them are through.
        task.abort();
        yield_now().await;
        assert!(!task.is_finished());
        opened.send(true).unwrap();
        assert!(task.await.unwrap_err().is_cancelled());
    });
}

#[test]
fn the_blocking_thread_that_was_busy_last_takes_the_next_job() {
    const THREADS: usize = 4;
    let runtime = Builder::new_current_thread().build().unwrap();
    let all_idle = || {
        while runtime.metrics().snapshot().blocking_idle != THREADS {
            std::thread::yield_now();
        }
    };
    let together = Arc::new(Barrier::new(THREADS));
    let jobs: Vec<_> = (0..THREADS)
        .map(|_| {
            let together = Arc::clone(&together);
            runtime.spawn_blocking(move || together.wait())
        })
        .collect();
    for job in jobs {
        runtime.block_on(job).unwrap();
    }
    all_idle();
    let took = (0..20).map(|_| {
        let job = runtime.spawn_blocking(|| std::thread::current().id());
        let thread = runtime.block_on(job).unwrap();
        all_idle();
        thread
    });
    let took: HashSet<_> = took.collect();
    assert_eq!(took.len(), 1);
}

#[test]
fn what_is_left_at_the_end_is_dropped_in_the_order_in_which_it_was_spawned() {
    struct Noted(usize, Arc<Mutex<Vec<usize>>>);
    impl Drop for Noted {
        fn drop(&mut self) {
            self.1.lock().unwrap().push(self.0);
        }
    }
    let runtime = Builder::new_current_thread().build().unwrap();
    let dropped = Arc::new(Mutex::new(Vec::new()));
    let waiting = |number| {
        let noted = Noted(number, Arc::clone(&dropped));
        async move {
            pending::<()>().await;
            drop(noted);
        }
    };
    let set = LocalSet::new();
    set.block_on(&runtime, async {
        for number in 0..5 {
            spawn_local(waiting(number));
        }
        yield_now().await;
    });
    drop(set);
    assert_eq!(*dropped.lock().unwrap(), [0, 1, 2, 3, 4]);
    runtime.block_on(async {
        for number in 5..10 {
            spawn(waiting(number));
        }
    });
    drop(runtime);
    assert_eq!(*dropped.lock().unwrap(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

/// That it always has a task of its own does not keep a worker from those of others.
#[test]
fn a_worker_with_one_task_that_yields_takes_some_of_anothers() {
    // Nobody but these two.
    let mut builder = Builder::new_multi_thread();
    builder
        .worker_threads(2)
        .relief_thread(false)
        .watcher(false);
    let runtime = builder.build().unwrap();
    let (yields, ran) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let seen = Arc::clone(&yields);
    let blocking = runtime.spawn(async move {
        let until = |count: &AtomicUsize, enough| {
            while count.load(Ordering::SeqCst) < enough {
                std::thread::yield_now();
            }
        };
        until(&seen, 1);
        for _ in 0..8 {
            let ran = Arc::clone(&ran);
            spawn(async move { ran.fetch_add(1, Ordering::SeqCst) });
        }
        // This thread gets to none of them.
        until(&ran, 4);
    });
    runtime.spawn(async move {
        loop {
            yields.fetch_add(1, Ordering::SeqCst);
            yield_now().await;
        }
    });
    runtime.block_on(blocking).unwrap();
}

/// Also if they are more than a worker's own queue holds.
#[test]
fn a_thousand_tasks_that_go_on_and_on_take_turns_on_one_thread() {
    const TASKS: usize = 1000;
    let turns = Arc::new(AtomicUsize::new(0));
    let runtime = Builder::new_current_thread().build().unwrap();
    let longest_wait = runtime.block_on(async {
        let mut tasks = JoinSet::new();
        for _ in 0..TASKS {
            let turns = Arc::clone(&turns);
            tasks.spawn(async move {
                let (mut last, mut longest) = (0, 0);
                for _ in 0..20 {
                    let now = turns.fetch_add(1, Ordering::Relaxed);
                    longest = longest.max(now - last);
                    last = now;
                    yield_now().await;
                }
                longest
            });
        }
        tasks.join_all().await.into_iter().max().unwrap()
    });
    assert!(
        longest_wait < 2 * TASKS,
        "{longest_wait} turns of others between two of one task"
    );
}
