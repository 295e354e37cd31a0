//! Brings measurements to mean 0 and standard deviation 1, with the same result on any number of threads.
//!
//! Floating-point sums depend on the order of additions, and a parallel sum has no fixed order. Here the order is fixed: sums of
//! blocks of 4096, in parallel, and then the sum of the blocks' sums, in order. That is also more exact than one long sum.

use blitz::prelude::*;
use blitz_examples::{Random, Recipe};

const BLOCK: usize = 4096;

/// Sum and sum of squares of one block.
fn sums(block: &[f64]) -> (f64, f64) {
    let add = |(sum, squares), &value: &f64| (sum + value, squares + value * value);
    block.iter().fold((0.0, 0.0), add)
}

fn mean_and_deviation(sums_of_blocks: &[(f64, f64)], count: usize) -> (f64, f64) {
    let add = |(sum, squares), &(s, q): &(f64, f64)| (sum + s, squares + q);
    let (sum, squares) = sums_of_blocks.iter().fold((0.0, 0.0), add);
    let mean = sum / count as f64;
    (mean, (squares / count as f64 - mean * mean).sqrt())
}

fn normalise_alone(values: &mut [f64]) {
    let blocks: Vec<(f64, f64)> = values.chunks(BLOCK).map(sums).collect();
    let (mean, deviation) = mean_and_deviation(&blocks, values.len());
    let scale = |value: &mut f64| *value = (*value - mean) / deviation;
    values.iter_mut().for_each(scale);
}

fn normalise(values: &mut [f64]) {
    let blocks: Vec<(f64, f64)> = values.par_chunks(BLOCK).map(sums).collect();
    let (mean, deviation) = mean_and_deviation(&blocks, values.len());
    let scale = |value: &mut f64| *value = (*value - mean) / deviation;
    values.par_iter_mut().for_each(scale);
}

fn main() {
    let recipe =
        Recipe::start("normalisation: mean 0 and standard deviation 1, bit for bit the same");
    let mut random = Random::new(7);
    let count = recipe.size(6_000_000, 100_000);
    let values: Vec<f64> = (0..count).map(|_| 20.0 + 5.0 * random.unit()).collect();
    let run = |normalise: fn(&mut [f64])| {
        let mut values = values.clone();
        normalise(&mut values);
        values
    };
    let normal = recipe.compare(|| run(normalise_alone), || run(normalise));
    let mean = normal.iter().sum::<f64>() / count as f64;
    assert!(mean.abs() < 1e-6, "the mean is {mean}");
    println!("  {count} values; copying them is part of both times");
}
