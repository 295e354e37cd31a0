//! Threads that are not in the pool: they may hold any lock, they do not keep the pool's own tasks waiting, and a name costs them nothing.
#![cfg(not(loom))]

use blitz_core::{Scope, ThreadPool, ThreadPoolBuilder, join, scope};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

fn guests(threads: usize) -> ThreadPool {
    let builder = ThreadPoolBuilder::new().num_threads(threads);
    builder.caller_participates(true).build().unwrap()
}

fn sum(from: u64, to: u64) -> u64 {
    if to - from < 10 {
        return (from..to).sum();
    }
    let middle = from + (to - from) / 2;
    let (a, b) = join(|| sum(from, middle), || sum(middle, to));
    a + b
}

fn count(counter: &AtomicUsize) {
    counter.fetch_add(1, Ordering::Relaxed);
}

/// Runs `work` on a thread that holds a lock for which every thread of `pool` waits.
fn while_all_wait_for_a_lock<R: Send>(pool: &ThreadPool, work: impl FnOnce() -> R + Send) -> R {
    let lock = Arc::new(Mutex::new(0));
    let held = lock.lock().unwrap();
    let threads = pool.current_num_threads();
    let all_wait = Arc::new(Barrier::new(threads + 1));
    for _ in 0..threads {
        let (lock, all_wait) = (Arc::clone(&lock), Arc::clone(&all_wait));
        pool.spawn(move || {
            all_wait.wait();
            *lock.lock().unwrap() += 1;
        });
    }
    all_wait.wait();
    let result = work();
    drop(held);
    pool.wait_idle();
    assert_eq!(*lock.lock().unwrap(), threads);
    result
}

#[test]
fn an_outside_thread_may_hold_a_lock_that_all_threads_wait_for() {
    for threads in [1, 2, 5] {
        let pool = guests(threads);
        let spawned = AtomicUsize::new(0);
        let sums = while_all_wait_for_a_lock(&pool, || {
            pool.scope(|s| {
                s.spawn(|s| {
                    count(&spawned);
                    s.spawn(|_| count(&spawned));
                });
            });
            pool.in_place_scope(|s| {
                s.spawn(|s| {
                    count(&spawned);
                    s.spawn(|_| count(&spawned));
                });
            });
            let handle = pool.spawn_handle(|| sum(0, 100));
            assert_eq!(handle.join().unwrap(), 4950);
            pool.in_place_scope(|s| assert_eq!(s.spawn_handle(|_| 42).join().unwrap(), 42));
            (pool.install(|| sum(0, 1000)), pool.join(|| 1, || 2))
        });
        assert_eq!(sums, (499_500, (1, 2)));
        assert_eq!(spawned.into_inner(), 4);
    }
}

#[test]
fn after_the_first_call_that_has_to_be_taken_back_the_others_do_not_wait() {
    let pool = guests(2);
    let took = while_all_wait_for_a_lock(&pool, || {
        pool.install(|| ());
        let start = Instant::now();
        (0..1000).for_each(|_| pool.install(|| ()));
        start.elapsed()
    });
    // One by one, each would take 50 ms.
    assert!(took < Duration::from_secs(25), "{took:?}");
}

#[test]
fn that_goes_for_scopes_too_whose_tasks_the_outside_thread_runs_itself() {
    let pool = guests(2);
    let ran = AtomicUsize::new(0);
    let took = while_all_wait_for_a_lock(&pool, || {
        pool.install(|| ());
        let start = Instant::now();
        for _ in 0..200 {
            pool.scope(|s| s.spawn(|_| count(&ran)));
            pool.in_place_scope(|s| s.spawn(|s| s.spawn(|_| count(&ran))));
        }
        start.elapsed()
    });
    assert_eq!(ran.into_inner(), 400);
    // One by one, each would take 50 ms.
    assert!(took < Duration::from_secs(10), "{took:?}");
}

#[test]
fn an_outside_thread_that_goes_on_beside_a_blocked_pool_keeps_no_other_waiting() {
    let pool = guests(1);
    let over = AtomicBool::new(false);
    let [of_one, of_other] = [(); 2].map(|()| AtomicUsize::new(0));
    while_all_wait_for_a_lock(&pool, || {
        std::thread::scope(|threads| {
            // Takes its work back, and then always has some: a task every two milliseconds.
            threads.spawn(|| {
                pool.scope(|s| {
                    s.spawn(|s| {
                        fn next<'s>(s: &Scope<'s>, over: &'s AtomicBool, ran: &'s AtomicUsize) {
                            count(ran);
                            std::thread::sleep(Duration::from_millis(2));
                            if !over.load(Ordering::SeqCst) {
                                s.spawn(move |s| next(s, over, ran));
                            }
                        }
                        next(s, &over, &of_one);
                    });
                });
            });
            while of_one.load(Ordering::SeqCst) < 3 {
                std::thread::yield_now();
            }
            // As for one who has not heard that the pool is blocked.
            for _ in 0..3 {
                pool.in_place_scope(|s| s.spawn(|_| count(&of_other)));
                pool.install(|| count(&of_other));
            }
            over.store(true, Ordering::SeqCst);
        });
    });
    assert_eq!(of_other.into_inner(), 6);
}

#[test]
fn work_that_is_taken_back_does_not_run_again_and_its_panic_goes_on() {
    let pool = guests(2);
    let runs = AtomicUsize::new(0);
    let result = while_all_wait_for_a_lock(&pool, || {
        let run = || {
            runs.fetch_add(1, Ordering::Relaxed);
            panic!("planned");
        };
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pool.install(run)))
    });
    assert!(result.is_err());
    pool.wait_idle();
    assert_eq!(runs.into_inner(), 1);
}

#[test]
fn guests_that_come_again_and_again_do_not_overtake_a_task() {
    let pool = Arc::new(guests(1));
    let stop = Arc::new(AtomicBool::new(false));
    let busy: Vec<_> = (0..2)
        .map(|_| {
            let (pool, stop) = (Arc::clone(&pool), Arc::clone(&stop));
            thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    pool.install(|| std::hint::black_box(sum(0, 100)));
                }
            })
        })
        .collect();
    let (sender, receiver) = mpsc::channel();
    for n in 0..100 {
        let sender = sender.clone();
        pool.spawn(move || sender.send(n).unwrap());
        assert_eq!(receiver.recv_timeout(Duration::from_secs(60)), Ok(n));
    }
    stop.store(true, Ordering::Relaxed);
    busy.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn tasks_of_no_length_in_a_stuck_pool_share_a_thread() {
    let started = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&started);
    let other = Arc::new(guests(1));
    let pool = ThreadPoolBuilder::new()
        .num_threads(1)
        .start_handler(move |_| count(&counted))
        .build()
        .unwrap();
    let (go, wait) = mpsc::channel::<()>();
    let (begun, began) = mpsc::channel();
    pool.spawn(move || {
        other.install(move || {
            begun.send(()).unwrap();
            wait.recv().ok();
        });
    });
    began.recv().unwrap();
    let (sender, receiver) = mpsc::channel();
    for _ in 0..200 {
        let sender = sender.clone();
        pool.spawn(move || sender.send(()).unwrap());
        receiver.recv().unwrap();
    }
    let started = started.load(Ordering::Relaxed);
    assert!(started <= 20, "{started} threads for one that waits");
    drop(go);
}

#[test]
fn no_more_rescue_threads_are_started_than_allowed_and_everything_runs_in_the_end() {
    const MOST: usize = 3;
    let started = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&started);
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .max_rescue_threads(MOST)
        .start_handler(move |_| count(&counted))
        .build()
        .unwrap();
    let (go, wait) = mpsc::channel::<()>();
    let wait = Arc::new(Mutex::new(wait));
    let ran = Arc::new(AtomicUsize::new(0));
    for _ in 0..50 {
        let (wait, ran) = (Arc::clone(&wait), Arc::clone(&ran));
        pool.spawn(move || {
            // The pool knows that its thread sleeps here.
            blitz_core::companion::sleep_elsewhere(|| wait.lock().unwrap().recv().is_err());
            ran.fetch_add(1, Ordering::Relaxed);
        });
    }
    while started.load(Ordering::Relaxed) < 2 + MOST {
        thread::yield_now();
    }
    drop(go);
    pool.wait_idle();
    assert_eq!(ran.load(Ordering::Relaxed), 50);
    let started = started.load(Ordering::Relaxed);
    assert!(started <= 2 + MOST, "{started} threads");
}

#[test]
fn a_name_does_not_keep_guests_out_of_the_global_pool() {
    let builder = ThreadPoolBuilder::new().thread_name(|index| format!("app-{index}"));
    builder.build_global().unwrap();
    let here = thread::current().id();
    assert_eq!(join(|| thread::current().id(), || ()).0, here);
    assert_eq!(scope(|_| thread::current().id()), here);
    let names = blitz_core::broadcast(|_| thread::current().name().map(str::to_owned));
    assert!(names.iter().flatten().any(|name| name.starts_with("app-")));
    let again = ThreadPoolBuilder::new().build_global();
    assert!(again.is_err(), "it is in use");
}

#[test]
#[cfg(target_os = "linux")]
fn a_thread_whose_seat_is_taken_sleeps_although_there_is_work() {
    fn cpu_time() -> Duration {
        let mut time = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the kernel fills it in.
        unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
    let pool = guests(1);
    let before = pool.broadcast(|_| cpu_time())[0];
    let here = thread::current().id();
    while pool.install(|| thread::current().id()) != here {
        thread::yield_now();
    }
    // A guest has the only seat when its thread is woken for a broadcast.
    pool.install(|| {
        assert_eq!(thread::current().id(), here);
        thread::scope(|s| {
            s.spawn(|| pool.spawn_broadcast(|_| ()));
        });
        thread::sleep(Duration::from_millis(300));
    });
    let (sender, receiver) = mpsc::channel();
    pool.spawn(move || sender.send(cpu_time()).unwrap());
    let spent = receiver.recv().unwrap() - before;
    assert!(spent < Duration::from_millis(20), "{spent:?} of CPU time");
}

/// Is one half of a join at this place run by another thread? The same code, whatever the work is: what is remembered of it is about all of it.
fn is_shared(work: &(dyn Fn() + Sync)) -> bool {
    let half = || {
        work();
        thread::current().id()
    };
    let (left, right) = join(half, half);
    left != right
}

#[test]
fn joins_that_were_short_are_shared_once_they_are_long() {
    let long = || thread::sleep(Duration::from_millis(1));
    // Joins that follow each other closely are not shown to anybody after some time.
    let after = |short: usize| {
        for _ in 0..short {
            is_shared(&|| ());
        }
        is_shared(&long)
    };
    after(100_000);
    assert!((0..1000).any(|_| after(0)));
    after(100_000);
    assert!((0..1000).any(|_| after(2)), "some are short, some are long");
}
