//! Estimates pi by throwing darts, with the same result on any number of threads.
//!
//! The trick is to seed by *batch*, not by thread: batch number i uses the random generator with seed i, whoever runs it.

use blitz::prelude::*;
use blitz_examples::{Random, Recipe};

const DARTS_PER_BATCH: u64 = 10_000;

/// Darts of one batch that hit the quarter circle.
fn hits(batch: u64) -> u64 {
    let mut random = Random::new(batch);
    let throws = (0..DARTS_PER_BATCH).map(|_| (random.unit(), random.unit()));
    throws.filter(|(x, y)| x * x + y * y < 1.0).count() as u64
}

fn main() {
    let recipe = Recipe::start("Monte Carlo: pi by throwing darts");
    let batches = recipe.size(2_000, 50) as u64;
    let hits = recipe.compare(
        || (0..batches).map(hits).sum::<u64>(),
        || (0..batches).into_par_iter().map(hits).sum::<u64>(),
    );
    let darts = batches * DARTS_PER_BATCH;
    let pi = 4.0 * hits as f64 / darts as f64;
    assert!((pi - std::f64::consts::PI).abs() < 0.02, "{pi}");
    println!("  {darts} darts: pi is about {pi:.5}");
}
