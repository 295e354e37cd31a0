//! One stop of the tour: measure in a child process, tell what came out.

use crate::chart::Chart;
use crate::terminal::{Progress, print, terminal};
use blitz_bench::child::{self, Failed, Outcome};
use blitz_bench::report::Row;
use blitz_core::text::plot::Plot;
use std::process::Stdio;
use std::time::Duration;

/// What one stop shows.
#[derive(Clone, Debug, Default)]
pub struct Section {
    /// Its heading.
    pub title: String,
    /// What is measured and why it matters.
    pub story: String,
    /// The commands that measure it again.
    pub commands: Vec<String>,
    /// Bars.
    pub charts: Vec<Chart>,
    /// Curves, for the report only.
    pub plots: Vec<Plot>,
    /// The result in a sentence.
    pub verdict: String,
}

impl Section {
    /// A stop with its heading and story.
    pub fn new(title: &str, story: &str) -> Self {
        Section {
            title: title.into(),
            story: story.into(),
            ..Section::default()
        }
    }

    /// Writes the section to the terminal.
    pub fn print(&self) {
        let terminal = terminal();
        terminal.title(&self.title);
        terminal.paragraph(&self.story);
        print("\n");
        for chart in &self.charts {
            print(&chart.draw(terminal));
        }
        if !self.verdict.is_empty() {
            terminal.paragraph(&self.verdict);
        }
    }
}

/// How thoroughly to measure.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Per cent of a quick benchmark's rounds.
    pub percent: u32,
}

/// A part of a group of benchmarks.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The group.
    pub group: &'static str,
    /// `--only`.
    pub only: &'static str,
    /// About how long it takes at full effort.
    pub seconds: u64,
}

/// Measures the parts one after the other, with a progress bar, and returns their rows and the commands.
pub fn measure(
    label: &str,
    parts: &[Part],
    effort: Effort,
) -> Result<(Vec<Row>, Vec<String>), String> {
    let seconds: u64 = parts.iter().map(|part| part.seconds).sum();
    let expected = Duration::from_secs(seconds * u64::from(effort.percent).max(30) / 100);
    let progress = Progress::start(label, expected);
    let (mut rows, mut commands) = (Vec::new(), Vec::new());
    for part in parts {
        let percent = effort.percent.to_string();
        let words = [
            part.group, "--only", part.only, "--quick", "--rows", "--effort", &percent,
        ];
        match child::follow(&words, Stdio::piped(), |note| progress.note(note)) {
            Ok(Outcome::Rows(more)) => rows.extend(more),
            Ok(Outcome::Killed) => return Err(format!("{} was killed", part.group)),
            Err(Failed { message, .. }) => return Err(format!("{} {message}", part.group)),
        }
        commands.push(format!("blitz bench {} --only {}", part.group, part.only));
    }
    Ok((rows, commands))
}

/// The figure of one library on one bench at one size.
pub fn find<'a>(rows: &'a [Row], bench: &str, size: u64, lib: &str) -> Option<&'a Row> {
    rows.iter()
        .find(|row| row.bench == bench && row.size == size && row.lib == lib)
}

/// The sizes at which a bench was measured.
pub fn sizes(rows: &[Row], bench: &str) -> Vec<u64> {
    let mut sizes: Vec<u64> = rows
        .iter()
        .filter(|row| row.bench == bench)
        .map(|row| row.size)
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}
