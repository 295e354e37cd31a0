//! Group `spawn`: many tasks in one scope, spawned by a worker and by a thread outside the pool.
//!
//! `inside` opens the scope on a worker. `frommain` calls `scope` on the main thread, which in rayon moves the body to a
//! worker. `outside` uses `in_place_scope`: the body stays on the main thread and every task is spawned from there.
//!
//! Each task hashes its number into its own slot, a few nanoseconds, so that the figure per task is the price of
//! spawning. `detached` spawns as many into a pool from outside and waits until it is idle, also with a limit that is never reached (`blitz cap`): what that costs, and that
//! others do not pay for it.
//!
//! `spawn/1us` is `inside` with 1000 tasks of a microsecond each: it is worth it for another thread to take some of them.
//!
//! Afterwards every slot is compared with what plain code writes; that part is not timed.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::args::Options;
use crate::arms::{self, Cpus, Lib, blitz, rayon};
use crate::measure::{Arm, Gap, Session, timed, wrong_result};
use crate::report::Row;
use crate::spin::spin;

const TASKS: [usize; 2] = [10_000, 1_000_000];

/// Runs the group.
pub fn run(options: &Options, cpus: &Cpus) -> Vec<Row> {
    arms::start(Lib::ALL, cpus);
    let threads = crate::pin::cpus_at_start().len().max(1);
    let blitz_pool = blitz::pool(threads, cpus);
    let rayon_pool = rayon::pool(threads, cpus);
    arms::place_main(cpus);
    let mut session = Session::new("spawn", options.clone());
    for tasks in TASKS {
        inside(&mut session, tasks, &blitz_pool, &rayon_pool);
        from_main(&mut session, tasks);
        outside(&mut session, tasks);
        detached(&mut session, tasks, cpus, &blitz_pool, &rayon_pool);
    }
    of_a_microsecond(&mut session, &blitz_pool, &rayon_pool);
    session.into_rows()
}

/// Tasks that are dearer than their spawning.
fn of_a_microsecond(
    session: &mut Session,
    blitz_pool: &blitz::ThreadPool,
    rayon_pool: &::rayon::ThreadPool,
) {
    const TASKS: usize = 1000;
    let steps = session.calibration.steps_for(1.0);
    let all = |slots: &[u64]| slots.iter().fold(0, |sum: u64, x| sum.wrapping_add(*x));
    let seq = || {
        let results = (0..TASKS as u64).map(|index| spin(black_box(steps), index));
        results.fold(0, u64::wrapping_add)
    };
    let expected = seq();
    macro_rules! arm {
        ($library:ident, $pool:expr) => {
            Arm::new(stringify!($library), |calls| {
                let mut slots = vec![0; TASKS];
                $pool.install(|| {
                    timed(calls, expected, || {
                        ::$library::scope(|scope| {
                            for (index, slot) in slots.iter_mut().enumerate() {
                                scope.spawn(move |_| *slot = spin(steps, index as u64));
                            }
                        });
                        all(&slots)
                    })
                })
            })
        };
    }
    let arms = vec![
        Arm::new("seq", |calls| timed(calls, expected, seq)),
        arm!(blitz, blitz_pool),
        arm!(rayon, rayon_pool),
    ];
    session.bench("spawn/1us", TASKS as u64, Gap::BackToBack, arms);
}

#[inline(always)]
fn task(index: usize) -> u64 {
    spin(2, index as u64)
}

/// Clears the slots, times one filling, and checks every slot; as often as asked.
fn fill_and_check(calls: u32, slots: &mut [u64], mut fill: impl FnMut(&mut [u64])) -> Duration {
    let mut total = Duration::ZERO;
    for _ in 0..calls {
        slots.fill(0);
        let start = Instant::now();
        fill(slots);
        total += start.elapsed();
        for (index, &value) in slots.iter().enumerate() {
            if value != task(index) {
                wrong_result(value, task(index));
            }
        }
    }
    total
}

fn fill_seq(slots: &mut [u64]) {
    for (index, slot) in slots.iter_mut().enumerate() {
        *slot = task(black_box(index));
    }
}

fn fill_blitz(slots: &mut [u64]) {
    blitz::scope(|scope| {
        for (index, slot) in slots.iter_mut().enumerate() {
            scope.spawn(move |_| *slot = task(index));
        }
    });
}

fn fill_blitz_in_place(slots: &mut [u64]) {
    blitz::in_place_scope(|scope| {
        for (index, slot) in slots.iter_mut().enumerate() {
            scope.spawn(move |_| *slot = task(index));
        }
    });
}

fn fill_rayon(slots: &mut [u64]) {
    ::rayon::scope(|scope| {
        for (index, slot) in slots.iter_mut().enumerate() {
            scope.spawn(move |_| *slot = task(index));
        }
    });
}

fn fill_rayon_in_place(slots: &mut [u64]) {
    ::rayon::in_place_scope(|scope| {
        for (index, slot) in slots.iter_mut().enumerate() {
            scope.spawn(move |_| *slot = task(index));
        }
    });
}

#[cfg(feature = "forte")]
fn fill_forte(slots: &mut [u64]) {
    arms::forte::POOL.scope(|scope| {
        for (index, slot) in slots.iter_mut().enumerate() {
            scope.spawn(move |_: &::forte::Worker| *slot = task(index));
        }
    });
}

fn inside(
    session: &mut Session,
    tasks: usize,
    blitz_pool: &blitz::ThreadPool,
    rayon_pool: &::rayon::ThreadPool,
) {
    let slots = || vec![0u64; tasks];
    let (mut for_seq, mut for_blitz, mut for_rayon) = (slots(), slots(), slots());
    #[cfg(feature = "forte")]
    let mut for_forte = slots();
    #[allow(unused_mut, reason = "forte is optional")]
    let mut arms = vec![
        Arm::new("seq", |calls| fill_and_check(calls, &mut for_seq, fill_seq)),
        Arm::new("blitz", |calls| {
            let slots = &mut for_blitz;
            blitz_pool.install(|| fill_and_check(calls, slots, fill_blitz))
        }),
        Arm::new("rayon", |calls| {
            let slots = &mut for_rayon;
            rayon_pool.install(|| fill_and_check(calls, slots, fill_rayon))
        }),
    ];
    #[cfg(feature = "forte")]
    arms.push(Arm::new("forte", |calls| {
        arms::forte::POOL.with_worker(|_| fill_and_check(calls, &mut for_forte, fill_forte))
    }));
    session.bench("spawn/inside", tasks as u64, Gap::BackToBack, arms);
}

fn from_main(session: &mut Session, tasks: usize) {
    calls_from_main(session, "spawn/frommain", tasks, fill_blitz, fill_rayon);
}

fn outside(session: &mut Session, tasks: usize) {
    let bench = "spawn/outside";
    calls_from_main(
        session,
        bench,
        tasks,
        fill_blitz_in_place,
        fill_rayon_in_place,
    );
}

/// Detached tasks cannot borrow their slots: they count.
fn detached(
    session: &mut Session,
    tasks: usize,
    cpus: &Cpus,
    blitz_pool: &::blitz::ThreadPool,
    rayon_pool: &::rayon::ThreadPool,
) {
    use ::blitz::primitives::FullPolicy;
    let limited = blitz::builder(cpus)
        .num_threads(blitz_pool.current_num_threads())
        .queue_capacity(usize::MAX, FullPolicy::Block)
        .build()
        .expect("a pool with a limit");
    let time = |calls: u32, spawn_all: &dyn Fn(&Arc<AtomicU64>)| {
        let start = Instant::now();
        for _ in 0..calls {
            let sum = Arc::new(AtomicU64::new(0));
            spawn_all(&sum);
            while Arc::strong_count(&sum) > 1 {
                std::thread::yield_now();
            }
            let sum = sum.load(Ordering::Acquire);
            if sum != tasks as u64 {
                wrong_result(sum, tasks as u64);
            }
        }
        start.elapsed()
    };
    let one = |sum: &Arc<AtomicU64>| {
        let sum = Arc::clone(sum);
        move || {
            sum.fetch_add(1, Ordering::Relaxed);
        }
    };
    let on = |pool: &::blitz::ThreadPool, sum: &Arc<AtomicU64>| {
        (0..tasks).for_each(|_| pool.spawn(one(sum)));
    };
    let arms = vec![
        Arm::new("blitz", |calls| time(calls, &|sum| on(blitz_pool, sum))),
        Arm::new("blitz cap", |calls| time(calls, &|sum| on(&limited, sum))),
        Arm::new("rayon", |calls| {
            time(calls, &|sum| {
                (0..tasks).for_each(|_| rayon_pool.spawn(one(sum)));
            })
        }),
    ];
    session.bench("spawn/detached", tasks as u64, Gap::BackToBack, arms);
}

fn calls_from_main(
    session: &mut Session,
    bench: &str,
    tasks: usize,
    fill_blitz: fn(&mut [u64]),
    fill_rayon: fn(&mut [u64]),
) {
    let slots = || vec![0u64; tasks];
    let (mut for_seq, mut for_blitz, mut for_rayon) = (slots(), slots(), slots());
    #[cfg(feature = "forte")]
    let mut for_forte = slots();
    #[allow(unused_mut, reason = "forte is optional")]
    let mut arms = vec![
        Arm::new("seq", |calls| fill_and_check(calls, &mut for_seq, fill_seq)),
        Arm::new("blitz", |calls| {
            fill_and_check(calls, &mut for_blitz, fill_blitz)
        }),
        Arm::new("rayon", |calls| {
            fill_and_check(calls, &mut for_rayon, fill_rayon)
        }),
    ];
    #[cfg(feature = "forte")]
    arms.push(Arm::new("forte", |calls| {
        fill_and_check(calls, &mut for_forte, fill_forte)
    }));
    session.bench(bench, tasks as u64, Gap::BackToBack, arms);
}
