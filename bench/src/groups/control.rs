//! Group `control`: what it costs that work can be stopped, or inherits something, and how soon it stops.
//!
//! The same operation by those who use none of it (`blitz`, which should be as fast as ever), under a token that nobody cancels (`token`), and with an inherited value (`value`): `joins`,
//! a tree of forks; `loop`, a sum; `tasks` of a scope. Entering `run` or `set` is a part of the operation.
//!
//! `stop/…` is the time from `cancel` until `run` has returned, with all threads in a loop over items of a microsecond, or in a sort.

use std::cmp::Ordering::Equal;
use std::hint::black_box;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use ::blitz::prelude::*;
use ::blitz::{CancelToken, Inherited};

use crate::args::Options;
use crate::arms::{self, Cpus, Lib, blitz};
use crate::measure::{Arm, Gap, Session, timed, wrong_result};
use crate::report::Row;
use crate::spin::spin;

/// Leaves of the tree, and tasks of the scope.
const PARTS: u64 = 1024;
/// Elements of the sum.
const ELEMENTS: u64 = 100_000;
/// Items of the loop that is stopped, and the one that does it.
const ITEMS: u64 = 100_000;
const LAST: u64 = 2000;
/// Elements of the sort that is stopped, and the comparison that does it.
const SORTED: u64 = 300_000;
const COMPARISON: u64 = 100_000;

static VALUE: Inherited<u64> = Inherited::new();

/// Runs the group.
pub fn run(options: &Options, cpus: &Cpus) -> Vec<Row> {
    arms::start(&[Lib::Blitz], cpus);
    arms::place_main(cpus);
    let mut session = Session::new("control", options.clone());
    let values: Vec<u64> = (0..ELEMENTS).map(|n| n % 1013).collect();
    let sum = || values.par_iter().sum::<u64>();
    alike(&mut session, "joins", PARTS, &|| leaves(0, PARTS));
    alike(&mut session, "loop", ELEMENTS, &sum);
    alike(&mut session, "tasks", PARTS, &tasks);
    stop(&mut session);
    session.into_rows()
}

pub(super) fn leaves(from: u64, to: u64) -> u64 {
    if to - from == 1 {
        return black_box(from);
    }
    let middle = from + (to - from) / 2;
    let (left, right) = blitz::join(|| leaves(from, middle), || leaves(middle, to));
    left + right
}

pub(super) fn tasks() -> u64 {
    let sum = AtomicU64::new(0);
    blitz::scope(|scope| {
        for number in 0..PARTS {
            let sum = &sum;
            scope.spawn(move |_| {
                sum.fetch_add(black_box(number), Ordering::Relaxed);
            });
        }
    });
    sum.into_inner()
}

/// One operation, with and without.
fn alike(session: &mut Session, bench: &str, size: u64, operation: &(dyn Fn() -> u64 + Sync)) {
    let expected = operation();
    let token = CancelToken::new();
    let under_token = || token.run(operation).expect("nobody cancels it");
    let arms = vec![
        Arm::new("blitz", |calls| {
            blitz::inside(|| timed(calls, expected, operation))
        }),
        Arm::new("token", |calls| {
            blitz::inside(|| timed(calls, expected, under_token))
        }),
        Arm::new("value", |calls| {
            blitz::inside(|| timed(calls, expected, || VALUE.set(1, operation)))
        }),
    ];
    session.bench(bench, size, Gap::BackToBack, arms);
}

/// A token, and when it was cancelled.
#[derive(Default)]
struct Stop {
    token: CancelToken,
    begun: Mutex<Option<Instant>>,
}

impl Stop {
    fn now(&self) {
        *self.begun.lock().expect("nobody panics") = Some(Instant::now());
        self.token.cancel();
    }

    /// How long `work`, which calls [`now`](Self::now), goes on after that; so many times.
    fn time(calls: u32, mut work: impl FnMut(&Self)) -> Duration {
        let once = |_| {
            let stop = Self::default();
            let stopped = stop.token.run(|| work(&stop)).is_err();
            let begun = stop.begun.into_inner().expect("nobody panics");
            match begun {
                Some(begun) if stopped => begun.elapsed(),
                _ => wrong_result(0, 1),
            }
        };
        (0..calls).map(once).sum()
    }
}

fn stop(session: &mut Session) {
    let steps = session.calibration.steps_for(1.0);
    let arm = Arm::new("blitz", |calls| {
        Stop::time(calls, |stop| {
            (0..ITEMS).into_par_iter().for_each(|number| {
                black_box(spin(steps, number));
                if number == LAST {
                    stop.now();
                }
            });
        })
    });
    session.bench("stop/loop", 1, Gap::BackToBack, vec![arm]);
    let shuffled = |number: u64| number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let arm = Arm::new("blitz", |calls| {
        Stop::time(calls, |stop| {
            let mut values: Vec<u64> = (0..SORTED).map(shuffled).collect();
            let comparisons = AtomicU64::new(0);
            values.par_sort_by(|a, b| {
                if comparisons.fetch_add(1, Ordering::Relaxed) == COMPARISON {
                    stop.now();
                }
                match (a % 1000).cmp(&(b % 1000)) {
                    Equal => a.cmp(b),
                    other => other,
                }
            });
        })
    });
    session.bench("stop/sort", SORTED, Gap::BackToBack, vec![arm]);
}
