//! `fork`: joined in the middle, in any order, or not at all; and `join!` of any number.

use blitz_core::{ThreadPool, ThreadPoolBuilder, fork};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, mpsc};

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
}

fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    fork(
        || fib(n - 2),
        |right| {
            let left = fib(n - 1);
            left + right.join()
        },
    )
}

#[test]
fn forks_nest_on_any_number_of_threads() {
    for threads in [1, 2, 7] {
        assert_eq!(pool(threads).install(|| fib(18)), 2584);
    }
    assert_eq!(fib(15), 610);
}

#[test]
fn handles_may_be_joined_in_any_order() {
    for threads in [1, 3] {
        pool(threads).install(|| {
            for _ in 0..200 {
                let order = fork(
                    || fib(8),
                    |a| {
                        fork(
                            || fib(9),
                            |b| {
                                fork(
                                    || fib(10),
                                    |c| {
                                        let a = a.join();
                                        let c = c.join();
                                        (a, b.join(), c)
                                    },
                                )
                            },
                        )
                    },
                );
                assert_eq!(order, (21, 34, 55));
            }
        });
    }
}

#[test]
fn a_task_runs_beside_its_body() {
    let two = pool(2);
    let (from_task, to_body) = mpsc::channel();
    let to_body = Mutex::new(to_body);
    // Only a thief can send what the body waits for.
    let both = two.install(move || {
        let to_body = &to_body;
        fork(
            move || {
                from_task.send(1).unwrap();
                2
            },
            |task| to_body.lock().unwrap().recv().unwrap() + task.join(),
        )
    });
    assert_eq!(both, 3);
}

#[test]
fn a_body_that_waits_for_a_stolen_task_helps_with_what_that_forks() {
    let two = pool(2);
    let stolen = AtomicBool::new(false);
    let helped = AtomicBool::new(false);
    two.install(|| {
        let me = std::thread::current().id();
        fork(
            || {
                stolen.store(true, SeqCst);
                // The other half is for the body's thread, which waits.
                blitz_core::join(
                    || {
                        while !helped.load(SeqCst) {
                            std::thread::yield_now();
                        }
                    },
                    || {
                        assert_eq!(std::thread::current().id(), me);
                        helped.store(true, SeqCst);
                    },
                );
            },
            |task| {
                while !stolen.load(SeqCst) {
                    std::thread::yield_now();
                }
                task.join();
            },
        );
    });
    assert!(helped.load(SeqCst));
}

#[test]
fn a_task_that_nobody_joins_is_run_before_the_end() {
    for threads in [1, 2] {
        pool(threads).install(|| {
            let ran = AtomicUsize::new(0);
            assert_eq!(fork(|| ran.fetch_add(1, SeqCst), |_task| 5), 5);
            assert_eq!(ran.load(SeqCst), 1);
        });
    }
}

#[test]
fn panics_go_on_where_they_belong() {
    for threads in [1, 2] {
        pool(threads).install(|| {
            let ran = AtomicUsize::new(0);
            let joined = catch_unwind(AssertUnwindSafe(|| {
                fork(
                    || panic!("task"),
                    |task| {
                        let caught = catch_unwind(AssertUnwindSafe(|| task.join()));
                        ran.fetch_add(usize::from(caught.is_err()), SeqCst);
                    },
                );
            }));
            assert!(joined.is_ok());
            let ignored = catch_unwind(|| fork(|| panic!("task"), |_task| ()));
            assert_eq!(ignored.unwrap_err().downcast_ref(), Some(&"task"));
            let in_body = catch_unwind(AssertUnwindSafe(|| {
                fork(|| ran.fetch_add(1, SeqCst), |_task| panic!("body"));
            }));
            assert_eq!(in_body.unwrap_err().downcast_ref(), Some(&"body"));
            assert_eq!(ran.load(SeqCst), 2);
        });
    }
}

#[test]
fn a_result_that_is_not_taken_is_dropped_once() {
    struct Counted<'a>(&'a AtomicUsize);
    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    let dropped = AtomicUsize::new(0);
    for threads in [1, 2] {
        pool(threads).install(|| {
            fork(|| Counted(&dropped), |_task| ());
            fork(|| Counted(&dropped), |task| drop(task.join()));
        });
    }
    assert_eq!(dropped.load(SeqCst), 4);
}

#[test]
fn join_takes_any_number_of_closures() {
    let n = |n: u64| move || n;
    let all = blitz_core::join!(
        n(0),
        n(1),
        n(2),
        n(3),
        n(4),
        n(5),
        n(6),
        n(7),
        n(8),
        n(9),
        n(10),
        n(11),
        n(12),
        n(13),
        n(14),
        n(15),
        n(16),
        n(17),
        n(18),
        n(19),
        n(20),
        n(21),
        n(22),
        n(23),
        n(24),
        n(25),
        n(26),
        n(27),
        n(28),
        n(29),
        n(30),
        n(31),
        n(32),
        n(33),
        n(34),
        n(35),
        n(36),
        n(37),
        n(38),
        n(39),
    );
    assert_eq!((all.0, all.25, all.26, all.39), (0, 25, 26, 39));
    let ok = |n: u64| move || Ok::<u64, ()>(n);
    let all = blitz_core::try_join!(
        ok(0),
        ok(1),
        ok(2),
        ok(3),
        ok(4),
        ok(5),
        ok(6),
        ok(7),
        ok(8),
        ok(9),
        ok(10),
        ok(11),
        ok(12),
        ok(13),
        ok(14),
        ok(15),
        ok(16),
        ok(17),
        ok(18),
        ok(19),
        ok(20),
        ok(21),
        ok(22),
        ok(23),
        ok(24),
        ok(25),
        ok(26),
        ok(27),
    );
    assert_eq!(all.map(|all| (all.0, all.27)), Ok((0, 27)));
}
