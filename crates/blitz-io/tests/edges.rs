//! Corners of the runtime that are easily got wrong: who serves what while somebody blocks, what happens at the end, and where code runs
//! that nobody expects there (destructors, wakers, closures that own the runtime).

mod common;

use blitz_io::task::{JoinSet, shield, yield_now};
use blitz_io::{Builder, Handle, Runtime, spawn};
use common::{run, runtime, within_a_minute};
use std::cell::RefCell;
use std::future::{pending, poll_fn};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

#[test]
fn a_task_that_blocks_in_place_is_not_in_the_way_of_the_one_it_has_just_spawned() {
    within_a_minute(|| {
        for workers in [1, 2, 3] {
            let runtime = runtime(workers);
            let task = runtime.spawn(async {
                let (done, is_done) = mpsc::channel();
                // Alone in the slot of this worker.
                spawn(async move { done.send(()).unwrap() });
                blitz_io::block_in_place(|| is_done.recv().unwrap());
            });
            runtime.block_on(task).unwrap();
        }
    });
}

#[test]
fn whoever_blocks_on_the_task_it_has_just_spawned_gets_its_output() {
    within_a_minute(|| {
        for workers in [1, 2, 3] {
            let runtime = runtime(workers);
            for _ in 0..20 {
                let task = runtime.spawn(async { Handle::current().block_on(spawn(async { 5 })) });
                assert_eq!(runtime.block_on(task).unwrap().unwrap(), 5);
                let job = runtime
                    .handle()
                    .spawn_cpu(|| Handle::current().block_on(spawn(async { 6 })));
                assert_eq!(runtime.block_on(job).unwrap().unwrap(), 6);
                // The next ones find everybody asleep.
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    });
}

/// A task that waits on its thread for one that does the same, and so on.
fn blocks_deeply(depth: u32) -> u32 {
    if depth == 0 {
        return 0;
    }
    let deeper = spawn(async move { blocks_deeply(depth - 1) });
    1 + Handle::current().block_on(deeper).unwrap()
}

#[test]
fn tasks_may_block_on_each_other_deeper_than_there_are_threads() {
    within_a_minute(|| {
        for workers in [1, 2] {
            let runtime = runtime(workers);
            for depth in [3, 10] {
                let task = runtime.spawn(async move { blocks_deeply(depth) });
                assert_eq!(runtime.block_on(task).unwrap(), depth);
                let job = runtime.handle().spawn_cpu(move || blocks_deeply(depth));
                assert_eq!(runtime.block_on(job).unwrap(), depth);
            }
            // The next relief thread serves as the first one did.
            let endless = runtime.spawn(async {
                blitz_io::block_in_place(|| blocks_deeply(4));
                pending::<()>().await;
            });
            let task = runtime.spawn(async {
                blitz_io::time::sleep(Duration::from_millis(2)).await;
            });
            runtime.block_on(task).unwrap();
            endless.abort();
        }
    });
}

/// A computation that waits on its thread for others that do the same, and so on.
fn computes_deeply(depth: u32) -> u32 {
    if depth == 0 {
        return 1;
    }
    let deeper = [(); 2].map(|()| blitz_io::spawn_cpu(move || computes_deeply(depth - 1)));
    deeper
        .into_iter()
        .map(|job| Handle::current().block_on(job).unwrap())
        .sum()
}

/// The same, by way of tasks, forks and channels.
fn computes_crosswise(depth: u32) -> u32 {
    if depth == 0 {
        return 1;
    }
    let through_a_task = || {
        let task = spawn(async move {
            let job = blitz_io::spawn_cpu(move || computes_crosswise(depth - 1));
            job.await.unwrap()
        });
        Handle::current().block_on(task).unwrap()
    };
    let through_a_channel = || {
        let (done, is_done) = blitz_io::sync::oneshot::channel();
        let send = move || done.send(computes_crosswise(depth - 1)).unwrap();
        blitz_io::spawn_cpu_detached(send);
        is_done.blocking_recv().unwrap()
    };
    let (one, two) = blitz_core::join(through_a_task, through_a_channel);
    one + two
}

#[test]
fn computations_may_wait_for_others_by_way_of_tasks_forks_and_channels() {
    within_a_minute(|| {
        for workers in [1, 2, 3] {
            let runtime = runtime(workers);
            for _ in 0..3 {
                let jobs = [(); 3].map(|()| runtime.handle().spawn_cpu(|| computes_crosswise(4)));
                for job in jobs {
                    assert_eq!(runtime.block_on(job).unwrap(), 1 << 4);
                }
            }
        }
    });
}

#[test]
fn both_halves_of_a_join_may_block_on_each_other_if_a_thread_is_free() {
    within_a_minute(|| {
        let runtime = runtime(2);
        for _ in 0..50 {
            let job = runtime.handle().spawn_cpu(|| {
                let (to_right, at_right) = blitz_io::sync::oneshot::channel();
                let (to_left, at_left) = blitz_io::sync::oneshot::channel();
                let left = || {
                    to_right.send(1).unwrap();
                    at_left.blocking_recv().unwrap()
                };
                let right = || {
                    to_left.send(2).unwrap();
                    at_right.blocking_recv().unwrap()
                };
                blitz_core::join(left, right)
            });
            assert_eq!(runtime.block_on(job).unwrap(), (2, 1));
        }
    });
}

#[test]
fn computations_of_a_current_thread_runtime_may_block_on_each_other() {
    within_a_minute(|| {
        let runtime = Builder::new_current_thread().build().unwrap();
        let jobs = [(); 4].map(|()| runtime.handle().spawn_cpu(|| computes_deeply(4)));
        for job in jobs {
            assert_eq!(runtime.block_on(job).unwrap(), 1 << 4);
        }
    });
}

#[test]
fn computations_may_block_on_each_other_deeper_than_there_are_threads() {
    within_a_minute(|| {
        for workers in [1, 2, 3] {
            let runtime = runtime(workers);
            for depth in [1, 5, 5] {
                let jobs =
                    [(); 4].map(|()| runtime.handle().spawn_cpu(move || computes_deeply(depth)));
                for job in jobs {
                    assert_eq!(runtime.block_on(job).unwrap(), 1 << depth);
                }
            }
        }
    });
}

#[test]
fn a_shielded_section_that_never_ends_does_not_keep_the_runtime_from_ending() {
    within_a_minute(|| {
        for _ in 0..50 {
            let runtime = runtime(2);
            let (running, is_running) = mpsc::channel();
            let stop = Arc::new(AtomicBool::new(false));
            let stopped = Arc::clone(&stop);
            let task = runtime.spawn(shield(async move {
                running.send(()).unwrap();
                // Still running when the runtime ends, and idle afterwards.
                while !stopped.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
                pending::<()>().await;
            }));
            is_running.recv().unwrap();
            let stopper = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(2));
                stop.store(true, Ordering::SeqCst);
            });
            drop(runtime);
            stopper.join().unwrap();
            assert!(task.is_finished());
        }
    });
}

#[test]
fn a_scope_that_could_not_wait_for_its_tasks_is_not_opened() {
    let runtime = Builder::new_current_thread().build().unwrap();
    let opened = Arc::new(AtomicBool::new(false));
    let theirs = Arc::clone(&opened);
    let task = runtime.spawn(async move {
        let borrowed = Box::new([1, 2, 3]);
        blitz_io::scope(|scope| {
            theirs.store(true, Ordering::SeqCst);
            // Would be polled after `borrowed` is gone.
            scope.spawn(async { borrowed.iter().sum::<i32>() });
        });
    });
    let error = runtime.block_on(task).unwrap_err();
    assert!(
        error.to_string().contains("would wait for itself"),
        "{error}"
    );
    assert!(!opened.load(Ordering::SeqCst));
    runtime.block_on(async { yield_now().await });
}

thread_local! {
    static LATE: Late = const { Late(RefCell::new(None)) };
}

/// Looks for a runtime when its thread ends.
struct Late(RefCell<Option<mpsc::Sender<bool>>>);

impl Drop for Late {
    fn drop(&mut self) {
        if let Some(sender) = self.0.take() {
            let metrics = Handle::try_current().ok().map(|handle| handle.metrics());
            sender.send(metrics.is_some()).unwrap();
        }
    }
}

/// Where the order in which thread-locals are destroyed is that of their threads, which it is not with GNU's Windows.
#[cfg_attr(all(windows, target_env = "gnu"), ignore = "another order")]
#[test]
fn a_guard_that_is_forgotten_leaves_no_runtime_behind_its_thread() {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        // Destroyed last, since it was there first.
        LATE.with(|late| late.0.replace(Some(sender)));
        let runtime = Builder::new_current_thread().build().unwrap();
        std::mem::forget(runtime.enter());
    })
    .join()
    .unwrap();
    assert!(!receiver.recv().unwrap());
}

#[test]
fn a_task_that_a_computation_has_woken_does_not_wait_for_its_end() {
    within_a_minute(|| {
        for workers in [1, 2] {
            let runtime = runtime(workers);
            let (wake, woken) = blitz_io::sync::oneshot::channel();
            let (answer, answered) = mpsc::channel();
            let task = runtime.spawn(async move {
                woken.await.unwrap();
                answer.send(()).unwrap();
            });
            while runtime
                .handle()
                .metrics()
                .snapshot()
                .workers
                .iter()
                .all(|worker| worker.polled == 0)
            {
                std::thread::yield_now();
            }
            let computation = runtime.handle().spawn_cpu(move || {
                wake.send(()).unwrap();
                answered.recv_timeout(Duration::from_secs(20)).is_ok()
            });
            assert!(runtime.block_on(computation).unwrap());
            runtime.block_on(task).unwrap();
        }
    });
}

thread_local! {
    static KEPT: RefCell<Option<Runtime>> = const { RefCell::new(None) };
    static LAST: AtTheEnd = const { AtTheEnd(RefCell::new(None)) };
}

/// Runs something when its thread ends.
struct AtTheEnd(RefCell<Option<Box<dyn FnOnce()>>>);

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        if let Some(run) = self.0.take() {
            run();
        }
    }
}

#[test]
fn a_thread_local_may_own_a_runtime() {
    within_a_minute(|| {
        for workers in 0..3 {
            std::thread::spawn(move || {
                // Destroyed last, since it was there first.
                KEPT.with(|kept| kept.replace(None));
                let kept = either_runtime(workers);
                let idle = kept.spawn(pending::<()>());
                kept.block_on(async { yield_now().await });
                drop(idle);
                KEPT.with(|place| place.replace(Some(kept)));
            })
            .join()
            .unwrap();
        }
    });
}

/// Not on Windows: no thread starts while another one destroys its thread-locals (`std::thread::spawn` and `join` in such a destructor never return
/// either), and a runtime that is made there needs threads.
#[cfg_attr(windows, ignore = "no thread starts meanwhile")]
#[test]
fn destructors_of_thread_locals_may_use_a_runtime() {
    within_a_minute(|| {
        for workers in 0..3 {
            let (done, is_done) = mpsc::channel();
            std::thread::spawn(move || {
                LAST.with(|last| last.0.replace(None));
                let use_it = move || {
                    let runtime = either_runtime(workers);
                    let waited = runtime.block_on(async {
                        let slow = blitz_io::spawn_blocking(|| 1).await.unwrap();
                        blitz_io::time::sleep(Duration::from_millis(1)).await;
                        slow + blitz_io::spawn(async { 2 }).await.unwrap()
                    });
                    let set = blitz_io::task::LocalSet::new();
                    let local = runtime.block_on(set.run_until(async {
                        blitz_io::task::spawn_local(async { 4 }).await.unwrap()
                    }));
                    done.send(waited + local).unwrap();
                };
                use_it.clone()();
                LAST.with(|last| last.0.replace(Some(Box::new(use_it))));
            })
            .join()
            .unwrap();
            assert_eq!(is_done.iter().collect::<Vec<_>>(), [7, 7]);
        }
    });
}

/// With no workers: a current-thread runtime.
fn either_runtime(workers: usize) -> Runtime {
    match workers {
        0 => Builder::new_current_thread().build().unwrap(),
        workers => runtime(workers),
    }
}

#[test]
fn a_runtime_may_be_dropped_wherever_its_code_runs() {
    within_a_minute(|| {
        for workers in [1, 2] {
            for place in 0..4 {
                let runtime = runtime(workers);
                let handle = runtime.handle().clone();
                let (done, is_done) = mpsc::channel();
                let end = move || {
                    drop(runtime);
                    done.send(()).unwrap();
                };
                match place {
                    0 => drop(handle.spawn_blocking(end)),
                    1 => handle.spawn_cpu_detached(end),
                    2 => drop(handle.spawn(async move { end() })),
                    _ => end(),
                }
                is_done.recv().unwrap();
            }
        }
    });
}

#[test]
fn for_ever_is_a_limit_like_any_other() {
    for runtime in [Builder::new_current_thread().build().unwrap(), runtime(1)] {
        runtime.spawn(async {
            yield_now().await;
            blitz_io::time::sleep(Duration::from_millis(2)).await;
        });
        assert!(runtime.drain(Duration::MAX));
        runtime.spawn(pending::<()>());
        assert!(!runtime.drain(Duration::from_millis(1)));
        assert!(runtime.shutdown_within(Duration::MAX));
    }
}

#[test]
fn trying_to_join_does_not_take_the_place_of_the_one_who_waits() {
    run(|| async {
        let mut set = JoinSet::new();
        let (go, may_go) = mpsc::channel::<()>();
        set.spawn(async move {
            while may_go.try_recv().is_err() {
                yield_now().await;
            }
        });
        let mut go = Some(go);
        common::soon(poll_fn(|cx| {
            let polled = set.poll_join_next(cx);
            if polled.is_pending() {
                assert!(set.try_join_next().is_none());
                if let Some(go) = go.take() {
                    go.send(()).unwrap();
                }
            }
            polled
        }))
        .await
        .unwrap()
        .unwrap();
        // Nor does it run out of budget.
        for _ in 0..1000 {
            set.spawn(async {});
        }
        while blitz_io::Handle::current().metrics().snapshot().alive > 0 {
            yield_now().await;
        }
        poll_fn(|_| {
            for left in (0..1000).rev() {
                assert!(set.try_join_next().is_some(), "{left} left");
            }
            Poll::Ready(())
        })
        .await;
    });
}

blitz_io::task_local! {
    static KEY: u32;
}

#[test]
fn a_future_with_a_task_local_may_be_dropped_while_that_is_looked_at() {
    let scoped = KEY.scope(1, async { pending::<()>().await });
    KEY.sync_scope(2, || {
        KEY.with(|value| {
            drop(scoped);
            assert_eq!(*value, 2);
        });
        assert_eq!(KEY.get(), 2);
    });
}

#[test]
fn a_shield_that_changes_its_task_half_way_shields_neither_for_ever() {
    run(|| async {
        let mut section = Box::pin(shield(yield_now()));
        let polled = spawn(async move {
            let mut cx = Context::from_waker(Waker::noop());
            assert!(section.as_mut().poll(&mut cx).is_pending());
            Some(section)
        });
        let section = polled.await.unwrap().unwrap();
        for _ in 0..3 {
            let task = spawn(async {
                shield(async {}).await;
                pending::<()>().await;
            });
            yield_now().await;
            task.abort();
            assert!(common::soon(task).await.unwrap_err().is_cancelled());
        }
        let task = spawn(async move {
            section.await;
            pending::<()>().await;
        });
        yield_now().await;
        task.abort();
        assert!(common::soon(task).await.unwrap_err().is_cancelled());
    });
}

#[test]
fn a_computation_knows_the_runtime_that_it_was_spawned_in() {
    for runtime in [Builder::new_current_thread().build().unwrap(), runtime(1)] {
        let inner = runtime.block_on(async {
            blitz_io::spawn_cpu(|| spawn(async { 3 }))
                .await
                .unwrap()
                .await
        });
        assert_eq!(inner.unwrap(), 3);
    }
}

#[test]
fn a_future_that_only_yields_lets_the_tasks_of_its_thread_run() {
    let runtime = Builder::new_current_thread().build().unwrap();
    let task = runtime.spawn(async {});
    runtime.block_on(yield_now());
    assert!(task.is_finished());
}

struct Failing(AtomicUsize);

impl Wake for Failing {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
        panic!("a waker that fails");
    }
}

#[test]
fn a_waker_that_panics_takes_nobody_else_down() {
    within_a_minute(|| {
        let runtime = runtime(2);
        let failing = Arc::new(Failing(AtomicUsize::new(0)));
        let waker = Waker::from(Arc::clone(&failing));
        runtime.block_on(async {
            let mut cx = Context::from_waker(&waker);
            let mut nap = Box::pin(blitz_io::time::sleep(Duration::from_millis(2)));
            assert!(nap.as_mut().poll(&mut cx).is_pending());
            let mut handle = Box::pin(spawn(blitz_io::time::sleep(Duration::from_millis(4))));
            assert!(handle.as_mut().poll(&mut cx).is_pending());
            while failing.0.load(Ordering::SeqCst) < 2 {
                blitz_io::time::sleep(Duration::from_millis(1)).await;
            }
            spawn(blitz_io::time::sleep(Duration::from_millis(2)))
                .await
                .unwrap();
        });
    });
}

struct Calls(AtomicUsize);

impl Wake for Calls {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn enabling_a_notification_that_is_waited_for_does_not_forget_who_waits() {
    let notify = blitz_io::sync::Notify::new();
    let calls = Arc::new(Calls(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&calls));
    let mut notified = std::pin::pin!(notify.notified());
    let mut cx = Context::from_waker(&waker);
    assert!(notified.as_mut().poll(&mut cx).is_pending());
    assert!(!notified.as_mut().enable());
    notify.notify_one();
    assert_eq!(calls.0.load(Ordering::SeqCst), 1);
    assert!(notified.as_mut().enable());
    assert!(notified.poll(&mut cx).is_ready());
}

/// Panics when it is dropped.
struct Bomb(&'static str);

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("{}, on purpose", self.0);
        }
    }
}

#[test]
fn destructors_that_panic_take_nobody_else_down() {
    within_a_minute(|| {
        for workers in 0..3 {
            let runtime = either_runtime(workers);
            runtime.block_on(async {
                let task = spawn(async {
                    let _bomb = Bomb("a local at the end");
                    yield_now().await;
                });
                assert!(task.await.unwrap_err().is_panic());
                let (begun, has_begun) = blitz_io::sync::oneshot::channel();
                let task = spawn(async {
                    let _bomb = Bomb("a local of an aborted task");
                    begun.send(()).unwrap();
                    pending::<()>().await;
                });
                has_begun.await.unwrap();
                task.abort();
                assert!(task.await.is_err());
                let task = spawn(async { Bomb("an output that nobody wants") });
                while !task.is_finished() {
                    yield_now().await;
                }
                drop(task);
                let task = spawn(async { Bomb("an output without a handle") });
                drop(task);
                for _ in 0..5 {
                    yield_now().await;
                }
                assert_eq!(spawn(async { 9 }).await.unwrap(), 9);
            });
            drop(runtime.spawn(async {
                let _bomb = Bomb("a local at the runtime's end");
                pending::<()>().await;
            }));
            runtime.block_on(yield_now());
            drop(runtime);
        }
    });
}

#[test]
fn a_blocking_job_that_gets_no_thread_says_why() {
    let mut builder = Builder::new_current_thread();
    // More than there are addresses.
    let runtime = builder
        .thread_stack_size(usize::MAX / 16 * 15)
        .build()
        .unwrap();
    let error = runtime.block_on(runtime.spawn_blocking(|| ())).unwrap_err();
    assert!(error.is_panic());
    assert!(
        error.to_string().contains("no thread can be started"),
        "{error}"
    );
}
