//! Group `ops`: algorithms on 10 million elements, against plain code, rayon and orx-parallel.
//!
//! An operation is timed without the copy it works on and without looking at its result; every result is compared with the
//! plain one. `copy` shows what memory allows: plain copying by one thread and by all. A scan that is as much faster than the
//! plain one as the copy is has reached that limit.

use std::time::{Duration, Instant};

use crate::args::Options;
use crate::arms::{self, Cpus, Lib, blitz as blitz_arm, rayon as rayon_arm};
use crate::measure::{Arm, Gap, Session, wrong_result};
use crate::report::Row;
use crate::spin::spin;
use crate::workloads::ops::{self, blitz, orx, rayon, seq};

const COUNT: usize = 10_000_000;
const ROWS: usize = 3000;
const COLUMNS: usize = 3300;

/// Runs the group.
pub fn run(options: &Options, cpus: &Cpus) -> Vec<Row> {
    arms::start(&[Lib::Blitz, Lib::Rayon], cpus);
    arms::place_main(cpus);
    let mut session = Session::new("ops", options.clone());
    scans(&mut session);
    groups(&mut session);
    arrays(&mut session);
    matrices(&mut session);
    session.into_rows()
}

/// A library's way to do something.
type Way<'a, R> = (&'static str, &'a (dyn Fn() -> R + Sync));

/// Measures several ways to make the same thing.
fn bench<R: PartialEq + Send + Sync>(session: &mut Session, name: &str, ways: &[Way<'_, R>]) {
    if !session.wants(name) {
        return;
    }
    let expected = &(ways[0].1)();
    let arms = ways.iter().map(|(lib, way)| {
        let run = move |calls| {
            let mut total = Duration::ZERO;
            for _ in 0..calls {
                let start = Instant::now();
                let result = way();
                total += start.elapsed();
                if result != *expected {
                    wrong_result(0, 1);
                }
            }
            total
        };
        Arm::new(lib, move |calls| inside(lib, || run(calls)))
    });
    let arms = arms.collect();
    session.bench(name, COUNT as u64, Gap::BackToBack, arms);
}

/// A library's way to change something in place.
type Change<'a> = (&'static str, &'a (dyn Fn(&mut [u64]) + Sync));

/// Measures several ways to change the same numbers, as far as `check` can tell: it gets what a change has made.
fn bench_in_place(
    session: &mut Session,
    name: &str,
    input: &[u64],
    check: &(dyn Fn(&[u64]) -> bool + Sync),
    ways: &[Change<'_>],
) {
    if !session.wants(name) {
        return;
    }
    let arms = ways.iter().map(|(lib, way)| {
        let mut copy = input.to_vec();
        let mut run = move |calls| {
            let mut total = Duration::ZERO;
            for _ in 0..calls {
                copy.copy_from_slice(input);
                let start = Instant::now();
                way(&mut copy);
                total += start.elapsed();
                if !check(&copy) {
                    wrong_result(0, 1);
                }
            }
            total
        };
        Arm::new(lib, move |calls| inside(lib, || run(calls)))
    });
    let arms = arms.collect();
    session.bench(name, input.len() as u64, Gap::BackToBack, arms);
}

/// Runs in the library's pool, if it has one.
fn inside<R: Send>(lib: &str, work: impl FnOnce() -> R + Send) -> R {
    match lib {
        "blitz" => blitz_arm::inside(work),
        "rayon" => rayon_arm::inside(work),
        _ => work(),
    }
}

fn numbers() -> Vec<u64> {
    (0..COUNT as u64).map(|i| spin(3, i)).collect()
}

fn scans(session: &mut Session) {
    let v = &numbers()[..];
    bench(
        session,
        "scan",
        &[("seq", &|| seq::scan(v)), ("blitz", &|| blitz::scan(v))],
    );
    let expected = seq::scan(v);
    let check = |result: &[u64]| result == expected;
    let ways: [Change<'_>; 2] = [
        ("seq", &seq::scan_in_place),
        ("blitz", &blitz::scan_in_place),
    ];
    bench_in_place(session, "scan_in_place", v, &check, &ways);
    let check = |result: &[u64]| result == v;
    let half = COUNT / 2;
    let ways: [Change<'_>; 2] = [
        ("seq", &|target| target.copy_from_slice(v)),
        ("blitz", &|target| {
            let (left, right) = target.split_at_mut(half);
            let copy_left = || left.copy_from_slice(&v[..half]);
            blitz_arm::join(copy_left, || right.copy_from_slice(&v[half..]));
        }),
    ];
    bench_in_place(session, "copy", v, &check, &ways);
}

fn groups(session: &mut Session) {
    for (name, keys) in [("group_by_sum/1k", 1_000), ("group_by_sum/1M", 1_000_000)] {
        let rows: Vec<ops::Row> = (0..COUNT as u64).map(|i| (spin(3, i) % keys, i)).collect();
        bench(
            session,
            name,
            &[
                ("seq", &|| seq::group_by_sum(&rows)),
                ("blitz", &|| blitz::group_by_sum(&rows)),
                ("rayon", &|| rayon::group_by_sum(&rows)),
                ("orx", &|| orx::group_by_sum(&rows)),
            ],
        );
    }
}

fn arrays(session: &mut Session) {
    let v = &numbers()[..];
    let keep: Vec<bool> = v.iter().map(|x| x >> 63 == 1).collect();
    bench(
        session,
        "pack",
        &[
            ("seq", &|| seq::pack(v, &keep)),
            ("blitz", &|| blitz::pack(v, &keep)),
            ("rayon", &|| rayon::pack(v, &keep)),
            ("orx", &|| orx::pack(v, &keep)),
        ],
    );
    bench(
        session,
        "histogram",
        &[
            ("seq", &|| seq::histogram(v)),
            ("blitz", &|| blitz::histogram(v)),
            ("rayon", &|| rayon::histogram(v)),
            ("orx", &|| orx::histogram(v)),
        ],
    );
    bench(
        session,
        "min_max",
        &[
            ("seq", &|| seq::min_max(v)),
            ("blitz", &|| blitz::min_max(v)),
            ("rayon", &|| rayon::min_max(v)),
            ("orx", &|| orx::min_max(v)),
        ],
    );
    // All orders have the same sum and the same sum of squares; only sorting would tell more, and takes longer.
    let print = |v: &[u64]| {
        let both = |(sum, squares): (u64, u64), x: &u64| {
            (
                sum.wrapping_add(*x),
                squares.wrapping_add(x.wrapping_mul(*x)),
            )
        };
        v.iter().fold((0, 0), both)
    };
    let expected = print(v);
    let check = |result: &[u64]| print(result) == expected && result[..100] != v[..100];
    let ways: [Change<'_>; 2] = [("seq", &seq::shuffle), ("blitz", &blitz::shuffle)];
    bench_in_place(session, "shuffle", v, &check, &ways);
}

fn matrices(session: &mut Session) {
    // Small integers, so that sums are exact in any order.
    let a: Vec<f64> = (0..COUNT).map(|i| (i % 1000) as f64).collect();
    let b: Vec<f64> = (0..COUNT).map(|i| (i % 77) as f64).collect();
    bench(
        session,
        "dot",
        &[
            ("seq", &|| seq::dot(&a, &b)),
            ("blitz", &|| blitz::dot(&a, &b)),
            ("rayon", &|| rayon::dot(&a, &b)),
            ("orx", &|| orx::dot(&a, &b)),
        ],
    );
    let matrix = &a[..ROWS * COLUMNS];
    bench(
        session,
        "transpose",
        &[
            ("seq", &|| seq::transpose(matrix, ROWS, COLUMNS)),
            ("blitz", &|| blitz::transpose(matrix, ROWS, COLUMNS)),
            ("rayon", &|| rayon::transpose(matrix, ROWS, COLUMNS)),
        ],
    );
}
