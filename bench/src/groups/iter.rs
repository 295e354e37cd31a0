//! Group `iter`: iterator chains, hot and inside the pool, against std and rayon; early exits also from outside.
//!
//! Sorting is here as far as the original Blitz compared it with rayon: a million doubles, random, sorted, reversed and
//! all equal. A sort is timed without the copy it works on.

use std::time::{Duration, Instant};

use crate::args::Options;
use crate::arms::{self, Cpus, Lib, blitz, rayon};
use crate::measure::{Arm, Gap, Session, timed, wrong_result};
use crate::report::Row;
use crate::spin::spin;
use crate::workloads::iterators::{Data, LARGE, seq};

/// Chains that end early are also called from the main thread, where entering the pool would dwarf the search.
const ALSO_FROM_MAIN: [&str; 3] = ["find_any_early", "any_early", "position_any_early"];
const SORTED: usize = 1_000_000;

/// Runs the group.
pub fn run(options: &Options, cpus: &Cpus) -> Vec<Row> {
    arms::start(&[Lib::Blitz, Lib::Rayon], cpus);
    arms::place_main(cpus);
    let mut session = Session::new("iter", options.clone());
    let data = Data::new(LARGE);
    let libraries = blitz::iterators::chains()
        .into_iter()
        .zip(rayon::iterators::chains());
    for (seq, (on_blitz, on_rayon)) in seq::chains().into_iter().zip(libraries) {
        let (data, size) = (&data, seq.size);
        let expected = (seq.run)(data, size);
        let arms = vec![
            Arm::new("seq", move |calls| {
                timed(calls, expected, || (seq.run)(data, size))
            }),
            Arm::new("blitz", move |calls| {
                blitz::inside(|| timed(calls, expected, || (on_blitz.run)(data, size)))
            }),
            Arm::new("rayon", move |calls| {
                rayon::inside(|| timed(calls, expected, || (on_rayon.run)(data, size)))
            }),
        ];
        session.bench(seq.name, size as u64, Gap::BackToBack, arms);
        if ALSO_FROM_MAIN.contains(&seq.name) {
            let arms = vec![
                Arm::new("seq", move |calls| {
                    timed(calls, expected, || (seq.run)(data, size))
                }),
                Arm::new("blitz", move |calls| {
                    timed(calls, expected, || (on_blitz.run)(data, size))
                }),
                Arm::new("rayon", move |calls| {
                    timed(calls, expected, || (on_rayon.run)(data, size))
                }),
            ];
            let bench = format!("{}/frommain", seq.name);
            session.bench(&bench, size as u64, Gap::BackToBack, arms);
        }
    }
    drop(data);
    sort_benches(&mut session);
    session.into_rows()
}

fn sort_benches(session: &mut Session) {
    let count = SORTED;
    let shapes: [(&str, Vec<f64>); 4] = [
        (
            "sort_f64/random",
            (0..count)
                .map(|i| spin(3, i as u64) as f64 / u64::MAX as f64)
                .collect(),
        ),
        ("sort_f64/sorted", (0..count).map(|i| i as f64).collect()),
        (
            "sort_f64/reversed",
            (0..count).map(|i| (count - i) as f64).collect(),
        ),
        ("sort_f64/equal", vec![42.0; count]),
    ];
    for (bench, input) in &shapes {
        let sorted = |sort: fn(&mut [f64])| {
            let mut copy = input.clone();
            move |calls: u32| {
                let mut total = Duration::ZERO;
                for _ in 0..calls {
                    copy.copy_from_slice(input);
                    let start = Instant::now();
                    sort(&mut copy);
                    total += start.elapsed();
                    if !copy.is_sorted() {
                        wrong_result(0, 1);
                    }
                }
                total
            }
        };
        let mut by_blitz = sorted(blitz::iterators::sort_unstable);
        let mut by_rayon = sorted(rayon::iterators::sort_unstable);
        let arms = vec![
            Arm::new(
                "seq",
                sorted(|values| values.sort_unstable_by(f64::total_cmp)),
            ),
            Arm::new("blitz", move |calls| blitz::inside(|| by_blitz(calls))),
            Arm::new("rayon", move |calls| rayon::inside(|| by_rayon(calls))),
        ];
        session.bench(bench, count as u64, Gap::BackToBack, arms);
    }
}
