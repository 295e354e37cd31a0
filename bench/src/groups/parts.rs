//! Group `parts`: the engine's parts by themselves, where other groups time what they add up to.
//!
//! * `push+pop`, `push+steal`: a deque's two ends on one thread, an item at a time. `seq` is a `Vec` and a `VecDeque`.
//! * `stolen beside`: an owner pushes, and pops now and then, while another thread steals.
//! * `recv/…`: an item through a [`DequeChannel`]: a worker's own, one from outside, another worker's.
//! * `wake/…`: from a detached `spawn` outside until the task has begun, 300 us after the last one. `thread` is one that is unparked by hand.
//! * `lookup`: the one sleeper among so many threads: by a bit each, as the engine has it, and by asking each in turn.
//! * `back-off/…`: a join of two tasks of 20 us in pools of each mode.
//! * `scaling`: 32 items that sleep for a millisecond, on 1 to 16 threads, so that more threads than CPUs show. `seq` is the bound, not a measurement.

use std::collections::VecDeque;
use std::hint::{black_box, spin_loop};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ::blitz::primitives::{BackoffMode, DequeChannel, deque};
use crossbeam_deque as crossbeam;

use crate::args::Options;
use crate::arms::{self, Cpus, blitz, rayon};
use crate::measure::{Arm, Gap, Session, timed, wrong_result};
use crate::report::Row;
use crate::spin::spin;

/// Items of `stolen beside`.
const ITEMS: usize = 10_000;
/// Items of `scaling`, and how long each sleeps.
const SLEEPERS: u64 = 32;
const NAP: Duration = Duration::from_millis(1);

/// Runs the group.
pub fn run(options: &Options, cpus: &Cpus) -> Vec<Row> {
    arms::place_main(cpus);
    let mut session = Session::new("parts", options.clone());
    deques(&mut session);
    beside(&mut session);
    channel(&mut session);
    wake(&mut session, cpus);
    lookup(&mut session);
    back_off(&mut session, cpus);
    scaling(&mut session);
    session.into_rows()
}

/// One item in, one item out.
fn through(calls: u32, mut there_and_back: impl FnMut(usize) -> Option<usize>) -> Duration {
    let start = Instant::now();
    for call in 0..calls as usize {
        if black_box(there_and_back(black_box(call))) != Some(call) {
            wrong_result(0, call as u64);
        }
    }
    start.elapsed()
}

fn deques(session: &mut Session) {
    let (owner, stealer) = deque::<usize>();
    let worker = crossbeam::Worker::new_lifo();
    let (mut vec, mut both_ends) = (Vec::new(), VecDeque::new());
    let arms = vec![
        Arm::new("seq", |calls| {
            through(calls, |item| {
                vec.push(item);
                black_box(&mut vec).pop()
            })
        }),
        Arm::new("blitz", |calls| {
            through(calls, |item| {
                owner.push(item);
                owner.pop()
            })
        }),
        Arm::new("crossbeam", |calls| {
            through(calls, |item| {
                worker.push(item);
                worker.pop()
            })
        }),
    ];
    session.bench("push+pop", 1, Gap::BackToBack, arms);
    let thief = worker.stealer();
    let arms = vec![
        Arm::new("seq", |calls| {
            through(calls, |item| {
                both_ends.push_back(item);
                black_box(&mut both_ends).pop_front()
            })
        }),
        Arm::new("blitz", |calls| {
            through(calls, |item| {
                owner.push(item);
                stealer.steal().success()
            })
        }),
        Arm::new("crossbeam", |calls| {
            through(calls, |item| {
                worker.push(item);
                thief.steal().success()
            })
        }),
    ];
    session.bench("push+steal", 1, Gap::BackToBack, arms);
}

/// An owner and a thief; every item is got by one of them.
fn owner_and_thief(
    calls: u32,
    push: impl Fn(usize),
    pop: impl Fn() -> Option<usize>,
    steal: impl Fn() -> Option<usize> + Sync,
) -> Duration {
    let (over, got) = (AtomicBool::new(false), AtomicU64::new(0));
    let time = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut sum = 0;
            loop {
                match steal() {
                    Some(item) => sum += item as u64,
                    None if over.load(Ordering::Acquire) => break,
                    None => spin_loop(),
                }
            }
            got.fetch_add(sum, Ordering::Relaxed);
        });
        let start = Instant::now();
        let mut sum = 0;
        for _ in 0..calls {
            for item in 0..ITEMS {
                push(item);
                if item % 4 == 3 {
                    sum += pop().unwrap_or(0);
                }
            }
            while let Some(item) = pop() {
                sum += item;
            }
        }
        let time = start.elapsed();
        got.fetch_add(sum as u64, Ordering::Relaxed);
        over.store(true, Ordering::Release);
        time
    });
    let (got, expected) = (got.into_inner(), (ITEMS * (ITEMS - 1) / 2) as u64);
    if got != expected * u64::from(calls) {
        wrong_result(got, expected * u64::from(calls));
    }
    time
}

fn beside(session: &mut Session) {
    let (owner, stealer) = deque::<usize>();
    let worker = crossbeam::Worker::new_lifo();
    let thief = worker.stealer();
    let arms = vec![
        Arm::new("blitz", |calls| {
            let steal = || stealer.steal().success();
            owner_and_thief(
                calls,
                |item| {
                    owner.push(item);
                },
                || owner.pop(),
                steal,
            )
        }),
        Arm::new("crossbeam", |calls| {
            let steal = || thief.steal().success();
            owner_and_thief(calls, |item| worker.push(item), || worker.pop(), steal)
        }),
    ];
    session.bench("stolen beside", ITEMS as u64, Gap::BackToBack, arms);
}

fn channel(session: &mut Session) {
    let (workers, outside) = DequeChannel::new().build::<usize>(2);
    let (sender, receiver) = std::sync::mpsc::channel();
    let (many_senders, many_receivers) = flume::unbounded();
    let [mine, other] = &workers[..] else {
        unreachable!("two were asked for")
    };
    type Send<'a> = &'a dyn Fn(usize);
    let benches: [(&str, Send<'_>); 3] = [
        ("recv/own", &|item| mine.send(item).expect("there is room")),
        ("recv/from outside", &|item| {
            outside.send(item).expect("there is room");
        }),
        ("recv/another's", &|item| {
            other.send(item).expect("there is room");
        }),
    ];
    for (bench, send) in benches {
        let arms = vec![
            Arm::new("blitz", |calls| {
                through(calls, |item| {
                    send(item);
                    mine.recv()
                })
            }),
            Arm::new("mpsc", |calls| {
                through(calls, |item| {
                    sender.send(item).expect("it is there");
                    receiver.try_recv().ok()
                })
            }),
            Arm::new("flume", |calls| {
                through(calls, |item| {
                    many_senders.send(item).expect("it is there");
                    many_receivers.try_recv().ok()
                })
            }),
        ];
        session.bench(bench, 1, Gap::BackToBack, arms);
    }
}

/// From `start` until the flag is raised, by somebody else.
fn until_begun(calls: u32, start: &dyn Fn(Arc<AtomicBool>)) -> Duration {
    let mut total = Duration::ZERO;
    for _ in 0..calls {
        let begun = Arc::new(AtomicBool::new(false));
        let now = Instant::now();
        start(Arc::clone(&begun));
        while !begun.load(Ordering::Acquire) {
            spin_loop();
        }
        total += now.elapsed();
    }
    total
}

fn wake(session: &mut Session, cpus: &Cpus) {
    let threads = crate::pin::cpus_at_start().len().max(2);
    for threads in [threads, 64] {
        // Sixty-four threads find no CPUs of their own.
        let cpus = if threads == 64 {
            &Cpus::new(false)
        } else {
            cpus
        };
        let (blitz, rayon) = (blitz::pool(threads, cpus), rayon::pool(threads, cpus));
        let (orders, of_thread) = std::sync::mpsc::channel::<Arc<AtomicBool>>();
        let thread = std::thread::spawn(move || {
            let raise = |begun: Arc<AtomicBool>| begun.store(true, Ordering::Release);
            of_thread.into_iter().for_each(raise);
        });
        let arms = vec![
            Arm::new("blitz", |calls| {
                until_begun(calls, &|begun| {
                    blitz.spawn(move || begun.store(true, Ordering::Release));
                })
            }),
            Arm::new("rayon", |calls| {
                until_begun(calls, &|begun| {
                    rayon.spawn(move || begun.store(true, Ordering::Release));
                })
            }),
            Arm::new("thread", |calls| {
                until_begun(calls, &|begun| orders.send(begun).expect("it is there"))
            }),
        ];
        session.bench("wake/one", threads as u64, Gap::After300us, arms);
        drop(orders);
        thread.join().expect("it does not panic");
    }
}

fn lookup(session: &mut Session) {
    for threads in [64, 1024] {
        let sleeper = threads - 1;
        let bits: Vec<AtomicU64> = (0..threads / 64).map(|_| AtomicU64::new(0)).collect();
        bits[sleeper / 64].store(1 << (sleeper % 64), Ordering::Relaxed);
        /// As far apart as the states of threads are.
        #[repr(align(128))]
        struct State(AtomicBool);
        let states: Vec<State> = (0..threads)
            .map(|thread| State(AtomicBool::new(thread == sleeper)))
            .collect();
        let expected = sleeper as u64;
        let arms = vec![
            Arm::new("bits", |calls| {
                timed(calls, expected, || {
                    let word = |(index, word): (usize, &AtomicU64)| {
                        let word = word.load(Ordering::SeqCst);
                        (word != 0).then(|| index * 64 + word.trailing_zeros() as usize)
                    };
                    black_box(&bits)
                        .iter()
                        .enumerate()
                        .find_map(word)
                        .unwrap_or(0) as u64
                })
            }),
            Arm::new("each in turn", |calls| {
                timed(calls, expected, || {
                    let sleeps = |state: &State| state.0.load(Ordering::SeqCst);
                    black_box(&states).iter().position(sleeps).unwrap_or(0) as u64
                })
            }),
        ];
        session.bench("lookup", threads as u64, Gap::BackToBack, arms);
    }
}

fn back_off(session: &mut Session, cpus: &Cpus) {
    let threads = crate::pin::cpus_at_start().len().max(1);
    let steps = session.calibration.steps_for(20.0);
    let expected = spin(steps, 1) ^ spin(steps, 2);
    for gap in [Gap::BackToBack, Gap::After300us] {
        let modes = [
            ("low latency", BackoffMode::LowLatency),
            ("balanced", BackoffMode::Balanced),
            ("power saving", BackoffMode::PowerSaving),
        ];
        let arms = modes.map(|(name, mode)| {
            let builder = blitz::builder(cpus).num_threads(threads).backoff(mode);
            let pool = builder.build().expect("threads can be started");
            Arm::new(name, move |calls| {
                timed(calls, expected, || {
                    let both =
                        || blitz::join(|| spin(steps, black_box(1)), || spin(steps, black_box(2)));
                    let (left, right) = pool.install(both);
                    left ^ right
                })
            })
        });
        let bench = format!("back-off/{}", gap.name());
        session.bench(&bench, 40, gap, arms.into());
    }
}

fn scaling(session: &mut Session) {
    let expected = SLEEPERS * (SLEEPERS - 1) / 2;
    let item = |number: u64| {
        std::thread::sleep(NAP);
        number
    };
    for threads in [1, 2, 4, 8, 16] {
        let free = Cpus::new(false);
        let (blitz, rayon) = (blitz::pool(threads, &free), rayon::pool(threads, &free));
        let rounds = SLEEPERS.div_ceil(threads as u64);
        let arms = vec![
            Arm::new("seq", |calls| {
                timed(calls, expected, || {
                    (0..rounds).for_each(|_| std::thread::sleep(NAP));
                    expected
                })
            }),
            Arm::new("blitz", |calls| {
                use ::blitz::prelude::*;
                timed(calls, expected, || {
                    blitz.install(|| (0..SLEEPERS).into_par_iter().map(item).sum())
                })
            }),
            Arm::new("rayon", |calls| {
                use ::rayon::prelude::*;
                timed(calls, expected, || {
                    rayon.install(|| (0..SLEEPERS).into_par_iter().map(item).sum())
                })
            }),
        ];
        session.bench("scaling", threads as u64, Gap::BackToBack, arms);
    }
}
