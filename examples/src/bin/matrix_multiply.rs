//! Multiplies two square matrices.
//!
//! Rows of the result are independent. Within a row the loops are ordered so that memory is read in the order in which it lies;
//! that alone is worth more than two cores. Both versions add in the same order, so the results are equal to the last bit.

use blitz::prelude::*;
use blitz_examples::{Random, Recipe};

/// One row of the product: the sum of b's rows, weighted by the elements of a's row.
fn multiply_row(row_of_a: &[f64], b: &[f64], result: &mut [f64]) {
    for (&weight, row_of_b) in row_of_a.iter().zip(b.chunks(result.len())) {
        for (cell, &value) in result.iter_mut().zip(row_of_b) {
            *cell += weight * value;
        }
    }
}

fn main() {
    let recipe = Recipe::start("matrix multiply");
    let n = recipe.size(512, 64);
    let mut random = Random::new(4);
    let a: Vec<f64> = (0..n * n).map(|_| random.unit()).collect();
    let b: Vec<f64> = (0..n * n).map(|_| random.unit()).collect();
    let product = recipe.compare(
        || {
            let mut product = vec![0.0; n * n];
            let rows = product.chunks_mut(n).zip(a.chunks(n));
            rows.for_each(|(result, row)| multiply_row(row, &b, result));
            product
        },
        || {
            let mut product = vec![0.0; n * n];
            let rows = product.par_chunks_mut(n).zip(a.par_chunks(n));
            rows.for_each(|(result, row)| multiply_row(row, &b, result));
            product
        },
    );
    // One cell by the textbook's formula.
    let (row, column) = (n / 3, n / 2);
    let by_hand: f64 = (0..n).map(|k| a[row * n + k] * b[k * n + column]).sum();
    assert!((product[row * n + column] - by_hand).abs() < 1e-9);
    println!("  {n} x {n}");
}
