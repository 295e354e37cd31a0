//! `blitz-bench`: Blitz against plain code, rayon, chili and forte.
//!
//! ```text
//! cargo run --release -p blitz-bench -- GROUP [--quick] [--json] [--pin | --no-pin]
//! ```
//!
//! One file per group in `groups/`, one per library in `arms/`, one per workload in `workloads/`. The rest is the
//! harness: `measure` (rounds and medians), `report` (tables and JSON), `disturbance` (was the machine quiet?), `pin`, `spin`,
//! `usage`, `child`.

mod args;
mod arms;
mod child;
mod disturbance;
mod groups;
mod measure;
mod pin;
mod report;
mod spin;
mod usage;
mod workloads;

use std::io::Write;
use std::process::ExitCode;

use args::{Command, Format, GROUPS, Options, Placement};
use arms::Cpus;
use disturbance::Watch;
use report::Row;

fn main() -> ExitCode {
    // Before anything is pinned.
    pin::cpus_at_start();
    let words: Vec<String> = std::env::args().skip(1).collect();
    match args::parse(&words) {
        Ok(Command::Help) => {
            say(&format!("{}\n", args::help()));
            ExitCode::SUCCESS
        }
        Ok(Command::Child { words }) => run_child(&words),
        Ok(Command::Run { group, options }) => run(&group, &options),
        Err(message) => {
            eprintln!("blitz-bench: {message}");
            ExitCode::from(2)
        }
    }
}

/// Writes to standard output; a reader that has gone away (`| head`) is no error.
fn say(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

fn run(group: &str, options: &Options) -> ExitCode {
    match group {
        "stress" => groups::stress::run(options),
        "all" => run_all(options),
        _ => {
            let pinned = options.placement != Placement::Free;
            let cpus = Cpus::new(pinned);
            if options.format == Format::Table {
                say(&header(group, options, &cpus));
            }
            let watch = Watch::start();
            let mut rows = groups::run(group, options, &cpus);
            if options.placement == Placement::Both {
                let unpinned = child::unpinned_pass(group, options.quick, options.only.as_deref());
                report::add_unpinned(&mut rows, &unpinned);
            }
            say(&report::render(&rows, options.format, cpus.pinned()));
            watch.warn();
            ExitCode::SUCCESS
        }
    }
}

/// Each group in a process of its own: placement and stack sizes are decided once per process.
fn run_all(options: &Options) -> ExitCode {
    let program = std::env::current_exe().expect("the path of this program is known");
    for (group, _) in GROUPS.iter().filter(|(group, _)| *group != "stress") {
        let flags: Vec<String> = std::env::args()
            .skip(1)
            .filter(|word| word != "all")
            .collect();
        let status = std::process::Command::new(&program)
            .arg(group)
            .args(flags)
            .status()
            .expect("this program can be started again");
        if !status.success() {
            return ExitCode::from(
                status
                    .code()
                    .and_then(|code| code.try_into().ok())
                    .unwrap_or(1),
            );
        }
        if options.format == Format::Table {
            say("\n");
        }
    }
    ExitCode::SUCCESS
}

fn header(group: &str, options: &Options, cpus: &Cpus) -> String {
    let placement = match (options.placement, cpus.pinned()) {
        (Placement::Free, _) => "unpinned",
        (_, false) => "unpinned (this system cannot pin)",
        _ => "pinned",
    };
    format!(
        "{group}: {} CPUs, {placement}{}; medians of interleaved rounds, every result checked\n",
        pin::cpus_at_start().len(),
        if options.quick { ", quick" } else { "" },
    )
}

/// The hidden measurements, which print rows for the parent that started them.
fn run_child(words: &[String]) -> ExitCode {
    let rows: Result<Vec<Row>, String> = match words.split_first() {
        Some((kind, rest)) if kind == groups::idle::CHILD => groups::idle::run_child(rest),
        Some((kind, rest)) if kind == groups::unbalanced::CHILD => {
            groups::unbalanced::run_child(rest)
        }
        _ => Err("no such measurement".into()),
    };
    match rows {
        Ok(rows) => {
            say(&report::render(&rows, Format::Rows, true));
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("blitz-bench: {message}");
            ExitCode::from(2)
        }
    }
}
