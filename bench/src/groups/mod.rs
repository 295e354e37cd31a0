//! One file per group. A group starts the pools it needs, places the main thread, measures, and returns its rows.
//!
//! [`GROUPS`] is the only list of them: the command line, its help, `all` and child processes all read it. A new group is
//! a file here and an entry there.

pub mod control;
pub mod dear;
pub mod entry;
pub mod flat;
pub mod idle;
pub mod iter;
pub mod join;
pub mod loops;
pub mod mixed;
pub mod net;
#[cfg(feature = "full")]
pub mod ops;
#[cfg(feature = "full")]
pub mod parts;
#[cfg(feature = "full")]
pub mod pipeline;
pub mod priority;
pub mod service;
pub mod shape;
pub mod sort;
#[cfg(feature = "full")]
pub mod sources;
pub mod spawn;
pub mod stress;
#[cfg(feature = "full")]
pub mod sync;
pub mod tasks;
pub mod time;
pub mod unbalanced;

use std::process::ExitCode;

use crate::args::Options;
use crate::arms::Cpus;
use crate::report::Row;

/// A group of benchmarks, by name.
#[derive(Clone, Copy)]
pub struct Group {
    /// The word on the command line.
    pub name: &'static str,
    /// The line that `--help` prints for it.
    pub what: &'static str,
    /// What it does.
    pub kind: Kind,
    /// Does this build have all of its benches and arms? Without the feature `full` some groups are there in part.
    pub complete: bool,
    /// Its measurements that need a process of their own.
    pub hidden: Option<Hidden>,
}

/// What a group does.
#[derive(Clone, Copy)]
pub enum Kind {
    /// Measures, and returns rows.
    Measures(fn(&Options, &Cpus) -> Vec<Row>),
    /// Checks; reports and decides about the exit code by itself.
    Checks(fn(&Options) -> ExitCode),
    /// Nothing: this build does without it.
    #[cfg(not(feature = "full"))]
    Absent,
}

/// A measurement that the program starts itself for.
#[derive(Clone, Copy)]
pub struct Hidden {
    /// First word of the child's command line.
    pub word: &'static str,
    /// Gets the words after that.
    pub run: fn(&[String]) -> Result<Vec<Row>, String>,
}

impl Group {
    /// A group without hidden measurements.
    const fn measuring(
        name: &'static str,
        what: &'static str,
        run: fn(&Options, &Cpus) -> Vec<Row>,
    ) -> Self {
        Group {
            name,
            what,
            kind: Kind::Measures(run),
            complete: true,
            hidden: None,
        }
    }

    /// A group of which a build without the feature `full` has only a part.
    const fn in_full(self) -> Self {
        Group {
            complete: cfg!(feature = "full"),
            ..self
        }
    }

    /// Adds a hidden measurement.
    const fn with_child(
        self,
        word: &'static str,
        run: fn(&[String]) -> Result<Vec<Row>, String>,
    ) -> Self {
        Group {
            hidden: Some(Hidden { word, run }),
            ..self
        }
    }

    /// Does it time something, if not in this build then in a full one?
    pub fn measures(&self) -> bool {
        !matches!(self.kind, Kind::Checks(_))
    }
}

/// A group that only a full build has.
macro_rules! only_in_full {
    ($name:literal, $what:literal, $run:path) => {{
        #[cfg(feature = "full")]
        let group = Group::measuring($name, $what, $run);
        #[cfg(not(feature = "full"))]
        let group = Group {
            name: $name,
            what: $what,
            kind: Kind::Absent,
            complete: false,
            hidden: None,
        };
        group
    }};
}

/// Every group, in the order of the help text.
pub const GROUPS: &[Group] = &[
    Group::measuring(
        "join",
        "tree sums of 31 to 16M nodes and fib(32); one thread and the default pool",
        join::run,
    ),
    Group::measuring(
        "entry",
        "empty join, small tree, install, scope + spawn from a thread outside the pool",
        entry::run,
    ),
    Group::measuring(
        "flat",
        "one join of two tasks of 5, 10, 20, 100 and 1000 us",
        flat::run,
    ),
    Group::measuring(
        "spawn",
        "10k and 1M scope.spawn calls from inside and outside the pool",
        spawn::run,
    ),
    Group::measuring(
        "unbalanced",
        "n-queens 11 and 13, unbalanced tree search, the same search on 2 MiB stacks",
        unbalanced::run,
    )
    .with_child(unbalanced::CHILD, unbalanced::run_child),
    Group::measuring(
        "dear",
        "few items that sleep for 5 ms, on up to 16 threads: does everybody always have one?",
        dear::run,
    )
    .with_child(dear::CHILD, dear::run_child),
    Group::measuring(
        "priority",
        "tasks beside loops that fill the pool, which are background: how long does a task wait?",
        priority::run,
    ),
    Group::measuring(
        "control",
        "joins, loops and tasks under a token and with an inherited value; how soon a loop and a sort stop",
        control::run,
    ),
    Group::measuring(
        "shape",
        "joins, loops and tasks in pools with a worker per core, patient threads, a full queue's limit; tasks without stealing",
        shape::run,
    ),
    Group::measuring(
        "idle",
        "CPU time and context switches: idle after a burst, tiny ticks, control-loop ticks",
        idle::run,
    )
    .with_child(idle::CHILD, idle::run_child),
    Group::measuring(
        "loops",
        "sums over 1 to 10M elements, cheap and dear, uniform and skewed: never slower than plain code?",
        loops::run,
    ),
    Group::measuring(
        "iter",
        "iterator chains on identical data: sum, find, min_by_key, zip, collect, flat_map, lines …",
        iter::run,
    ),
    only_in_full!(
        "sources",
        "loops over maps, sets, lists, heaps and text, of 10 to 1M items: never slower than plain code?",
        sources::run
    ),
    only_in_full!(
        "pipeline",
        "a sequential source through a closure of 0 to 100 us, results in order: par_map, into_seq; against pariter and collect",
        pipeline::run
    ),
    only_in_full!(
        "parts",
        "the engine's parts alone: push, pop, steal, recv, wake, look-up of sleepers, back-off modes, 1 to 16 threads",
        parts::run
    ),
    Group::measuring(
        "tasks",
        "async tasks: spawn, join, yield, ping-pong, offload, memory; against tokio and smol",
        tasks::run,
    )
    .with_child(tasks::CHILD, tasks::run_child)
    .in_full(),
    only_in_full!(
        "sync",
        "locks and channels, alone and between tasks, against tokio, async-channel and flume",
        sync::run
    ),
    Group::measuring(
        "time",
        "100k timers within 100 ms: how late they are, and what they cost",
        time::run,
    )
    .with_child(time::CHILD, time::run_child)
    .in_full(),
    Group::measuring(
        "sort",
        "u64, f64, pairs, strings and 64-byte structs; random, sorted, reversed, few values …; also radix sorts",
        sort::run,
    )
    .in_full(),
    only_in_full!(
        "ops",
        "scan, group_by, pack, histogram, shuffle, min_max, dot and transpose of 10M elements",
        ops::run
    ),
    Group::measuring(
        "net",
        "echo and HTTP servers with 64 and 512 connections: CPU time per request, latency, throughput",
        net::run,
    )
    .with_child(net::CHILD, net::run_child)
    .in_full(),
    Group::measuring(
        "mixed",
        "an echo server beside fork-join computations: latencies and computations, against tokio + rayon",
        mixed::run,
    )
    .with_child(mixed::CHILD, mixed::run_child),
    Group::measuring(
        "service",
        "an axum service with rayon, built as it is and with two lines of patch: latencies and computations",
        service::run,
    )
    .with_child(service::CHILD, service::run_child),
    Group {
        name: "stress",
        what: "random programs, chains, locks, guests, ends, forks … on many pools and runtimes; checks, does not time",
        kind: Kind::Checks(stress::run),
        complete: true,
        hidden: Some(Hidden {
            word: stress::CHILD,
            run: stress::run_child,
        }),
    },
];

/// The group with this name.
pub fn named(name: &str) -> Option<&'static Group> {
    GROUPS.iter().find(|group| group.name == name)
}

/// Runs the hidden measurement that these words name.
pub fn run_hidden(words: &[String]) -> Result<Vec<Row>, String> {
    let hidden = words.split_first().and_then(|(word, rest)| {
        let mut all = GROUPS.iter().filter_map(|group| group.hidden);
        Some((all.find(|hidden| hidden.word == word)?, rest))
    });
    match hidden {
        Some((hidden, rest)) => (hidden.run)(rest),
        None => Err("no such measurement".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_groups_and_hidden_measurements_are_unique() {
        for (index, group) in GROUPS.iter().enumerate() {
            let earlier = &GROUPS[..index];
            assert!(earlier.iter().all(|other| other.name != group.name));
            if let Some(hidden) = group.hidden {
                let words = earlier.iter().filter_map(|other| other.hidden);
                assert!(words.into_iter().all(|other| other.word != hidden.word));
            }
        }
    }

    #[test]
    fn an_unknown_hidden_measurement_is_an_error() {
        assert!(run_hidden(&["nonsense".to_string()]).is_err());
        assert!(run_hidden(&[]).is_err());
    }
}
