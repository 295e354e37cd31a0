//! Group `idle`: what a pool costs when there is little or nothing to do.
//!
//! * `idle/afterburst`: 50 ms of parallel work, then 2 s of sleep. Counted: CPU time and context switches of the sleep.
//! * `tick/tiny`: a tree of 1023 nodes every millisecond for 2 s, a region far too small to share.
//! * `tick/100us`: a control loop at 1 kHz whose region is 16 tasks, 100 us of work in all.
//! * `tick/regions`: the tick of rayon pull request #1318: four regions (8 tasks, 50 us) with 50 us of serial work between
//!   them, every 2 ms.
//!
//! Each library is measured in a child process, so that nobody pays for another's threads; the parent interleaves them.
//! `ns` is the median time of a region (of a tick's regions together), for `idle` the CPU time itself. The sequential
//! arm runs the same program as plain code: its CPU time is the price of the timer.

use std::hint::black_box;
use std::time::{Duration, Instant};

use crate::args::Options;
use crate::arms::{self, Cpus, Lib, blitz, chili, rayon};
use crate::child::{self, Outcome};
use crate::measure::{Session, median, now_measuring, wrong_result};
use crate::report::Row;
use crate::spin::{Calibration, spin};
use crate::usage::Usage;
use crate::workloads::tree;

/// First word of the hidden measurement.
pub const CHILD: &str = "idle";
const WINDOW: Duration = Duration::from_secs(2);
const BURST: Duration = Duration::from_millis(50);
const TINY_LEVELS: u32 = 10;

/// The programs, with the size reported for each: microseconds of the window, the period, or the work.
const BENCHES: [(&str, u64); 4] = [
    ("idle/afterburst", 2_000_000),
    ("tick/tiny", 1000),
    ("tick/100us", 100),
    ("tick/regions", 200),
];

/// Runs the group.
pub fn run(options: &Options, cpus: &Cpus) -> Vec<Row> {
    let rounds = if options.quick { 1 } else { 3 };
    let mut session = Session::new("idle", options.clone());
    for (bench, _) in BENCHES {
        if !session.wants(bench) {
            continue;
        }
        let mut found: Vec<Vec<Row>> = Lib::ALL.iter().map(|_| Vec::new()).collect();
        for _ in 0..rounds {
            for (lib, rows) in Lib::ALL.iter().zip(&mut found) {
                let placement = child::placement_word(cpus.pinned());
                match child::run_hidden(&[CHILD, lib.name(), bench, placement]) {
                    Outcome::Rows(measured) => rows.extend(measured),
                    Outcome::Killed => {
                        eprintln!(
                            "blitz-bench: {bench}: the child of {} was killed",
                            lib.name()
                        );
                        std::process::exit(1);
                    }
                }
            }
        }
        for rows in found {
            session.push(middle_by_cpu(rows));
        }
    }
    session.into_rows()
}

/// The round with the median CPU time: its figures belong together.
fn middle_by_cpu(mut rows: Vec<Row>) -> Row {
    rows.sort_by_key(|row| row.usage.map_or(0, |usage| usage.cpu_us));
    let middle = rows.len() / 2;
    rows.swap_remove(middle)
}

/// A library's parallel regions, called from the main thread.
struct Regions {
    tree: fn(&tree::Node<'_>) -> u64,
    leaves: fn(u64, u64, u64) -> u64,
}

fn regions(lib: Lib) -> Regions {
    match lib {
        Lib::Seq => Regions {
            tree: tree::sum,
            leaves: |from, to, steps| {
                (from..to).fold(0, |sum, leaf| sum.wrapping_add(spin(steps, leaf)))
            },
        },
        Lib::Blitz => Regions {
            tree: |root| blitz::tree(root),
            leaves: blitz::leaves,
        },
        Lib::Rayon => Regions {
            tree: |root| rayon::tree(root),
            leaves: rayon::leaves,
        },
        Lib::Chili => Regions {
            tree: |root| chili::tree(root, &mut ::chili::Scope::global()),
            leaves: |from, to, steps| chili::leaves(from, to, steps, &mut ::chili::Scope::global()),
        },
        #[cfg(feature = "forte")]
        Lib::Forte => Regions {
            tree: |root| arms::forte::POOL.with_worker(|worker| arms::forte::tree(root, worker)),
            leaves: |from, to, steps| {
                arms::forte::POOL.with_worker(|worker| arms::forte::leaves(from, to, steps, worker))
            },
        },
    }
}

/// The hidden measurement: `LIB BENCH PLACEMENT`.
pub fn run_child(words: &[String]) -> Result<Vec<Row>, String> {
    let [lib, bench, placement] = words else {
        return Err("idle needs LIB BENCH PLACEMENT".into());
    };
    let lib = Lib::named(lib).ok_or("no such library")?;
    let &(bench, size) = BENCHES
        .iter()
        .find(|(name, _)| name == bench)
        .ok_or("no such bench")?;
    let cpus = Cpus::new(placement == "pinned");
    arms::start(&[lib], &cpus);
    arms::place_main(&cpus);
    let calibration = Calibration::measure();
    let regions = regions(lib);
    now_measuring(format!("idle {bench}, {}", lib.name()));

    let (ns, spread, usage) = match bench {
        "idle/afterburst" => {
            let usage = after_burst(&regions);
            (usage.cpu_us as f64 * 1e3, 0.0, usage)
        }
        "tick/tiny" => {
            let mut arena = tree::Arena::for_levels(TINY_LEVELS);
            let root = arena.fill();
            let expected = tree::expected_sum(TINY_LEVELS);
            ticks(Duration::from_millis(1), || {
                checked((regions.tree)(black_box(root)), expected);
                Duration::ZERO
            })
        }
        "tick/100us" => {
            let steps = calibration.steps_for(100.0 / 16.0);
            let expected = expected_leaves(16, steps);
            ticks(Duration::from_millis(1), || {
                checked((regions.leaves)(0, 16, black_box(steps)), expected);
                Duration::ZERO
            })
        }
        _ => {
            let steps = calibration.steps_for(50.0 / 8.0);
            let expected = expected_leaves(8, steps);
            let serial = calibration.steps_for(50.0);
            ticks(Duration::from_millis(2), || {
                let mut between = Duration::ZERO;
                for region in 0..4 {
                    checked((regions.leaves)(0, 8, black_box(steps)), expected);
                    let start = Instant::now();
                    black_box(spin(serial, region));
                    between += start.elapsed();
                }
                between
            })
        }
    };
    Ok(vec![Row {
        group: "idle".into(),
        bench: bench.into(),
        size,
        lib: lib.name().into(),
        ns,
        spread,
        usage: Some(usage),
        unpinned: None,
    }])
}

fn expected_leaves(count: u64, steps: u64) -> u64 {
    (regions(Lib::Seq).leaves)(0, count, steps)
}

fn checked(result: u64, expected: u64) {
    if result != expected {
        wrong_result(result, expected);
    }
}

/// Work for a while, then sleep; what the sleep cost.
fn after_burst(regions: &Regions) -> Usage {
    let expected = expected_leaves(64, 2000);
    let end = Instant::now() + BURST;
    while Instant::now() < end {
        checked((regions.leaves)(0, 64, black_box(2000)), expected);
    }
    let before = Usage::now();
    std::thread::sleep(WINDOW);
    Usage::now().since(before)
}

/// Runs `tick` at a fixed period for the window: median time of a tick less what it says was not the pool's, the spread of
/// that, and what the window cost. Deadlines do not drift; a late tick is followed by a shorter sleep.
fn ticks(period: Duration, mut tick: impl FnMut() -> Duration) -> (f64, f64, Usage) {
    // The first calls start threads, fault pages in and teach predictors.
    for _ in 0..20 {
        tick();
        std::thread::sleep(period);
    }
    let count = (WINDOW.as_secs_f64() / period.as_secs_f64()) as u32;
    let mut times = Vec::with_capacity(count as usize);
    let before = Usage::now();
    let start = Instant::now();
    for index in 0..count {
        let deadline = start + period * index;
        let now = Instant::now();
        if deadline > now {
            std::thread::sleep(deadline - now);
        }
        let begin = Instant::now();
        let not_the_pools = tick();
        let time = begin.elapsed() - not_the_pools;
        times.push(time.as_secs_f64() * 1e9);
    }
    let usage = Usage::now().since(before);
    let ns = median(&mut times);
    let quarter = times.len() / 4;
    let spread = (times[times.len() - 1 - quarter] - times[quarter]) / ns.max(1.0);
    (ns, spread, usage)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_round_with_the_middle_cpu_time_is_reported_whole() {
        let row = |cpu_us, ns| Row {
            group: "idle".into(),
            bench: "tick/tiny".into(),
            size: 1000,
            lib: "seq".into(),
            ns,
            spread: 0.0,
            usage: Some(Usage {
                cpu_us,
                voluntary: 0,
                involuntary: 0,
            }),
            unpinned: None,
        };
        let middle = middle_by_cpu(vec![row(300, 3.0), row(100, 1.0), row(200, 9.0)]);
        assert_eq!((middle.ns, middle.usage.unwrap().cpu_us), (9.0, 200));
    }

    #[test]
    fn the_regions_of_every_library_agree() {
        let expected = expected_leaves(16, 100);
        for &lib in Lib::ALL {
            assert_eq!(
                (regions(lib).leaves)(0, 16, 100),
                expected,
                "{}",
                lib.name()
            );
        }
    }
}
