//! Scopes, spawns, handles, broadcasts: order, borrowing, panics, results.
#![cfg(not(loom))]

use blitz_core::{ThreadPoolBuilder, join, scope};
use std::any::Any;
use std::cell::Cell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

fn pool(threads: usize) -> blitz_core::ThreadPool {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
}

#[test]
fn tasks_may_borrow_and_all_have_run_when_the_scope_ends() {
    for threads in [1, 2, 3, 65] {
        let mut slots = vec![0; 1000];
        pool(threads).scope(|s| {
            for (i, slot) in slots.iter_mut().enumerate() {
                s.spawn(move |_| *slot = i + 1);
            }
        });
        assert!(slots.iter().enumerate().all(|(i, &slot)| slot == i + 1));
    }
}

#[test]
fn tasks_spawn_tasks_to_any_depth() {
    fn grow<'s>(s: &blitz_core::Scope<'s>, count: &'s AtomicUsize, depth: u32) {
        count.fetch_add(1, Ordering::Relaxed);
        if depth > 0 {
            s.spawn(move |s| grow(s, count, depth - 1));
            s.spawn(move |s| grow(s, count, depth - 1));
        }
    }
    let count = AtomicUsize::new(0);
    scope(|s| grow(s, &count, 12));
    assert_eq!(count.into_inner(), (1 << 13) - 1);
}

#[test]
fn a_scope_really_uses_more_than_one_thread() {
    let pool = pool(3);
    let barrier = Barrier::new(3);
    let threads = Mutex::new(std::collections::HashSet::new());
    pool.scope(|s| {
        for _ in 0..3 {
            s.spawn(|_| {
                barrier.wait();
                threads.lock().unwrap().insert(thread::current().id());
            });
        }
    });
    assert_eq!(threads.into_inner().unwrap().len(), 3);
}

#[test]
fn a_scope_body_may_wait_for_its_own_tasks() {
    // The task must be started although the body never returns to the pool before it has run.
    let pool = pool(2);
    for _ in 0..50 {
        let (sender, receiver) = mpsc::channel();
        pool.scope(move |s| {
            s.spawn(move |_| sender.send(1).unwrap());
            assert_eq!(receiver.recv(), Ok(1));
        });
    }
}

#[test]
fn spawned_order_is_newest_first_and_fifo_order_is_oldest_first() {
    let pool = pool(1);
    let order = |run: &dyn Fn(&Mutex<Vec<usize>>)| {
        let seen = Mutex::new(Vec::new());
        run(&seen);
        seen.into_inner().unwrap()
    };
    let newest = order(&|seen| {
        pool.scope(|s| (0..10).for_each(|i| s.spawn(move |_| seen.lock().unwrap().push(i))));
    });
    assert!(newest.into_iter().eq((0..10).rev()));
    let oldest = order(&|seen| {
        pool.scope_fifo(|s| {
            (0..10).for_each(|i| s.spawn_fifo(move |_| seen.lock().unwrap().push(i)));
        });
    });
    assert!(oldest.into_iter().eq(0..10));
}

#[test]
fn the_first_panic_of_a_scope_goes_on_after_everything_has_run() {
    let pool = pool(2);
    for _ in 0..20 {
        let ran = AtomicUsize::new(0);
        let result = catch_unwind(AssertUnwindSafe(|| {
            pool.scope(|s| {
                for i in 0..50 {
                    let ran = &ran;
                    s.spawn(move |_| {
                        ran.fetch_add(1, Ordering::Relaxed);
                        assert!(i % 10 != 3, "planned");
                    });
                }
            });
        }));
        assert!(result.is_err());
        assert_eq!(ran.into_inner(), 50);
    }
}

#[test]
fn a_panicking_body_still_waits_for_its_tasks() {
    let ran = AtomicUsize::new(0);
    let result = catch_unwind(AssertUnwindSafe(|| {
        scope(|s| {
            s.spawn(|_| {
                thread::yield_now();
                ran.fetch_add(1, Ordering::Relaxed);
            });
            panic!("planned");
        });
    }));
    assert!(result.is_err());
    assert_eq!(ran.into_inner(), 1);
}

#[test]
fn in_place_scopes_run_their_body_here_and_their_tasks_there() {
    let pool = pool(2);
    let here = thread::current().id();
    let not_send = std::rc::Rc::new(3);
    let count = AtomicUsize::new(0);
    let barrier = Barrier::new(2);
    pool.in_place_scope(|s| {
        assert_eq!(thread::current().id(), here);
        // Both tasks must run at once: the body does not take one of the two seats.
        for _ in 0..2 {
            s.spawn(|_| {
                barrier.wait();
                assert_ne!(thread::current().id(), here);
                count.fetch_add(1, Ordering::Relaxed);
            });
        }
        count.fetch_add(*not_send, Ordering::Relaxed);
    });
    assert_eq!(count.into_inner(), 5);
}

#[test]
fn scoped_handles_give_results_and_carry_panics() {
    let pool = pool(2);
    let words = ["alpha", "beta", "gamma"];
    let lengths: Vec<usize> = pool.scope(|s| {
        let handles: Vec<_> = words
            .iter()
            .map(|word| s.spawn_handle(move |_| word.len()))
            .collect();
        handles.into_iter().map(|h| h.join().unwrap()).collect()
    });
    assert_eq!(lengths, [5, 4, 5]);
    let claimed = pool.scope(|s| {
        let handle = s.spawn_handle(|_| -> () { panic!("planned") });
        handle.join().is_err()
    });
    assert!(
        claimed,
        "a panic that was asked for does not reach the scope"
    );
    let unclaimed = catch_unwind(AssertUnwindSafe(|| {
        pool.scope(|s| drop(s.spawn_handle(|_| -> () { panic!("planned") })));
    }));
    assert!(unclaimed.is_err());
    let after_the_scope = pool.scope(|s| s.spawn_handle(|_| 5));
    assert_eq!(after_the_scope.join().unwrap(), 5);
}

#[test]
fn handles_can_be_joined_from_inside_and_outside() {
    let pool = Arc::new(pool(1));
    assert_eq!(pool.spawn_handle(|| 1).join().unwrap(), 1);
    // The only thread of the pool waits for a task in its own queue.
    let inner = Arc::clone(&pool);
    let nested = pool.spawn_handle(move || inner.spawn_handle(|| 2).join().unwrap() + 1);
    assert_eq!(nested.join().unwrap(), 3);
    let panics = pool.spawn_handle(|| -> u32 { std::panic::panic_any("planned") });
    let payload: Box<dyn Any + Send> = panics.join().unwrap_err();
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"planned"));
}

#[test]
fn handles_are_futures() {
    struct Unpark(thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let gate = Arc::new(Barrier::new(2));
    let ours = Arc::clone(&gate);
    let mut handle = pin!(blitz_core::spawn_handle(move || {
        ours.wait();
        "done"
    }));
    let mut cx = Context::from_waker(&waker);
    assert!(handle.as_mut().poll(&mut cx).is_pending());
    gate.wait();
    let result = loop {
        match handle.as_mut().poll(&mut cx) {
            Poll::Ready(result) => break result,
            Poll::Pending => thread::park(),
        }
    };
    assert_eq!(result.unwrap(), "done");
}

#[test]
fn detached_panics_go_to_the_handler() {
    let (sender, receiver) = mpsc::channel();
    let sender = Mutex::new(sender);
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .panic_handler(move |payload| {
            let text = *payload.downcast_ref::<&str>().unwrap();
            sender.lock().unwrap().send(text).unwrap();
        })
        .build()
        .unwrap();
    pool.spawn(|| std::panic::panic_any("planned"));
    assert_eq!(receiver.recv(), Ok("planned"));
}

#[test]
fn broadcasts_reach_every_thread_once() {
    for threads in [1, 2, 7] {
        let pool = pool(threads);
        let from_outside = pool.broadcast(|context| context.index());
        assert!(from_outside.into_iter().eq(0..threads));
        let from_inside = pool.install(|| blitz_core::broadcast(|context| context.index()));
        assert!(from_inside.into_iter().eq(0..threads));
        let (sender, receiver) = mpsc::channel();
        pool.spawn_broadcast(move |context| sender.send(context.index()).unwrap());
        let mut seen: Vec<usize> = receiver.iter().collect();
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..threads));
    }
}

#[test]
fn broadcasts_from_two_workers_at_once_do_not_block_each_other() {
    let pool = pool(2);
    for _ in 0..50 {
        let count = AtomicUsize::new(0);
        let both = || {
            blitz_core::broadcast(|_| count.fetch_add(1, Ordering::Relaxed));
        };
        pool.install(|| join(both, both));
        assert_eq!(count.into_inner(), 4);
    }
}

#[test]
fn wait_idle_waits_for_tasks_that_spawn_tasks() {
    let pool = Arc::new(pool(2));
    let count = Arc::new(AtomicUsize::new(0));
    fn go(pool: &Arc<blitz_core::ThreadPool>, count: &Arc<AtomicUsize>, depth: u32) {
        let (pool2, count2) = (Arc::clone(pool), Arc::clone(count));
        pool.spawn(move || {
            count2.fetch_add(1, Ordering::Relaxed);
            if depth > 0 {
                go(&pool2, &count2, depth - 1);
                go(&pool2, &count2, depth - 1);
            }
        });
    }
    go(&pool, &count, 8);
    pool.wait_idle();
    assert_eq!(count.load(Ordering::Relaxed), (1 << 9) - 1);
    // From inside, also in several tasks at once.
    for _ in 0..2 {
        let inner = Arc::clone(&pool);
        pool.spawn(move || inner.wait_idle());
    }
    pool.wait_idle();
}

#[test]
fn a_pool_dropped_while_busy_finishes_its_work() {
    let (sender, receiver) = mpsc::channel();
    let pool = pool(2);
    for i in 0..200 {
        let sender = sender.clone();
        pool.spawn(move || {
            let more = sender.clone();
            blitz_core::spawn(move || more.send(1000 + i).unwrap());
            sender.send(i).unwrap();
        });
    }
    drop((pool, sender));
    assert_eq!(receiver.iter().count(), 400);
}

#[test]
fn pools_that_call_each_other_in_circles_get_their_answers() {
    for participates in [true, false] {
        let make = || {
            ThreadPoolBuilder::new()
                .num_threads(1)
                .caller_participates(participates)
                .build()
                .unwrap()
        };
        let (one, two) = (make(), make());
        let answer = one.install(|| {
            two.install(|| {
                // A join in between: the chain of ancestors passes through it.
                let (a, b) = join(|| one.install(|| 1), || one.install(|| two.install(|| 2)));
                a + b
            })
        });
        assert_eq!(answer, 3);
    }
}

#[test]
fn unrelated_tasks_of_two_pools_may_wait_for_each_other() {
    // Every thread of each pool waits for the other pool, in tasks that have nothing to do with each other.
    for threads in [1, 2] {
        let (one, two) = (Arc::new(pool(threads)), Arc::new(pool(threads)));
        for _ in 0..20 {
            let gate = Arc::new(Barrier::new(2 * threads));
            let (sender, receiver) = mpsc::channel();
            for i in 0..2 * threads {
                let (from, to) = if i % 2 == 0 {
                    (&one, &two)
                } else {
                    (&two, &one)
                };
                let (to, gate, sender) = (Arc::clone(to), Arc::clone(&gate), sender.clone());
                from.spawn(move || {
                    gate.wait();
                    sender.send(to.install(|| join(|| 1, || 2))).unwrap();
                });
            }
            drop(sender);
            assert_eq!(
                receiver.iter().filter(|&r| r == (1, 2)).count(),
                2 * threads
            );
        }
    }
}

#[test]
fn whoever_rescues_a_pool_is_set_up_as_its_threads_are() {
    thread_local! { static READY: Cell<Option<usize>> = const { Cell::new(None) } }
    /// Uses `levels` KiB of stack.
    fn deep(levels: usize) -> usize {
        let frame = std::hint::black_box([levels as u8; 1024]);
        match levels {
            0 => 0,
            _ => deep(levels - 1) + usize::from(frame[levels % 1024] == levels as u8),
        }
    }

    let (starts, exits) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (on_start, on_exit) = (Arc::clone(&starts), Arc::clone(&exits));
    let one = ThreadPoolBuilder::new()
        .num_threads(1)
        .thread_name(|index| format!("crunch-{index}"))
        // More than any thread has by default, even in a build whose frames are large.
        .stack_size(64 << 20)
        .start_handler(move |index| {
            READY.set(Some(index));
            on_start.fetch_add(1, Ordering::SeqCst);
        })
        .exit_handler(move |index| {
            assert_eq!(READY.get(), Some(index));
            on_exit.fetch_add(1, Ordering::SeqCst);
        })
        .build()
        .unwrap();
    let two = pool(1);
    // The only thread of the first pool waits for the second, where somebody waits for a task of the first.
    let (begun, done) = (Barrier::new(2), Barrier::new(2));
    let (owner, (rescuer, name, ready, depth)) = thread::scope(|s| {
        let owner = s.spawn(|| {
            one.install(|| {
                two.install(|| {
                    begun.wait();
                    done.wait();
                });
                thread::current().id()
            })
        });
        begun.wait();
        let found = one.install(|| {
            let thread = thread::current();
            let name = thread.name().map(str::to_owned);
            (thread.id(), name, READY.get(), deep(12 << 10))
        });
        done.wait();
        (owner.join().unwrap(), found)
    });
    assert_ne!(owner, rescuer);
    assert_eq!(name.as_deref(), Some("crunch-0-rescue"));
    assert_eq!((ready, depth), (Some(0), 12 << 10));
    assert_eq!(starts.load(Ordering::SeqCst), 2);
    drop(one);
    while exits.load(Ordering::SeqCst) < starts.load(Ordering::SeqCst) {
        thread::yield_now();
    }
}

#[test]
fn a_result_whose_drop_panics_does_not_end_its_scope_early() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            if !thread::panicking() {
                panic!("planned");
            }
        }
    }
    let pool = pool(2);
    for _ in 0..20 {
        let (spawned, ran) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let result = catch_unwind(AssertUnwindSafe(|| {
            pool.scope(|s| {
                for _ in 0..20 {
                    spawned.fetch_add(1, Ordering::Relaxed);
                    // Panics here if the task is done already, else in the task.
                    drop(s.spawn_handle(|_| {
                        ran.fetch_add(1, Ordering::Relaxed);
                        Bomb
                    }));
                }
            });
        }));
        assert!(result.is_err());
        assert_eq!(ran.into_inner(), spawned.into_inner());
    }
}

fn three_threads() -> Arc<blitz_core::ThreadPool> {
    let pool = ThreadPoolBuilder::new().num_threads(3).build();
    Arc::new(pool.unwrap())
}

const FOR_EVER: Duration = Duration::from_secs(20);

#[test]
fn wait_idle_in_a_stolen_half_does_not_wait_for_the_task_that_it_is_a_part_of() {
    let pool = three_threads();
    for _ in 0..100 {
        let (sender, receiver) = mpsc::channel();
        let inside = Arc::clone(&pool);
        pool.spawn(move || {
            let here = thread::current().id();
            let begun = AtomicBool::new(false);
            let (_, stolen) = blitz_core::join(
                || {
                    let start = Instant::now();
                    while !begun.load(Ordering::Relaxed) && start.elapsed().as_millis() < 50 {
                        thread::yield_now();
                    }
                },
                || {
                    begun.store(true, Ordering::Relaxed);
                    inside.wait_idle();
                    thread::current().id() != here
                },
            );
            sender.send(stolen).unwrap();
        });
        let stolen = receiver.recv_timeout(FOR_EVER);
        if stolen.expect("it waits for itself") {
            return;
        }
    }
    panic!("no half was stolen in 100 tries");
}

/// Starts a task that runs until the sender is dropped.
fn long_task(pool: &blitz_core::ThreadPool) -> mpsc::Sender<()> {
    let (running, begun) = mpsc::channel();
    let (end, ended) = mpsc::channel::<()>();
    pool.spawn(move || {
        running.send(()).unwrap();
        ended.recv().ok();
    });
    begun.recv().unwrap();
    end
}

/// Nobody has reported while a task runs, and all of them do when it has ended.
fn reports_only_after(task: mpsc::Sender<()>, reports: &mpsc::Receiver<()>, expected: usize) {
    let early = reports.recv_timeout(Duration::from_millis(50));
    assert!(early.is_err(), "wait_idle has returned while a task runs");
    drop(task);
    for _ in 0..expected {
        reports.recv_timeout(FOR_EVER).expect("wait_idle returns");
    }
}

#[test]
fn wait_idle_on_top_of_another_ones_waits_for_a_third_task() {
    let pool = three_threads();
    // One thread is left for both, so that the inner one runs on top of the outer one.
    let (one, two) = (long_task(&pool), long_task(&pool));
    let (report, reports) = mpsc::channel();
    let outer = Arc::clone(&pool);
    pool.spawn(move || {
        let (inner, inner_report) = (Arc::clone(&outer), report.clone());
        outer.spawn(move || {
            inner.wait_idle();
            inner_report.send(()).unwrap();
        });
        outer.wait_idle();
        report.send(()).unwrap();
    });
    drop(one);
    reports_only_after(two, &reports, 2);
}

#[test]
fn wait_idle_outside_of_any_task_waits_for_tasks_that_are_in_it_themselves() {
    let pool = three_threads();
    for inside in [false, true] {
        let (report, reports) = mpsc::channel();
        let (go, wait) = mpsc::channel::<()>();
        let task = Arc::clone(&pool);
        let (entering, entered) = mpsc::channel();
        pool.spawn(move || {
            entering.send(()).unwrap();
            // In and out of it: nobody but itself is left.
            while wait.try_recv() == Err(mpsc::TryRecvError::Empty) {
                task.wait_idle();
            }
        });
        entered.recv().unwrap();
        let outside = Arc::clone(&pool);
        let waiting = thread::spawn(move || {
            if inside {
                outside.install(|| outside.wait_idle());
            } else {
                outside.wait_idle();
            }
            report.send(()).unwrap();
        });
        reports_only_after(go, &reports, 1);
        waiting.join().unwrap();
    }
}

#[test]
fn a_task_with_two_halves_in_wait_idle_is_excused_once() {
    let pool = three_threads();
    let task = long_task(&pool);
    let (report, reports) = mpsc::channel();
    let (enter, entered) = mpsc::channel();
    let inside = Arc::clone(&pool);
    pool.spawn(move || {
        let both = AtomicUsize::new(0);
        let half = || {
            both.fetch_add(1, Ordering::Relaxed);
            let start = Instant::now();
            // `join` promises no parallelism, but should find some.
            while both.load(Ordering::Relaxed) < 2 && start.elapsed().as_secs() < 5 {
                thread::yield_now();
            }
            enter.send(()).unwrap();
            inside.wait_idle();
            report.send(()).unwrap();
        };
        blitz_core::join(half, half);
    });
    entered.iter().take(2).for_each(drop);
    reports_only_after(task, &reports, 2);
}

#[test]
fn wait_idle_in_another_pool_does_not_wait_for_the_task_that_called_there() {
    let (pool, other) = (three_threads(), three_threads());
    let (report, reports) = mpsc::channel();
    let (inside, elsewhere) = (Arc::clone(&pool), other);
    pool.spawn(move || {
        elsewhere.install(|| inside.wait_idle());
        report.send(()).unwrap();
    });
    reports.recv_timeout(FOR_EVER).expect("it waits for itself");
}

#[test]
fn fifo_tasks_from_outside_run_in_order_although_a_waiting_thread_looks_at_them() {
    let other = Arc::new(pool(1));
    // A thread that came to the rescue while the only one waits would run them, too, and both at once keep no order.
    let alone = ThreadPoolBuilder::new()
        .num_threads(1)
        .max_rescue_threads(0);
    let pool = alone.build().unwrap();
    for _ in 0..20 {
        let order = Arc::new(Mutex::new(Vec::new()));
        let (go, wait) = mpsc::channel::<()>();
        let (theirs, other) = (Arc::clone(&order), Arc::clone(&other));
        pool.spawn_fifo(move || {
            theirs.lock().unwrap().push(0);
            wait.recv().ok();
            // Waits for the other pool, looks for descendants, and finds none among these:
            other.install(|| thread::sleep(Duration::from_micros(100)));
        });
        for number in 1..=5 {
            let theirs = Arc::clone(&order);
            pool.spawn_fifo(move || theirs.lock().unwrap().push(number));
        }
        drop(go);
        pool.wait_idle();
        assert_eq!(*order.lock().unwrap(), [0, 1, 2, 3, 4, 5]);
    }
}
