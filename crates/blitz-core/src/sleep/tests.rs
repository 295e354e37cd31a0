//! Pools with more threads than a word has bits: all of them sleep, all of them wake, none is overlooked.

use crate::pool::Pool;
use crate::{ThreadPool, ThreadPoolBuilder};
use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// Long enough for any machine; a test that gets here has failed.
const LIMIT: Duration = Duration::from_secs(120);

fn pool(threads: usize) -> ThreadPool {
    let builder = ThreadPoolBuilder::new().num_threads(threads);
    builder.stack_size(64 * 1024).build().unwrap()
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < LIMIT, "still not: {what}");
        std::thread::sleep(Duration::from_micros(200));
    }
}

fn wait_until_all_sleep(pool: &Pool) {
    wait_until("everybody asleep", || {
        let counters = pool.sleep.counters();
        counters.sleeping() == pool.num_threads() && counters.inactive() == pool.num_threads()
    });
    // A thread is in the count a moment before it is among those asleep.
    wait_until("all asleep", || {
        pool.sleep.asleep.from(0).eq(0..pool.num_threads())
    });
}

/// A meeting that ends when as many threads have come as there are.
#[derive(Default)]
struct Meeting {
    present: Mutex<BTreeSet<usize>>,
    changed: Condvar,
}

impl Meeting {
    /// `true`: all have come.
    fn attend(&self, size: usize) -> bool {
        let index = crate::current_thread_index().expect("tasks run on threads of the pool");
        let mut present = self.present.lock().unwrap();
        assert!(present.insert(index), "twice at the same meeting");
        self.changed.notify_all();
        let missing = |present: &mut BTreeSet<usize>| present.len() < size;
        let waited = self.changed.wait_timeout_while(present, LIMIT, missing);
        !waited.unwrap().1.timed_out()
    }
}

/// One task for each thread, none of which ends before all have begun: as long as one is overlooked, so are all.
fn everybody_meets(pool: &ThreadPool, call_from_inside: bool) {
    let size = pool.current_num_threads();
    let meeting = Arc::new(Meeting::default());
    let (sender, complete) = std::sync::mpsc::channel();
    let tasks: Vec<_> = (0..size)
        .map(|_| {
            let (meeting, sender) = (meeting.clone(), sender.clone());
            move || sender.send(meeting.attend(size)).unwrap()
        })
        .collect();
    if call_from_inside {
        pool.spawn(|| tasks.into_iter().for_each(crate::spawn));
    } else {
        tasks.into_iter().for_each(|task| pool.spawn(task));
    }
    drop(sender);
    let present = complete.iter().filter(|&all| all).count();
    assert_eq!(present, size, "not everybody came");
}

#[test]
fn all_threads_of_a_large_pool_sleep_wake_and_take_part() {
    for threads in [63, 64, 65, 100, 128, 129] {
        let pool = pool(threads);
        for round in 0..4 {
            wait_until_all_sleep(pool.pool());
            everybody_meets(&pool, round % 2 == 1);
        }
        wait_until_all_sleep(pool.pool());
        for (index, worker) in pool.stats().workers.iter().enumerate() {
            // How often one blocked is not known: it may see the next round in its last look.
            assert!(worker.executed >= 4, "{index}: {worker:?}");
            assert!(worker.searches >= 4, "{index}: {worker:?}");
        }
    }
}

#[test]
fn a_lone_sleeper_is_woken_wherever_it_sits() {
    const THREADS: usize = 130;
    let pool = pool(THREADS);
    wait_until_all_sleep(pool.pool());
    let hold = Arc::new(Mutex::new(()));
    for lone in [0, 1, 63, 64, 65, 127, 128, 129] {
        let guard = hold.lock().unwrap();
        let (come, here) = std::sync::mpsc::channel();
        // A broadcast reaches each thread by its index.
        pool.spawn_broadcast({
            let (hold, come) = (hold.clone(), come.clone());
            move |context| {
                if context.index() != lone {
                    come.send(()).unwrap();
                    drop(hold.lock().unwrap());
                }
            }
        });
        (1..THREADS).for_each(|_| here.recv_timeout(LIMIT).unwrap());
        wait_until("one asleep", || {
            pool.pool().sleep.counters().sleeping() == 1
        });
        for _ in 0..20 {
            wait_until("it is asleep", || {
                pool.pool().sleep.asleep.from(77).eq([lone])
            });
            let (sender, answer) = std::sync::mpsc::channel();
            pool.spawn(move || sender.send(crate::current_thread_index()).unwrap());
            assert_eq!(answer.recv_timeout(LIMIT).unwrap(), Some(lone));
            wait_until("asleep again", || {
                pool.pool().sleep.counters().sleeping() == 1
            });
        }
        drop(guard);
        wait_until_all_sleep(pool.pool());
    }
}

#[test]
fn a_thread_wakes_its_successors_in_turn() {
    const THREADS: usize = 70;
    let sleep = super::Sleep::new(THREADS);
    let asleep = [3, 20, 63, 64, 69];
    for &thread in &asleep {
        sleep.start_searching();
        let announced = sleep.announce_sleepy();
        assert!(sleep.counters.try_add_sleeping(announced, 0));
        sleep.asleep.add(thread);
    }
    let mut woken = Vec::new();
    let mut first = 21;
    while let Some(thread) = sleep.wake_one(first, |thread| thread != 20) {
        woken.push(thread);
        // As the woken thread would.
        first = thread + 1;
    }
    assert_eq!(woken, [63, 64, 69, 3], "20 is not eligible");
    assert_eq!(sleep.counters().sleeping(), 1);
    assert!(sleep.asleep.from(0).eq([20]));
}
