//! The command line: which group to run and how.
//!
//! Parsing is pure (it takes the words and returns a value or a message), so that every rule here has a test.

use lexopt::prelude::*;
use std::time::Duration;

use crate::child::invoked_as;
use crate::groups::GROUPS;

/// How the threads of every arm are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Pinned, then once more in a child process without pinning (the default of a full run).
    Both,
    /// Only pinned (`--pin`, and the default of a quick run).
    Pinned,
    /// Only unpinned (`--no-pin`).
    Free,
}

/// How results are written to standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// An aligned table for people.
    Table,
    /// One JSON object per line.
    Json,
    /// Tab-separated rows for the parent process that started this one.
    Rows,
}

/// Options of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Fewer rounds; each group stays under a minute.
    pub quick: bool,
    /// Table, JSON, or rows for a parent process.
    pub format: Format,
    /// Pinned, unpinned or both.
    pub placement: Placement,
    /// How long `stress` runs.
    pub stress_for: Duration,
    /// First seed of `stress`; without it one is drawn from the clock and printed.
    pub seed: Option<u64>,
    /// Only benches whose name contains this text, or one of several with commas between.
    pub only: Option<String>,
    /// Per cent of the usual number of rounds.
    pub effort: u32,
}

impl Options {
    /// Whether `--only` lets this bench run.
    pub fn wants(&self, bench: &str) -> bool {
        let any_of = |texts: &String| texts.split(',').any(|text| bench.contains(text));
        self.only.as_ref().is_none_or(any_of)
    }

    /// So many rounds as `--effort` says, but at least one.
    pub fn scaled(&self, rounds: usize) -> usize {
        (rounds * self.effort as usize / 100).max(1)
    }

    /// The flags that [`parse`] reads these options from, for a child process.
    pub fn flags(&self) -> Vec<String> {
        let mut flags = Vec::new();
        let mut add = |words: &[&str]| flags.extend(words.iter().map(|word| word.to_string()));
        if self.quick {
            add(&["--quick"]);
        }
        match self.format {
            Format::Table => {}
            Format::Json => add(&["--json"]),
            Format::Rows => add(&["--rows"]),
        }
        match self.placement {
            Placement::Both => {}
            Placement::Pinned => add(&["--pin"]),
            Placement::Free => add(&["--no-pin"]),
        }
        add(&["--seconds", &self.stress_for.as_secs().to_string()]);
        if let Some(seed) = self.seed {
            add(&["--seed", &seed.to_string()]);
        }
        if let Some(only) = &self.only {
            add(&["--only", only]);
        }
        if self.effort != 100 {
            add(&["--effort", &self.effort.to_string()]);
        }
        flags
    }
}

/// What the command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Print the help text.
    Help,
    /// Run groups.
    Run {
        /// Their names, each at most once; at least one.
        groups: Vec<&'static str>,
        /// How to run them.
        options: Options,
    },
    /// Say what got worse between two files of rows.
    Compare {
        /// What `--json` wrote before.
        old: String,
        /// What it wrote now.
        new: String,
    },
    /// Run one measurement that needs a process of its own; started by this program itself.
    Child {
        /// Words that say which measurement.
        words: Vec<String>,
    },
}

/// First word of the command line of a child process started for one measurement.
pub const CHILD: &str = "__child";

/// Reads the words after the program's name.
pub fn parse(words: &[String]) -> Result<Command, String> {
    if words.first().is_some_and(|word| word == CHILD) {
        return Ok(Command::Child {
            words: words[1..].to_vec(),
        });
    }
    if words.first().is_some_and(|word| word == "compare") {
        let [_, old, new] = words else {
            return Err("compare needs two files that --json has written: compare OLD NEW".into());
        };
        return Ok(Command::Compare {
            old: old.clone(),
            new: new.clone(),
        });
    }
    read(words).map_err(|error| error.to_string())
}

/// The same for groups and how to run them.
fn read(words: &[String]) -> Result<Command, lexopt::Error> {
    let mut groups: Vec<&'static str> = Vec::new();
    let mut quick = false;
    let mut format = Format::Table;
    let mut placement: Option<Placement> = None;
    let mut stress_for = None;
    let mut seed = None;
    let mut only = None;
    let mut effort = 100;

    let wrong = |what: String| format!("{what}\n\n{}", short_usage());
    let mut parser = lexopt::Parser::from_args(words);
    while let Some(argument) = parser.next()? {
        match argument {
            Long("help") | Short('h') => return Ok(Command::Help),
            Long("quick") => quick = true,
            Long("json") => format = Format::Json,
            Long("rows") => format = Format::Rows,
            Long("pin") => placement = Some(Placement::Pinned),
            Long("no-pin") => placement = Some(Placement::Free),
            Long("seconds") => stress_for = Some(Duration::from_secs(parser.value()?.parse()?)),
            Long("seed") => seed = Some(parser.value()?.parse()?),
            Long("effort") => {
                effort = parser.value()?.parse()?;
                if !(1..=1000).contains(&effort) {
                    return Err("--effort needs per cent from 1 to 1000".into());
                }
            }
            Long("only") => only = Some(parser.value()?.string()?),
            Value(word) => match &*word.string()? {
                "help" => return Ok(Command::Help),
                "all" => groups.extend(measuring_groups()),
                name => match GROUPS.iter().find(|group| group.name == name) {
                    Some(group) => groups.push(group.name),
                    None => return Err(wrong(format!("unknown group '{name}'")).into()),
                },
            },
            other => return Err(wrong(other.unexpected().to_string()).into()),
        }
    }

    if groups.is_empty() {
        return Err(wrong("which group?".into()).into());
    }
    let mut seen = Vec::new();
    groups.retain(|name| {
        let first_time = !seen.contains(name);
        seen.push(name);
        first_time
    });
    let default_placement = if quick {
        Placement::Pinned
    } else {
        Placement::Both
    };
    Ok(Command::Run {
        groups,
        options: Options {
            quick,
            format,
            placement: placement.unwrap_or(default_placement),
            stress_for: stress_for.unwrap_or(Duration::from_secs(if quick { 5 } else { 30 })),
            seed,
            only,
            effort,
        },
    })
}

/// What `all` stands for: every group that measures something.
fn measuring_groups() -> impl Iterator<Item = &'static str> {
    let measuring = GROUPS.iter().filter(|group| group.measures());
    measuring.map(|group| group.name)
}

/// The lines that follow an error message: what can be run.
fn short_usage() -> String {
    let mut text = format!(
        "usage: {} GROUP… [--quick] [--json] [--pin | --no-pin]\n\ngroups:\n",
        invoked_as()
    );
    for group in GROUPS {
        text.push_str(&format!("  {:<11} {}\n", group.name, group.what));
    }
    text.push_str("  all         every group above but stress\n  compare OLD NEW    what got worse between two files that --json has written\n\n--help explains the flags.");
    text
}

/// The full help text.
pub fn help() -> String {
    format!(
        "Blitz against its peers: interleaved rounds in one process, medians, every result checked.\n\n{}\n
flags:
  --quick        fewer rounds, pinned only: under a minute a group
  --json         one JSON object per row instead of a table
  --pin          only with every thread pinned (main and worker 0 on the first allowed CPU)
  --no-pin       only with threads left to the kernel
                 (neither: pinned, then unpinned in a second process, shown side by side)
  --only TEXT    only benches (stress: scenarios) whose name contains TEXT, or one of several with commas between
  --effort N     N per cent of the usual rounds
  --seconds N    stress: how long
  --seed N       stress: first seed, to repeat a failure

example:
  {} join entry --quick

exit codes: 0 done, 1 a wrong result, or something got worse (compare), 2 a wrong command line, 3 stress made no progress",
        short_usage()
            .trim_end_matches("\n\n--help explains the flags."),
        invoked_as()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_string).collect()
    }

    fn options(line: &str) -> Options {
        match parse(&words(line)) {
            Ok(Command::Run { options, .. }) => options,
            other => panic!("expected a run, got {other:?}"),
        }
    }

    #[test]
    fn a_group_alone_runs_in_full_with_both_placements() {
        let options = options("join");
        assert!(!options.quick);
        assert_eq!(options.format, Format::Table);
        assert_eq!(options.placement, Placement::Both);
    }

    #[test]
    fn quick_means_pinned_only_unless_told_otherwise() {
        assert_eq!(options("flat --quick").placement, Placement::Pinned);
        assert_eq!(options("flat --quick --no-pin").placement, Placement::Free);
        assert_eq!(options("--pin flat").placement, Placement::Pinned);
    }

    #[test]
    fn an_unknown_group_names_every_group_there_is() {
        let message = parse(&words("jion --quick")).unwrap_err();
        assert!(message.contains("'jion'"));
        for group in GROUPS {
            let name = group.name;
            assert!(message.contains(name), "{name} is missing from: {message}");
        }
    }

    #[test]
    fn an_unknown_flag_is_an_error() {
        assert!(parse(&words("join --fast")).unwrap_err().contains("--fast"));
    }

    fn groups(line: &str) -> Vec<&'static str> {
        match parse(&words(line)) {
            Ok(Command::Run { groups, .. }) => groups,
            other => panic!("expected a run, got {other:?}"),
        }
    }

    #[test]
    fn several_groups_run_in_the_order_asked_for_and_each_once() {
        assert_eq!(groups("flat --quick join flat"), ["flat", "join"]);
        assert!(parse(&[]).is_err());
    }

    #[test]
    fn all_means_every_group_that_measures() {
        assert!(groups("all").contains(&"join"));
        assert!(!groups("all").contains(&"stress"));
    }

    #[test]
    fn stress_takes_seconds_and_a_seed() {
        let options = options("stress --seconds 7 --seed 42");
        assert_eq!(options.stress_for, Duration::from_secs(7));
        assert_eq!(options.seed, Some(42));
        assert!(parse(&words("stress --seconds")).is_err());
        assert!(parse(&words("stress --seconds soon")).is_err());
        assert!(parse(&words("join --effort 0")).is_err());
    }

    #[test]
    fn flags_lead_back_to_the_same_options() {
        for line in [
            "join",
            "join --quick --json",
            "stress --no-pin --rows --seconds 7 --seed 42",
            "join --pin --only all --effort 30",
        ] {
            let options = options(line);
            let mut again = vec!["join".to_string()];
            again.extend(options.flags());
            match parse(&again) {
                Ok(Command::Run {
                    groups,
                    options: read,
                }) => {
                    assert_eq!((groups, read), (vec!["join"], options), "{line}");
                }
                other => panic!("{line}: {other:?}"),
            }
        }
    }

    #[test]
    fn help_wins_and_lists_every_group() {
        assert_eq!(parse(&words("join --help")), Ok(Command::Help));
        for group in GROUPS {
            assert!(help().contains(group.name));
        }
    }

    #[test]
    fn a_child_keeps_its_words_untouched() {
        let command = parse(&words("__child idle rayon --odd")).unwrap();
        assert_eq!(
            command,
            Command::Child {
                words: words("idle rayon --odd")
            }
        );
    }
}
