//! Blitz against plain code, rayon, chili and forte: the benchmarks, as a library with one entry, [`main`].
//!
//! ```text
//! cargo run --release -p blitz-bench -- GROUP… [--quick] [--json] [--pin | --no-pin]
//! ```
//!
//! One file per group in `groups/`, one per library in `arms/`, one per workload in `workloads/`. The rest is the
//! harness: `measure` (rounds and medians), `report` (tables and JSON), `disturbance` (was the machine quiet?), `pin`, `spin`,
//! `usage`, `child`.
//!
//! Without the feature `full` the library has what the tour of the program `blitz` shows, and of some groups only a part:
//! [`has_all_of`] tells.

pub mod args;
pub mod arms;
pub mod child;
pub mod compare;
pub mod disturbance;
pub mod executors;
pub mod groups;
pub mod measure;
pub mod pin;
pub mod report;
pub mod spin;
pub mod usage;
pub mod workloads;

use std::io::Write;
use std::process::ExitCode;

use args::{Command, Format, Options, Placement};
use arms::Cpus;
use disturbance::Watch;
use groups::Kind;

/// Runs the benchmarks from a command line: `words` are what follows the program's name and `way_in`.
///
/// `way_in` is how the user (and this program itself, for measurements that need a process of their own) gets here: nothing
/// for `blitz-bench`, the subcommand's name for a program that has the benchmarks as one of several.
pub fn main(way_in: &'static [&'static str], words: &[String]) -> ExitCode {
    // Before anything is pinned.
    pin::cpus_at_start();
    child::set_way_in(way_in);
    match args::parse(words) {
        Ok(Command::Help) => {
            say(&format!("{}\n", args::help()));
            ExitCode::SUCCESS
        }
        Ok(Command::Child { words }) => run_hidden(&words),
        Ok(Command::Compare { old, new }) => compare_files(&old, &new),
        Ok(Command::Run { groups, options }) => match groups[..] {
            [group] => run(group, &options),
            _ => run_each(&groups, &options),
        },
        Err(message) => {
            eprintln!("{}: {message}", child::invoked_as());
            ExitCode::from(2)
        }
    }
}

/// Does this build have every bench and every peer that these words ask for?
///
/// `true` also for words that make no sense: [`main`] says what is wrong with them.
pub fn has_all_of(words: &[String]) -> bool {
    match args::parse(words) {
        Ok(Command::Run { groups, options }) if options.format != Format::Rows => groups
            .iter()
            .all(|name| groups::named(name).is_some_and(|group| group.complete)),
        _ => true,
    }
}

/// Exit code 1 if something got worse.
fn compare_files(old: &str, new: &str) -> ExitCode {
    let read = |path: &str| std::fs::read_to_string(path).map_err(|why| format!("{path}: {why}"));
    let compared = read(old).and_then(|old| compare::compare(&old, &read(new)?));
    match compared {
        Ok(compared) => {
            say(&compared.text);
            ExitCode::from(u8::from(compared.worse > 0))
        }
        Err(why) => {
            eprintln!("{}: {why}", child::invoked_as());
            ExitCode::from(2)
        }
    }
}

/// Writes to standard output; a reader that has gone away (`| head`) is no error.
fn say(text: &str) {
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

fn run(group: &str, options: &Options) -> ExitCode {
    let group = groups::named(group).expect("the command line lets only known groups through");
    match group.kind {
        Kind::Checks(check) => check(options),
        #[cfg(not(feature = "full"))]
        Kind::Absent => {
            eprintln!(
                "{}: this build has no group '{name}'; run: cargo run --release -p blitz-bench -- {name}",
                child::invoked_as(),
                name = group.name,
            );
            ExitCode::from(2)
        }
        Kind::Measures(measure) => {
            let pinned = options.placement != Placement::Free;
            let cpus = Cpus::new(pinned);
            if options.format == Format::Table {
                say(&header(group.name, options, &cpus));
            }
            let watch = Watch::start();
            let mut rows = measure(options, &cpus);
            if options.placement == Placement::Both {
                let unpinned = child::unpinned_pass(group.name, options);
                report::add_unpinned(&mut rows, &unpinned);
            }
            say(&report::render(&rows, options.format, cpus.pinned()));
            watch.warn();
            ExitCode::SUCCESS
        }
    }
}

/// Each group in a process of its own: placement and stack sizes are decided once per process.
fn run_each(groups: &[&str], options: &Options) -> ExitCode {
    for group in groups {
        let status = child::this_program()
            .arg(group)
            .args(options.flags())
            .status()
            .expect("this program can be started again");
        if !status.success() {
            let code = status.code().and_then(|code| code.try_into().ok());
            return ExitCode::from(code.unwrap_or(1));
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
fn run_hidden(words: &[String]) -> ExitCode {
    match groups::run_hidden(words) {
        Ok(rows) => {
            say(&report::render(&rows, Format::Rows, true));
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("{}: {message}", child::invoked_as());
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_full_build_has_all_of_everything() {
        let asks = |line: &str| {
            let words: Vec<String> = line.split_whitespace().map(str::to_string).collect();
            has_all_of(&words)
        };
        assert!(asks("join entry --quick"));
        assert_eq!(asks("join ops"), cfg!(feature = "full"));
        assert_eq!(asks("sort"), cfg!(feature = "full"));
        assert!(asks("sort --rows"), "the tour takes what there is");
        assert!(asks("nonsense"), "the command line says what is wrong");
    }
}
