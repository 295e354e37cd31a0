//! The end of a pool, as seen by whoever ends it, by those who are in it, and by those who come too late.
#![cfg(not(loom))]

use blitz_core::{ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(100);

fn pool(threads: usize) -> ThreadPool {
    let builder = ThreadPoolBuilder::new().num_threads(threads);
    builder.build().unwrap()
}

fn pool_with_guests(threads: usize) -> ThreadPool {
    let builder = ThreadPoolBuilder::new().num_threads(threads);
    builder.caller_participates(true).build().unwrap()
}

/// What `call` says when it panics.
fn complaint<R>(call: impl FnOnce() -> R) -> String {
    let payload = catch_unwind(AssertUnwindSafe(call))
        .map(|_| ())
        .unwrap_err();
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => payload.downcast_ref::<&str>().unwrap().to_string(),
    }
}

/// Counts when it is dropped, after a while.
#[cfg(not(windows))]
struct Late(Arc<AtomicUsize>);

#[cfg(not(windows))]
impl Drop for Late {
    fn drop(&mut self) {
        thread::sleep(Duration::from_millis(20));
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[cfg(not(windows))]
thread_local! {
    static LATE: std::cell::RefCell<Option<Late>> = const { std::cell::RefCell::new(None) };
}

#[test]
fn a_shutdown_runs_what_is_queued_and_what_that_spawns() {
    for threads in [1, 2, 3] {
        let pool = pool(threads);
        let count = Arc::new(AtomicUsize::new(0));
        for _ in 0..50 {
            let count = Arc::clone(&count);
            pool.spawn(move || {
                count.fetch_add(1, Ordering::SeqCst);
                blitz_core::spawn(move || {
                    count.fetch_add(1, Ordering::SeqCst);
                    blitz_core::spawn_fifo(move || {
                        count.fetch_add(1, Ordering::SeqCst);
                    });
                });
            });
        }
        pool.shutdown();
        assert_eq!(count.load(Ordering::SeqCst), 150);
    }
}

// On Windows nobody may wait for the destructors of thread-locals: they have a lock that threads need to end (`process_fork.rs`).
#[cfg(not(windows))]
#[test]
fn a_shutdown_joins_the_threads() {
    let gone = Arc::new(AtomicUsize::new(0));
    let pool = pool(3);
    pool.broadcast(|_| LATE.set(Some(Late(Arc::clone(&gone)))));
    pool.shutdown();
    // Destructors of thread-locals are the last of a thread's own code.
    assert_eq!(gone.load(Ordering::SeqCst), 3);
}

#[test]
fn a_shutdown_that_has_no_time_says_so_and_can_be_repeated() {
    let pool = pool(2);
    let (go_on, wait) = mpsc::channel::<()>();
    pool.spawn(move || wait.recv().unwrap());
    assert!(!pool.shutdown_timeout(Duration::ZERO));
    assert!(!pool.shutdown_timeout(Duration::from_millis(10)));
    go_on.send(()).unwrap();
    assert!(pool.shutdown_timeout(Duration::MAX));
    assert!(pool.shutdown_timeout(Duration::ZERO));
    pool.shutdown();
}

#[test]
fn a_pool_that_has_been_shut_down_refuses_work_and_says_why() {
    for pool in [pool(2), pool_with_guests(2)] {
        pool.shutdown();
        let all: [(&str, &dyn Fn()); 8] = [
            ("install", &|| pool.install(|| ())),
            ("join", &|| assert_eq!(pool.join(|| 1, || 2), (1, 2))),
            ("scope", &|| pool.scope(|_| ())),
            ("in_place_scope", &|| pool.in_place_scope(|_| ())),
            ("spawn", &|| pool.spawn(|| ())),
            ("spawn_fifo", &|| pool.spawn_fifo(|| ())),
            ("spawn_handle", &|| drop(pool.spawn_handle(|| ()))),
            ("broadcast", &|| drop(pool.broadcast(|_| ()))),
        ];
        for (name, call) in all {
            let text = complaint(call);
            assert!(text.contains("has been shut down"), "{name}: {text}");
        }
        let elsewhere = pool_with_guests(1);
        let text = complaint(|| elsewhere.install(|| pool.install(|| ())));
        assert!(text.contains("has been shut down"), "{text}");
        // Questions are answered.
        assert_eq!(pool.current_num_threads(), 2);
        pool.wait_idle();
        assert_eq!(pool.stats().workers.len(), 2);
    }
}

#[test]
fn a_shutdown_from_inside_is_a_panic_that_says_what_to_do() {
    let (pool, other) = (Arc::new(pool(2)), pool(1));
    let inner = Arc::clone(&pool);
    let task = pool.spawn_handle(move || complaint(|| inner.shutdown()));
    let texts = [
        task.join().unwrap(),
        pool.install(|| complaint(|| pool.shutdown_timeout(Duration::ZERO))),
        // Its body runs outside, but the pool cannot end before it does.
        pool.in_place_scope(|_| complaint(|| pool.shutdown_timeout(Duration::ZERO))),
        pool.in_place_scope_fifo(|_| {
            other.in_place_scope(|_| complaint(|| pool.shutdown_timeout(Duration::ZERO)))
        }),
    ];
    other.shutdown();
    for text in texts {
        assert!(text.contains("from outside, or drop the pool"), "{text}");
    }
    // Nothing has happened to it.
    assert_eq!(pool.install(|| 42), 42);
    let guests = pool_with_guests(1);
    let text = guests.install(|| complaint(|| guests.shutdown()));
    assert!(text.contains("from outside, or drop the pool"), "{text}");
    guests.shutdown();
}

#[test]
fn a_guest_that_is_inside_keeps_the_pool_and_others_are_turned_away() {
    let pool = pool_with_guests(2);
    let (entered, is_inside) = mpsc::channel();
    let (go_on, wait) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let inner = &pool;
        let guest = scope.spawn(move || {
            inner.install(move || {
                entered.send(()).unwrap();
                wait.recv().unwrap();
                // It is still a pool, with threads: a detached task is run, and a handle is joined.
                let task = blitz_core::spawn_handle(|| 40);
                blitz_core::join(|| 1, || 1).0 + 1 + task.join().unwrap()
            })
        });
        is_inside.recv().unwrap();
        assert!(!pool.shutdown_timeout(Duration::from_millis(10)));
        assert!(complaint(|| pool.install(|| ())).contains("shut down"));
        assert!(complaint(|| pool.spawn(|| ())).contains("shut down"));
        go_on.send(()).unwrap();
        assert_eq!(guest.join().unwrap(), 42);
        assert!(pool.shutdown_timeout(LONG));
    });
}

#[test]
fn work_that_is_let_in_is_done_and_the_rest_is_refused_whoever_is_first() {
    for round in 0..200 {
        let pool = if round % 2 == 0 {
            pool(2)
        } else {
            pool_with_guests(2)
        };
        let ran = Arc::new(AtomicUsize::new(0));
        let start = Barrier::new(4);
        let let_in = thread::scope(|scope| {
            let comers = [0, 1, 2].map(|kind| {
                let (pool, start, ran) = (&pool, &start, &ran);
                scope.spawn(move || {
                    start.wait();
                    let mut let_in = 0;
                    loop {
                        let count = Arc::clone(ran);
                        let one = move || {
                            count.fetch_add(1, Ordering::SeqCst);
                        };
                        let call = AssertUnwindSafe(|| match kind {
                            0 => pool.install(one),
                            1 => pool.spawn(one),
                            _ => pool.in_place_scope(|scope| scope.spawn(move |_| one())),
                        });
                        if quietly(call).is_err() {
                            return let_in;
                        }
                        let_in += 1;
                    }
                })
            });
            start.wait();
            (0..round * 50).for_each(|_| std::hint::spin_loop());
            pool.shutdown();
            comers
                .map(|comer| comer.join().unwrap())
                .iter()
                .sum::<usize>()
        });
        assert_eq!(ran.load(Ordering::SeqCst), let_in, "round {round}");
    }
}

/// Without a message on the terminal.
fn quietly<R>(call: AssertUnwindSafe<impl FnOnce() -> R>) -> thread::Result<R> {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !info.to_string().contains("has been shut down") {
                usual(info);
            }
        }));
    });
    catch_unwind(call)
}

#[test]
fn several_threads_may_shut_a_pool_down_at_once() {
    let pool = pool(2);
    let (go_on, wait) = mpsc::channel::<()>();
    pool.spawn(move || wait.recv().unwrap());
    thread::scope(|scope| {
        let all = [(); 3].map(|()| scope.spawn(|| pool.shutdown()));
        go_on.send(()).unwrap();
        all.into_iter().for_each(|one| one.join().unwrap());
    });
}

#[test]
fn a_thread_of_another_pool_may_wait_for_the_end() {
    let (outer, inner) = (pool(1), pool(1));
    let count = Arc::new(AtomicUsize::new(0));
    outer.install(|| {
        // What the inner pool waits for is queued in the outer one, whose only thread waits here.
        let (sender, receiver) = mpsc::channel();
        let counting = Arc::clone(&count);
        blitz_core::spawn(move || sender.send(1).unwrap());
        inner.spawn(move || {
            counting.fetch_add(receiver.recv().unwrap(), Ordering::SeqCst);
        });
        inner.shutdown();
        assert_eq!(count.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn a_thread_that_was_there_before_its_pool_can_end_it_and_is_free_again() {
    for threads in [1, 3] {
        // On a thread of its own, which belongs to the pool as long as both exist.
        let through = thread::spawn(move || {
            let pool = ThreadPoolBuilder::new()
                .num_threads(threads)
                .use_current_thread()
                .build()
                .unwrap();
            let count = Arc::new(AtomicUsize::new(0));
            for _ in 0..10 {
                let count = Arc::clone(&count);
                pool.spawn(move || {
                    let again = Arc::clone(&count);
                    count.fetch_add(1, Ordering::SeqCst);
                    blitz_core::spawn_broadcast(move |_| {
                        again.fetch_add(1, Ordering::SeqCst);
                    });
                });
            }
            assert_eq!(blitz_core::current_thread_index(), Some(0));
            assert!(pool.shutdown_timeout(LONG));
            assert_eq!(count.load(Ordering::SeqCst), 10 + 10 * threads);
            assert_eq!(blitz_core::current_thread_index(), None);
            blitz_core::join(|| 1, || 2)
        });
        assert_eq!(through.join().unwrap(), (1, 2));
    }
}

#[test]
fn exit_handlers_have_run_when_a_shutdown_returns() {
    let gone = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&gone);
    let pool = ThreadPoolBuilder::new()
        .num_threads(4)
        .exit_handler(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
        })
        .build()
        .unwrap();
    pool.shutdown();
    assert_eq!(gone.load(Ordering::SeqCst), 4);
    drop(pool);
    assert_eq!(gone.load(Ordering::SeqCst), 4);
}

#[test]
fn threads_have_names_that_say_whose_they_are() {
    let name = || thread::current().name().map(str::to_owned);
    let names = pool(3).broadcast(|_| name());
    let expected = ["blitz-0", "blitz-1", "blitz-2"];
    assert_eq!(names, expected.map(|name| Some(name.to_owned())));
    #[cfg(target_os = "linux")]
    {
        let comm = || std::fs::read_to_string("/proc/thread-self/comm").unwrap();
        let names = pool(2).broadcast(|_| comm());
        assert_eq!(names, ["blitz-0\n", "blitz-1\n"]);
    }
}

#[cfg(target_pointer_width = "64")]
#[test]
fn a_thread_that_the_system_refuses_is_an_error_that_says_which_and_what_to_do() {
    let error = ThreadPoolBuilder::new()
        .num_threads(3)
        .stack_size(1 << (usize::BITS - 2))
        .build()
        .unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with("thread 0 of the 3 of a pool could not be started"));
    assert!(text.contains("ask for fewer threads"), "{text}");
    assert!(std::error::Error::source(&error).is_some());
}

#[cfg(target_os = "linux")]
#[cfg(target_pointer_width = "64")]
#[test]
fn a_pool_that_could_not_be_built_leaves_no_thread_behind() {
    // So large that the address space has room for some of them only. Where the system promises no memory that it has not got, there is room for none.
    let error = ThreadPoolBuilder::new()
        .num_threads(100)
        .stack_size(1 << 43)
        .thread_name(|index| format!("huge-{index}"))
        .build();
    let Err(error) = error else {
        return;
    };
    assert!(error.to_string().contains("of the 100"), "{error}");
    for task in std::fs::read_dir("/proc/self/task").unwrap() {
        let comm = std::fs::read_to_string(task.unwrap().path().join("comm"));
        assert!(!comm.unwrap_or_default().starts_with("huge-"));
    }
}
