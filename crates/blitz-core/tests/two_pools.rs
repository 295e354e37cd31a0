//! Pools that call each other: nobody waits for ever, whatever waits for what. A test that fails hangs.

use blitz_core::{ThreadPool, ThreadPoolBuilder, scope, spawn_handle};
use std::sync::mpsc::channel;
use std::sync::{Barrier, Mutex};
use std::thread;

/// Everything runs on the pool's own threads.
fn pool(threads: usize) -> ThreadPool {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .caller_participates(false)
        .build()
        .unwrap()
}

#[test]
fn two_pools_install_into_each_other_at_the_same_time() {
    for threads in [1, 2] {
        let (one, two) = (pool(threads), pool(threads));
        let all_in = Barrier::new(2 * threads);
        thread::scope(|outside| {
            for _ in 0..threads {
                outside.spawn(|| {
                    let there = one.install(|| {
                        all_in.wait();
                        two.install(|| 1)
                    });
                    assert_eq!(there, 1);
                });
                outside.spawn(|| {
                    let there = two.install(|| {
                        all_in.wait();
                        one.install(|| 2)
                    });
                    assert_eq!(there, 2);
                });
            }
        });
    }
}

#[test]
fn a_task_left_in_the_own_deque_is_joined_from_the_other_pool() {
    let (one, two) = (pool(1), pool(1));
    let sum = one.install(|| {
        let task = spawn_handle(|| 40);
        two.install(|| task.join().unwrap() + 2)
    });
    assert_eq!(sum, 42);
}

#[test]
fn a_scopes_task_answers_a_channel_in_the_other_pool() {
    let (one, two) = (pool(1), pool(1));
    let answer = one.install(|| {
        scope(|s| {
            let (sender, receiver) = channel();
            s.spawn(move |_| sender.send(42).unwrap());
            let receiver = Mutex::new(receiver);
            two.install(|| receiver.lock().unwrap().recv().unwrap())
        })
    });
    assert_eq!(answer, 42);
}

#[test]
fn a_handle_of_the_other_pool_is_joined_while_its_task_installs_here() {
    let (one, two) = (pool(1), pool(1));
    thread::scope(|outside| {
        outside.spawn(|| {
            one.install(|| {
                let there = two.spawn_handle(|| thread::current().id());
                assert_ne!(there.join().unwrap(), thread::current().id());
            });
        });
        outside.spawn(|| two.install(|| one.install(|| ())));
    });
}
