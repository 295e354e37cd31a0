//! Which CPUs a pool's threads may use, seen from what runs there.
#![cfg(target_os = "linux")]

use blitz_core::ThreadPoolBuilder;
use blitz_core::companion::Steering;
use blitz_core::primitives::BackoffMode;
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// Affinity is the process's: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a thread may use; 0 is the caller.
fn allowed(thread: i32) -> Vec<usize> {
    // SAFETY: a set that is all zeros is empty, and the kernel writes as much as it is told.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(thread, size_of_val(&set), &raw mut set);
        let all = 0..libc::CPU_SETSIZE as usize;
        all.filter(|&cpu| libc::CPU_ISSET(cpu, &set)).collect()
    }
}

fn allow(thread: i32, cpus: &[usize]) {
    // SAFETY: as above.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        cpus.iter().for_each(|&cpu| libc::CPU_SET(cpu, &mut set));
        libc::sched_setaffinity(thread, size_of_val(&set), &raw const set);
    }
}

/// The kernel's ids of all threads of the process.
fn threads() -> Vec<i32> {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names = tasks.map(|task| task.unwrap().file_name());
    names
        .map(|name| name.to_str().unwrap().parse().unwrap())
        .collect()
}

fn spin(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// What the right halves of so many joins may use that another thread has taken, each after some sleep.
fn seen_in_stolen_halves(count: usize) -> Vec<Vec<usize>> {
    let start = Instant::now();
    let mut seen = Vec::new();
    while seen.len() < count && start.elapsed() < Duration::from_secs(60) {
        thread::sleep(Duration::from_millis(1));
        let here = thread::current().id();
        let half = || {
            spin(Duration::from_micros(500));
            (thread::current().id() != here).then(|| allowed(0))
        };
        seen.extend(blitz_core::join(half, half).1);
    }
    seen
}

#[test]
fn what_runs_on_a_pools_thread_may_use_what_the_process_may_use() {
    let _alone = alone();
    let all = allowed(0);
    let seen = seen_in_stolen_halves(8);
    assert!(
        seen.iter().all(|cpus| *cpus == all),
        "{seen:?}, not {all:?}"
    );
}

#[test]
fn a_process_that_is_confined_after_the_start_stays_confined() {
    let _alone = alone();
    let all = allowed(0);
    seen_in_stolen_halves(1);
    for &cpu in all.iter().take(2) {
        threads()
            .into_iter()
            .for_each(|thread| allow(thread, &[cpu]));
        seen_in_stolen_halves(2);
        let later: Vec<_> = threads().into_iter().map(allowed).collect();
        threads().into_iter().for_each(|thread| allow(thread, &all));
        assert!(
            later.iter().all(|cpus| *cpus == [cpu]),
            "{later:?}, not {cpu}"
        );
    }
}

#[test]
fn a_stand_in_may_use_what_any_of_the_pools_threads_may_use() {
    let _alone = alone();
    let all = allowed(0);
    let pool = ThreadPoolBuilder::new()
        .num_threads(all.len())
        .pin_workers(true);
    let pool = pool.caller_participates(false).build().unwrap();
    let each = pool.broadcast(|_| allowed(0));
    assert!(
        each.iter().map(|cpus| cpus[0]).eq(all.iter().copied()),
        "{each:?}"
    );
    let handle = pool.handle();
    let stand_in = pool.install(|| {
        // Started by a thread that is bound.
        let stand_in = thread::spawn(move || {
            let before = allowed(0);
            let _seat = handle.stand_in();
            (before, allowed(0))
        });
        stand_in.join().unwrap()
    });
    assert_eq!((stand_in.0.len(), stand_in.1), (1, all));
}

#[test]
fn in_a_pinned_pool_a_guest_takes_the_seat_of_the_cpu_that_it_is_on() {
    let _alone = alone();
    let all = allowed(0);
    let Some(&second) = all.get(1) else { return };
    let seat_of_guest = |_: &i32| {
        let pool = ThreadPoolBuilder::new()
            .num_threads(2)
            .pin_workers(true)
            .caller_participates(true)
            .backoff(BackoffMode::LowLatency)
            .build()
            .unwrap();
        // Its threads search for a while, and go to sleep then: both are as good.
        allow(0, &[second]);
        let seat = pool.install(blitz_core::current_thread_index);
        allow(0, &all);
        seat == Some(1)
    };
    let right = (0..40).filter(seat_of_guest).count();
    // The thread may change from one to the other in the moment between two looks.
    assert!(right >= 36, "{right} of 40");
}

/// Sends a thread away while it sleeps, lets `meanwhile` happen to it, and returns what it may use then, and when it is awake.
fn sent_away(meanwhile: impl FnOnce(i32)) -> (Vec<usize>, Vec<usize>) {
    let steering = Steering::default();
    thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        let (wake, woken) = mpsc::channel::<()>();
        let steering = &steering;
        let sleeper = scope.spawn(move || {
            steering.falls_asleep();
            // SAFETY: no arguments, no failure.
            tell.send(unsafe { libc::gettid() }).unwrap();
            woken.recv().unwrap_err();
            steering.is_awake();
            let awake = allowed(0);
            steering.send_away();
            assert_eq!(allowed(0), awake, "it does not sleep any more");
            awake
        });
        let id = told.recv().unwrap();
        let all = allowed(0);
        steering.send_away();
        let asleep = allowed(id);
        if all.len() > 1 {
            assert_eq!(asleep.len(), all.len() - 1);
        }
        meanwhile(id);
        drop(wake);
        (asleep, sleeper.join().unwrap())
    })
}

#[test]
fn a_thread_that_was_sent_away_may_use_everything_when_it_is_awake() {
    let _alone = alone();
    let all = allowed(0);
    assert_eq!(sent_away(|_| ()).1, all);
}

#[test]
fn a_thread_that_was_sent_away_follows_whoever_confines_the_process_meanwhile() {
    let _alone = alone();
    let all = allowed(0);
    for &cpu in all.iter().take(2) {
        let (_, awake) = sent_away(|_| {
            threads()
                .into_iter()
                .for_each(|thread| allow(thread, &[cpu]));
        });
        threads().into_iter().for_each(|thread| allow(thread, &all));
        assert_eq!(awake, [cpu]);
    }
}

#[test]
fn a_thread_that_is_called_while_it_works_comes_when_it_answers_and_may_use_what_it_might() {
    let _alone = alone();
    let all = allowed(0);
    let [from, to, ..] = all[..] else { return };
    let comes = |_: &usize| {
        let steering = Steering::default();
        let call = || {
            allow(0, &[to]);
            steering.call();
        };
        allow(0, &[from]);
        thread::scope(|scope| scope.spawn(call).join().unwrap());
        allow(0, &all);
        steering.answer_call();
        // SAFETY: no arguments.
        let here = unsafe { libc::sched_getcpu() };
        assert_eq!(allowed(0), all);
        here as usize == to
    };
    let come = (0..40).filter(comes).count();
    // The kernel may have moved it again in the moment between.
    assert!(come >= 20, "{come} of 40");
}
