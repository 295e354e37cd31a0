//! Group `shape`: what the shape of a pool or a runtime costs, and what it costs those who leave it as it is.
//!
//! The same operations in pools of as many threads as there are CPUs: `blitz`, which asks for nothing else; `cores`, with a worker for each core of a made-up [`Topology`] in which every CPU is one, so with
//! bound threads; `patient`, whose idle threads stay awake for a millisecond ([`BackoffMode::Custom`]); `limit`, with a queue capacity that is never reached; and `rayon`. Operations: `joins`, a tree of forks; `loop`, a sum;
//! `tasks` of a scope; `pause`, a join of two tasks of 20 us, 300 us after the last one.
//!
//! `async/…` are tasks in runtimes of as many workers, with and without `enable_stealing`, and tokio's: a task that spawns 1000 and awaits them (`fan`), and a task for each worker that spawns and awaits 1000 one after the other
//! (`chains`), where nothing needs to be stolen.

use std::hint::black_box;
use std::time::Duration;

use ::blitz::prelude::*;
use ::blitz::primitives::{BackoffLimits, BackoffMode, FullPolicy};
use ::blitz::{Cpu, Share, ThreadPool, Topology};

use super::control::{leaves, tasks};
use crate::args::Options;
use crate::arms::{self, Cpus, blitz, rayon};
use crate::measure::{Arm, Gap, Session, timed};
use crate::report::Row;
use crate::spin::spin;

const PARTS: u64 = 1024;
const ELEMENTS: u64 = 100_000;
const SPAWNS: u64 = 1000;

/// Runs the group.
pub fn run(options: &Options, cpus: &Cpus) -> Vec<Row> {
    let ids = crate::pin::cpus_at_start();
    let threads = ids.len().max(1);
    let mut pools = vec![("blitz", blitz::pool(threads, cpus))];
    let cores = ids.iter().map(|&id| Cpu {
        id,
        core: id,
        node: 0,
    });
    if let Ok(cores) = Topology::new(cores) {
        let builder = ::blitz::ThreadPoolBuilder::new().one_worker_per(Share::Core, &cores);
        pools.push(("cores", builder.build().expect("the process's CPUs")));
    }
    let patient = BackoffLimits {
        patience: Duration::from_millis(1),
        ..BackoffMode::Balanced.limits()
    };
    let builder = || blitz::builder(cpus).num_threads(threads);
    let patient = builder().backoff(BackoffMode::Custom(patient)).build();
    let limit = builder()
        .queue_capacity(usize::MAX, FullPolicy::Block)
        .build();
    pools.push(("patient", patient.expect("threads can be started")));
    pools.push(("limit", limit.expect("threads can be started")));
    let rayon = rayon::pool(threads, cpus);
    arms::place_main(cpus);
    let mut session = Session::new("shape", options.clone());
    let values: Vec<u64> = (0..ELEMENTS).map(|n| n % 1013).collect();
    let steps = session.calibration.steps_for(20.0);
    in_each(
        &mut session,
        ("joins", PARTS, Gap::BackToBack),
        &pools,
        &|| leaves(0, PARTS),
        (&rayon, &|| rayon_leaves(0, PARTS)),
    );
    in_each(
        &mut session,
        ("loop", ELEMENTS, Gap::BackToBack),
        &pools,
        &|| values.par_iter().sum(),
        (&rayon, &|| {
            ::rayon::iter::ParallelIterator::sum(::rayon::iter::IntoParallelRefIterator::par_iter(
                &values,
            ))
        }),
    );
    in_each(
        &mut session,
        ("tasks", PARTS, Gap::BackToBack),
        &pools,
        &tasks,
        (&rayon, &rayon_tasks),
    );
    let one = |seed| move || spin(steps, black_box(seed));
    in_each(
        &mut session,
        ("pause", 40, Gap::After300us),
        &pools,
        &|| {
            let (left, right) = blitz::join(one(1), one(2));
            left ^ right
        },
        (&rayon, &|| {
            let (left, right) = ::rayon::join(one(1), one(2));
            left ^ right
        }),
    );
    drop(pools);
    runtimes(&mut session, threads);
    session.into_rows()
}

type Operation<'a> = &'a (dyn Fn() -> u64 + Sync);

/// One operation inside of each pool.
fn in_each(
    session: &mut Session,
    (bench, size, gap): (&str, u64, Gap),
    pools: &[(&'static str, ThreadPool)],
    operation: Operation<'_>,
    (rayon, rayons): (&::rayon::ThreadPool, Operation<'_>),
) {
    let expected = operation();
    let mut arms: Vec<Arm<'_>> = Vec::new();
    for (name, pool) in pools {
        arms.push(Arm::new(name, move |calls| {
            pool.install(|| timed(calls, expected, operation))
        }));
    }
    arms.push(Arm::new("rayon", move |calls| {
        rayon.install(|| timed(calls, expected, rayons))
    }));
    session.bench(bench, size, gap, arms);
}

fn rayon_leaves(from: u64, to: u64) -> u64 {
    if to - from == 1 {
        return black_box(from);
    }
    let middle = from + (to - from) / 2;
    let (left, right) = ::rayon::join(|| rayon_leaves(from, middle), || rayon_leaves(middle, to));
    left + right
}

fn rayon_tasks() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    let sum = AtomicU64::new(0);
    ::rayon::scope(|scope| {
        for number in 0..PARTS {
            let sum = &sum;
            scope.spawn(move |_| {
                sum.fetch_add(black_box(number), Ordering::Relaxed);
            });
        }
    });
    sum.into_inner()
}

/// The same async programs, for whichever runtime.
macro_rules! programs {
    ($library:ident, $runtime:expr) => {{
        async fn fan() -> u64 {
            let spawned: Vec<_> = (0..SPAWNS)
                .map(|number| $library::spawn(async move { black_box(number) }))
                .collect();
            let mut sum = 0;
            for task in spawned {
                sum += task.await.expect("it does not panic");
            }
            sum
        }
        async fn chain() -> u64 {
            let mut sum = 0;
            for number in 0..SPAWNS {
                let task = $library::spawn(async move { black_box(number) });
                sum += task.await.expect("it does not panic");
            }
            sum
        }
        let runtime = $runtime;
        let fans = {
            let handle = runtime.handle().clone();
            move || {
                handle
                    .block_on(handle.spawn(fan()))
                    .expect("it does not panic")
            }
        };
        let chains = {
            let handle = runtime.handle().clone();
            move |workers: usize| {
                let all: Vec<_> = (0..workers).map(|_| handle.spawn(chain())).collect();
                handle.block_on(async {
                    let mut sum = 0;
                    for one in all {
                        sum += one.await.expect("it does not panic");
                    }
                    sum
                })
            }
        };
        (runtime, fans, chains)
    }};
}

fn runtimes(session: &mut Session, threads: usize) {
    let blitz_runtime = |stealing| {
        let mut builder = blitz_io::Builder::new_multi_thread();
        builder.worker_threads(threads).enable_stealing(stealing);
        builder.build().expect("a runtime starts")
    };
    let (_steals, fan, chains) = programs!(blitz_io, blitz_runtime(true));
    let (_does_not, own_fan, own_chains) = programs!(blitz_io, blitz_runtime(false));
    let tokio_runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .build()
        .expect("a runtime starts");
    let (_tokio, tokio_fan, tokio_chains) = programs!(tokio, tokio_runtime);
    let sum = SPAWNS * (SPAWNS - 1) / 2;
    let arms = vec![
        Arm::new("blitz", |calls| timed(calls, sum, &fan)),
        Arm::new("no stealing", |calls| timed(calls, sum, &own_fan)),
        Arm::new("tokio", |calls| timed(calls, sum, &tokio_fan)),
    ];
    session.bench("async/fan", SPAWNS, Gap::BackToBack, arms);
    let all = sum * threads as u64;
    let arms = vec![
        Arm::new("blitz", |calls| timed(calls, all, || chains(threads))),
        Arm::new("no stealing", |calls| {
            timed(calls, all, || own_chains(threads))
        }),
        Arm::new("tokio", |calls| timed(calls, all, || tokio_chains(threads))),
    ];
    let size = SPAWNS * threads as u64;
    session.bench("async/chains", size, Gap::BackToBack, arms);
}
