//! Group `sources`: loops over maps, sets, lists, heaps and text, hot and inside the pool, against std and rayon.
//!
//! Trees, hash tables and lists cannot be entered in the middle. To share such a loop costs a pass over all items, so the
//! question is the same as in `loops`: is the parallel loop ever slower than the plain one?

use std::hint::black_box;

use crate::args::Options;
use crate::arms::{self, Cpus, Lib, blitz, rayon};
use crate::measure::{Arm, Gap, Session, timed};
use crate::report::Row;
use crate::workloads::sources::{Sources, seq};

const SIZES: [usize; 4] = [10, 1_000, 100_000, 1_000_000];

/// Runs the group.
pub fn run(options: &Options, cpus: &Cpus) -> Vec<Row> {
    arms::start(&[Lib::Blitz, Lib::Rayon], cpus);
    arms::place_main(cpus);
    let mut session = Session::new("sources", options.clone());
    // Many benches, each of them quick to settle.
    session.effort = 0.4;
    for size in SIZES {
        let all = &Sources::new(size);
        let libraries = blitz::sources::loops()
            .into_iter()
            .zip(rayon::sources::loops());
        for ((name, seq), ((_, on_blitz), (_, on_rayon))) in seq::loops().into_iter().zip(libraries)
        {
            let expected = seq(all);
            let arms = vec![
                Arm::new("seq", |calls| {
                    timed(calls, expected, || seq(black_box(all)))
                }),
                Arm::new("blitz", |calls| {
                    blitz::inside(|| timed(calls, expected, || on_blitz(black_box(all))))
                }),
                Arm::new("rayon", |calls| {
                    rayon::inside(|| timed(calls, expected, || on_rayon(black_box(all))))
                }),
            ];
            session.bench(name, size as u64, Gap::BackToBack, arms);
        }
    }
    session.into_rows()
}
