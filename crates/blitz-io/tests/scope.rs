//! Tasks that borrow.

use blitz_io::task::yield_now;
use blitz_io::{Builder, Runtime, scope};
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

fn runtimes() -> impl Iterator<Item = Runtime> {
    let current = Builder::new_current_thread().build().unwrap();
    let pools = [1, 2, 8].into_iter().map(|workers| {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(workers).build().unwrap()
    });
    std::iter::once(current).chain(pools)
}

#[test]
fn a_scope_waits_for_tasks_that_nobody_awaits() {
    for runtime in runtimes() {
        let _entered = runtime.enter();
        let done = AtomicUsize::new(0);
        scope(|scope| {
            for _ in 0..100 {
                scope.spawn(async {
                    yield_now().await;
                    done.fetch_add(1, Ordering::Relaxed);
                });
            }
        });
        assert_eq!(done.load(Ordering::Relaxed), 100);
    }
}

#[test]
fn outputs_may_borrow() {
    for runtime in runtimes() {
        let _entered = runtime.enter();
        let words: Vec<String> = (0..50).map(|n| n.to_string()).collect();
        let lengths = scope(|scope| {
            let tasks: Vec<_> = words
                .iter()
                .map(|word| scope.spawn(async move { word }))
                .collect();
            runtime.block_on(async {
                let mut lengths = 0;
                for task in tasks {
                    lengths += task.await.unwrap().len();
                }
                lengths
            })
        });
        assert_eq!(lengths, 90);
    }
}

#[test]
fn a_panic_in_the_body_aborts_the_tasks_first() {
    for runtime in runtimes() {
        let _entered = runtime.enter();
        struct Counted<'a>(&'a AtomicUsize);
        impl Drop for Counted<'_> {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        }
        let dropped = AtomicUsize::new(0);
        let result = catch_unwind(AssertUnwindSafe(|| {
            scope(|scope| {
                for _ in 0..20 {
                    let counted = Counted(&dropped);
                    scope.spawn(async move {
                        let _counted = counted;
                        pending::<()>().await;
                    });
                }
                panic!("in the body");
            })
        }));
        assert!(result.is_err());
        assert_eq!(dropped.load(Ordering::SeqCst), 20);
    }
}

#[test]
fn a_task_that_panics_or_is_aborted_tells_its_handle() {
    for runtime in runtimes() {
        let _entered = runtime.enter();
        scope(|scope| {
            let failing = scope.spawn(async { panic!("in a task") });
            let endless = scope.spawn(pending::<()>());
            endless.abort();
            runtime.block_on(async {
                assert!(failing.await.unwrap_err().is_panic());
                assert!(endless.await.unwrap_err().is_cancelled());
            });
        });
    }
}

#[test]
fn tasks_of_a_scope_spawn_into_it_and_a_worker_may_open_one() {
    for runtime in runtimes().skip(1) {
        let job = runtime.handle().spawn_cpu(|| {
            let done = AtomicUsize::new(0);
            let counter = &done;
            scope(|scope| {
                scope.spawn(async move {
                    for _ in 0..10 {
                        scope.spawn(async move {
                            counter.fetch_add(1, Ordering::Relaxed);
                        });
                    }
                });
            });
            done.into_inner()
        });
        assert_eq!(runtime.block_on(job).unwrap(), 10);
    }
}

#[test]
#[should_panic(expected = "would wait for itself")]
fn a_scope_inside_of_the_only_threads_task_is_an_error() {
    let runtime = Builder::new_current_thread().build().unwrap();
    let task = runtime.spawn(async { scope(|_| ()) });
    let error = runtime.block_on(task).unwrap_err();
    std::panic::resume_unwind(error.into_panic());
}
