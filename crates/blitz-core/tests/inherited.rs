//! Values that work inherits from whoever started it, on whichever thread it runs.
#![cfg(not(loom))]

use blitz_core::{
    CancelToken, Inherited, ThreadPool, ThreadPoolBuilder, checkpoint, current_token,
    in_place_scope, is_cancelled, join, scope,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

static NUMBER: Inherited<u64> = Inherited::new();
static NAME: Inherited<String> = Inherited::new();

fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap()
}

/// Forks until another thread has taken a right half; returns what `left` and `right` have seen there.
fn stolen<A: Send, B: Send>(left: impl Fn() -> A + Sync, right: impl Fn() -> B + Sync) -> (A, B) {
    let here = thread::current().id();
    loop {
        let taken = AtomicBool::new(false);
        let left = || {
            let result = left();
            // Nobody takes it back meanwhile.
            for _ in 0..10_000 {
                if taken.load(Ordering::SeqCst) {
                    break;
                }
                thread::yield_now();
            }
            result
        };
        let right = || {
            taken.store(true, Ordering::SeqCst);
            (right(), thread::current().id())
        };
        let (a, (b, there)) = join(left, right);
        if there != here {
            return (a, b);
        }
    }
}

#[test]
fn a_stolen_half_inherits_what_was_there_when_it_was_forked() {
    pool(2).install(|| {
        let seen = NUMBER.set(1, || {
            stolen(|| NUMBER.set(2, || NUMBER.get()), || NUMBER.get())
        });
        assert_eq!(seen, (Some(2), Some(1)));
        assert_eq!(stolen(|| (), || NUMBER.get()).1, None);
    });
}

#[test]
fn a_half_that_is_stolen_from_a_thief_inherits_it_too() {
    pool(3).install(|| {
        let inner = || stolen(|| NUMBER.get(), || (NUMBER.get(), NAME.get()));
        let (_, seen) = NUMBER.set(3, || NAME.set("deep".into(), || stolen(|| (), inner)));
        assert_eq!(seen, (Some(3), (Some(3), Some("deep".into()))));
    });
}

#[test]
fn a_caller_from_outside_brings_its_value_along() {
    let other = pool(2);
    for _ in 0..100 {
        // As a guest of the global pool, and handed over to another one.
        let (a, b) = NUMBER.set(7, || join(|| NUMBER.get(), || NUMBER.get()));
        assert_eq!((a, b), (Some(7), Some(7)));
        let seen = NUMBER.set(8, || {
            other.install(|| (NUMBER.get(), stolen(|| (), || NUMBER.get()).1))
        });
        assert_eq!(seen, (Some(8), Some(8)));
        assert_eq!(other.install(|| NUMBER.get()), None);
    }
    let two = pool(1);
    let seen = NUMBER.set(9, || other.install(|| two.install(|| NUMBER.get())));
    assert_eq!(seen, Some(9));
}

#[test]
fn tasks_inherit_what_their_spawner_had_and_keep_it_when_that_is_gone() {
    let value = Arc::new(5);
    static SHARED: Inherited<Arc<i32>> = Inherited::new();
    let pool = pool(2);
    let (go, wait) = mpsc::channel::<()>();
    let wait = Arc::new(Mutex::new(wait));
    let handle = SHARED.set(Arc::clone(&value), || {
        pool.spawn_handle(move || {
            let _ = wait.lock().unwrap().recv();
            let fork = join(|| SHARED.get(), || SHARED.get());
            let task = blitz_core::spawn_handle(|| SHARED.get()).join().unwrap();
            [fork.0, fork.1, task].map(|seen| seen.as_deref().copied())
        })
    });
    assert_eq!(Arc::strong_count(&value), 2);
    drop(go);
    assert_eq!(handle.join().unwrap(), [Some(5); 3]);
    // The task gives its share back after it has told of its end.
    while Arc::strong_count(&value) > 1 {
        thread::yield_now();
    }
    let (sender, receiver) = mpsc::channel();
    for fifo in [false, true] {
        let sender = sender.clone();
        NUMBER.set(4, || {
            let tell = move || sender.send(NUMBER.get()).unwrap();
            if fifo {
                pool.spawn_fifo(tell)
            } else {
                pool.spawn(tell)
            }
        });
        assert_eq!(receiver.recv().unwrap(), Some(4));
    }
}

#[test]
fn tasks_of_a_scope_inherit_what_was_there_when_they_were_spawned() {
    let pool = pool(2);
    let seen = Mutex::new(Vec::new());
    let note = |what: u64| seen.lock().unwrap().push((what, NUMBER.get()));
    let fill = || {
        scope(|s| {
            NUMBER.set(1, || s.spawn(|_| note(1)));
            NUMBER.set(2, || {
                s.spawn(|s| {
                    note(2);
                    s.spawn(|_| note(2));
                })
            });
            s.spawn(|_| note(3));
        })
    };
    NUMBER.set(3, || pool.install(fill));
    NUMBER.set(3, || in_place_scope(|s| s.spawn(|_| note(3))));
    pool.scope_fifo(|s| NUMBER.set(5, || s.spawn_fifo(|_| note(5))));
    let seen = seen.into_inner().unwrap();
    assert_eq!(seen.len(), 6);
    assert!(
        seen.iter().all(|(what, seen)| Some(*what) == *seen),
        "{seen:?}"
    );
}

#[test]
fn broadcasts_inherit_it() {
    let pool = pool(3);
    let seen = NUMBER.set(6, || pool.broadcast(|_| NUMBER.get()));
    assert_eq!(seen, [Some(6); 3]);
    let seen = NUMBER.set(6, || {
        pool.install(|| blitz_core::broadcast(|_| NUMBER.get()))
    });
    assert_eq!(seen, [Some(6); 3]);
    let (sender, receiver) = mpsc::channel();
    NUMBER.set(7, || {
        pool.spawn_broadcast(move |_| sender.send(NUMBER.get()).unwrap())
    });
    assert_eq!(receiver.iter().collect::<Vec<_>>(), [Some(7); 3]);
    let sum = AtomicUsize::new(0);
    pool.scope(|s| {
        NUMBER.set(8, || {
            s.spawn_broadcast(|_, _| {
                sum.fetch_add(NUMBER.get().unwrap() as usize, Ordering::Relaxed);
            });
        });
    });
    assert_eq!(sum.into_inner(), 24);
}

#[test]
fn what_a_waiting_thread_runs_does_not_see_the_waiters_value() {
    // One thread: it runs the task while it waits for it, inside of its own `set`.
    let pool = pool(1);
    let seen = pool.install(|| {
        let task = blitz_core::spawn_handle(|| NUMBER.get());
        NUMBER.set(1, || (task.join().unwrap(), NUMBER.get()))
    });
    assert_eq!(seen, (None, Some(1)));
}

#[test]
fn a_panic_leaves_the_value_that_was_there_before() {
    let check = || {
        NUMBER.set(1, || {
            let result = catch_unwind(AssertUnwindSafe(|| {
                NUMBER.set(2, || join(|| panic!("left"), || ()));
            }));
            assert!(result.is_err());
            assert_eq!(NUMBER.get(), Some(1));
            assert_eq!(join(|| NUMBER.get(), || NUMBER.get()), (Some(1), Some(1)));
        });
        assert_eq!(NUMBER.get(), None);
    };
    check();
    pool(2).install(check);
}

#[test]
fn two_values_do_not_hide_each_other() {
    let seen = NUMBER.set(1, || {
        NAME.set("x".into(), || NUMBER.set(2, || (NUMBER.get(), NAME.get())))
    });
    assert_eq!(seen, (Some(2), Some("x".into())));
    assert!(NAME.with(|name| name.is_none()));
}

/// Calls `work` with a token that is its own, and returns how often that was made, too.
fn with_own_token<R>(token: &CancelToken, work: impl FnOnce() -> R) -> (R, usize) {
    let made = AtomicUsize::new(0);
    let make = || {
        made.fetch_add(1, Ordering::SeqCst);
        token.clone()
    };
    let result = CancelToken::run_apart(&make, work);
    (result, made.into_inner())
}

#[test]
fn a_token_of_ones_own_is_made_when_somebody_asks() {
    pool(2).install(|| {
        let token = CancelToken::new();
        let idle = || {
            let (send, receive) = mpsc::channel();
            blitz_core::spawn(move || send.send((NUMBER.get(), is_cancelled())).unwrap());
            let halves = stolen(|| NUMBER.get(), || NUMBER.get());
            (
                halves,
                receive.recv().unwrap(),
                blitz_core::current_priority(),
            )
        };
        let ((halves, detached, _), made) = NUMBER.set(7, || with_own_token(&token, idle));
        assert_eq!(
            (halves, detached, made),
            ((Some(7), Some(7)), (Some(7), false), 0)
        );
        let (asked, made) = with_own_token(&token, || {
            assert!(!is_cancelled());
            token.cancel();
            // A copy outlives the call.
            (is_cancelled(), current_token())
        });
        assert_eq!((asked.0, made), (true, 1));
        assert!(asked.1.unwrap().is_cancelled());
        assert!(!is_cancelled() && current_token().is_none());
    });
}

#[test]
fn a_thief_is_stopped_by_a_token_that_nobody_has_asked_for_before() {
    pool(2).install(|| {
        let token = CancelToken::new();
        let sees = || {
            token.cancel();
            is_cancelled()
        };
        let ((_, seen), made) = with_own_token(&token, || stolen(|| (), sees));
        assert!(seen && made > 0);
        let again = || with_own_token(&token, || stolen(|| (), checkpoint));
        assert!(catch_unwind(AssertUnwindSafe(again)).is_err());
    });
}

#[test]
fn a_token_of_ones_own_is_beside_the_callers_and_not_for_detached_tasks() {
    pool(2).install(|| {
        let (outer, own) = (CancelToken::new(), CancelToken::new());
        let detached = || {
            let (send, receive) = mpsc::channel();
            blitz_core::spawn(move || {
                let sees = (current_token().is_some(), is_cancelled(), NUMBER.get());
                send.send(sees).unwrap();
            });
            receive.recv()
        };
        let (seen, _) = with_own_token(&own, || {
            own.cancel();
            assert!(is_cancelled());
            // A value makes a node that has the token, too.
            let below = NUMBER.set(3, || (is_cancelled(), detached()));
            (detached(), below)
        });
        assert_eq!(
            seen,
            (
                Ok((false, false, None)),
                (true, Ok((false, false, Some(3))))
            )
        );
        let own = CancelToken::new();
        let ran = outer.run(|| {
            let inside = || {
                let (before, _) = (is_cancelled(), outer.cancel());
                (before, is_cancelled(), own.is_cancelled(), detached())
            };
            with_own_token(&own, inside).0
        });
        let (before, after, others, detached) = ran.unwrap();
        assert_eq!((before, after, others), (false, true, false));
        // The caller's stops it before it begins.
        assert!(detached.is_err());
    });
}
