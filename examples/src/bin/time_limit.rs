//! The best answer within a time limit, and a request whose client has gone.
//!
//! A tour through random towns gets shorter the longer one looks. Rounds of search are parallel loops and sorts that know nothing of a limit: the token around all
//! of them stops whatever is under way when the time is up, and what the rounds before have found is kept. The towns themselves are sorted in place; a sort
//! that is stopped half-way leaves every one of them there.

use blitz::prelude::*;
use blitz::{CancelToken, Inherited};
use blitz_examples::{Random, Recipe};
use std::time::{Duration, Instant};

type Town = (f64, f64);

/// Which search a line of the log belongs to, on whichever thread it is written.
static SEARCH: Inherited<&'static str> = Inherited::new();

fn log(line: &str) -> String {
    format!("{}: {line}", SEARCH.get().unwrap_or("nobody"))
}

fn length(towns: &[Town], order: &[usize]) -> f64 {
    let distance = |a: usize, b: usize| {
        let ((ax, ay), (bx, by)) = (towns[a], towns[b]);
        (ax - bx).hypot(ay - by)
    };
    let ways = order.windows(2).map(|pair| distance(pair[0], pair[1]));
    ways.sum::<f64>() + distance(order[order.len() - 1], order[0])
}

/// Turns stretches of the tour around as long as that makes it shorter, from a start that depends on the seed.
fn improved(towns: &[Town], order: &[usize], seed: u64) -> (f64, Vec<usize>) {
    let mut random = Random::new(seed);
    let mut order = order.to_vec();
    let mut best = length(towns, &order);
    for _ in 0..200 {
        let (a, b) = (random.below(order.len()), random.below(order.len()));
        let (a, b) = (a.min(b), a.max(b) + 1);
        order[a..b].reverse();
        let now = length(towns, &order);
        if now < best {
            best = now;
        } else {
            order[a..b].reverse();
        }
    }
    (best, order)
}

fn main() {
    let recipe = Recipe::start("the best tour within a time limit");
    let limit = Duration::from_millis(recipe.size(1000, 100) as u64);
    let mut random = Random::new(1);
    let mut towns: Vec<Town> = (0..recipe.size(2000, 300))
        .map(|_| (random.unit(), random.unit()))
        .collect();

    // A client that has gone before its request is done: the sort stops, and the towns are all there.
    let gone = CancelToken::new();
    let before = towns.len();
    let sum = |towns: &[Town]| towns.iter().map(|town| (town.0 * 1e9) as u64).sum::<u64>();
    let all = sum(&towns);
    let sorted = gone.run(|| {
        towns.par_sort_by(|a, b| {
            gone.cancel();
            a.0.total_cmp(&b.0)
        });
        blitz::checkpoint();
    });
    assert!(sorted.is_err() && towns.len() == before && sum(&towns) == all);
    println!("  the first request: {}", sorted.unwrap_err());

    let start: Vec<usize> = (0..towns.len()).collect();
    let mut best = (length(&towns, &start), start);
    let first = best.0;
    let mut rounds = 0;
    let token = CancelToken::with_timeout(limit);
    let began = Instant::now();
    let stopped = SEARCH.set("tour", || {
        token.run(|| {
            loop {
                let tries = (0..64_u64).into_par_iter();
                let found = tries
                    .map(|seed| improved(&towns, &best.1, seed + 64 * rounds))
                    .min_by(|a, b| a.0.total_cmp(&b.0));
                // Here only if nothing stopped the round.
                best = found.expect("there are 64 tries");
                rounds += 1;
                assert_eq!(
                    blitz::join(|| log("a"), || log("b")),
                    ("tour: a".into(), "tour: b".into())
                );
            }
        })
    });
    let Err(stopped) = stopped.map(|never: std::convert::Infallible| never);
    assert!(stopped.timed_out() && best.0 <= first);
    let mut visited = best.1.clone();
    visited.sort_unstable();
    assert!(visited.into_iter().eq(0..towns.len()));
    println!(
        "  the second: {stopped} after {:.0} ms, {rounds} rounds; the tour went from {first:.1} to {:.1}",
        began.elapsed().as_secs_f64() * 1e3,
        best.0,
    );
}
