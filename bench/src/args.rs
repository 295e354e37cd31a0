//! The command line: which group to run and how.
//!
//! Parsing is pure (it takes the words and returns a value or a message), so that every rule here has a test.

use std::time::Duration;

/// Every group a user can ask for, with the line that `--help` prints for it.
pub const GROUPS: &[(&str, &str)] = &[
    (
        "join",
        "tree sums of 1023 to 16M nodes and fib(32); one thread and the default pool",
    ),
    (
        "entry",
        "empty join, small tree, install, scope + spawn from a thread outside the pool",
    ),
    ("flat", "one join of two tasks of 5, 20, 100 and 1000 us"),
    (
        "spawn",
        "10k and 1M scope.spawn calls from inside and outside the pool",
    ),
    (
        "unbalanced",
        "n-queens 11 and 13, unbalanced tree search, the same search on 2 MiB stacks",
    ),
    (
        "idle",
        "CPU time and context switches: idle after a burst, tiny ticks, control-loop ticks",
    ),
    (
        "loops",
        "sums over 1 to 10M elements, cheap and dear, uniform and skewed: never slower than plain code?",
    ),
    (
        "iter",
        "iterator chains on identical data: sum, find, min_by_key, zip, collect, flat_map, lines …",
    ),
    (
        "stress",
        "random nested work with panics on many pools and guests; checks, does not time",
    ),
];

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
    /// Only benches whose name contains this text.
    pub only: Option<String>,
}

/// What the command line asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Print the help text.
    Help,
    /// Run a group (or `all`).
    Run {
        /// Name of the group.
        group: String,
        /// How to run it.
        options: Options,
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
    let mut group: Option<String> = None;
    let mut quick = false;
    let mut format = Format::Table;
    let mut placement: Option<Placement> = None;
    let mut stress_for = None;
    let mut seed = None;
    let mut only = None;

    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "--help" | "-h" | "help" => return Ok(Command::Help),
            "--quick" => quick = true,
            "--json" => format = Format::Json,
            "--rows" => format = Format::Rows,
            "--pin" => placement = Some(Placement::Pinned),
            "--no-pin" => placement = Some(Placement::Free),
            "--seconds" => {
                let value = number_after(word, rest.next())?;
                stress_for = Some(Duration::from_secs(value));
            }
            "--seed" => seed = Some(number_after(word, rest.next())?),
            "--only" => match rest.next() {
                Some(text) => only = Some(text.clone()),
                None => return Err("--only needs a part of a bench's name".into()),
            },
            flag if flag.starts_with('-') => {
                return Err(format!("unknown flag '{flag}'\n\n{}", short_usage()));
            }
            name if group.is_some() => {
                return Err(format!(
                    "one group at a time: '{name}' is one too many\n\n{}",
                    short_usage()
                ));
            }
            name => {
                let known = name == "all" || GROUPS.iter().any(|(group, _)| *group == name);
                if !known {
                    return Err(format!("unknown group '{name}'\n\n{}", short_usage()));
                }
                group = Some(name.to_string());
            }
        }
    }

    let Some(group) = group else {
        return Err(format!("which group?\n\n{}", short_usage()));
    };
    let default_placement = if quick {
        Placement::Pinned
    } else {
        Placement::Both
    };
    Ok(Command::Run {
        group,
        options: Options {
            quick,
            format,
            placement: placement.unwrap_or(default_placement),
            stress_for: stress_for.unwrap_or(Duration::from_secs(if quick { 5 } else { 30 })),
            seed,
            only,
        },
    })
}

fn number_after(flag: &str, value: Option<&String>) -> Result<u64, String> {
    let Some(value) = value else {
        return Err(format!("{flag} needs a number"));
    };
    value
        .parse()
        .map_err(|_| format!("{flag} needs a number, not '{value}'"))
}

/// The lines that follow an error message: what can be run.
fn short_usage() -> String {
    let mut text =
        String::from("usage: blitz-bench GROUP [--quick] [--json] [--pin | --no-pin]\n\ngroups:\n");
    for (name, what) in GROUPS {
        text.push_str(&format!("  {name:<11} {what}\n"));
    }
    text.push_str("  all         every group above but stress\n\n--help explains the flags.");
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
  --only TEXT    only benches whose name contains TEXT
  --seconds N    stress: how long
  --seed N       stress: first seed, to repeat a failure

exit codes: 0 done, 1 a wrong result, 2 a wrong command line, 3 stress made no progress",
        short_usage()
            .trim_end_matches("\n\n--help explains the flags.")
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
        for (name, _) in GROUPS {
            assert!(message.contains(name), "{name} is missing from: {message}");
        }
    }

    #[test]
    fn an_unknown_flag_is_an_error() {
        assert!(parse(&words("join --fast")).unwrap_err().contains("--fast"));
    }

    #[test]
    fn no_group_and_two_groups_are_errors() {
        assert!(parse(&[]).is_err());
        assert!(parse(&words("join flat")).is_err());
    }

    #[test]
    fn stress_takes_seconds_and_a_seed() {
        let options = options("stress --seconds 7 --seed 42");
        assert_eq!(options.stress_for, Duration::from_secs(7));
        assert_eq!(options.seed, Some(42));
        assert!(parse(&words("stress --seconds")).is_err());
        assert!(parse(&words("stress --seconds soon")).is_err());
    }

    #[test]
    fn help_wins_and_lists_every_group() {
        assert_eq!(parse(&words("join --help")), Ok(Command::Help));
        for (name, _) in GROUPS {
            assert!(help().contains(name));
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
