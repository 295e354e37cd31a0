//! Stopping computations: what has not begun is dropped, what has begun ends at its next check point, and nothing is lost.
#![cfg(not(loom))]

use blitz_core::{
    CancelToken, Cancelled, ThreadPool, ThreadPoolBuilder, checkpoint, current_token, is_cancelled,
    join, scope, uncancelled,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
}

/// Ends by unwinding only.
fn for_ever() -> ! {
    loop {
        checkpoint();
        thread::yield_now();
    }
}

#[test]
fn both_halves_of_a_join_end() {
    for threads in [1, 2, 3] {
        let pool = pool(threads);
        let token = CancelToken::with_timeout(Duration::from_millis(5));
        let stopped = token.run(|| pool.join(|| for_ever(), || for_ever()));
        assert!(matches!(stopped, Err(why) if why.timed_out()));
        // The pool is as good as before.
        assert_eq!(pool.join(|| 1, || 2), (1, 2));
    }
}

#[test]
fn tasks_that_have_not_begun_are_dropped_and_counted() {
    let pool = pool(1);
    let token = CancelToken::new();
    let (begun, dropped) = (AtomicUsize::new(0), Arc::new(()));
    let stopped = token.run(|| {
        pool.scope(|s| {
            for _ in 0..10 {
                let (begun, held) = (&begun, Arc::clone(&dropped));
                s.spawn(move |_| {
                    let _held = held;
                    begun.fetch_add(1, Ordering::Relaxed);
                });
            }
            token.cancel();
        })
    });
    assert!(!stopped.unwrap_err().timed_out());
    assert_eq!((begun.into_inner(), token.skipped()), (0, 10));
    assert_eq!(Arc::strong_count(&dropped), 1);
}

#[test]
fn a_scope_that_loses_nothing_returns_its_result() {
    let token = CancelToken::new();
    let result = token.run(|| {
        scope(|s| {
            s.spawn(|_| ());
            7
        })
    });
    assert_eq!(result, Ok(7));
    // Cancelled, but through.
    assert_eq!(token.run(|| token.cancel()), Ok(()));
    assert_eq!(
        token.run(|| unreachable!()),
        token.why().map_or(Ok(()), Err)
    );
}

#[test]
fn handles_and_detached_tasks_are_told() {
    let pool = ThreadPoolBuilder::new()
        .num_threads(1)
        .panic_handler(|_| unreachable!("it is no panic"))
        .build()
        .unwrap();
    let token = CancelToken::new();
    let (go, wait) = mpsc::channel::<()>();
    pool.spawn(move || {
        let _ = wait.recv();
    });
    let handle = token.run(|| pool.spawn_handle(|| unreachable!())).unwrap();
    let dropped = Arc::new(());
    let held = Arc::clone(&dropped);
    token
        .run(|| pool.spawn(move || unreachable!("{held:?}")))
        .unwrap();
    token.cancel();
    drop(go);
    let payload = handle.join().unwrap_err();
    assert_eq!(Cancelled::of_panic(&*payload), token.why());
    pool.wait_idle();
    assert_eq!((Arc::strong_count(&dropped), token.skipped()), (1, 2));
    // One that has begun.
    let token = CancelToken::new();
    let handle = token.spawn_handle(|| for_ever());
    token.cancel();
    assert!(Cancelled::of_panic(&*handle.join().unwrap_err()).is_some());
}

#[test]
fn an_inner_run_does_not_catch_what_the_outer_token_stops() {
    let (outer, inner) = (CancelToken::new(), CancelToken::new());
    let mut after_inner = false;
    let stopped = outer.run(|| {
        let _ = inner.run(|| {
            outer.cancel();
            assert!(is_cancelled() && !inner.is_cancelled());
            checkpoint();
        });
        after_inner = true;
    });
    assert!(stopped.is_err() && !after_inner && !inner.is_cancelled());
    let (outer, inner) = (CancelToken::new(), CancelToken::new());
    let stopped = outer.run(|| {
        inner.run(|| {
            inner.cancel();
            join(checkpoint, checkpoint);
        })
    });
    assert!(stopped.unwrap().is_err() && !outer.is_cancelled());
}

#[test]
fn children_hang_on_their_parents_and_deadlines_are_the_earliest() {
    let parent = CancelToken::with_deadline(Instant::now());
    assert!(parent.child().why().unwrap().timed_out());
    let parent = CancelToken::new();
    let grandchild = parent.child().child_with_timeout(Duration::from_secs(3600));
    assert!(!grandchild.is_cancelled());
    parent.cancel();
    assert!(!grandchild.why().unwrap().timed_out());
    // The first reason stays.
    let token = CancelToken::new();
    token.cancel();
    let child = token.child_with_deadline(Instant::now());
    assert!(!child.why().unwrap().timed_out());
}

#[test]
fn a_section_that_must_not_be_stopped_is_not() {
    let token = CancelToken::new();
    let result = token.run(|| {
        token.cancel();
        let (a, b) = uncancelled(|| {
            let task = blitz_core::spawn_handle(is_cancelled);
            join(|| (is_cancelled(), checkpoint()), || task.join().unwrap())
        });
        assert!(is_cancelled() && current_token().is_some());
        (a.0, b)
    });
    assert_eq!(result, Ok((false, false)));
}

#[test]
fn a_panic_is_not_taken_for_a_cancellation() {
    let token = CancelToken::new();
    let result = catch_unwind(AssertUnwindSafe(|| {
        token.run(|| {
            token.cancel();
            panic!("a panic");
        })
    }));
    assert_eq!(result.unwrap_err().downcast_ref(), Some(&"a panic"));
}

#[test]
fn a_destructor_that_runs_while_it_unwinds_is_not_stopped() {
    struct Saves<'a>(&'a AtomicUsize);
    impl Drop for Saves<'_> {
        fn drop(&mut self) {
            checkpoint();
            let (a, b) = uncancelled(|| join(|| 1, || 2));
            self.0.fetch_add(a + b, Ordering::Relaxed);
        }
    }
    let saved = AtomicUsize::new(0);
    for pool in [pool(1), pool(2)] {
        let token = CancelToken::new();
        let stopped = token.run(|| {
            pool.install(|| {
                let _saves = Saves(&saved);
                token.cancel();
                checkpoint();
            })
        });
        assert!(stopped.is_err());
    }
    assert_eq!(saved.into_inner(), 6);
}

#[test]
fn a_token_stops_what_other_threads_run_for_it() {
    let pool = pool(4);
    for _ in 0..20 {
        let token = CancelToken::new();
        let at_work = AtomicUsize::new(0);
        let stopped = thread::scope(|threads| {
            threads.spawn(|| {
                while at_work.load(Ordering::SeqCst) < 2 {
                    thread::yield_now();
                }
                token.cancel();
            });
            token.run(|| {
                pool.scope(|s| {
                    for _ in 0..100 {
                        s.spawn(|_| {
                            at_work.fetch_add(1, Ordering::SeqCst);
                            for_ever()
                        });
                    }
                })
            })
        });
        assert!(stopped.is_err());
        let begun = at_work.into_inner();
        assert!((2..=5).contains(&begun), "{begun}");
        assert_eq!(token.skipped(), 100 - begun);
    }
}

#[test]
fn many_generations_of_children_need_no_stack() {
    let oldest = CancelToken::new();
    let youngest = (0..200_000).fold(oldest.clone(), |token, _| token.child());
    assert!(!youngest.is_cancelled());
    oldest.cancel();
    assert!(youngest.is_cancelled());
    drop(youngest);
    drop((0..200_000).fold(CancelToken::new(), |token, _| token.child()));
}

#[test]
fn tasks_that_spawn_their_successors_under_a_token_make_no_chain() {
    static HELD: blitz_core::Inherited<Arc<()>> = blitz_core::Inherited::new();
    fn generation(number: usize, token: CancelToken, held: Arc<()>, tell: mpsc::Sender<usize>) {
        if number == 0 {
            return tell.send(Arc::strong_count(&held)).unwrap();
        }
        let value = Arc::clone(&held);
        let spawn = |token: CancelToken| {
            HELD.set(value, || {
                blitz_core::spawn(move || generation(number - 1, token, held, tell));
            });
        };
        let again = token.clone();
        token.run(|| spawn(again)).unwrap();
    }
    let (tell, told) = mpsc::channel();
    generation(10_000, CancelToken::new(), Arc::new(()), tell);
    let alive = told.recv().unwrap();
    assert!(alive < 10, "{alive} generations are alive");
}

/// Runs `work` under so many tokens, one inside of the other, each of them made by `make` from the one in force.
fn nested<R>(
    depth: usize,
    make: &dyn Fn(CancelToken) -> CancelToken,
    work: &dyn Fn() -> R,
) -> Result<R, Cancelled> {
    match depth {
        0 => Ok(work()),
        _ => make(current_token().unwrap()).run(|| nested(depth - 1, make, work))?,
    }
}

#[test]
fn a_token_is_asked_once_however_many_ways_lead_to_it() {
    let child = |token: CancelToken| token.child_with_timeout(Duration::from_secs(3600));
    // Beside a stranger, so that the child hangs on what is in force when the stranger has gone.
    let beside = |token: CancelToken| {
        let here = CancelToken::new().run(|| current_token().unwrap()).unwrap();
        drop(token);
        here.child()
    };
    let makes: [&dyn Fn(CancelToken) -> CancelToken; 2] = [&child, &beside];
    for make in makes {
        let asked = Arc::new(AtomicUsize::new(0));
        let counts = Arc::clone(&asked);
        let first = CancelToken::watching(move || {
            counts.fetch_add(1, Ordering::Relaxed);
            false
        });
        let times = first.run(|| {
            nested(16, make, &|| {
                let before = asked.load(Ordering::Relaxed);
                assert!(!is_cancelled());
                asked.load(Ordering::Relaxed) - before
            })
        });
        assert_eq!(times, Ok(Ok(1)));
        // And counts once.
        let stopped = first.run(|| {
            nested(5, make, &|| {
                first.cancel();
                blitz_core::scope(|scope| scope.spawn(|_| unreachable!()));
            })
        });
        assert!(stopped.and_then(|inner| inner).is_err());
        assert_eq!(first.skipped(), 1);
    }
}

#[test]
fn many_tokens_one_beside_the_other_need_no_stack() {
    let many = || {
        let first = CancelToken::new();
        let beside = |token: CancelToken, _| {
            let here = token.run(|| CancelToken::new().run(|| current_token().unwrap()));
            here.unwrap().unwrap()
        };
        let last = (0..1000).fold(first.clone(), beside);
        assert!(!last.is_cancelled());
        first.cancel();
        assert!(last.is_cancelled());
        drop((first, last));
    };
    let builder = std::thread::Builder::new().stack_size(128 << 10);
    builder.spawn(many).unwrap().join().unwrap();
}
