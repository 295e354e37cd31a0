//! Pools: sizes, builders, failures, the end.
#![cfg(not(loom))]

use blitz_core::primitives::BackoffMode;
use blitz_core::{ThreadPoolBuilder, join};
use std::cell::RefCell;
use std::collections::HashSet;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

fn sum(from: u64, to: u64) -> u64 {
    if to - from == 1 {
        return from;
    }
    let middle = from + (to - from) / 2;
    let (left, right) = join(|| sum(from, middle), || sum(middle, to));
    left + right
}

#[test]
fn pools_of_many_sizes_work_and_end() {
    for threads in [1, 2, 3, 65, 200] {
        let ended = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&ended);
        let (sender, receiver) = mpsc::channel::<()>();
        let sender = Mutex::new(sender);
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .exit_handler(move |_| {
                let _alive_until_now = sender.lock().unwrap();
                count.fetch_add(1, Ordering::Relaxed);
            })
            .build()
            .unwrap();
        assert_eq!(pool.current_num_threads(), threads);
        assert_eq!(pool.install(|| sum(0, 5000)), 5000 * 4999 / 2);
        let indices: HashSet<usize> = pool.broadcast(|c| c.index()).into_iter().collect();
        assert_eq!(indices.len(), threads);
        drop(pool);
        // The channel closes when the last thread has let go of the handler.
        assert!(receiver.recv().is_err());
        assert_eq!(ended.load(Ordering::Relaxed), threads);
    }
}

#[test]
fn every_backoff_mode_finishes_its_work() {
    for mode in [
        BackoffMode::LowLatency,
        BackoffMode::Balanced,
        BackoffMode::PowerSaving,
    ] {
        let pool = ThreadPoolBuilder::new()
            .num_threads(2)
            .backoff(mode)
            .build()
            .unwrap();
        assert_eq!(pool.install(|| sum(0, 5000)), 5000 * 4999 / 2);
        assert_eq!(pool.spawn_handle(|| 5).join().unwrap(), 5);
    }
}

#[test]
fn pinned_and_free_pools_give_the_same_answers() {
    for pin in [true, false] {
        let pool = ThreadPoolBuilder::new()
            .num_threads(3)
            .pin_workers(pin)
            .build()
            .unwrap();
        for _ in 0..20 {
            assert_eq!(pool.install(|| sum(0, 1000)), 499_500);
        }
    }
}

#[test]
fn zero_threads_asks_for_the_default() {
    let pool = ThreadPoolBuilder::new().num_threads(0).build().unwrap();
    assert!(pool.current_num_threads() >= 1);
}

#[test]
fn too_many_threads_is_an_error_that_says_so() {
    let error = ThreadPoolBuilder::new()
        .num_threads(1_000_000)
        .build()
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("num_threads") && text.contains("1000000"),
        "{text}"
    );
}

#[test]
fn a_thread_that_cannot_be_started_is_an_error_and_ends_the_others() {
    let ended = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&ended);
    let handles = Arc::new(Mutex::new(Vec::new()));
    let started = Arc::clone(&handles);
    let error = ThreadPoolBuilder::new()
        .num_threads(5)
        .exit_handler(move |_| {
            count.fetch_add(1, Ordering::Relaxed);
        })
        .spawn_handler(move |builder| {
            if builder.index() == 3 {
                return Err(io::Error::other("no more threads today"));
            }
            let handle = thread::Builder::new().spawn(|| builder.run())?;
            started.lock().unwrap().push(handle);
            Ok(())
        })
        .build()
        .unwrap_err();
    assert!(error.to_string().contains("no more threads today"));
    let handles = std::mem::take(&mut *handles.lock().unwrap());
    handles.into_iter().for_each(|h| h.join().unwrap());
    assert_eq!(ended.load(Ordering::Relaxed), 3);
}

#[test]
fn custom_threads_run_the_installed_closure() {
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .thread_name(|i| format!("custom-{i}"))
        .build()
        .unwrap();
    let name = pool.install(|| thread::current().name().map(str::to_owned));
    assert!(name.unwrap().starts_with("custom-"));
    let here = thread::current().id();
    let plain = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    assert_ne!(plain.install(|| thread::current().id()), here);
    let open = ThreadPoolBuilder::new()
        .num_threads(2)
        .caller_participates(true)
        .build()
        .unwrap();
    assert_eq!(open.install(|| thread::current().id()), here, "a guest");
}

#[test]
fn the_current_thread_can_be_part_of_a_pool() {
    thread::spawn(|| {
        let pool = ThreadPoolBuilder::new()
            .num_threads(2)
            .use_current_thread()
            .build()
            .unwrap();
        assert_eq!(pool.current_thread_index(), Some(0));
        assert_eq!(pool.install(|| sum(0, 1000)), 499_500);
        let again = ThreadPoolBuilder::new().use_current_thread().build();
        assert!(again.unwrap_err().to_string().contains("already part of"));
    })
    .join()
    .unwrap();
}

#[test]
fn stats_count_what_happens() {
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .caller_participates(false)
        .build()
        .unwrap();
    for _ in 0..10 {
        pool.install(|| ());
    }
    let stats = pool.stats();
    assert_eq!(stats.workers.len(), 2);
    assert!(stats.total.executed >= 10);
    pool.wait_idle();
    pool.reset_stats();
    assert!(pool.stats().total.executed <= stats.total.executed);
}

#[test]
fn a_spawned_panic_without_a_handler_is_not_silent() {
    // In a child process, because it aborts.
    if std::env::var_os("BLITZ_TEST_ABORTS").is_some() {
        let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        pool.spawn(|| panic!("planned"));
        pool.wait_idle();
        return;
    }
    let this = std::env::current_exe().unwrap();
    let output = std::process::Command::new(this)
        .args([
            "--exact",
            "a_spawned_panic_without_a_handler_is_not_silent",
            "--nocapture",
        ])
        .env("BLITZ_TEST_ABORTS", "1")
        .output()
        .unwrap();
    assert!(!output.status.success());
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("no panic handler"), "{text}");
}

#[test]
fn a_panic_while_a_thread_is_named_ends_those_that_were_started_before() {
    let (starts, exits) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (on_start, on_exit) = (Arc::clone(&starts), Arc::clone(&exits));
    let builder = ThreadPoolBuilder::new()
        .num_threads(5)
        .start_handler(move |_| {
            on_start.fetch_add(1, Ordering::SeqCst);
        })
        .exit_handler(move |_| {
            on_exit.fetch_add(1, Ordering::SeqCst);
        })
        .thread_name(|index| {
            assert!(index < 3, "planned");
            format!("named-{index}")
        });
    assert!(catch_unwind(AssertUnwindSafe(|| builder.build())).is_err());
    while exits.load(Ordering::SeqCst) < 3 {
        thread::yield_now();
    }
    assert_eq!(starts.load(Ordering::SeqCst), 3);
}

thread_local! {
    static LAST: AtTheEnd = const { AtTheEnd(RefCell::new(None)) };
}

struct AtTheEnd(RefCell<Option<Box<dyn FnOnce()>>>);

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        if let Some(run) = self.0.take() {
            run();
        }
    }
}

#[test]
fn destructors_of_thread_locals_may_use_pools() {
    let (done, is_done) = mpsc::channel();
    thread::spawn(move || {
        let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
        let use_it = move |pool: &blitz_core::ThreadPool| {
            let installed = pool.install(|| sum(0, 11));
            let scoped = pool.in_place_scope(|_| sum(0, 11));
            let joined = pool.spawn_handle(|| sum(0, 11)).join().unwrap();
            let everywhere = pool.broadcast(|_| sum(0, 11));
            done.send((installed, scoped, joined, everywhere, join(|| 1, || 2)))
                .unwrap();
        };
        // There before what the pool needs on this thread, and so destroyed after it.
        LAST.with(|last| *last.0.borrow_mut() = None);
        use_it(&pool);
        LAST.with(|last| *last.0.borrow_mut() = Some(Box::new(move || use_it(&pool))));
    })
    .join()
    .unwrap();
    let answers: Vec<_> = is_done.iter().collect();
    assert_eq!(answers, vec![(55, 55, 55, vec![55, 55], (1, 2)); 2]);
}

#[test]
fn a_pool_that_could_not_be_built_leaves_the_calling_thread_as_it_was() {
    let attempt = |may_start: usize| {
        let mut started = 0;
        ThreadPoolBuilder::new()
            .num_threads(3)
            .use_current_thread()
            .spawn_handler(move |thread| {
                started += 1;
                if started > may_start {
                    return Err(io::Error::other("no more threads today"));
                }
                thread::spawn(|| thread.run());
                Ok(())
            })
            .build()
    };
    let here = move || {
        assert!(attempt(1).is_err());
        assert_eq!(blitz_core::current_thread_index(), None);
        // Spawned in the global pool, not in the one that is gone.
        assert_eq!(blitz_core::spawn_handle(|| 5).join().unwrap(), 5);
        // It is free to try again.
        let pool = attempt(2).unwrap();
        assert_eq!(blitz_core::current_thread_index(), Some(0));
        assert_eq!(pool.install(|| sum(0, 1000)), 499_500);
    };
    // That thread is the pool's for good.
    thread::spawn(here).join().unwrap();
}

#[test]
fn tasks_that_an_exit_handler_spawns_are_run() {
    let (sender, ran) = mpsc::channel();
    let sender = Mutex::new(sender);
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .exit_handler(move |index| {
            let sender = sender.lock().unwrap().clone();
            let again = sender.clone();
            blitz_core::spawn(move || {
                blitz_core::spawn_fifo(move || again.send((index, "later")).unwrap());
                sender.send((index, "first")).unwrap();
            });
        })
        .build()
        .unwrap();
    drop(pool);
    let mut seen: Vec<_> = ran.iter().collect();
    seen.sort_unstable();
    let expected = [(0, "first"), (0, "later"), (1, "first"), (1, "later")];
    assert_eq!(seen, expected);
}

#[test]
fn a_scoped_pool_ends_although_a_thread_was_never_run() {
    let skips = |thread: blitz_core::ThreadBuilder| {
        if thread.index() != 1 {
            thread.run();
        }
    };
    let build = || ThreadPoolBuilder::new().num_threads(3);
    let sum = build().build_scoped(skips, |pool| pool.install(|| 6 * 7));
    assert_eq!(sum.unwrap(), 42);
    let panics = |thread: blitz_core::ThreadBuilder| {
        assert_ne!(thread.index(), 1, "planned");
        thread.run();
    };
    let result =
        std::panic::catch_unwind(|| build().build_scoped(panics, |pool| pool.install(|| 1)));
    assert!(result.is_err(), "the panic goes on");
}

#[test]
fn a_spawn_handler_that_runs_no_thread_at_all_is_told_so() {
    let builder = || ThreadPoolBuilder::new().num_threads(2);
    let error = builder().spawn_handler(|_| Ok(())).build().unwrap_err();
    assert!(error.to_string().contains("ThreadBuilder::run"), "{error}");
    // As with rayon, fewer than asked for will do.
    let fewer = builder().spawn_handler(|thread| {
        if thread.index() == 1 {
            std::thread::spawn(|| thread.run());
        }
        Ok(())
    });
    assert_eq!(fewer.build().unwrap().install(|| 1 + 1), 2);
}
