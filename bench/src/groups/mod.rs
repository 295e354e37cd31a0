//! One file per group. A group starts the pools it needs, places the main thread, measures, and returns its rows.

pub mod entry;
pub mod flat;
pub mod idle;
pub mod iter;
pub mod join;
pub mod loops;
pub mod spawn;
pub mod stress;
pub mod unbalanced;

use crate::args::Options;
use crate::arms::Cpus;
use crate::report::Row;

/// Runs one group by name; `stress` is not among them, since it measures nothing.
pub fn run(group: &str, options: &Options, cpus: &Cpus) -> Vec<Row> {
    match group {
        "join" => join::run(options, cpus),
        "entry" => entry::run(options, cpus),
        "flat" => flat::run(options, cpus),
        "spawn" => spawn::run(options, cpus),
        "unbalanced" => unbalanced::run(options, cpus),
        "idle" => idle::run(options, cpus),
        "loops" => loops::run(options, cpus),
        "iter" => iter::run(options, cpus),
        other => unreachable!("the command line lets no group '{other}' through"),
    }
}
