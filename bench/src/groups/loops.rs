//! Group `loops`: is a parallel loop ever slower than the plain one?
//!
//! A sum over n elements, from 1 to 10 million, called from the main thread with all three gaps. Elements are cheap (one
//! addition of a `u64` in memory) or dear (about 50 ns of dependent steps), the dear ones all alike, growing with their
//! index, or with half of the whole cost in one of them. And a loop over cheap elements that is cut by a closure which takes 0.1 to 5 us;
//! tiny loops in others; and tiny loops (`turns`) whose code has just run over dear elements, as it does once in 21 runs.

use std::hint::black_box;
use std::time::Duration;

use crate::args::Options;
use crate::arms::{self, Cpus, Lib, blitz, rayon};
use crate::measure::{Arm, Gap, Session, timed};
use crate::report::Row;
use crate::spin::spin;

const CHEAP_SIZES: [usize; 8] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];
const DEAR_SIZES: [usize; 6] = [1, 10, 100, 1_000, 10_000, 100_000];
const SKEWED_SIZES: [usize; 3] = [10, 1_000, 100_000];
/// Neighbours overlap in the processor: twice this many steps take about 50 ns an element.
const DEAR_NS: f64 = 100.0;

/// How the cost of dear elements is distributed; the total is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cost {
    Uniform,
    Growing,
    OneHalf,
}

impl Cost {
    fn name(self) -> &'static str {
        match self {
            Cost::Uniform => "dear",
            Cost::Growing => "growing",
            Cost::OneHalf => "onehalf",
        }
    }

    /// Steps of each element, `mean` on average.
    fn steps(self, count: usize, mean: u64) -> Vec<u64> {
        let of = |index: usize| match self {
            Cost::Uniform => mean,
            Cost::Growing => 2 * mean * (index as u64 + 1) / (count as u64 + 1),
            Cost::OneHalf if index == count / 3 => (mean * count as u64 / 2).max(mean),
            Cost::OneHalf => mean / 2,
        };
        (0..count).map(of).collect()
    }
}

/// Runs the group.
pub fn run(options: &Options, cpus: &Cpus) -> Vec<Row> {
    arms::start(&[Lib::Blitz, Lib::Rayon], cpus);
    arms::place_main(cpus);
    let mut session = Session::new("loops", options.clone());
    // Many benches, each of them quick to settle.
    session.effort = 0.4;
    let values: Vec<u64> = (0..CHEAP_SIZES[7] as u64).map(|i| i % 1013).collect();
    for count in CHEAP_SIZES {
        for gap in Gap::ALL {
            cheap(&mut session, &values[..count], gap);
        }
    }
    for (cost, sizes) in [
        (Cost::Uniform, &DEAR_SIZES[..]),
        (Cost::Growing, &SKEWED_SIZES[..]),
        (Cost::OneHalf, &SKEWED_SIZES[..]),
    ] {
        for &count in sizes {
            for gap in Gap::ALL {
                dear(&mut session, cost, count, gap);
            }
        }
    }
    for cut_us in [0.1, 1.0, 5.0] {
        cut_by_hand(&mut session, cut_us);
    }
    for (outer, inner) in [(40, 40), (1_000, 10), (1_000, 40)] {
        nested(&mut session, outer, inner);
    }
    three_deep(&mut session);
    for items in [3, 8, 40] {
        turns(&mut session, items);
    }
    odd(&mut session);
    session.into_rows()
}

/// Tiny loops in a loop.
fn nested(session: &mut Session, outer: u64, inner: u64) {
    let values = &(0..inner).collect::<Vec<u64>>()[..];
    let seq = || {
        let sum = |x: u64| values.iter().map(|y| x ^ y).sum::<u64>();
        (0..black_box(outer)).map(sum).sum::<u64>()
    };
    let expected = seq();
    let arms = vec![
        Arm::new("seq", |calls| timed(calls, expected, seq)),
        Arm::new("blitz", |calls| {
            timed(calls, expected, || {
                blitz::iterators::nested(outer, black_box(values))
            })
        }),
        Arm::new("rayon", |calls| {
            timed(calls, expected, || {
                rayon::iterators::nested(outer, black_box(values))
            })
        }),
    ];
    let bench = format!("loop/nested/{outer}");
    session.bench(&bench, outer * inner, Gap::BackToBack, arms);
}

/// Short loops in short loops in one that is a little longer.
fn three_deep(session: &mut Session) {
    const EACH: u64 = 10;
    let values = &(0..EACH).collect::<Vec<u64>>()[..];
    let seq = || {
        let inner = |x: u64| values.iter().map(|y| x ^ y).sum::<u64>();
        let middle = |x: u64| (0..black_box(EACH)).map(inner).sum::<u64>() ^ x;
        (0..EACH).map(middle).sum::<u64>()
    };
    let expected = seq();
    let arms = vec![
        Arm::new("seq", |calls| timed(calls, expected, seq)),
        Arm::new("blitz", |calls| {
            timed(calls, expected, || {
                blitz::iterators::three_deep(EACH, black_box(values))
            })
        }),
        Arm::new("rayon", |calls| {
            timed(calls, expected, || {
                rayon::iterators::three_deep(EACH, black_box(values))
            })
        }),
    ];
    session.bench("loop/threedeep", EACH.pow(3), Gap::BackToBack, arms);
}

/// What twenty tiny loops take after one with dear items, and what that one takes. The same code runs over both, so what is remembered of it is about both.
fn turns(session: &mut Session, items: usize) {
    const TINY: u32 = 20;
    let tiny = &vec![session.calibration.steps_for(0.005); items][..];
    let dear = &vec![session.calibration.steps_for(30.0); items][..];
    let (of_tiny, of_dear) = (spin_plainly(tiny), spin_plainly(dear));
    for (bench, per_turn) in [("loop/turns/tiny", TINY), ("loop/turns/dear", 1)] {
        let run = |calls: u32, spin_all: &dyn Fn(&[u64]) -> u64| {
            let turns = calls.div_ceil(per_turn);
            let mut all = Duration::ZERO;
            for _ in 0..turns {
                let the_dear = timed(1, of_dear, || spin_all(black_box(dear)));
                let the_tiny = timed(TINY, of_tiny, || spin_all(black_box(tiny)));
                all += if per_turn == 1 { the_dear } else { the_tiny };
            }
            // Of as many as were asked for.
            all.mul_f64(f64::from(calls) / f64::from(turns * per_turn))
        };
        let arms = vec![
            Arm::new("seq", |calls| run(calls, &spin_plainly)),
            Arm::new("blitz", |calls| run(calls, &blitz::iterators::spin_all)),
            Arm::new("rayon", |calls| run(calls, &rayon::iterators::spin_all)),
        ];
        session.bench(bench, items as u64, Gap::BackToBack, arms);
    }
}

/// As many items as cannot be halved without remainder, from one slice to another: are they cut where lines of the cache end?
fn odd(session: &mut Session) {
    const COUNT: usize = 33_333;
    let values: Vec<f64> = (0..COUNT).map(|index| index as f64).collect();
    let doubled: Vec<f64> = values.iter().map(|x| 2.0 * x).collect();
    let wanted = (COUNT - 1) as u64 * 2;
    let arm = |name, double: fn(&[f64], &mut [f64])| {
        let (values, mut to) = (values.clone(), vec![0.0; COUNT]);
        let doubled = &doubled;
        Arm::new(name, move |calls| {
            let time = timed(calls, wanted, || {
                double(black_box(&values), black_box(&mut to));
                to[COUNT - 1] as u64
            });
            assert!(to == *doubled, "each item is written");
            time
        })
    };
    let arms = vec![
        arm("seq", |from, to| {
            to.iter_mut()
                .zip(from)
                .for_each(|(to, from)| *to = 2.0 * from);
        }),
        arm("blitz", blitz::iterators::double),
        arm("rayon", rayon::iterators::double),
    ];
    session.bench("loop/odd", COUNT as u64, Gap::BackToBack, arms);
}

/// A loop over cheap items whose cuts take so long: is it cut the finer the dearer that is?
fn cut_by_hand(session: &mut Session, cut_us: f64) {
    const COUNT: usize = 20_000;
    let cut = session.calibration.steps_for(cut_us);
    let steps = &vec![session.calibration.steps_for(0.01); COUNT][..];
    let seq = || spin_plainly(black_box(steps));
    let expected = seq();
    let arms = vec![
        Arm::new("seq", |calls| timed(calls, expected, seq)),
        Arm::new("blitz", |calls| {
            timed(calls, expected, || {
                blitz::iterators::spin_all_cut_by_hand(black_box(steps), cut)
            })
        }),
        Arm::new("rayon", |calls| {
            timed(calls, expected, || {
                rayon::iterators::spin_all_cut_by_hand(black_box(steps), cut)
            })
        }),
    ];
    session.bench(
        &format!("loop/cuts/{cut_us}us"),
        COUNT as u64,
        Gap::BackToBack,
        arms,
    );
}

/// The plain loop.
fn spin_plainly(steps: &[u64]) -> u64 {
    let values = steps.iter().map(|&steps| spin(steps, steps));
    values.fold(0, u64::wrapping_add)
}

fn cheap(session: &mut Session, values: &[u64], gap: Gap) {
    let expected: u64 = values.iter().sum();
    let arms = vec![
        Arm::new("seq", |calls| {
            timed(calls, expected, || black_box(values).iter().sum())
        }),
        Arm::new("blitz", |calls| {
            timed(calls, expected, || blitz::iterators::sum(black_box(values)))
        }),
        Arm::new("rayon", |calls| {
            timed(calls, expected, || rayon::iterators::sum(black_box(values)))
        }),
    ];
    let bench = format!("loop/cheap/{}", gap.name());
    session.bench(&bench, values.len() as u64, gap, arms);
}

fn dear(session: &mut Session, cost: Cost, count: usize, gap: Gap) {
    let mean = session.calibration.steps_for(DEAR_NS / 1e3);
    let steps = &cost.steps(count, mean)[..];
    let seq = || spin_plainly(black_box(steps));
    let expected = seq();
    let arms = vec![
        Arm::new("seq", |calls| timed(calls, expected, seq)),
        Arm::new("blitz", |calls| {
            timed(calls, expected, || {
                blitz::iterators::spin_all(black_box(steps))
            })
        }),
        Arm::new("rayon", |calls| {
            timed(calls, expected, || {
                rayon::iterators::spin_all(black_box(steps))
            })
        }),
    ];
    let bench = format!("loop/{}/{}", cost.name(), gap.name());
    session.bench(&bench, count as u64, gap, arms);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_distribution_costs_about_the_same_in_all() {
        let uniform: u64 = Cost::Uniform.steps(1000, 50).iter().sum();
        for cost in [Cost::Growing, Cost::OneHalf] {
            let total: u64 = cost.steps(1000, 50).iter().sum();
            assert!(
                total.abs_diff(uniform) < uniform / 10,
                "{cost:?}: {total} against {uniform}"
            );
        }
    }

    #[test]
    fn one_element_has_half_of_the_cost() {
        let steps = Cost::OneHalf.steps(1000, 50);
        let largest = *steps.iter().max().unwrap();
        assert!(largest * 5 > steps.iter().sum::<u64>() * 2);
    }

    #[test]
    fn the_loops_of_every_library_agree_with_plain_code() {
        let values: Vec<u64> = (0..5000).collect();
        let steps = Cost::Growing.steps(500, 20);
        let spun = steps
            .iter()
            .map(|&steps| spin(steps, steps))
            .fold(0, u64::wrapping_add);
        assert_eq!(blitz::iterators::sum(&values), values.iter().sum());
        assert_eq!(rayon::iterators::sum(&values), values.iter().sum());
        assert_eq!(blitz::iterators::spin_all(&steps), spun);
        assert_eq!(rayon::iterators::spin_all(&steps), spun);
    }
}
