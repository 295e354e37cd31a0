//! Group `join`: what a fork costs, and what two threads make of it.
//!
//! Trees and Fibonacci numbers without any cut-off: a fork at every node, so that the fork itself is what is timed. On
//! a pool of one thread the difference to `seq`, divided by the number of forks, is a library's cost per join; on the
//! default pool stealing is added. All arms run inside their pool; entering it is the `entry` group's business.

use std::hint::black_box;

use crate::args::Options;
use crate::arms::{self, Cpus, Lib, blitz, chili, rayon};
use crate::measure::{Arm, Gap, Session, timed};
use crate::report::Row;
use crate::workloads::{fib, tree};

/// Levels of the trees: 1023, 16383, 1M and 16M nodes.
const LEVELS: [u32; 4] = [10, 14, 20, 24];
/// From this many levels on the order in which memory is walked matters.
const LEVELS_BEYOND_CACHE: u32 = 20;
const FIB: u32 = 32;

/// Runs the group.
pub fn run(options: &Options, cpus: &Cpus) -> Vec<Row> {
    arms::start(Lib::ALL, cpus);
    let single = OneThreadPools {
        blitz: blitz::pool(1, cpus),
        rayon: rayon::pool(1, cpus),
        chili: chili::one_thread(cpus),
    };
    arms::place_main(cpus);
    let mut session = Session::new("join", options.clone());
    for levels in LEVELS {
        tree_benches(&mut session, &single, levels);
    }
    fib_benches(&mut session, &single);
    session.into_rows()
}

struct OneThreadPools {
    blitz: blitz::ThreadPool,
    rayon: ::rayon::ThreadPool,
    chili: ::chili::ThreadPool,
}

fn tree_benches(session: &mut Session, single: &OneThreadPools, levels: u32) {
    let names = ["tree/1thread", "tree/default", "tree/default/as-written"];
    if !names.iter().any(|name| session.wants(name)) {
        return;
    }
    let mut arena = tree::Arena::for_levels(levels);
    let root = arena.fill();
    let expected = tree::expected_sum(levels);
    let nodes = tree::node_count(levels) as u64;
    let seq = || {
        Arm::new("seq", move |calls| {
            timed(calls, expected, || tree::sum(black_box(root)))
        })
    };

    #[allow(unused_mut, reason = "forte is optional")]
    let mut arms = vec![
        seq(),
        Arm::new("blitz", |calls| {
            single
                .blitz
                .install(|| timed(calls, expected, || blitz::tree(black_box(root))))
        }),
        Arm::new("rayon", |calls| {
            single
                .rayon
                .install(|| timed(calls, expected, || rayon::tree(black_box(root))))
        }),
        Arm::new("chili", |calls| {
            let mut scope = single.chili.scope();
            timed(calls, expected, || chili::tree(black_box(root), &mut scope))
        }),
        Arm::new("chili-every1", |calls| {
            let mut scope = single.chili.scope();
            timed(calls, expected, || {
                chili::every_join::tree(black_box(root), &mut scope)
            })
        }),
    ];
    #[cfg(feature = "forte")]
    arms.push(Arm::new("forte", |calls| {
        arms::forte::ONE_THREAD.with_worker(|worker| {
            timed(calls, expected, || {
                arms::forte::tree(black_box(root), worker)
            })
        })
    }));
    session.bench(names[0], nodes, Gap::BackToBack, arms);

    #[allow(unused_mut, reason = "forte is optional")]
    let mut arms = vec![
        seq(),
        Arm::new("blitz", |calls| {
            blitz::inside(|| timed(calls, expected, || blitz::tree(black_box(root))))
        }),
        Arm::new("rayon", |calls| {
            rayon::inside(|| timed(calls, expected, || rayon::tree(black_box(root))))
        }),
        Arm::new("chili", |calls| {
            let mut scope = ::chili::Scope::global();
            timed(calls, expected, || chili::tree(black_box(root), &mut scope))
        }),
        Arm::new("chili-every1", |calls| {
            let mut scope = ::chili::Scope::global();
            timed(calls, expected, || {
                chili::every_join::tree(black_box(root), &mut scope)
            })
        }),
    ];
    #[cfg(feature = "forte")]
    arms.push(Arm::new("forte", |calls| {
        arms::forte::POOL.with_worker(|worker| {
            timed(calls, expected, || {
                arms::forte::tree(black_box(root), worker)
            })
        })
    }));
    session.bench(names[1], nodes, Gap::BackToBack, arms);

    if levels < LEVELS_BEYOND_CACHE {
        return;
    }
    // `join(left, right)` without swapping: these two libraries, and plain code in their order, walk right first.
    #[allow(unused_mut, reason = "forte is optional")]
    let mut arms = vec![
        Arm::new("seq", |calls| {
            timed(calls, expected, || tree::sum_right_first(black_box(root)))
        }),
        Arm::new("chili", |calls| {
            let mut scope = ::chili::Scope::global();
            timed(calls, expected, || {
                chili::as_written::tree(black_box(root), &mut scope)
            })
        }),
    ];
    #[cfg(feature = "forte")]
    arms.push(Arm::new("forte", |calls| {
        arms::forte::POOL.with_worker(|worker| {
            timed(calls, expected, || {
                arms::forte::as_written::tree(black_box(root), worker)
            })
        })
    }));
    session.bench(names[2], nodes, Gap::BackToBack, arms);
}

fn fib_benches(session: &mut Session, single: &OneThreadPools) {
    let expected = fib::fib(FIB);
    let forks = fib::forks(FIB);
    let n = || black_box(FIB);
    let seq = || Arm::new("seq", move |calls| timed(calls, expected, || fib::fib(n())));

    #[allow(unused_mut, reason = "forte is optional")]
    let mut arms = vec![
        seq(),
        Arm::new("blitz", |calls| {
            single
                .blitz
                .install(|| timed(calls, expected, || blitz::fib(n())))
        }),
        Arm::new("rayon", |calls| {
            single
                .rayon
                .install(|| timed(calls, expected, || rayon::fib(n())))
        }),
        Arm::new("chili", |calls| {
            let mut scope = single.chili.scope();
            timed(calls, expected, || chili::fib(n(), &mut scope))
        }),
        Arm::new("chili-every1", |calls| {
            let mut scope = single.chili.scope();
            timed(calls, expected, || chili::every_join::fib(n(), &mut scope))
        }),
    ];
    #[cfg(feature = "forte")]
    arms.push(Arm::new("forte", |calls| {
        arms::forte::ONE_THREAD
            .with_worker(|worker| timed(calls, expected, || arms::forte::fib(n(), worker)))
    }));
    session.bench("fib/1thread", forks, Gap::BackToBack, arms);

    #[allow(unused_mut, reason = "forte is optional")]
    let mut arms = vec![
        seq(),
        Arm::new("blitz", |calls| {
            blitz::inside(|| timed(calls, expected, || blitz::fib(n())))
        }),
        Arm::new("rayon", |calls| {
            rayon::inside(|| timed(calls, expected, || rayon::fib(n())))
        }),
        Arm::new("chili", |calls| {
            let mut scope = ::chili::Scope::global();
            timed(calls, expected, || chili::fib(n(), &mut scope))
        }),
        Arm::new("chili-every1", |calls| {
            let mut scope = ::chili::Scope::global();
            timed(calls, expected, || chili::every_join::fib(n(), &mut scope))
        }),
    ];
    #[cfg(feature = "forte")]
    arms.push(Arm::new("forte", |calls| {
        arms::forte::POOL
            .with_worker(|worker| timed(calls, expected, || arms::forte::fib(n(), worker)))
    }));
    session.bench("fib/default", forks, Gap::BackToBack, arms);
}
