//! Measurements that need a process of their own, and how this program starts itself for them.
//!
//! Three need one: the unpinned pass of a group (placement is decided once per process), CPU time (another library's
//! threads would be billed too), and searches on small stacks (an overflow ends the process). A child writes rows to its
//! standard output; its standard error is the parent's.

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

/// Starts this program again with these words and collects its rows.
///
/// A child that ends with an error code has already said why; the parent ends the same way.
pub fn run(words: &[&str]) -> Outcome {
    let mut command = this_program();
    command
        .args(words)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit());
    let output = pin::unpinned(|| command.output()).expect("this program can be started again");
    match output.status.code() {
        Some(0) => {
            let text = String::from_utf8_lossy(&output.stdout);
            match parse_rows(&text) {
                Ok(rows) => Outcome::Rows(rows),
                Err(message) => fail(words, &message),
            }
        }
        Some(code) => {
            eprintln!("blitz-bench: '{}' failed", words.join(" "));
            std::process::exit(code);
        }
        None => Outcome::Killed,
    }
}

/// Starts one of the hidden measurements.
pub fn run_hidden(words: &[&str]) -> Outcome {
    let mut all = vec![CHILD];
    all.extend_from_slice(words);
    run(&all)
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
