//! Group `pipeline`: a sequential source, a closure, results in order.
//!
//! `map/…` goes from an iterator to an iterator: `seq` is `map`, `blitz` is `par_map`, `pariter` is the crate of that name with as many threads, `rayon` is what its users write today:
//! blocks of the source, collected in parallel, one after the other. `next/…` are the first two, for a consumer that asks for one result after the other. `results/…` goes from a parallel iterator to its results one by one: `seq` is the sequential chain, `blitz` is `into_seq`, `blitz-collect` and
//! `rayon` collect everything first.

use std::hint::black_box;

use pariter::IteratorExt as _;

use crate::args::Options;
use crate::arms::{self, Cpus, Lib};
use crate::measure::{Arm, Gap, Session, timed};
use crate::report::Row;
use crate::spin::spin;

/// How long an item takes, in hundredths of a microsecond, and how many there are.
const ITEMS: [(u64, u64); 5] = [
    (0, 100_000),
    (10, 20_000),
    (100, 5_000),
    (1000, 1_000),
    (10_000, 200),
];

/// What a user of rayon collects at once.
const BLOCK: usize = 256;

/// Runs the group.
pub fn run(options: &Options, cpus: &Cpus) -> Vec<Row> {
    arms::start(Lib::ALL, cpus);
    arms::place_main(cpus);
    let mut session = Session::new("pipeline", options.clone());
    for (cost, items) in ITEMS {
        map(&mut session, cost, items);
    }
    for (cost, items) in &ITEMS[..2] {
        next(&mut session, *cost, *items);
    }
    for (cost, items) in ITEMS {
        results(&mut session, cost, items);
    }
    session.into_rows()
}

/// One item: `steps` of work.
fn item(steps: u64, number: u64) -> u64 {
    if steps == 0 {
        return number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
    spin(steps, number)
}

/// What the consumer does with the results; it depends on their order.
fn consume(sum: u64, result: u64) -> u64 {
    sum.rotate_left(1) ^ result
}

fn map(session: &mut Session, cost: u64, items: u64) {
    let steps = session.calibration.steps_for(cost as f64 / 100.0);
    let f = move |number| item(black_box(steps), number);
    let expected = (0..items).map(f).fold(0, consume);
    let threads = ::blitz::current_num_threads();
    let arms = vec![
        Arm::new("seq", |calls| {
            timed(calls, expected, || (0..items).map(f).fold(0, consume))
        }),
        Arm::new("blitz", |calls| {
            timed(calls, expected, || {
                use ::blitz::prelude::*;
                (0..items).par_map(f).fold(0, consume)
            })
        }),
        Arm::new("blitz-1024", |calls| {
            timed(calls, expected, || {
                use ::blitz::prelude::*;
                (0..items).par_map(f).look_ahead(1024).fold(0, consume)
            })
        }),
        Arm::new("pariter", |calls| {
            timed(calls, expected, || {
                (0..items)
                    .parallel_map_custom(|options| options.threads(threads), f)
                    .fold(0, consume)
            })
        }),
        Arm::new("rayon", |calls| {
            timed(calls, expected, || {
                use rayon::prelude::*;
                let mut source = (0..items).peekable();
                let mut sum = 0;
                while source.peek().is_some() {
                    let block: Vec<u64> = source.by_ref().take(BLOCK).collect();
                    let block: Vec<u64> = block.into_par_iter().map(f).collect();
                    sum = block.into_iter().fold(sum, consume);
                }
                sum
            })
        }),
    ];
    session.bench(&format!("map/{}", name(cost)), items, Gap::BackToBack, arms);
}

/// A plain loop, which no `fold` shortens.
fn by_next(results: impl Iterator<Item = u64>) -> u64 {
    let mut sum = 0;
    for result in results {
        sum = consume(sum, result);
    }
    sum
}

fn next(session: &mut Session, cost: u64, items: u64) {
    let steps = session.calibration.steps_for(cost as f64 / 100.0);
    let f = move |number| item(black_box(steps), number);
    let expected = by_next((0..items).map(f));
    let arms = vec![
        Arm::new("seq", |calls| {
            timed(calls, expected, || by_next((0..items).map(f)))
        }),
        Arm::new("blitz", |calls| {
            timed(calls, expected, || {
                use ::blitz::prelude::*;
                by_next((0..items).par_map(f))
            })
        }),
    ];
    let bench = format!("next/{}", name(cost));
    session.bench(&bench, items, Gap::BackToBack, arms);
}

fn results(session: &mut Session, cost: u64, items: u64) {
    let steps = session.calibration.steps_for(cost as f64 / 100.0);
    let f = move |number| item(black_box(steps), number);
    let expected = (0..items).map(f).fold(0, consume);
    let arms = vec![
        Arm::new("seq", |calls| {
            timed(calls, expected, || (0..items).map(f).fold(0, consume))
        }),
        Arm::new("blitz", |calls| {
            timed(calls, expected, || {
                use ::blitz::prelude::*;
                let results = (0..items).into_par_iter().map(f);
                results.into_seq().fold(0, consume)
            })
        }),
        Arm::new("blitz-collect", |calls| {
            timed(calls, expected, || {
                use ::blitz::prelude::*;
                let results: Vec<u64> = (0..items).into_par_iter().map(f).collect();
                results.into_iter().fold(0, consume)
            })
        }),
        Arm::new("rayon", |calls| {
            timed(calls, expected, || {
                use rayon::prelude::*;
                let results: Vec<u64> = (0..items).into_par_iter().map(f).collect();
                results.into_iter().fold(0, consume)
            })
        }),
    ];
    session.bench(
        &format!("results/{}", name(cost)),
        items,
        Gap::BackToBack,
        arms,
    );
}

fn name(cost: u64) -> String {
    format!("{} us", cost as f64 / 100.0)
}
