//! Group `dear`: few dear items on more threads than this machine may have CPUs.
//!
//! An item sleeps for 5 ms, so that any number of threads can run at the same time. With twice as many items as threads, a
//! thread that has nothing to do for the time of one item costs half of the speed: whoever waits for a part of the loop
//! has to help with the others, and thieves have to take large parts. `seq` is what the items would take if every thread
//! always had one: the bound, not a measurement.

use std::time::Duration;

use crate::args::Options;
use crate::arms::Cpus;
use crate::measure::{Arm, Gap, Session, timed};
use crate::report::Row;

/// How long an item takes.
const ITEM: Duration = Duration::from_millis(5);

/// Items and threads.
const SHAPES: [(u64, usize); 5] = [(4, 4), (16, 16), (16, 8), (24, 8), (32, 16)];

/// Loops in a loop: how many, of how many items, on how many threads.
const NESTED: (u64, u64, usize) = (4, 8, 8);

macro_rules! arm {
    ($library:ident, $threads:expr, $expected:expr, $loop:expr) => {{
        use $library::prelude::*;
        let builder = $library::ThreadPoolBuilder::new().num_threads($threads);
        let pool = builder.build().expect("threads can be started");
        Arm::new(stringify!($library), move |calls| {
            timed(calls, $expected, || pool.install($loop))
        })
    }};
}

/// Runs the group.
pub fn run(options: &Options, _cpus: &Cpus) -> Vec<Row> {
    let mut session = Session::new("dear", options.clone());
    for (items, threads) in SHAPES {
        flat(&mut session, items, threads);
    }
    nested(&mut session);
    session.into_rows()
}

fn item(number: u64) -> u64 {
    std::thread::sleep(ITEM);
    number
}

/// A loop over dear items.
macro_rules! items {
    ($items:expr) => {
        (0..$items).into_par_iter().map(item).sum::<u64>()
    };
}

fn bound(items: u64, threads: usize, expected: u64) -> Arm<'static> {
    let rounds = items.div_ceil(threads as u64);
    Arm::new("seq", move |calls| {
        timed(calls, expected, || {
            (0..rounds).for_each(|_| std::thread::sleep(ITEM));
            expected
        })
    })
}

fn flat(session: &mut Session, items: u64, threads: usize) {
    let expected = items * (items - 1) / 2;
    let arms = vec![
        bound(items, threads, expected),
        arm!(blitz, threads, expected, || items!(items)),
        arm!(rayon, threads, expected, || items!(items)),
    ];
    let name = format!("on {threads} threads");
    session.bench(&name, items, Gap::BackToBack, arms);
}

fn nested(session: &mut Session) {
    let (loops, items, threads) = NESTED;
    let expected = loops * (items * (items - 1) / 2);
    let arms = vec![
        bound(loops * items, threads, expected),
        arm!(blitz, threads, expected, || (0..loops)
            .into_par_iter()
            .map(|_| items!(items))
            .sum::<u64>()),
        arm!(rayon, threads, expected, || (0..loops)
            .into_par_iter()
            .map(|_| items!(items))
            .sum::<u64>()),
    ];
    let name = format!("nested, on {threads} threads");
    session.bench(&name, loops * items, Gap::BackToBack, arms);
}
