//! Scenarios that change the whole process, and so get one of their own: this program again, with the scenario's name and a seed.

use std::process::Stdio;

use crate::args::CHILD as CHILD_WORD;
use crate::child::this_program;
use crate::report::Row;

/// First word of the child's command line.
pub const CHILD: &str = "stress-child";

/// A child that hangs ends before the parent's watcher does.
#[cfg(unix)]
const PATIENCE: u32 = 40;

type Run = fn(u64) -> Result<(), String>;

/// What a child can be asked for. Elsewhere there are neither such descriptors nor forks.
const IN_CHILD: &[(&str, Run)] = &[
    #[cfg(unix)]
    (DESCRIPTORS, super::descriptors::child),
    #[cfg(unix)]
    (FORKS, super::forks::child),
];

pub const DESCRIPTORS: &str = "descriptors";
pub const FORKS: &str = "forks";

/// Runs the scenario in a process of its own, where it exists.
pub fn run(name: &str, seed: u64) -> Result<(), String> {
    if IN_CHILD.is_empty() {
        return Ok(());
    }
    let output = this_program()
        .args([CHILD_WORD, CHILD, name, &seed.to_string()])
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("this program cannot be started again: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "a process of its own ended with {}: {said}",
        output.status
    ))
}

/// The child's side.
pub fn run_child(words: &[String]) -> Result<Vec<Row>, String> {
    let [name, seed] = words else {
        return Err("a child of the stress needs a scenario and a seed".into());
    };
    let seed = seed.parse().map_err(|_| "a seed is a number".to_string())?;
    let scenario = IN_CHILD.iter().find(|(known, _)| known == name);
    let (_, scenario) = scenario.ok_or("no such scenario")?;
    end_if_stuck();
    super::silence_expected_panics();
    scenario(seed).map(|()| Vec::new())
}

/// This process has so much time and no more.
pub fn end_if_stuck() {
    #[cfg(unix)]
    // SAFETY: no handler is set, so all that can come of it is the end of this process.
    unsafe {
        libc::alarm(PATIENCE);
    }
}
