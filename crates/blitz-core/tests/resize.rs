//! Pools that get other numbers of threads while they are used.
#![cfg(not(loom))]

use blitz_core::{ThreadPool, ThreadPoolBuilder, block_in_place, join, scope, spawn};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Barrier, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

const LONG: Duration = Duration::from_secs(100);

fn pool(threads: usize) -> ThreadPool {
    let builder = ThreadPoolBuilder::new().num_threads(threads);
    builder.build().unwrap()
}

fn sum(from: u64, to: u64) -> u64 {
    if to - from < 50 {
        return (from..to).sum();
    }
    let middle = from + (to - from) / 2;
    let (a, b) = join(|| sum(from, middle), || sum(middle, to));
    a + b
}

/// Two places that are left only when somebody is in each of them.
fn meeting() -> (impl FnOnce() -> bool + Send, impl FnOnce() -> bool + Send) {
    let (one, other) = (mpsc::channel(), mpsc::channel());
    let meet = |tell: Sender<()>, hear: Receiver<()>| {
        move || tell.send(()).is_ok() && hear.recv_timeout(LONG).is_ok()
    };
    (meet(one.0, other.1), meet(other.0, one.1))
}

/// A pool that tells which threads come and leave.
fn talking_pool(threads: usize) -> (ThreadPool, Receiver<(bool, usize)>) {
    let (tell, heard) = mpsc::channel();
    let tell = Mutex::new(tell);
    let say = Arc::new(move |comes, index| tell.lock().unwrap().send((comes, index)).unwrap());
    let (start, exit) = (Arc::clone(&say), say);
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .start_handler(move |index| start(true, index))
        .exit_handler(move |index| exit(false, index))
        .build();
    (pool.unwrap(), heard)
}

fn hear(heard: &Receiver<(bool, usize)>, count: usize) -> Vec<(bool, usize)> {
    let mut all: Vec<_> = (0..count)
        .map(|_| heard.recv_timeout(LONG).expect("a thread comes or leaves"))
        .collect();
    all.sort_unstable();
    all
}

#[test]
fn every_thread_of_the_new_number_is_there_and_no_other() {
    let pool = pool(2);
    for threads in [3, 1, 8, 2, 70, 5, 1, 6] {
        pool.set_num_threads(threads).unwrap();
        assert_eq!(pool.current_num_threads(), threads);
        let here = pool.broadcast(|thread| (thread.index(), thread.num_threads()));
        assert!(
            here.into_iter()
                .eq((0..threads).map(|index| (index, threads)))
        );
        assert_eq!(pool.install(|| sum(0, 10_000)), 49_995_000);
        assert_eq!(pool.stats().workers.len(), threads);
    }
}

#[test]
fn threads_that_are_too_many_end_and_new_ones_are_set_up() {
    let (pool, heard) = talking_pool(3);
    assert_eq!(hear(&heard, 3), [(true, 0), (true, 1), (true, 2)]);
    pool.set_num_threads(1).unwrap();
    assert_eq!(hear(&heard, 2), [(false, 1), (false, 2)]);
    pool.set_num_threads(4).unwrap();
    assert_eq!(hear(&heard, 3), [(true, 1), (true, 2), (true, 3)]);
    pool.shutdown();
    let gone = [(false, 0), (false, 1), (false, 2), (false, 3)];
    assert_eq!(hear(&heard, 4), gone);
}

#[test]
fn a_seat_gets_its_next_thread_when_the_last_one_has_left() {
    const MOST: usize = 4;
    let here: Arc<[AtomicUsize; MOST]> = Arc::default();
    let two_at_once = Arc::new(AtomicBool::new(false));
    let (come, go) = (Arc::clone(&here), Arc::clone(&here));
    let seen = Arc::clone(&two_at_once);
    let pool = ThreadPoolBuilder::new()
        .num_threads(1)
        .start_handler(move |index| {
            if come[index].fetch_add(1, Ordering::SeqCst) > 0 {
                seen.store(true, Ordering::SeqCst);
            }
        })
        .exit_handler(move |index| {
            thread::yield_now();
            go[index].fetch_sub(1, Ordering::SeqCst);
        })
        .build()
        .unwrap();
    // Threads lose their CPU anywhere, also on their last steps.
    let stop = AtomicBool::new(false);
    thread::scope(|others| {
        for _ in 0..4 {
            others.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    thread::yield_now();
                }
            });
        }
        for round in 0..3000 {
            pool.set_num_threads([1, MOST, 2, 3][round % 4]).unwrap();
        }
        stop.store(true, Ordering::Relaxed);
    });
    pool.shutdown();
    assert!(!two_at_once.load(Ordering::SeqCst));
    assert!(here.iter().all(|here| here.load(Ordering::SeqCst) == 0));
}

#[test]
fn several_threads_may_change_the_size_at_once() {
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .exit_handler(|_| thread::yield_now())
        .build()
        .unwrap();
    let pool = Arc::new(pool);
    let (tell, heard) = mpsc::channel();
    for _ in 0..3 {
        let (pool, tell) = (Arc::clone(&pool), tell.clone());
        thread::spawn(move || {
            for round in 0..500 {
                pool.set_num_threads(1 + round % 3).unwrap();
            }
            tell.send(()).unwrap();
        });
    }
    // Not joined: they may wait for ever.
    (0..3).for_each(|_| heard.recv_timeout(LONG / 5).unwrap());
    pool.set_num_threads(2).unwrap();
    assert_eq!(pool.broadcast(|thread| thread.index()), [0, 1]);
}

#[test]
fn a_new_thread_takes_part() {
    let pool = pool(1);
    pool.set_num_threads(2).unwrap();
    let (here, there) = meeting();
    assert_eq!(pool.install(move || join(here, there)), (true, true));
    let names = pool.broadcast(|_| thread::current().name().map(str::to_owned));
    assert_eq!(names[1].as_deref(), Some("blitz-1"));
}

#[test]
fn a_busy_thread_finishes_what_it_runs_and_leaves_the_rest_to_others() {
    let pool = pool(2);
    let (tell, heard) = mpsc::channel();
    let (go_on, wait) = mpsc::channel::<()>();
    let wait = Arc::new(Mutex::new(wait));
    let both = Arc::new(Barrier::new(2));
    let (busy, is_busy) = mpsc::channel();
    for _ in 0..2 {
        let (tell, wait, both) = (tell.clone(), Arc::clone(&wait), Arc::clone(&both));
        let busy = busy.clone();
        pool.spawn(move || {
            both.wait();
            if blitz_core::current_thread_index() == Some(0) {
                return;
            }
            // On the thread that is to leave: queues tasks there, and stays.
            for n in 0..100 {
                let tell = tell.clone();
                spawn(move || tell.send(n).unwrap());
            }
            busy.send(()).unwrap();
            wait.lock().unwrap().recv().unwrap();
            tell.send(100).unwrap();
        });
    }
    drop(tell);
    is_busy.recv_timeout(LONG).unwrap();
    pool.set_num_threads(1).unwrap();
    assert_eq!(pool.current_num_threads(), 1);
    assert_eq!(pool.install(|| sum(0, 1000)), 499_500);
    go_on.send(()).unwrap();
    let mut all: Vec<i32> = heard.iter().collect();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..101));
    pool.shutdown();
}

#[test]
fn sizes_change_while_everything_is_in_use() {
    for guests in [false, true] {
        let builder = ThreadPoolBuilder::new().num_threads(2);
        let pool = builder.caller_participates(guests).build().unwrap();
        let stop = AtomicBool::new(false);
        thread::scope(|threads| {
            let users: Vec<_> = (0..5)
                .map(|kind| {
                    let (pool, stop) = (&pool, &stop);
                    threads.spawn(move || {
                        while !stop.load(Ordering::Relaxed) {
                            match kind {
                                0 => assert_eq!(pool.install(|| sum(0, 5000)), 12_497_500),
                                1 => assert_eq!(pool.spawn_handle(|| 7).join().unwrap(), 7),
                                2 => {
                                    let indices = pool.broadcast(|thread| thread.index());
                                    let count = indices.len();
                                    assert!(indices.into_iter().eq(0..count));
                                }
                                3 => {
                                    let count = AtomicUsize::new(0);
                                    let one = || {
                                        count.fetch_add(1, Ordering::Relaxed);
                                    };
                                    pool.scope_fifo(|scope| {
                                        (0..50).for_each(|_| scope.spawn_fifo(|_| one()));
                                    });
                                    assert_eq!(count.into_inner(), 50);
                                }
                                _ => {
                                    let (sender, receiver) = mpsc::channel();
                                    pool.spawn_broadcast(move |_| sender.send(()).unwrap());
                                    assert!(receiver.iter().count() >= 1);
                                }
                            }
                        }
                    })
                })
                .collect();
            for round in 0..150 {
                pool.set_num_threads([1, 3, 2, 6, 1, 4][round % 6]).unwrap();
                thread::sleep(Duration::from_micros(round as u64 % 7 * 100));
            }
            stop.store(true, Ordering::Relaxed);
            users.into_iter().for_each(|user| user.join().unwrap());
        });
        pool.shutdown();
    }
}

#[test]
fn a_guest_keeps_the_seat_of_a_thread_that_is_too_many_until_it_leaves() {
    let (told, heard) = mpsc::channel();
    let told = Mutex::new(told);
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .caller_participates(true)
        .exit_handler(move |index| {
            told.lock().unwrap().send(index).ok();
        })
        .build()
        .unwrap();
    let pool = &pool;
    let (entered, inside) = mpsc::channel();
    thread::scope(|scope| {
        let guests = [(); 2].map(|()| {
            let (go_on, wait) = mpsc::channel::<()>();
            let entered = entered.clone();
            let guest = scope.spawn(move || {
                pool.install(move || {
                    entered.send(blitz_core::current_thread_index()).unwrap();
                    wait.recv().unwrap();
                    sum(0, 1000)
                })
            });
            (go_on, guest)
        });
        let seats = [inside.recv().unwrap(), inside.recv().unwrap()];
        pool.set_num_threads(1).unwrap();
        let left = heard.recv_timeout(Duration::from_millis(20));
        if seats.contains(&Some(1)) {
            assert!(left.is_err(), "a guest has the seat");
        }
        for (go_on, guest) in guests {
            go_on.send(()).unwrap();
            assert_eq!(guest.join().unwrap(), 499_500);
        }
        if left.is_err() {
            assert_eq!(heard.recv_timeout(LONG), Ok(1));
        }
    });
    // Nobody sits there any more.
    for _ in 0..100 {
        assert_eq!(pool.install(blitz_core::current_thread_index), Some(0));
    }
}

#[test]
fn seats_without_threads_do_not_keep_a_pool_from_being_rescued() {
    let pool = pool(4);
    pool.set_num_threads(1).unwrap();
    let answer = pool.install(|| {
        let (sender, receiver) = mpsc::channel();
        spawn(move || sender.send(42).unwrap());
        block_in_place(|| receiver.recv_timeout(LONG))
    });
    assert_eq!(answer, Ok(42));
}

#[test]
fn a_broadcast_counts_the_threads_that_it_went_to() {
    let pool = pool(2);
    let (both, told) = (Barrier::new(2), Mutex::new(Vec::new()));
    let part = |index, threads: &dyn Fn() -> usize| {
        if index == 0 {
            pool.set_num_threads(1).unwrap();
        }
        both.wait();
        told.lock().unwrap().push((index, threads()));
    };
    pool.broadcast(|thread| part(thread.index(), &|| thread.num_threads()));
    pool.set_num_threads(2).unwrap();
    pool.in_place_scope(|scope| {
        scope.spawn_broadcast(|_, thread| part(thread.index(), &|| thread.num_threads()));
    });
    let mut told = told.into_inner().unwrap();
    told.sort_unstable();
    assert_eq!(told, [(0, 2), (0, 2), (1, 2), (1, 2)]);
}

#[test]
fn a_size_may_be_changed_from_inside() {
    let pool = Arc::new(pool(3));
    let inner = Arc::clone(&pool);
    let task = pool.spawn_handle(move || {
        for threads in [1, 5, 2] {
            inner.set_num_threads(threads).unwrap();
            assert_eq!(blitz_core::current_num_threads(), threads);
            scope(|scope| (0..10).for_each(|_| scope.spawn(|_| ())));
        }
    });
    task.join().unwrap();
    assert_eq!(pool.broadcast(|_| 1), [1, 1]);
}

#[test]
fn an_exit_handler_cannot_keep_an_ended_pool_growing() {
    static POOL: OnceLock<ThreadPool> = OnceLock::new();
    let (tell, heard) = mpsc::channel();
    let tell = Mutex::new(tell);
    let pool = POOL.get_or_init(|| {
        let exit = move |index| {
            let more = POOL.get().unwrap().set_num_threads(index + 3);
            tell.lock().unwrap().send(more.unwrap_err()).unwrap();
        };
        let builder = ThreadPoolBuilder::new().num_threads(2);
        builder.exit_handler(exit).build().unwrap()
    });
    pool.shutdown();
    let errors: Vec<_> = heard.try_iter().map(|error| error.to_string()).collect();
    assert_eq!(errors.len(), 2);
    assert!(errors.iter().all(|error| error.contains("exit handler")));
}

#[test]
fn wrong_numbers_are_errors_that_say_what_to_do() {
    let pool = pool(2);
    let error = |pool: &ThreadPool, threads| pool.set_num_threads(threads).unwrap_err().to_string();
    assert!(error(&pool, 0).contains("ThreadPool::shutdown"));
    assert!(error(&pool, usize::MAX).contains("at most"));
    assert_eq!(pool.broadcast(|_| ()).len(), 2);
    let own = ThreadPoolBuilder::new()
        .num_threads(1)
        .spawn_handler(|thread| {
            thread::spawn(|| thread.run());
            Ok(())
        })
        .build()
        .unwrap();
    assert!(error(&own, 2).contains("build it with as many as it needs"));
    assert_eq!(own.install(|| 1), 1);
}

#[cfg(target_pointer_width = "64")]
#[test]
fn a_number_that_the_system_refuses_leaves_the_pool_as_it_was() {
    // Stacks so large that the address space has room for some of them only.
    let gone = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&gone);
    let pool = ThreadPoolBuilder::new()
        .num_threads(1)
        .stack_size(1 << 42)
        .exit_handler(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
        })
        .build();
    let Ok(pool) = pool else { return };
    let Err(error) = pool.set_num_threads(1000) else {
        return;
    };
    assert!(error.to_string().contains("could not be started"));
    assert_eq!(pool.current_num_threads(), 1);
    assert_eq!(pool.broadcast(|thread| thread.index()), [0]);
    assert_eq!(pool.install(|| sum(0, 1000)), 499_500);
    pool.shutdown();
    assert!(gone.load(Ordering::SeqCst) >= 1);
}
