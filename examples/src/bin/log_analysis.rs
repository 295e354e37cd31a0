//! Counts requests and errors per path in a server's log, and shows the busiest.
//!
//! Each thread fills a hash map of its own (`fold`), and maps are merged in pairs (`reduce`): no lock, no shared map.

use blitz::prelude::*;
use blitz_examples::{Random, Recipe};
use std::collections::HashMap;
use std::fmt::Write;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Count {
    requests: u64,
    errors: u64,
    milliseconds: u64,
}

type Counts<'log> = HashMap<&'log str, Count>;

/// `GET /path 200 12ms`
fn add_line<'log>(mut counts: Counts<'log>, line: &'log str) -> Counts<'log> {
    let mut words = line.split(' ').skip(1);
    let (Some(path), Some(status), Some(time)) = (words.next(), words.next(), words.next()) else {
        return counts;
    };
    let (Ok(status), Ok(time)) = (
        status.parse::<u16>(),
        time.trim_end_matches("ms").parse::<u64>(),
    ) else {
        return counts;
    };
    let count = counts.entry(path).or_default();
    count.requests += 1;
    count.errors += u64::from(status >= 500);
    count.milliseconds += time;
    counts
}

fn merge<'log>(mut a: Counts<'log>, b: Counts<'log>) -> Counts<'log> {
    for (path, count) in b {
        let known = a.entry(path).or_default();
        known.requests += count.requests;
        known.errors += count.errors;
        known.milliseconds += count.milliseconds;
    }
    a
}

fn make_log(lines: usize) -> String {
    let mut random = Random::new(3);
    let mut log = String::new();
    for _ in 0..lines {
        // Squared, so that some paths are much busier than others.
        let path = (random.unit().powi(2) * 300.0) as usize;
        let status = [200, 200, 200, 304, 404, 500][random.below(6)];
        let time = random.below(200);
        writeln!(log, "GET /page/{path} {status} {time}ms").expect("strings take everything");
    }
    log.push_str("this line is broken\n");
    log
}

fn main() {
    let recipe = Recipe::start("log analysis: requests and errors per path");
    let lines = recipe.size(500_000, 5_000);
    let log = make_log(lines);
    let counts = recipe.compare(
        || log.lines().fold(Counts::new(), add_line),
        || {
            log.par_lines()
                .fold(Counts::new, add_line)
                .reduce(Counts::new, merge)
        },
    );
    let total: u64 = counts.values().map(|count| count.requests).sum();
    assert_eq!(
        total, lines as u64,
        "the broken line, and nothing else, is left out"
    );
    let mut busiest: Vec<_> = counts.into_iter().collect();
    busiest.par_sort_unstable_by_key(|&(path, count)| (std::cmp::Reverse(count.requests), path));
    for (path, count) in busiest.iter().take(3) {
        println!(
            "  {path}: {} requests, {} errors, {} ms on average",
            count.requests,
            count.errors,
            count.milliseconds / count.requests
        );
    }
}
