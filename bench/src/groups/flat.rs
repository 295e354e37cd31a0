//! Group `flat`: one join of two tasks of known length, from the main thread.
//!
//! The hardest shape for a library that shares work only at later joins: there are none. Below some length a pool must
//! not bother a sleeping thread, above it must. `seq` runs both tasks one after the other.

use std::hint::black_box;

use crate::args::Options;
use crate::arms::{self, Cpus, Lib, blitz};
use crate::measure::{Arm, Gap, Session, timed};
use crate::report::Row;
use crate::spin::spin;

/// Length of each of the two tasks.
const MICROSECONDS: [u64; 5] = [5, 10, 20, 100, 1000];

/// Runs the group.
pub fn run(options: &Options, cpus: &Cpus) -> Vec<Row> {
    arms::start(Lib::ALL, cpus);
    arms::place_main(cpus);
    let mut session = Session::new("flat", options.clone());
    for microseconds in MICROSECONDS {
        for gap in Gap::ALL {
            flat_join(&mut session, microseconds, gap);
        }
    }
    session.into_rows()
}

fn flat_join(session: &mut Session, microseconds: u64, gap: Gap) {
    let steps = session.calibration.steps_for(microseconds as f64);
    let left = move || spin(black_box(steps), 1);
    let right = move || spin(black_box(steps), 2);
    let expected = left().wrapping_add(right());
    #[allow(unused_mut, reason = "forte is optional")]
    let mut arms = vec![
        Arm::new("seq", |calls| {
            timed(calls, expected, || left().wrapping_add(right()))
        }),
        Arm::new("blitz", |calls| {
            timed(calls, expected, || {
                let (a, b) = blitz::join(left, right);
                a.wrapping_add(b)
            })
        }),
        Arm::new("rayon", |calls| {
            timed(calls, expected, || {
                let (a, b) = rayon::join(left, right);
                a.wrapping_add(b)
            })
        }),
        Arm::new("chili", |calls| {
            timed(calls, expected, || {
                let (a, b) = chili::Scope::global().join(|_| left(), |_| right());
                a.wrapping_add(b)
            })
        }),
    ];
    #[cfg(feature = "forte")]
    arms.push(Arm::new("forte", |calls| {
        timed(calls, expected, || {
            let (a, b) = arms::forte::POOL.join(|_| left(), |_| right());
            a.wrapping_add(b)
        })
    }));
    session.bench(&format!("flat/{}", gap.name()), microseconds, gap, arms);
}
