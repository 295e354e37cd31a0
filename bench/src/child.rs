//! Measurements that need a process of their own, and how this program starts itself for them.
//!
//! Three need one: the unpinned pass of a group (placement is decided once per process), CPU time (another library's
//! threads would be billed too), and searches on small stacks (an overflow ends the process). A child writes rows to its
//! standard output, and before them notes that say where it is; its standard error is the parent's.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::args::{CHILD, Format, Options, Placement};
use crate::pin;
use crate::report::{Row, parse_rows};

/// The words that lead from this executable to the benchmarks, after the program's name: none for `blitz-bench`.
static WAY_IN: OnceLock<&'static [&'static str]> = OnceLock::new();

/// Says how the benchmarks were reached; the first call counts.
pub fn set_way_in(words: &'static [&'static str]) {
    let _ = WAY_IN.set(words);
}

fn way_in() -> &'static [&'static str] {
    WAY_IN.get().copied().unwrap_or_default()
}

/// What a user types to get here.
pub fn invoked_as() -> String {
    match way_in() {
        [] => "blitz-bench".to_string(),
        words => format!("blitz {}", words.join(" ")),
    }
}

/// A command that starts this program's benchmarks again.
pub fn this_program() -> Command {
    let program = std::env::current_exe().expect("the path of this program is known");
    let mut command = Command::new(program);
    command.args(way_in());
    command
}

/// How a child ended.
#[derive(Debug, PartialEq)]
pub enum Outcome {
    /// With rows.
    Rows(Vec<Row>),
    /// Killed by a signal: a stack overflow, for one.
    Killed,
}

/// How a line begins that is a note for the parent, not a row.
const NOTE: &str = "# ";

/// Tells the parent process what is being measured now.
pub fn note(text: &str) {
    let mut out = std::io::stdout().lock();
    // A parent that has gone away does not want to know.
    let _ = writeln!(out, "{NOTE}{text}").and_then(|()| out.flush());
}

/// Starts this program again with these words and collects its rows.
///
/// A child that ends with an error code has already said why; the parent ends the same way.
pub fn run(words: &[&str]) -> Outcome {
    match pin::unpinned(|| follow(words, Stdio::inherit(), |_| ())) {
        Ok(outcome) => outcome,
        Err(Failed { code, message }) => {
            eprintln!("{}: '{}' {message}", invoked_as(), words.join(" "));
            std::process::exit(code);
        }
    }
}

/// A child that ended with an error code, or wrote something that is no row.
#[derive(Debug)]
pub struct Failed {
    /// The child's exit code.
    pub code: i32,
    /// What went wrong, to follow the child's name.
    pub message: String,
}

/// As [`run`], reporting the child's notes as they come, and leaving failures to the caller.
pub fn follow(
    words: &[&str],
    stderr: Stdio,
    mut noted: impl FnMut(&str),
) -> Result<Outcome, Failed> {
    let failed = |code, message: String| Failed { code, message };
    let mut child = this_program()
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(stderr)
        .spawn()
        .map_err(|error| failed(1, format!("cannot be started: {error}")))?;
    let stdout = child.stdout.take().expect("was asked for");
    let mut rows = String::new();
    for line in BufReader::new(stdout).lines() {
        let line = line.map_err(|error| failed(1, format!("cannot be read: {error}")))?;
        match line.strip_prefix(NOTE) {
            Some(text) => noted(text),
            None => rows.extend([&line, "\n"]),
        }
    }
    let status = child
        .wait()
        .map_err(|error| failed(1, format!("is lost: {error}")))?;
    match status.code() {
        Some(0) => parse_rows(&rows)
            .map(Outcome::Rows)
            .map_err(|message| failed(1, format!("wrote nonsense: {message}"))),
        Some(code) => Err(failed(code, format!("failed with code {code}"))),
        None => Ok(Outcome::Killed),
    }
}

/// Starts one of the hidden measurements.
pub fn run_hidden(words: &[&str]) -> Outcome {
    let mut all = vec![CHILD];
    all.extend_from_slice(words);
    run(&all)
}

/// Runs several hidden measurements in turn, so many times, and returns the median of each of their figures.
pub fn interleaved(
    options: &Options,
    rounds: usize,
    programs: impl Iterator<Item = Vec<String>>,
) -> Vec<Row> {
    let programs: Vec<_> = programs.collect();
    let mut all: Vec<Row> = Vec::new();
    for _ in 0..options.scaled(rounds) {
        for words in &programs {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            if options.format == Format::Rows {
                note(&words.join(" "));
            }
            match run_hidden(&words) {
                Outcome::Rows(rows) => all.extend(rows),
                Outcome::Killed => fail(&words, "killed by a signal"),
            }
        }
    }
    let mut figures: Vec<Row> = Vec::new();
    for row in &all {
        if figures.iter().any(|figure| figure.same_figure(row)) {
            continue;
        }
        let mut same: Vec<&Row> = all.iter().filter(|other| other.same_figure(row)).collect();
        same.sort_by(|left, right| left.ns.total_cmp(&right.ns));
        let (low, middle) = (same[same.len() / 4], same[same.len() / 2]);
        let high = same[same.len() - 1 - same.len() / 4];
        figures.push(Row {
            spread: if middle.ns > 0.0 {
                (high.ns - low.ns) / middle.ns
            } else {
                0.0
            },
            ..middle.clone()
        });
    }
    // All libraries of a bench together.
    figures.sort_by(|left, right| (&left.bench, left.size).cmp(&(&right.bench, right.size)));
    figures
}

/// Runs a whole group without pinning and returns its rows.
pub fn unpinned_pass(group: &str, options: &Options) -> Vec<Row> {
    let options = Options {
        format: Format::Rows,
        placement: Placement::Free,
        ..options.clone()
    };
    let flags = options.flags();
    let mut words = vec![group];
    words.extend(flags.iter().map(String::as_str));
    match run(&words) {
        Outcome::Rows(rows) => rows,
        Outcome::Killed => fail(&words, "killed by a signal"),
    }
}

fn fail(words: &[&str], message: &str) -> ! {
    eprintln!("blitz-bench: '{}': {message}", words.join(" "));
    std::process::exit(1);
}

/// `pinned` or `free`: how placement is passed to a hidden measurement.
pub fn placement_word(pinned: bool) -> &'static str {
    if pinned { "pinned" } else { "free" }
}
