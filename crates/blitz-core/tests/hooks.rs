//! Handlers that hear of thefts, sleeps and deadlocks.
#![cfg(not(loom))]

use blitz_core::companion::sleep_elsewhere;
use blitz_core::{ThreadPoolBuilder, join};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

#[test]
fn every_theft_is_told_of_once_and_by_the_thief() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let tells = Arc::clone(&told);
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .steal_handler(move |thief, victim| tells.lock().unwrap().push((thief, victim)))
        .build()
        .unwrap();
    pool.install(|| {
        while told.lock().unwrap().is_empty() {
            join(|| thread::sleep(Duration::from_micros(100)), || ());
        }
    });
    let told = told.lock().unwrap().clone();
    assert!(
        told.iter()
            .all(|(thief, victim)| *thief < 2 && *victim < 2 && thief != victim)
    );
    let stolen = pool.stats().total.stolen;
    assert_eq!(told.len() as u64, stolen);
}

#[test]
fn parking_and_going_on_are_told_of_in_pairs() {
    let (parked, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (parks, highest, unparks) = (Arc::clone(&parked), Arc::clone(&most), Arc::clone(&parked));
    let pool = ThreadPoolBuilder::new()
        .num_threads(3)
        .park_handler(move |index| {
            assert!(index < 3 && blitz_core::current_thread_index().is_none());
            let now = parks.fetch_add(1, Ordering::SeqCst) + 1;
            highest.fetch_max(now, Ordering::SeqCst);
        })
        .unpark_handler(move |_| {
            assert!(unparks.fetch_sub(1, Ordering::SeqCst) > 0);
        })
        .build()
        .unwrap();
    // All sleep for want of work at last.
    while parked.load(Ordering::SeqCst) < 3 {
        thread::yield_now();
    }
    for _ in 0..100 {
        // One at least is awake.
        assert!(pool.install(|| parked.load(Ordering::SeqCst)) < 3);
    }
    let busy = pool.install(|| {
        // In a wait, too: the other half takes its time, elsewhere or here.
        join(|| (), || thread::sleep(Duration::from_millis(1)));
        parked.load(Ordering::SeqCst)
    });
    assert!(busy < 3);
    assert_eq!(most.load(Ordering::SeqCst), 3);
}

/// A lock that says so when it waits, and can be told to give up.
#[derive(Default)]
struct Query {
    state: Mutex<(bool, bool)>,
    changed: Condvar,
}

impl Query {
    /// `false`: a circle.
    fn wait(&self) -> bool {
        sleep_elsewhere(|| {
            let mut state = self.state.lock().unwrap();
            while !state.0 && !state.1 {
                state = self.changed.wait(state).unwrap();
            }
            state.0
        })
    }

    fn finish(&self, by_itself: bool) {
        let mut state = self.state.lock().unwrap();
        if by_itself {
            state.0 = true;
        } else {
            state.1 = true;
        }
        self.changed.notify_all();
    }
}

#[test]
fn a_circle_of_waiting_threads_is_reported_and_can_be_broken() {
    // As a compiler with queries has it: two threads, each with a query that needs the other's result.
    for threads in [1, 2, 3] {
        let queries: Arc<[Query; 2]> = Arc::default();
        let theirs = Arc::clone(&queries);
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .deadlock_handler(move || theirs[0].finish(false))
            .build()
            .unwrap();
        let run = |mine: usize| {
            let found = queries[1 - mine].wait();
            queries[mine].finish(true);
            found
        };
        // With one thread, the other half is run afterwards: then there is no circle, but the first one cannot know.
        let (a, b) = pool.join(|| run(1), || run(0));
        assert!(!a, "nobody else would have woken it");
        assert!(b, "it got the other's result");
    }
}

#[test]
fn a_pool_that_works_or_is_idle_is_not_deadlocked() {
    let reported = Arc::new(AtomicBool::new(false));
    let reports = Arc::clone(&reported);
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .deadlock_handler(move || reports.store(true, Ordering::SeqCst))
        .build()
        .unwrap();
    for round in 0..50 {
        // One thread waits, and the other one works.
        pool.join(
            || thread::sleep(Duration::from_micros(10 * round)),
            || thread::sleep(Duration::from_micros(300)),
        );
    }
    thread::sleep(Duration::from_millis(5));
    assert!(!reported.load(Ordering::SeqCst));
}

#[test]
fn a_handler_that_panics_is_the_panic_handlers_business() {
    let panics = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&panics);
    let pool = ThreadPoolBuilder::new()
        .num_threads(2)
        .panic_handler(move |_| {
            counts.fetch_add(1, Ordering::SeqCst);
        })
        .park_handler(|_| panic!("in the handler"))
        .build()
        .unwrap();
    assert_eq!(pool.join(|| 1, || 2), (1, 2));
    while panics.load(Ordering::SeqCst) == 0 {
        thread::yield_now();
    }
}
