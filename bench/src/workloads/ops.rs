//! Algorithms on arrays: plain code, and what each library has to offer.
//!
//! A library that lacks an operation is written as its users would write it, if a few lines of its iterators do; where that
//! takes an algorithm of its own (scan, shuffle), the library has no arm.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};

/// The hasher of all maps: the standard library's, without the random start.
pub type Hasher = BuildHasherDefault<DefaultHasher>;

/// Sums by key.
pub type Sums = HashMap<u64, u64, Hasher>;

/// A key and a value.
pub type Row = (u64, u64);

/// Buckets of the histogram.
pub const BUCKETS: usize = 256;

/// Which of them a value falls into.
#[inline(always)]
pub fn bucket(x: &u64) -> usize {
    *x as usize % BUCKETS
}

/// Rows and columns of a tile that fits the first cache.
const TILE: usize = 16;

/// Fills a band of rows of the transposed matrix, beginning with row `first`.
pub fn transpose_band(v: &[f64], rows: usize, columns: usize, first: usize, band: &mut [f64]) {
    for left in (0..band.len() / rows).step_by(TILE) {
        let right = (left + TILE).min(band.len() / rows);
        for top in (0..rows).step_by(TILE) {
            let bottom = (top + TILE).min(rows);
            for column in left..right {
                let target = &mut band[column * rows + top..column * rows + bottom];
                for (row, target) in (top..bottom).zip(target) {
                    *target = v[row * columns + first + column];
                }
            }
        }
    }
}

/// Plain code.
pub mod seq {
    use super::{BUCKETS, Hasher, Row, Sums, bucket};
    use crate::spin::spin;

    pub(crate) fn scan(v: &[u64]) -> Vec<u64> {
        let mut sum = 0u64;
        let sums = v.iter().map(|x| {
            sum = sum.wrapping_add(*x);
            sum
        });
        sums.collect()
    }

    pub(crate) fn scan_in_place(v: &mut [u64]) {
        let mut sum = 0u64;
        for x in v {
            sum = sum.wrapping_add(*x);
            *x = sum;
        }
    }

    pub(crate) fn group_by_sum(rows: &[Row]) -> Sums {
        let mut sums = Sums::with_hasher(Hasher::default());
        for (key, value) in rows {
            *sums.entry(*key).or_insert(0) += value;
        }
        sums
    }

    pub(crate) fn pack(v: &[u64], keep: &[bool]) -> Vec<u64> {
        let kept = v.iter().zip(keep).filter(|(_, keep)| **keep);
        kept.map(|(x, _)| *x).collect()
    }

    pub(crate) fn histogram(v: &[u64]) -> Vec<usize> {
        let mut counts = vec![0; BUCKETS];
        for x in v {
            counts[bucket(x)] += 1;
        }
        counts
    }

    /// Fisher and Yates.
    pub(crate) fn shuffle(v: &mut [u64]) {
        let mut state = 42;
        for i in (1..v.len()).rev() {
            state = spin(1, state + i as u64);
            let other = (u128::from(state) * (i as u128 + 1)) >> 64;
            v.swap(i, other as usize);
        }
    }

    pub(crate) fn min_max(v: &[u64]) -> (u64, u64) {
        let first = v[0];
        v.iter()
            .fold((first, first), |(low, high), x| (low.min(*x), high.max(*x)))
    }

    pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    }

    pub(crate) fn transpose(v: &[f64], rows: usize, columns: usize) -> Vec<f64> {
        let mut output = vec![0.0; v.len()];
        super::transpose_band(v, rows, columns, 0, &mut output);
        output
    }
}

/// Blitz.
pub mod blitz {
    use super::{BUCKETS, Hasher, Row, Sums, bucket};
    use ::blitz::ops;

    pub(crate) fn scan(v: &[u64]) -> Vec<u64> {
        ops::par_scan(v, |a, b| a.wrapping_add(*b))
    }

    pub(crate) fn scan_in_place(v: &mut [u64]) {
        ops::par_scan_in_place(v, |a, b| a.wrapping_add(*b));
    }

    pub(crate) fn group_by_sum(rows: &[Row]) -> Sums {
        let add = |sum: &mut u64, more| *sum += more;
        let hasher = Hasher::default();
        ops::par_collect_reduce_with_hasher(rows, |row| row.0, |row| row.1, add, hasher)
    }

    pub(crate) fn pack(v: &[u64], keep: &[bool]) -> Vec<u64> {
        ops::par_pack(v, keep)
    }

    pub(crate) fn histogram(v: &[u64]) -> Vec<usize> {
        ops::par_histogram(v, BUCKETS, bucket)
    }

    pub(crate) fn shuffle(v: &mut [u64]) {
        ops::par_shuffle(v, 42);
    }

    pub(crate) fn min_max(v: &[u64]) -> (u64, u64) {
        ops::par_min_max(v).expect("there are elements")
    }

    pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
        ops::par_dot(a, b)
    }

    pub(crate) fn transpose(v: &[f64], rows: usize, columns: usize) -> Vec<f64> {
        ops::par_transpose(v, rows, columns)
    }
}

/// rayon.
pub mod rayon {
    use super::{BUCKETS, Hasher, Row, Sums, TILE, bucket};
    use ::rayon::prelude::*;

    fn merge(mut left: Sums, right: Sums) -> Sums {
        for (key, value) in right {
            *left.entry(key).or_insert(0) += value;
        }
        left
    }

    pub(crate) fn group_by_sum(rows: &[Row]) -> Sums {
        let add = |mut sums: Sums, (key, value): &Row| {
            *sums.entry(*key).or_insert(0) += value;
            sums
        };
        let sums = rows
            .par_iter()
            .fold(|| Sums::with_hasher(Hasher::default()), add);
        sums.reduce(|| Sums::with_hasher(Hasher::default()), merge)
    }

    pub(crate) fn pack(v: &[u64], keep: &[bool]) -> Vec<u64> {
        let kept = v.par_iter().zip(keep).filter(|(_, keep)| **keep);
        kept.map(|(x, _)| *x).collect()
    }

    pub(crate) fn histogram(v: &[u64]) -> Vec<usize> {
        let count = |mut counts: Vec<usize>, x: &u64| {
            counts[bucket(x)] += 1;
            counts
        };
        let counts = v.par_iter().fold(|| vec![0; BUCKETS], count);
        counts.reduce(
            || vec![0; BUCKETS],
            |left, right| left.iter().zip(&right).map(|(a, b)| a + b).collect(),
        )
    }

    pub(crate) fn min_max(v: &[u64]) -> (u64, u64) {
        let pairs = v.par_iter().map(|x| (*x, *x));
        let best = pairs.reduce_with(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        best.expect("there are elements")
    }

    pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
        a.par_iter().zip(b).map(|(a, b)| a * b).sum()
    }

    pub(crate) fn transpose(v: &[f64], rows: usize, columns: usize) -> Vec<f64> {
        let mut output = vec![0.0; v.len()];
        let bands = output.par_chunks_mut(TILE * rows).enumerate();
        bands.for_each(|(i, band)| super::transpose_band(v, rows, columns, i * TILE, band));
        output
    }
}

/// orx-parallel, which starts threads for every call.
pub mod orx {
    use super::{BUCKETS, Hasher, Row, Sums, bucket};
    use orx_parallel::*;

    pub(crate) fn group_by_sum(rows: &[Row]) -> Sums {
        let add = |sums: &mut Sums, (key, value): &Row| {
            *sums.entry(*key).or_insert(0) += value;
        };
        let parts = rows
            .par()
            .fold(|| Sums::with_hasher(Hasher::default()), add);
        let mut parts = parts.into_iter();
        let mut all = parts.next().unwrap_or_default();
        for (key, value) in parts.flatten() {
            *all.entry(key).or_insert(0) += value;
        }
        all
    }

    pub(crate) fn pack(v: &[u64], keep: &[bool]) -> Vec<u64> {
        let indices = (0..v.len()).par().filter(|i: &usize| keep[*i]);
        indices.map(|i| v[i]).collect()
    }

    pub(crate) fn histogram(v: &[u64]) -> Vec<usize> {
        let parts = v.par().fold(
            || vec![0; BUCKETS],
            |counts: &mut Vec<usize>, x: &u64| counts[bucket(x)] += 1,
        );
        let mut all = vec![0; BUCKETS];
        for counts in parts {
            all.iter_mut()
                .zip(counts)
                .for_each(|(sum, more)| *sum += more);
        }
        all
    }

    pub(crate) fn min_max(v: &[u64]) -> (u64, u64) {
        let pairs = v.par().map(|x| (*x, *x));
        let best = pairs.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
        best.expect("there are elements")
    }

    pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
        (0..a.len()).par().map(|i: usize| a[i] * b[i]).sum()
    }
}
