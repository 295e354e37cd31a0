//! `blitz tour`: every promise, shown on this machine in about a minute, and a report to keep.
//!
//! Each stop runs a part of the benchmarks in a child process (placement and pools are decided once per process), draws the
//! result as bars, and goes on. At the end stands a table of the promises. Nothing here measures anything itself: a command to
//! repeat each figure is part of the report.

pub mod promises;
pub mod section;
pub mod waiting;

use crate::chart::{Chart, class_of, short_count, shown_name};
use crate::html;
use crate::machine::Machine;
use crate::second::target_directory;
use crate::svg::decades;
use crate::terminal::{Ink, Progress, print, terminal};
use crate::words::TourOptions;
use blitz_bench::disturbance::Watch;
use blitz_bench::report::{Row, SEQ};
use blitz_core::text::plot::{Curve, Plot};
use promises::Promise;
use section::{Effort, Part, Section, find, measure, sizes};
use std::process::{ExitCode, Stdio};
use std::time::{Duration, Instant};
use waiting::Seen;

/// What a tour has gathered.
struct Tour {
    effort: Effort,
    quick: bool,
    sections: Vec<Section>,
    promises: Vec<Promise>,
    step: usize,
}

/// Stops that show a progress bar.
const STEPS: usize = 11;
const CHEAP: &str = "loop/cheap/backtoback";
const DEAR: &str = "loop/dear/backtoback";

/// Runs the subcommand.
pub fn run(options: &TourOptions) -> ExitCode {
    blitz_bench::child::set_way_in(&["bench"]);
    let start = Instant::now();
    let terminal = terminal();
    terminal.title("Blitz: parallel is never slower");
    let about = if options.quick {
        "A quick look; the figures are rough."
    } else {
        "About a minute on this machine. Ctrl-C stops at any time."
    };
    terminal.paragraph(about);
    let watch = Watch::start();
    let machine = Machine::look();
    terminal.title("The machine");
    for (name, value) in machine.facts() {
        print(&format!("  {name:<26} {value}\n"));
    }
    let mut tour = Tour {
        effort: Effort {
            percent: if options.quick { 5 } else { 60 },
        },
        quick: options.quick,
        sections: Vec::new(),
        promises: Vec::new(),
        step: 0,
    };
    if let Err(message) = tour.visit() {
        eprintln!("blitz: the tour ends early: {message}");
        return ExitCode::FAILURE;
    }
    tour.promises.sort_by_key(|promise| promise.number);
    promises::print_table(&tour.promises);
    let disturbed = watch.others().filter(|&share| share > 0.05).map(|share| {
        format!(
            "Other processes used {:.0} % of the CPUs meanwhile: repeat this on a quiet machine before you believe a figure.",
            share * 100.0
        )
    });
    if let Some(text) = &disturbed {
        print("\n");
        terminal.paragraph(&terminal.ink(Ink::Warn, text));
    }
    let page = html::report(
        &machine,
        &tour.sections,
        &tour.promises,
        disturbed.as_deref(),
    );
    let path = options
        .out
        .clone()
        .unwrap_or_else(|| target_directory().join("blitz-tour.html"));
    let written = path
        .parent()
        .map_or(Ok(()), std::fs::create_dir_all)
        .and_then(|()| std::fs::write(&path, page));
    match written {
        Ok(()) => {
            print(&format!(
                "\nThe report, to open in a browser: {}\n({:.0} s in all)\n",
                path.display(),
                start.elapsed().as_secs_f64()
            ));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!(
                "blitz: cannot write the report to {}: {error}; choose another place with --out FILE",
                path.display()
            );
            ExitCode::FAILURE
        }
    }
}

impl Tour {
    fn visit(&mut self) -> Result<(), String> {
        self.join()?;
        self.loops()?;
        self.chains()?;
        self.sorting()?;
        self.scopes()?;
        self.unbalanced()?;
        self.idle()?;
        let offload = self.tasks()?;
        self.mixed(offload)?;
        self.locks();
        self.stress();
        Ok(())
    }

    fn label(&mut self, what: &str) -> String {
        self.step += 1;
        format!("{}/{STEPS} {what}", self.step)
    }

    /// Measures a stop's parts and lets `tell` make a section of the rows.
    fn stop(
        &mut self,
        what: &str,
        parts: &[Part],
        mut section: Section,
        tell: impl FnOnce(&[Row], &mut Section),
    ) -> Result<Vec<Row>, String> {
        let label = self.label(what);
        let (rows, commands) = measure(&label, parts, self.effort)?;
        section.commands = commands;
        tell(&rows, &mut section);
        section.print();
        self.sections.push(section);
        Ok(rows)
    }

    fn join(&mut self) -> Result<(), String> {
        let parts = [
            part("join", "tree/1thread", 12),
            part("join", "tree/default", 15),
            part("entry", "empty", 4),
        ];
        let section = Section::new(
            "Joins: a fork that nobody takes costs about a nanosecond",
            "The sum over a binary tree with a fork at every node and no sequential cut-off at all: first on one thread, where the \
             fork itself is what is timed, then on all. Last, one empty join from the main thread, outside of any pool.",
        );
        self.stop("joins", &parts, section, |rows, section| {
            let nodes = |size: u64| format!("{} nodes", short_count(size));
            let charts = [
                Chart::of_times("tree sum, one thread", rows, "tree/1thread", nodes),
                Chart::of_times("tree sum, all threads", rows, "tree/default", nodes),
                Chart::of_times("one empty join, calls in a row", rows, "empty/backtoback", |_| "join(|| 1, || 2)".into()),
                Chart::of_times("one empty join after 5 ms of rest", rows, "empty/after5ms", |_| "join(|| 1, || 2)".into()),
            ];
            section.charts.extend(charts);
            let size = sizes(rows, "tree/1thread").iter().rev().nth(1).copied();
            if let Some(size) = size {
                let of = |lib| find(rows, "tree/1thread", size, lib).map(|row| row.ns);
                let per_join = |lib| Some((of(lib)? - of(SEQ)?) / size as f64);
                if let (Some(blitz), Some(rayon)) = (per_join("blitz"), per_join("rayon")) {
                    section.verdict = format!(
                        "One join costs {blitz:.1} ns above plain recursion (rayon: {rayon:.1} ns; tree of {} nodes).",
                        short_count(size)
                    );
                }
            }
        })?;
        Ok(())
    }

    fn loops(&mut self) -> Result<(), String> {
        let parts = [part("loops", CHEAP, 3), part("loops", DEAR, 3)];
        let section = Section::new(
            "Loops: from one element to ten million",
            "A parallel sum called from the main thread. Cheap elements are one addition each, dear ones about 50 ns. A parallel \
             loop starts as the plain loop and is cut only when that pays, so small ones cost what the plain loop costs.",
        );
        let rows = self.stop("loops", &parts, section, |rows, section| {
            let elements = |size: u64| match size {
                1 => "1 element".to_string(),
                _ => format!("{} elements", short_count(size)),
            };
            section.charts = vec![
                Chart::of_times("sum of u64", rows, CHEAP, elements),
                Chart::of_times("elements of 50 ns", rows, DEAR, elements),
            ];
            section.plots = vec![
                relative_plot("sum of u64: time relative to the plain loop", rows, CHEAP),
                relative_plot(
                    "elements of 50 ns: time relative to the plain loop",
                    rows,
                    DEAR,
                ),
            ];
        })?;
        self.promises.push(promises::never_slower(&rows, CHEAP));
        Ok(())
    }

    fn chains(&mut self) -> Result<(), String> {
        let parts = [part("iter", "sum,collect,flat_map,lines,dot,key", 25)];
        let section = Section::new(
            "Iterators: the same source, compiled against rayon and against Blitz",
            "Chains of parallel iterators, written once and compiled twice, on identical data. All results agree with the standard \
             library's.",
        );
        let rows = self.stop("iterator chains", &parts, section, |rows, section| {
            let mut all = one_chart("chains", rows);
            let second = all.groups.split_off(all.groups.len().div_ceil(2));
            let title = "more chains".to_string();
            section.charts = vec![
                all,
                Chart {
                    title,
                    groups: second,
                },
            ];
        })?;
        let chains = rows.iter().filter(|row| row.lib == "blitz").count();
        self.promises.push(Promise {
            number: 4,
            name: "Drop-in for rayon",
            kept: (chains > 0).then_some(true),
            figure: format!(
                "{chains} chains written once, compiled against both libraries: the same results. rayon's own tests: see docs/coming-from-rayon.md."
            ),
            command: "blitz bench iter".into(),
        });
        Ok(())
    }

    fn sorting(&mut self) -> Result<(), String> {
        let parts = [part("sort", "unstable/u64/random,unstable/f64/random", 15)];
        let section = Section::new(
            "Sorting",
            "Random integers and floating-point numbers, sorted by the standard library, by rayon and by Blitz.",
        );
        self.stop("sorting", &parts, section, |rows, section| {
            let elements = |size: u64| format!("{} elements", short_count(size));
            section.charts = ["unstable/u64/random", "unstable/f64/random"]
                .map(|bench| Chart::of_times(bench, rows, bench, elements))
                .into();
        })?;
        Ok(())
    }

    /// Returns what an offload takes: here, and with tokio and rayon.
    fn tasks(&mut self) -> Result<Option<(f64, f64)>, String> {
        let parts = [part("tasks", "spawn/local,yield,pingpong,offload", 12)];
        let section = Section::new(
            "Async tasks, on the same threads",
            "10,000 tasks spawned; 200 tasks that yield 1000 times each; 1000 pairs that exchange messages; and 200 computations of 1 us that a task \
             sends away and awaits: to the same threads here, to rayon or to the blocking pool with tokio.",
        );
        let rows = self.stop("async tasks", &parts, section, |rows, section| {
            section.charts = vec![one_chart("tasks", rows)];
        })?;
        let of = |lib| {
            let row = rows
                .iter()
                .find(|row| row.bench == "offload" && row.lib == lib);
            row.map(|row| row.ns / row.size as f64)
        };
        Ok(of("blitz").zip(of("tokio+rayon")))
    }

    fn mixed(&mut self, offload: Option<(f64, f64)>) -> Result<(), String> {
        let parts = [part("mixed", "mixed/20000", 15)];
        let section = Section::new(
            "A server that answers while its threads compute",
            "An echo server with 64 connections and 20,000 requests a second, and beside it two tasks that send away one computation after \
             the other, 20 ms of work each. Blitz has one pool for both; tokio has its workers, and rayon's threads beside them.",
        );
        let rows = self.stop(
            "a server that computes",
            &parts,
            section,
            |rows, section| {
                let latency = |title, bench| {
                    Chart::of_times(title, rows, bench, |_| "from request to answer".into())
                };
                section.charts = vec![
                    latency("half of the requests are answered within", "mixed/p50"),
                    latency("99 of 100 requests are answered within", "mixed/p99"),
                    Chart::of_times("time per computation", rows, "mixed/job", |_| {
                        "from one result to the next".into()
                    }),
                ];
            },
        )?;
        let promise = promises::one_pool(&rows, offload);
        self.promises.push(promise);
        Ok(())
    }

    fn scopes(&mut self) -> Result<(), String> {
        let parts = [part("spawn", "spawn/inside", 8)];
        let section = Section::new(
            "Scopes: many small tasks",
            "Empty tasks spawned in one scope; the time of all together, from the first spawn to the end of the scope.",
        );
        self.stop("scopes", &parts, section, |rows, section| {
            let tasks = |size: u64| format!("{} tasks", short_count(size));
            section.charts = vec![Chart::of_times("scope.spawn", rows, "spawn/inside", tasks)];
        })?;
        Ok(())
    }

    fn unbalanced(&mut self) -> Result<(), String> {
        let parts = [
            part("unbalanced", "nqueens", 5),
            part("flat", "after5ms", 10),
        ];
        let section = Section::new(
            "Unbalanced work, and work after a pause",
            "N-queens: subtrees that differ by orders of magnitude, a fork at every board. Then one join of two equal tasks after \
             5 ms of rest: long ones must use two threads, short ones must not pay for waking the second.",
        );
        self.stop("unbalanced work", &parts, section, |rows, section| {
            let boards = |size: u64| format!("{size} queens");
            let tasks = |size: u64| format!("two tasks of {size} us");
            section.charts = vec![
                Chart::of_times("n-queens", rows, "nqueens", boards),
                Chart::of_times("one join after a pause", rows, "flat/after5ms", tasks),
            ];
        })?;
        Ok(())
    }

    fn idle(&mut self) -> Result<(), String> {
        let parts = [
            part("idle", "idle/afterburst", 9),
            part("idle", "tick/tiny", 9),
        ];
        let section = Section::new(
            "Idle: what a pool costs when there is little to do",
            "CPU time of two seconds: after a burst of work, and with a tiny parallel region every millisecond.",
        );
        let rows = self.stop("idle cost", &parts, section, |rows, section| {
            section.charts = vec![
                Chart::of_cpu("2 s of rest", rows, "idle/afterburst", |_| {
                    "nothing to do".into()
                }),
                Chart::of_cpu("2 s of ticks", rows, "tick/tiny", |_| {
                    "a tiny region every 1 ms".into()
                }),
            ];
        })?;
        self.promises.push(promises::idle_is_silent(&rows));
        Ok(())
    }

    fn locks(&mut self) {
        let label = self.label("something held across a fork");
        let mut section = Section::new(
            "Waiting: something held across a parallel call",
            "Tasks that hold something of their thread (a lock, a borrow, a thread-local) and fork meanwhile. A thread that waits for its \
             stolen half must not run another of the tasks on the same stack: that one would ask for what its own thread holds.",
        );
        let progress = Progress::start(&label, Duration::from_secs(1));
        let (blitz, rayon) = (waiting::on_blitz(), waiting::on_rayon());
        drop(progress);
        let tell = |seen: &Result<Seen, String>| match seen {
            Ok(seen) => format!(
                "{} of {} tasks met another one's hold on their own stack, up to {} piled up on it",
                seen.met_themselves(),
                waiting::TASKS,
                seen.deepest()
            ),
            Err(message) => message.clone(),
        };
        section.verdict = format!("Blitz: {}. rayon: {}.", tell(&blitz), tell(&rayon));
        section.commands = vec!["cargo test -p blitz-core --test waiting".into()];
        section.print();
        let kept = blitz.is_ok_and(|seen| seen.is_complete() && seen.met_themselves() == 0);
        self.promises.push(Promise {
            number: 2,
            name: "Waiting never runs unrelated work",
            kept: Some(kept),
            figure: section.verdict.clone(),
            command: "cargo test -p blitz-core --test waiting".into(),
        });
        self.sections.push(section);
    }

    fn stress(&mut self) {
        let seconds = if self.quick { 2 } else { 8 };
        let label = self.label("stress");
        let mut section = Section::new(
            "Stress: random programs, checked",
            "Random nested joins, scopes, spawns, tasks, panics and iterators on pools of 1 to 200 threads, compared with their sequential \
             reading; locks held by outsiders, guests, pools and runtimes that end while used, descriptors that run out.",
        );
        let progress = Progress::start(&label, Duration::from_secs(seconds + 1));
        let outcome = stressed(seconds);
        drop(progress);
        let (kept, text) = match outcome {
            Ok(last_line) => (true, last_line),
            Err(message) => (false, message),
        };
        section.verdict = text.clone();
        section.commands = vec![format!("blitz stress --seconds {seconds}")];
        section.print();
        self.promises.push(Promise {
            number: 6,
            name: "Checked, not hoped",
            kept: Some(kept),
            figure: format!("{text} The models of the protocols run in CI."),
            command: "blitz stress --seconds 60".into(),
        });
        self.sections.push(section);
    }
}

/// What the stress says at its end, if it ends well.
fn stressed(seconds: u64) -> Result<String, String> {
    let output = blitz_bench::child::this_program()
        .args(["stress", "--seconds", &seconds.to_string()])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("stress cannot be run: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let told = |line: &str| line.trim_start_matches("stress: ").to_string();
    if output.status.success() {
        let totals = text.lines().find(|line| line.contains("closures"));
        Ok(format!(
            "{}; every result was right.",
            told(totals.unwrap_or(""))
        ))
    } else {
        Err(format!(
            "failed: {}",
            told(text.lines().last().unwrap_or(""))
        ))
    }
}

const fn part(group: &'static str, only: &'static str, seconds: u64) -> Part {
    Part {
        group,
        only,
        seconds,
    }
}

/// All benches of some rows in one chart, each under its name.
fn one_chart(title: &str, rows: &[Row]) -> Chart {
    let mut benches: Vec<&str> = rows.iter().map(|row| row.bench.as_str()).collect();
    benches.dedup();
    let groups = benches.into_iter().flat_map(|bench| {
        let label = |size| format!("{bench}, {}", short_count(size));
        Chart::of_times("", rows, bench, label).groups
    });
    Chart {
        title: title.to_string(),
        groups: groups.collect(),
    }
}

/// Time relative to the plain loop over the number of elements.
fn relative_plot(title: &str, rows: &[Row], bench: &str) -> Plot {
    let relative = |size, lib| {
        let seq = find(rows, bench, size, SEQ)?.ns;
        let own = find(rows, bench, size, lib)?.ns;
        (seq > 0.05).then(|| [size as f64, own / seq])
    };
    let curves = [SEQ, "blitz", "rayon"].map(|lib| Curve {
        class: class_of(lib),
        name: shown_name(lib).into(),
        points: sizes(rows, bench)
            .into_iter()
            .filter_map(|size| relative(size, lib))
            .collect(),
        dots: true,
    });
    let points = || curves.iter().flat_map(|curve| &curve.points);
    let elements = |value| short_count(value as u64);
    let times = |value| match value {
        value if value >= 1.0 => format!("{value:.0}x"),
        value => format!("{value}x"),
    };
    Plot {
        size: [400.0, 260.0],
        title: title.to_string(),
        x: decades(points().map(|point| point[0]), elements, "elements"),
        y: decades(points().map(|point| point[1]), times, ""),
        curves: curves.into(),
    }
}
