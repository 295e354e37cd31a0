//! Group `flat`: one join of two tasks of known length, from the main thread.
//!
//! The hardest shape for a library that shares work only at later joins: there are none. Below some length a pool must
//! not bother a sleeping thread, above it must. `seq` runs both tasks one after the other.
//!
//! `flat/spine`: a short task beside joins in each other's left halves, the innermost of which takes half of the time. Whoever has that is in it for long, with
//! right halves that nobody has been shown; the thread with the short task has nothing else to do than those.

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
    spine(&mut session);
    session.into_rows()
}

fn spine(session: &mut Session) {
    const LEVELS: u32 = 8;
    const LEAF_US: u64 = 20;
    let (short, leaf) = (5.0, LEAF_US as f64);
    let [short, leaf, long] =
        [short, leaf, f64::from(LEVELS) * leaf].map(|us| session.calibration.steps_for(us));
    macro_rules! arm {
        ($library:ident, $join:path, $expected:expr) => {{
            fn levels(left: u32, long: u64, leaf: u64) -> u64 {
                if left == 0 {
                    return spin(black_box(long), 1);
                }
                let (a, b) = $join(
                    || levels(left - 1, long, leaf),
                    || spin(black_box(leaf), u64::from(left)),
                );
                a.wrapping_add(b)
            }
            Arm::new(stringify!($library), move |calls| {
                timed(calls, $expected, || {
                    let (a, b) = $join(|| spin(black_box(short), 2), || levels(LEVELS, long, leaf));
                    a.wrapping_add(b)
                })
            })
        }};
    }
    fn in_turn<A, B>(a: impl FnOnce() -> A, b: impl FnOnce() -> B) -> (A, B) {
        (a(), b())
    }
    let leaves = (1..=LEVELS).map(|level| spin(leaf, u64::from(level)));
    let spine = leaves.fold(spin(long, 1), u64::wrapping_add);
    let expected = spine.wrapping_add(spin(short, 2));
    let arms = vec![
        arm!(seq, in_turn, expected),
        arm!(blitz, blitz::join, expected),
        arm!(rayon, rayon::join, expected),
    ];
    let size = 2 * u64::from(LEVELS) * LEAF_US;
    session.bench("flat/spine", size, Gap::BackToBack, arms);
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
