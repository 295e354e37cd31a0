//! "A lock may be held across any parallel call": also by a thread that is in no pool, while every thread of the global pool waits for that lock.

use blitz::prelude::*;
use std::cell::{RefCell, RefMut};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

static LOCK: Mutex<u64> = Mutex::new(0);

#[test]
fn an_outside_thread_that_holds_a_lock_iterates_sorts_and_scopes() {
    let threads = blitz::current_num_threads();
    let all_wait = Arc::new(Barrier::new(threads + 1));
    let mut held = LOCK.lock().unwrap();
    for _ in 0..threads {
        let all_wait = all_wait.clone();
        blitz::spawn(move || {
            all_wait.wait();
            *LOCK.lock().unwrap() += 1;
        });
    }
    all_wait.wait();
    let sum: u64 = (0..100_000_u64).into_par_iter().map(|x| x ^ 3).sum();
    assert_eq!(sum, (0..100_000).map(|x| x ^ 3).sum());
    let mut numbers: Vec<u32> = (0..100_000).rev().collect();
    numbers.par_sort_unstable();
    assert!(numbers.iter().copied().eq(0..100_000));
    let mut words: Vec<String> = numbers.iter().rev().map(|n| format!("{n:06}")).collect();
    words.par_sort();
    assert!(words.is_sorted());
    let found = numbers.par_iter().find_first(|&&n| n > 500);
    assert_eq!(found, Some(&501));
    let count = AtomicUsize::new(0);
    blitz::scope(|s| {
        for _ in 0..100 {
            s.spawn(|_| {
                count.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    assert_eq!(count.into_inner(), 100);
    assert_eq!(blitz::join(|| 1, || 2), (1, 2));
    let walked: usize = numbers.iter().par_bridge().map(|_| 1).sum();
    assert_eq!(walked, numbers.len());
    *held += 100;
    drop(held);
    while *LOCK.lock().unwrap() < 100 + threads as u64 {
        std::thread::yield_now();
    }
}

thread_local! {
    static SCRATCH: &'static RefCell<Vec<u64>> = Box::leak(Box::default());
}

#[test]
fn a_borrow_of_a_thread_local_in_an_init_is_not_met_again() {
    // Its thread waits for parts that others have taken, and runs more of the same loop meanwhile.
    let pool = blitz::ThreadPoolBuilder::new().num_threads(8);
    let pool = pool.build().unwrap();
    for round in 0..20 {
        let count = AtomicUsize::new(0);
        let item = |scratch: &mut RefMut<'static, Vec<u64>>, item: u64| {
            scratch.push(item);
            thread::sleep(Duration::from_micros((item * 7 + round) % 5 * 200));
            count.fetch_add(1, Ordering::Relaxed);
        };
        let borrow = || SCRATCH.with(|scratch| scratch.borrow_mut());
        pool.install(|| (0..64).into_par_iter().for_each_init(borrow, item));
        let lengths = (0..32_u64).into_par_iter().map_init(borrow, |scratch, n| {
            scratch.push(n);
            thread::sleep(Duration::from_micros(n % 3 * 100));
            n
        });
        assert_eq!(pool.install(|| lengths.sum::<u64>()), 496);
        pool.install(|| (0..64).par_bridge().for_each_init(borrow, item));
        assert_eq!(count.into_inner(), 128);
    }
}
