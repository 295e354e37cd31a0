//! Interleaved rounds and medians: how one bench is timed for several libraries at once.
//!
//! A round visits every arm once, in an order that rotates, so that a slow second of the machine hits all of them
//! alike. Before a library's turn the process sleeps a little, so that the previous library's threads have stopped
//! searching for work. Each arm checks its result every time; a wrong one ends the program.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::args::{Format, Options};
use crate::child;
use crate::report::Row;
use crate::spin::{Calibration, spin};

/// What happens between two timed calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// Nothing: calls follow each other at once and are timed as one stretch.
    BackToBack,
    /// The calling thread computes something else for 300 us; the pool has nothing to do.
    After300us,
    /// The whole process sleeps for 5 ms.
    After5ms,
}

impl Gap {
    /// All three, in the order they are reported.
    pub const ALL: [Gap; 3] = [Gap::BackToBack, Gap::After300us, Gap::After5ms];

    /// The part of a bench's name that says which gap it had.
    pub fn name(self) -> &'static str {
        match self {
            Gap::BackToBack => "backtoback",
            Gap::After300us => "after300us",
            Gap::After5ms => "after5ms",
        }
    }
}

/// Runs an operation the given number of times, checking each result, and says how long that took.
pub type Run<'a> = Box<dyn FnMut(u32) -> Duration + 'a>;

/// One library's way to do a bench's operation.
pub struct Arm<'a> {
    lib: &'static str,
    run: Run<'a>,
}

impl<'a> Arm<'a> {
    /// Names a library and its way.
    pub fn new(lib: &'static str, run: impl FnMut(u32) -> Duration + 'a) -> Self {
        Self {
            lib,
            run: Box::new(run),
        }
    }
}

/// Calls `operation` that many times, compares each result with `expected`, and returns the time it took.
///
/// Arms call this *inside* their pool, so that entering the pool is not part of the time unless it is the operation.
#[inline(always)]
pub fn timed(calls: u32, expected: u64, mut operation: impl FnMut() -> u64) -> Duration {
    let start = Instant::now();
    for _ in 0..calls {
        let result = operation();
        if result != expected {
            wrong_result(result, expected);
        }
    }
    start.elapsed()
}

/// What is being measured now, for the message about a wrong result.
static CURRENT: Mutex<String> = Mutex::new(String::new());

/// Says what the next results belong to.
pub fn now_measuring(what: String) {
    *CURRENT
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner()) = what;
}

/// Ends the program: a figure for a wrong result is worth nothing.
#[cold]
#[inline(never)]
pub fn wrong_result(result: u64, expected: u64) -> ! {
    let current = CURRENT
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    eprintln!(
        "blitz-bench: WRONG RESULT in {current}: got {result}, the sequential code gives {expected}"
    );
    std::process::exit(1);
}

/// The middle value; the mean of the middle two for an even count.
pub fn median(samples: &mut [f64]) -> f64 {
    assert!(!samples.is_empty(), "no samples");
    samples.sort_unstable_by(f64::total_cmp);
    let middle = samples.len() / 2;
    if samples.len() % 2 == 1 {
        samples[middle]
    } else {
        (samples[middle - 1] + samples[middle]) / 2.0
    }
}

/// Distance between the quartiles relative to the median; samples must be sorted.
fn spread(sorted: &[f64]) -> f64 {
    let quarter = sorted.len() / 4;
    let middle = sorted[sorted.len() / 2];
    if middle <= 0.0 {
        return 0.0;
    }
    (sorted[sorted.len() - 1 - quarter] - sorted[quarter]) / middle
}

/// Everything a group needs: options, calibration, and the rows measured so far.
pub struct Session {
    /// The group being run.
    pub group: &'static str,
    /// How to run.
    pub options: Options,
    /// Speed of the spin kernel on the main thread.
    pub calibration: Calibration,
    /// Scales the number of rounds; below one for groups with very many benches.
    pub effort: f64,
    rows: Vec<Row>,
    clock_ns: f64,
    busy_steps: u64,
}

impl Session {
    /// Calibrates on the calling thread, which must already be placed.
    pub fn new(group: &'static str, options: Options) -> Self {
        let calibration = Calibration::measure();
        let mut readings: Vec<f64> = (0..1001)
            .map(|_| {
                let start = Instant::now();
                start.elapsed().as_secs_f64() * 1e9
            })
            .collect();
        Self {
            group,
            options,
            calibration,
            effort: 1.0,
            rows: Vec::new(),
            clock_ns: median(&mut readings),
            busy_steps: calibration.steps_for(300.0),
        }
    }

    /// Rows measured so far.
    pub fn into_rows(self) -> Vec<Row> {
        self.rows
    }

    /// Adds a row that was measured elsewhere (in a child process).
    pub fn push(&mut self, row: Row) {
        self.rows.push(row);
    }

    /// Whether `--only` lets this bench run.
    pub fn wants(&self, bench: &str) -> bool {
        self.options.wants(bench)
    }

    /// Measures every arm and records one row for each.
    pub fn bench(&mut self, bench: &str, size: u64, gap: Gap, arms: Vec<Arm<'_>>) {
        if !self.wants(bench) {
            return;
        }
        if self.options.format == Format::Rows {
            child::note(&format!("{bench}, {size}"));
        }
        let mut samples: Vec<Vec<f64>> = arms.iter().map(|_| Vec::new()).collect();
        let libs: Vec<&'static str> = arms.iter().map(|arm| arm.lib).collect();
        let what = format!("{} {bench}, size {size}", self.group);
        match gap {
            Gap::BackToBack => self.rounds_of_stretches(&what, arms, &mut samples),
            Gap::After300us | Gap::After5ms => {
                self.rounds_of_calls(&what, gap, arms, &mut samples);
            }
        }
        for (lib, mut samples) in libs.into_iter().zip(samples) {
            let ns = median(&mut samples);
            self.rows.push(Row {
                group: self.group.to_string(),
                bench: bench.to_string(),
                size,
                lib: lib.to_string(),
                ns,
                spread: spread(&samples),
                usage: None,
                unpinned: None,
            });
        }
    }

    fn scaled(&self, rounds: usize) -> usize {
        let effort = self.effort * f64::from(self.options.effort) / 100.0;
        ((rounds as f64 * effort) as usize).max(5)
    }

    /// Many calls in a row make one sample; their number is chosen per arm so that a sample takes long enough to time.
    fn rounds_of_stretches(&self, what: &str, mut arms: Vec<Arm<'_>>, samples: &mut [Vec<f64>]) {
        let (rounds, sample_time) = if self.options.quick {
            (15, Duration::from_millis(2))
        } else {
            (31, Duration::from_millis(5))
        };
        let rounds = self.scaled(rounds);
        let calls: Vec<u32> = arms
            .iter_mut()
            .map(|arm| {
                now_measuring(format!("{what}, {}", arm.lib));
                settle();
                calls_for(&mut arm.run, sample_time)
            })
            .collect();
        let mut slowest = Duration::ZERO;
        for round in 0..rounds {
            for turn in 0..arms.len() {
                let index = (turn + round) % arms.len();
                let arm = &mut arms[index];
                now_measuring(format!("{what}, {}", arm.lib));
                settle();
                // A long operation warms itself; a short one is preceded by calls that are not timed.
                if calls[index] > 1 {
                    (arm.run)(calls[index].div_ceil(8));
                }
                let time = (arm.run)(calls[index]);
                slowest = slowest.max(time);
                let per_call = (time.as_secs_f64() * 1e9 - self.clock_ns) / f64::from(calls[index]);
                samples[index].push(per_call.max(0.0));
            }
            // Operations of tens of milliseconds vary little and would take minutes otherwise.
            let enough = if self.options.quick { 5 } else { 11 };
            if slowest > Duration::from_millis(20) && round + 1 >= enough {
                break;
            }
        }
    }

    /// One call makes one sample, each after its gap.
    fn rounds_of_calls(
        &self,
        what: &str,
        gap: Gap,
        mut arms: Vec<Arm<'_>>,
        samples: &mut [Vec<f64>],
    ) {
        // The library's own previous call decides how deep its threads sleep, so a few calls of one arm follow each
        // other and the first, which follows another library's, is not counted.
        let (rounds, calls_per_round) = match (gap, self.options.quick) {
            (Gap::After300us, true) => (9, 17u32),
            (Gap::After300us, false) => (15, 33),
            (_, true) => (20, 4),
            (_, false) => (50, 5),
        };
        let rounds = self.scaled(rounds);
        for round in 0..=rounds {
            for turn in 0..arms.len() {
                let index = (turn + round) % arms.len();
                let arm = &mut arms[index];
                now_measuring(format!("{what}, {}", arm.lib));
                settle();
                for call in 0..calls_per_round {
                    match gap {
                        Gap::BackToBack => {}
                        Gap::After300us => {
                            std::hint::black_box(spin(self.busy_steps, u64::from(call)));
                        }
                        Gap::After5ms => std::thread::sleep(Duration::from_millis(5)),
                    }
                    let time = (arm.run)(1);
                    if round > 0 && call > 0 {
                        samples[index].push((time.as_secs_f64() * 1e9 - self.clock_ns).max(0.0));
                    }
                }
            }
        }
    }
}

/// Lets the threads of the library measured before stop searching and fall asleep.
fn settle() {
    std::thread::sleep(Duration::from_millis(2));
}

/// How many calls make a sample of about this length.
fn calls_for(run: &mut Run<'_>, sample_time: Duration) -> u32 {
    let mut calls = 1u32;
    loop {
        let time = run(calls);
        if time >= sample_time / 4 || calls >= 1 << 22 {
            let per_call = time.as_secs_f64() / f64::from(calls);
            let wanted = sample_time.as_secs_f64() / per_call.max(1e-10);
            return (wanted as u32).clamp(1, 1 << 22);
        }
        calls = calls.saturating_mul(4);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Placement;

    fn quick() -> Options {
        Options {
            quick: true,
            format: Format::Table,
            placement: Placement::Free,
            stress_for: Duration::ZERO,
            seed: None,
            only: None,
            effort: 100,
        }
    }

    #[test]
    fn the_median_is_the_middle_or_the_mean_of_the_middle_two() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&mut [4.0, 1.0, 3.0, 2.0]), 2.5);
        assert_eq!(median(&mut [7.0]), 7.0);
    }

    #[test]
    fn one_outlier_does_not_move_the_median() {
        assert_eq!(median(&mut [1.0, 1.0, 1e9, 1.0, 1.0]), 1.0);
    }

    #[test]
    fn the_spread_of_equal_samples_is_zero() {
        assert_eq!(spread(&[5.0; 9]), 0.0);
        assert!(spread(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]) > 0.5);
    }

    #[test]
    fn every_arm_gets_a_row_in_the_order_given() {
        let mut session = Session::new("join", quick());
        let arm = |lib| Arm::new(lib, |calls| timed(calls, 500, || spin(500, 1).min(500)));
        session.bench("spin", 500, Gap::BackToBack, vec![arm("seq"), arm("rayon")]);
        let rows = session.into_rows();
        assert_eq!(rows.len(), 2);
        assert_eq!(
            (rows[0].lib.as_str(), rows[1].lib.as_str()),
            ("seq", "rayon")
        );
        assert!(rows.iter().all(|row| row.ns > 0.0 && row.size == 500));
    }

    #[test]
    fn a_bench_that_was_not_asked_for_does_not_run() {
        let mut options = quick();
        options.only = Some("tree".into());
        let mut session = Session::new("join", options);
        let arm = Arm::new("seq", |_| panic!("must not run"));
        session.bench("fib", 1, Gap::BackToBack, vec![arm]);
        assert!(session.wants("a/tree") && !session.wants("fib"));
        session.options.only = Some("tree,fib".into());
        assert!(session.wants("fib/1thread") && !session.wants("queens"));
        assert!(session.into_rows().is_empty());
    }

    #[test]
    fn the_number_of_calls_fills_the_sample() {
        let mut run: Run<'_> = Box::new(|calls| Duration::from_micros(10) * calls);
        assert_eq!(calls_for(&mut run, Duration::from_millis(2)), 200);
        let mut slow: Run<'_> = Box::new(|_| Duration::from_millis(50));
        assert_eq!(calls_for(&mut slow, Duration::from_millis(2)), 1);
    }
}
