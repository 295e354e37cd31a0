//! `blitz simulate`: what would more cores do with a recorded computation?
//!
//! The recording is a file that `blitz profile` has written, or an example, which is profiled first. The simulation is `blitz-simulate`'s.

use crate::second;
use crate::words::{SimulateOptions, Subject};
use blitz_core::text::{human, plot::STYLE, svg::Element};
use blitz_simulate::page::plot;
use blitz_simulate::{
    Calibrated, Cascade, Costs, Machine, Outcome, Program, Waiting, mean_speedup, measure, simulate,
};
use std::path::Path;
use std::process::ExitCode;

/// Runs the subcommand.
pub fn run(options: &SimulateOptions) -> ExitCode {
    match try_run(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("blitz: {message}");
            ExitCode::FAILURE
        }
    }
}

fn try_run(options: &SimulateOptions) -> Result<(), String> {
    let mut machine = Machine::with_cores(1);
    if options.check {
        let Subject::Example(example) = &options.subject else {
            return Err("--check runs the computation again, so it needs an EXAMPLE".into());
        };
        let measured = second::measured(example)?;
        if options.measure {
            // What is checked is run by another program, whose forks have hooks: it knows what things cost there.
            measured_costs(&measured, &mut machine);
        }
        set_costs(options, &mut machine);
        return check(example, &machine, &measured);
    }
    let (name, path) = match &options.subject {
        Subject::File(path) => (path.display().to_string(), path.clone()),
        Subject::Example(name) => ((*name).to_string(), second::record(name)?),
    };
    let program = read(&path)?;
    if let Some(out) = &options.out {
        can_be_written(out)?;
    }
    if options.measure {
        machine.costs = measure::costs();
    }
    set_costs(options, &mut machine);
    compare(&name, &program, &machine, options)
}

fn read(path: &Path) -> Result<Program, String> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    Program::read(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Whoever simulates for minutes wants to know before. What is there stays there.
fn can_be_written(out: &Path) -> Result<(), String> {
    let mut how = std::fs::OpenOptions::new();
    let opened = how.append(true).create(true).open(out);
    opened
        .map(drop)
        .map_err(|error| cannot_be_written(out, &error))
}

fn cannot_be_written(out: &Path, error: &std::io::Error) -> String {
    format!("{} cannot be written: {error}", out.display())
}

/// Lines with `cost NAME NS`.
fn measured_costs(text: &str, machine: &mut Machine) {
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let ["cost", name, ns] = words[..]
            && let Ok(ns) = ns.parse()
        {
            machine.costs.set(name, ns);
        }
    }
}

/// Those that are given come last, and all are shown.
fn set_costs(options: &SimulateOptions, machine: &mut Machine) {
    for (name, ns) in &options.costs {
        machine.costs.set(name, *ns);
    }
    let costs: Vec<String> = machine
        .costs
        .all()
        .into_iter()
        .map(|(name, ns)| format!("{name}={ns}"))
        .collect();
    println!("costs in ns: {}", costs.join(","));
    let costs = &machine.costs;
    for cores in &options.cores {
        if costs.look + costs.look_each * (*cores as u64) < costs.a_look(*cores) {
            println!(
                "(a look takes {} ns at least, and one for each thread)",
                Costs::LEAST_LOOK
            );
            break;
        }
    }
    println!();
}

const COLOURS: &str = ".limit{color:#9a9da8}.simulated{color:#1f5fd0}.other{color:#c4570f}.third{color:#1a7f4b}.fourth{color:#8a3fc0}";

/// Speed-ups are means of so many runs with different luck.
const RUNS: u64 = 16;

fn with_cores(machine: &Machine, cores: usize) -> Machine {
    Machine {
        workers: cores,
        cpus: cores,
        ..machine.clone()
    }
}

/// The table and the curves: by the engine's rules, with unrestricted stealing, and as if the single words cost nothing.
fn compare(
    name: &str,
    program: &Program,
    machine: &Machine,
    options: &SimulateOptions,
) -> Result<(), String> {
    let (work, span) = (program.work_ns(), program.span_ns().max(1));
    let parallelism = work as f64 / span as f64;
    println!(
        "{name}: {} of work, a span of {}, parallelism {parallelism:.1}\n",
        human(work as f64),
        human(span as f64)
    );
    let anything = Machine {
        waiting: Waiting::Anything,
        ..machine.clone()
    };
    let free_words = Machine {
        free_words: true,
        ..machine.clone()
    };
    let two = Machine {
        cascade: Cascade::Tree,
        ..machine.clone()
    };
    println!(
        "   cores   at most  simulated      thefts   wakes  forced   parks  | stealing anything  |  free words   counters busy  waited for  | waking two"
    );
    let mut rows: [Vec<f64>; 5] = Default::default();
    for &cores in &options.cores {
        let ours = simulate(program, &with_cores(machine, cores));
        let limit = parallelism.min(cores as f64);
        let [speedup, anything, free, two] = [machine, &anything, &free_words, &two]
            .map(|machine| mean_speedup(program, &with_cores(machine, cores), RUNS));
        let busy = 100.0 * ours.counters.busy_ns as f64 / ours.elapsed_ns.max(1) as f64;
        println!(
            "{cores:>8} {limit:>8.2}x {speedup:>9.2}x {:>11} {:>7} {:>7} {:>7}  | {anything:>8.2}x {:>+7.1} %  | {free:>10.2}x {busy:>13.1} % {:>11}  | {two:>12.2}x",
            ours.steals,
            ours.wakes,
            ours.forced,
            ours.parks,
            100.0 * (anything / speedup - 1.0),
            human(ours.counters.waited_ns as f64),
        );
        for (row, value) in rows.iter_mut().zip([limit, speedup, anything, free, two]) {
            row.push(value);
        }
    }
    let [limit, ours, anything, free, two] = rows;
    if let Some(out) = &options.out {
        let plot = plot(
            &options.cores,
            [
                ("limit", "at most: work and span", limit),
                ("simulated", "the engine's rules", ours),
                ("other", "unrestricted stealing", anything),
                ("third", "as if the single words were free", free),
                ("fourth", "each wakes two, whoever searches", two),
            ],
        );
        let style = format!("{STYLE}{COLOURS}");
        let mut svg = String::new();
        plot.draw(&mut Element::document(
            &mut svg,
            plot.size,
            &plot.title,
            &style,
        ));
        std::fs::write(out, svg).map_err(|error| cannot_be_written(out, &error))?;
        println!("\nwritten: {}", out.display());
    }
    Ok(())
}

/// Beside what this machine really does: an example that was run again, without recording. Medians of some runs on both sides.
fn check(example: &str, machine: &Machine, measured: &str) -> Result<(), String> {
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let mut calibrated = None;
    println!(
        "{example}\n threads    recorded   simulated    measured   ratio |  thefts: simulated, measured |  wakes: simulated, measured"
    );
    for line in measured.lines() {
        let words: Vec<u64> = line
            .strip_prefix("measured ")
            .unwrap_or_default()
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        let [threads, ns, steals, wakes] = words[..] else {
            continue;
        };
        // As that pool has run it: with other threads it may have been planned otherwise.
        let recorded = read(&second::measured_recording(example, threads))?;
        // The first row is that of one thread: what the profiler adds to a strand of this example.
        let calibrated = *calibrated.get_or_insert_with(|| Calibrated::by(&recorded, machine, ns));
        let program = calibrated.apply(&recorded);
        let run = |program: &Program, machine: &Machine, seed| {
            let machine = Machine {
                workers: threads as usize,
                cpus,
                seed,
                ..machine.clone()
            };
            simulate(program, &machine)
        };
        let here = calibrated.machine(machine);
        let outcomes: Vec<_> = (1..=RUNS).map(|seed| run(&program, &here, seed)).collect();
        let uncorrected = run(&recorded, machine, 1).elapsed_ns;
        let middle = |value: fn(&Outcome) -> u64| {
            let mut values: Vec<u64> = outcomes.iter().map(value).collect();
            values.sort_unstable();
            values[values.len() / 2]
        };
        let elapsed = middle(|outcome| outcome.elapsed_ns);
        println!(
            "{threads:>8} {:>11} {:>11} {:>11} {:>7.3} | {:>18} {steals:>9} | {:>17} {wakes:>9}",
            human(uncorrected as f64),
            human(elapsed as f64),
            human(ns as f64),
            elapsed as f64 / ns.max(1) as f64,
            middle(|outcome| outcome.steals),
            middle(|outcome| outcome.wakes),
        );
    }
    if let Some(calibrated) = calibrated {
        println!(
            "strands were recorded {:+.1} ns too long, by the run on one thread, and a fork costs {} ns: as recorded, simulated without these, measured",
            calibrated.ns_per_strand, calibrated.fork_ns
        );
    }
    Ok(())
}
