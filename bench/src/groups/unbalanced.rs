//! Group `unbalanced`: searches whose subtrees differ by orders of magnitude.
//!
//! N-queens with bit masks (a few ns per board) and the unbalanced tree search at two prices per node. Every worker of
//! every library gets a large stack, because a library that runs unrelated work while it waits nests without bound.
//! The last bench takes the large stacks away: the search is some 1200 levels deep and fits 2 MiB easily when done
//! alone. It runs in a child process per library; a library whose child dies is reported as such and gets no row.

use std::hint::black_box;
use std::time::Duration;

use crate::args::Options;
use crate::arms::{self, Cpus, Lib, blitz, chili, rayon};
use crate::child::{self, Outcome};
use crate::measure::{Arm, Gap, Session, median, now_measuring, timed};
use crate::report::Row;
use crate::workloads::iterators;
use crate::workloads::queens::{self, Board};
use crate::workloads::uts::{self, Shape};

const BOARDS: [u32; 2] = [11, 13];
/// Names the price of a node and the number of hash rounds that gives it.
const PRICES: [(&str, u32); 2] = [("6ns", Shape::CHEAP), ("38ns", Shape::DEAR)];
/// Stacks for everyone in the timed benches; only touched pages cost memory.
const LARGE_STACK: usize = 256 << 20;
/// What `std` and rayon give a worker by default, in KiB as it is passed to a child.
const SMALL_STACK_KIB: &str = "2048";
/// First word of the hidden measurement on small stacks.
pub const CHILD: &str = "uts-2MiB";

/// Runs the group.
pub fn run(options: &Options, cpus: &Cpus) -> Vec<Row> {
    // SAFETY: the process has one thread here (pools start below), so nobody else reads or writes the environment.
    unsafe { std::env::set_var("RUST_MIN_STACK", LARGE_STACK.to_string()) };
    arms::start(Lib::ALL, cpus);
    arms::place_main(cpus);
    let mut session = Session::new("unbalanced", options.clone());
    for size in BOARDS {
        queens_bench(&mut session, size);
        queens_in_loops(&mut session, size);
    }
    for (price, rounds) in PRICES {
        uts_bench(&mut session, price, rounds);
    }
    for (price, _) in PRICES {
        small_stacks(&mut session, price, cpus.pinned());
    }
    session.into_rows()
}

fn queens_bench(session: &mut Session, size: u32) {
    let expected = queens::solutions(Board::empty(size));
    let board = || Board::empty(black_box(size));
    #[allow(unused_mut, reason = "forte is optional")]
    let mut arms = vec![
        Arm::new("seq", |calls| {
            timed(calls, expected, || queens::solutions(board()))
        }),
        Arm::new("blitz", |calls| {
            blitz::inside(|| timed(calls, expected, || blitz::queens(board())))
        }),
        Arm::new("rayon", |calls| {
            rayon::inside(|| timed(calls, expected, || rayon::queens(board())))
        }),
        Arm::new("chili", |calls| {
            let mut scope = ::chili::Scope::global();
            timed(calls, expected, || chili::queens(board(), &mut scope))
        }),
    ];
    #[cfg(feature = "forte")]
    arms.push(Arm::new("forte", |calls| {
        arms::forte::POOL
            .with_worker(|worker| timed(calls, expected, || arms::forte::queens(board(), worker)))
    }));
    session.bench("nqueens", u64::from(size), Gap::BackToBack, arms);
}

/// The same with a loop over all columns at every board: tiny loops, nested. How that compares with joins is the last arm's to say.
fn queens_in_loops(session: &mut Session, size: u32) {
    let expected = queens::solutions(Board::empty(size));
    let board = || Board::empty(black_box(size));
    let arms = vec![
        Arm::new("seq", |calls| {
            timed(calls, expected, || iterators::seq::queens_in_loops(board()))
        }),
        Arm::new("blitz", |calls| {
            let queens = || blitz::iterators::queens_in_loops(board());
            blitz::inside(|| timed(calls, expected, queens))
        }),
        Arm::new("rayon", |calls| {
            let queens = || rayon::iterators::queens_in_loops(board());
            rayon::inside(|| timed(calls, expected, queens))
        }),
        Arm::new("blitz-join", |calls| {
            blitz::inside(|| timed(calls, expected, || blitz::queens(board())))
        }),
    ];
    session.bench("queens_in_loops", u64::from(size), Gap::BackToBack, arms);
}

fn uts_bench(session: &mut Session, price: &str, rounds: u32) {
    let shape = &Shape::standard(rounds);
    let nodes = uts::count(shape, shape.root());
    let root = || black_box(shape.root());
    #[allow(unused_mut, reason = "forte is optional")]
    let mut arms = vec![
        Arm::new("seq", |calls| {
            timed(calls, nodes, || uts::count(shape, root()))
        }),
        Arm::new("blitz", |calls| {
            blitz::inside(|| timed(calls, nodes, || blitz::uts(shape, root())))
        }),
        Arm::new("rayon", |calls| {
            rayon::inside(|| timed(calls, nodes, || rayon::uts(shape, root())))
        }),
        Arm::new("chili", |calls| {
            let mut scope = ::chili::Scope::global();
            timed(calls, nodes, || chili::uts(shape, root(), &mut scope))
        }),
    ];
    #[cfg(feature = "forte")]
    arms.push(Arm::new("forte", |calls| {
        arms::forte::POOL
            .with_worker(|worker| timed(calls, nodes, || arms::forte::uts(shape, root(), worker)))
    }));
    session.bench(&format!("uts/{price}"), nodes, Gap::BackToBack, arms);
}

fn small_stacks(session: &mut Session, price: &str, pinned: bool) {
    let bench = format!("uts/{price}/2MiB-stacks");
    if !session.wants(&bench) {
        return;
    }
    for lib in Lib::ALL {
        let calls = if session.options.quick { "5" } else { "25" };
        let placement = child::placement_word(pinned);
        let words = [CHILD, lib.name(), price, placement, calls, SMALL_STACK_KIB];
        match child::run_hidden(&words) {
            Outcome::Rows(rows) => rows.into_iter().for_each(|row| session.push(row)),
            Outcome::Killed => {
                eprintln!("{bench}: {} overflowed its 2 MiB stack", lib.name());
            }
        }
    }
}

/// The hidden measurement: `LIB PRICE PLACEMENT CALLS STACK_KIB`. The search starts on a thread with that stack.
pub fn run_child(words: &[String]) -> Result<Vec<Row>, String> {
    let [lib, price, placement, calls, stack] = words else {
        return Err("uts-2MiB needs LIB PRICE PLACEMENT CALLS STACK_KIB".into());
    };
    let lib = Lib::named(lib).ok_or("no such library")?;
    let &(_, rounds) = PRICES
        .iter()
        .find(|(name, _)| name == price)
        .ok_or("no such price")?;
    let calls: u32 = calls.parse().map_err(|_| "CALLS is a number")?;
    let stack: usize = stack.parse().map_err(|_| "STACK_KIB is a number")?;
    let stack = stack << 10;
    let cpus = Cpus::new(placement == "pinned");

    let shape = Shape::standard(rounds);
    let nodes = uts::count(&shape, shape.root());
    let threads = crate::pin::cpus_at_start().len().max(1);
    let bench = format!("uts/{price}/2MiB-stacks");
    now_measuring(format!("unbalanced {bench}, {}", lib.name()));

    // One call at a time, so that the row can carry a median.
    let times = match lib {
        Lib::Seq => on_small_stack(stack, &cpus, || {
            samples(calls, || {
                timed(1, nodes, || uts::count(&shape, shape.root()))
            })
        }),
        Lib::Blitz => {
            let pool = blitz::builder(&cpus)
                .num_threads(threads)
                .stack_size(stack)
                .build();
            let pool = pool.map_err(|error| error.to_string())?;
            pool.install(|| {
                samples(calls, || {
                    timed(1, nodes, || blitz::uts(&shape, shape.root()))
                })
            })
        }
        Lib::Rayon => {
            let pool = rayon::builder(&cpus)
                .num_threads(threads)
                .stack_size(stack)
                .build();
            let pool = pool.map_err(|error| error.to_string())?;
            pool.install(|| {
                samples(calls, || {
                    timed(1, nodes, || rayon::uts(&shape, shape.root()))
                })
            })
        }
        Lib::Chili => {
            arms::start(&[lib], &cpus);
            on_small_stack(stack, &cpus, || {
                let mut scope = ::chili::Scope::global();
                samples(calls, || {
                    timed(1, nodes, || chili::uts(&shape, shape.root(), &mut scope))
                })
            })
        }
        #[cfg(feature = "forte")]
        Lib::Forte => {
            arms::start(&[lib], &cpus);
            on_small_stack(stack, &cpus, || {
                arms::forte::POOL.with_worker(|worker| {
                    samples(calls, || {
                        timed(1, nodes, || arms::forte::uts(&shape, shape.root(), worker))
                    })
                })
            })
        }
    };
    let mut times = times;
    let ns = median(&mut times);
    Ok(vec![Row {
        group: "unbalanced".into(),
        bench,
        size: nodes,
        lib: lib.name().into(),
        ns,
        spread: (times[times.len() - 1] - times[0]) / ns,
        usage: None,
        unpinned: None,
    }])
}

fn samples(calls: u32, mut one: impl FnMut() -> Duration) -> Vec<f64> {
    (0..calls).map(|_| one().as_secs_f64() * 1e9).collect()
}

/// A caller that takes part in the work gets the same small stack as the workers.
fn on_small_stack(stack: usize, cpus: &Cpus, work: impl FnOnce() -> Vec<f64> + Send) -> Vec<f64> {
    std::thread::scope(|threads| {
        std::thread::Builder::new()
            .stack_size(stack)
            .spawn_scoped(threads, || {
                arms::place_main(cpus);
                work()
            })
            .expect("a thread starts")
            .join()
            .expect("the search does not panic")
    })
}
