//! Group `entry`: what a thread outside the pool pays to use it.
//!
//! Every call starts on the main thread, which is no worker of any pool: back to back, after 300 us of other work on
//! the main thread, and after 5 ms in which the whole process slept.

use std::hint::black_box;

use crate::args::Options;
use crate::arms::{self, Cpus, Lib, blitz, chili, rayon};
use crate::measure::{Arm, Gap, Session, timed};
use crate::report::Row;
use crate::workloads::tree;

const LEVELS: u32 = 10;

/// Runs the group.
pub fn run(options: &Options, cpus: &Cpus) -> Vec<Row> {
    arms::start(Lib::ALL, cpus);
    let threads = crate::pin::cpus_at_start().len().max(1);
    let blitz_pool = blitz::pool(threads, cpus);
    let rayon_pool = rayon::pool(threads, cpus);
    arms::place_main(cpus);
    let mut session = Session::new("entry", options.clone());
    for gap in Gap::ALL {
        empty_join(&mut session, gap);
        small_tree(&mut session, gap);
        install(&mut session, gap, &blitz_pool, &rayon_pool);
        scope_and_spawn(&mut session, gap);
    }
    session.into_rows()
}

fn one() -> u64 {
    black_box(1)
}

fn two() -> u64 {
    black_box(2)
}

fn empty_join(session: &mut Session, gap: Gap) {
    #[allow(unused_mut, reason = "forte is optional")]
    let mut arms = vec![
        Arm::new("seq", |calls| timed(calls, 3, || one() + two())),
        Arm::new("blitz", |calls| {
            timed(calls, 3, || {
                let (a, b) = blitz::join(one, two);
                a + b
            })
        }),
        Arm::new("rayon", |calls| {
            timed(calls, 3, || {
                let (a, b) = ::rayon::join(one, two);
                a + b
            })
        }),
        Arm::new("chili", |calls| {
            timed(calls, 3, || {
                let (a, b) = ::chili::Scope::global().join(|_| one(), |_| two());
                a + b
            })
        }),
    ];
    #[cfg(feature = "forte")]
    arms.push(Arm::new("forte", |calls| {
        timed(calls, 3, || {
            let (a, b) = arms::forte::POOL.join(|_| one(), |_| two());
            a + b
        })
    }));
    session.bench(&format!("empty/{}", gap.name()), 1, gap, arms);
}

fn small_tree(session: &mut Session, gap: Gap) {
    let mut arena = tree::Arena::for_levels(LEVELS);
    let root = arena.fill();
    let expected = tree::expected_sum(LEVELS);
    #[allow(unused_mut, reason = "forte is optional")]
    let mut arms = vec![
        Arm::new("seq", |calls| {
            timed(calls, expected, || tree::sum(black_box(root)))
        }),
        Arm::new("blitz", |calls| {
            timed(calls, expected, || blitz::tree(black_box(root)))
        }),
        Arm::new("rayon", |calls| {
            // The whole tree is handed over at once; `join` from outside would do the same at its first fork.
            timed(calls, expected, || rayon::tree(black_box(root)))
        }),
        Arm::new("chili", |calls| {
            timed(calls, expected, || {
                chili::tree(black_box(root), &mut ::chili::Scope::global())
            })
        }),
    ];
    #[cfg(feature = "forte")]
    arms.push(Arm::new("forte", |calls| {
        timed(calls, expected, || {
            arms::forte::POOL.with_worker(|worker| arms::forte::tree(black_box(root), worker))
        })
    }));
    let nodes = tree::node_count(LEVELS) as u64;
    session.bench(&format!("tree/{}", gap.name()), nodes, gap, arms);
}

fn install(
    session: &mut Session,
    gap: Gap,
    blitz_pool: &blitz::ThreadPool,
    rayon_pool: &::rayon::ThreadPool,
) {
    #[allow(unused_mut, reason = "forte is optional")]
    let mut arms = vec![
        Arm::new("seq", |calls| timed(calls, 1, one)),
        Arm::new("blitz", |calls| timed(calls, 1, || blitz_pool.install(one))),
        Arm::new("rayon", |calls| timed(calls, 1, || rayon_pool.install(one))),
    ];
    #[cfg(feature = "forte")]
    arms.push(Arm::new("forte", |calls| {
        timed(calls, 1, || arms::forte::POOL.with_worker(|_| one()))
    }));
    session.bench(&format!("install/{}", gap.name()), 1, gap, arms);
}

fn scope_and_spawn(session: &mut Session, gap: Gap) {
    #[allow(unused_mut, reason = "forte is optional")]
    let mut arms = vec![
        Arm::new("seq", |calls| timed(calls, 1, one)),
        Arm::new("blitz", |calls| {
            timed(calls, 1, || {
                let mut result = 0;
                blitz::scope(|scope| scope.spawn(|_| result = one()));
                result
            })
        }),
        Arm::new("rayon", |calls| {
            timed(calls, 1, || {
                let mut result = 0;
                ::rayon::scope(|scope| scope.spawn(|_| result = one()));
                result
            })
        }),
    ];
    #[cfg(feature = "forte")]
    arms.push(Arm::new("forte", |calls| {
        timed(calls, 1, || {
            let mut result = 0;
            arms::forte::POOL.scope(|scope| {
                scope.spawn(|_: &::forte::Worker| result = one());
            });
            result
        })
    }));
    session.bench(&format!("scope/{}", gap.name()), 1, gap, arms);
}
