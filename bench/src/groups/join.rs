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

/// Levels of the trees: 31, 1023, 16383, 1M and 16M nodes.
const LEVELS: [u32; 5] = [5, 10, 14, 20, 24];
/// From this many levels on the order in which memory is walked matters.
const LEVELS_BEYOND_CACHE: u32 = 20;
const FIB: u32 = 32;

/// The arms of one program, which every library has under the same name, in one kind of pool. What is in brackets is called to
/// get into the pool of that library.
macro_rules! arms_of {
    (
        $program:ident($input:expr) is $expected:expr, seq is $seq:expr,
        blitz in [$($blitz:tt)*], rayon in [$($rayon:tt)*], chili in [$($chili:tt)*], forte in [$($forte:tt)*]
    ) => {{
        #[allow(unused_mut, reason = "forte is optional")]
        let mut arms = vec![
            $seq,
            Arm::new("blitz", |calls| {
                $($blitz)*(|| timed(calls, $expected, || blitz::$program($input)))
            }),
            Arm::new("rayon", |calls| {
                $($rayon)*(|| timed(calls, $expected, || rayon::$program($input)))
            }),
            Arm::new("chili", |calls| {
                let mut scope = $($chili)*();
                timed(calls, $expected, || chili::$program($input, &mut scope))
            }),
            Arm::new("chili-every1", |calls| {
                let mut scope = $($chili)*();
                timed(calls, $expected, || chili::every_join::$program($input, &mut scope))
            }),
        ];
        #[cfg(feature = "forte")]
        arms.push(Arm::new("forte", |calls| {
            $($forte)*(|worker| timed(calls, $expected, || arms::forte::$program($input, worker)))
        }));
        arms
    }};
}

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

    let arms = arms_of! {
        tree(black_box(root)) is expected, seq is seq(),
        blitz in [single.blitz.install], rayon in [single.rayon.install],
        chili in [single.chili.scope], forte in [arms::forte::ONE_THREAD.with_worker]
    };
    session.bench(names[0], nodes, Gap::BackToBack, arms);

    let arms = arms_of! {
        tree(black_box(root)) is expected, seq is seq(),
        blitz in [blitz::inside], rayon in [rayon::inside],
        chili in [::chili::Scope::global], forte in [arms::forte::POOL.with_worker]
    };
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

    let arms = arms_of! {
        fib(n()) is expected, seq is seq(),
        blitz in [single.blitz.install], rayon in [single.rayon.install],
        chili in [single.chili.scope], forte in [arms::forte::ONE_THREAD.with_worker]
    };
    session.bench("fib/1thread", forks, Gap::BackToBack, arms);

    let arms = arms_of! {
        fib(n()) is expected, seq is seq(),
        blitz in [blitz::inside], rayon in [rayon::inside],
        chili in [::chili::Scope::global], forte in [arms::forte::POOL.with_worker]
    };
    session.bench("fib/default", forks, Gap::BackToBack, arms);
}
