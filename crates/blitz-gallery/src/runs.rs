//! What the examples do. Each checks its own result.

use blitz::prelude::*;
use std::hint::black_box;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

type Outcome = Result<(), String>;

pub fn fib() -> Outcome {
    check(fibonacci(27), 196_418)
}

pub fn dear_loop() -> Outcome {
    let sum = (0..2_000_000_u64)
        .into_par_iter()
        .map(|i| spin(20, i) & 1)
        .sum();
    static KNOWN: OnceLock<u64> = OnceLock::new();
    check_once(sum, &KNOWN, || {
        (0..2_000_000_u64).map(|i| spin(20, i) & 1).sum()
    })
}

pub fn sort() -> Outcome {
    static NUMBERS: OnceLock<Vec<u64>> = OnceLock::new();
    let numbers = NUMBERS.get_or_init(|| (0..1_000_000).map(|i| spin(3, i)).collect());
    let mut numbers = numbers.clone();
    numbers.par_sort_unstable();
    check(u64::from(numbers.is_sorted()), 1)
}

pub fn scope() -> Outcome {
    let total = AtomicU64::new(0);
    blitz::scope(|s| {
        for task in 0..500_u64 {
            let total = &total;
            s.spawn(move |_| {
                black_box(spin(task * task / 4, task));
                total.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    check(total.into_inner(), 500)
}

pub fn queens() -> Outcome {
    check(solutions(Row::first(10)), 724)
}

pub fn half() -> Outcome {
    let alone = black_box(spin(20_000_000, 1));
    let shared: u64 = (0..2000_u64)
        .into_par_iter()
        .map(|i| spin(10_000, i) & 1)
        .sum();
    static KNOWN: OnceLock<u64> = OnceLock::new();
    check_once(alone & shared, &KNOWN, || spin(20_000_000, 1) & shared)
}

pub fn leaning_tree() -> Outcome {
    fn nodes(seed: u64, depth: u32) -> u64 {
        let seed = spin(30, seed);
        if depth == 0 || seed.is_multiple_of(16) {
            return 1;
        }
        let (long, short) = blitz::join(
            || nodes(seed ^ 1, depth - 1),
            || nodes(seed ^ 2, depth - depth.min(3)),
        );
        1 + long + short
    }
    fn alone(seed: u64, depth: u32) -> u64 {
        let seed = spin(30, seed);
        if depth == 0 || seed.is_multiple_of(16) {
            return 1;
        }
        1 + alone(seed ^ 1, depth - 1) + alone(seed ^ 2, depth - depth.min(3))
    }
    static KNOWN: OnceLock<u64> = OnceLock::new();
    check_once(nodes(7, 26), &KNOWN, || alone(7, 26))
}

pub fn pair() -> Outcome {
    let half = |seed| black_box(spin(1_000_000, seed)) & 1;
    let (a, b) = blitz::join(|| half(1), || half(2));
    static KNOWN: OnceLock<u64> = OnceLock::new();
    check_once(a + b, &KNOWN, || half(1) + half(2))
}

pub fn rows() -> Outcome {
    let sum = (0..3000_u64)
        .into_par_iter()
        .map(|row| spin(row * 4, row) & 1)
        .sum();
    static KNOWN: OnceLock<u64> = OnceLock::new();
    check_once(sum, &KNOWN, || {
        (0..3000_u64).map(|row| spin(row * 4, row) & 1).sum()
    })
}

pub fn nested() -> Outcome {
    let row = |row: u64| -> u64 {
        let cells = (0..400_u64).into_par_iter();
        cells.map(|cell| spin(50, row * 400 + cell) & 1).sum()
    };
    let sum = (0..400_u64).into_par_iter().map(row).sum();
    static KNOWN: OnceLock<u64> = OnceLock::new();
    check_once(sum, &KNOWN, || {
        (0..160_000_u64).map(|cell| spin(50, cell) & 1).sum()
    })
}

pub fn stable() -> Outcome {
    static WORDS: OnceLock<Vec<String>> = OnceLock::new();
    let words = WORDS.get_or_init(|| (0..200_000).map(|i| spin(3, i).to_string()).collect());
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    words.par_sort();
    check(u64::from(words.is_sorted()), 1)
}

pub fn scan() -> Outcome {
    static NUMBERS: OnceLock<Vec<u64>> = OnceLock::new();
    let numbers = NUMBERS.get_or_init(|| (0..4_000_000).map(|i| i ^ 0x15_5555).collect());
    let maxima = blitz::ops::par_scan(numbers, |&a, &b| a.max(b));
    static KNOWN: OnceLock<u64> = OnceLock::new();
    check_once(maxima[maxima.len() - 1], &KNOWN, || {
        numbers.iter().copied().max().unwrap_or(0)
    })
}

pub fn collect() -> Outcome {
    const LEN: u64 = 100_000;
    let values: Vec<u64> = (0..LEN).into_par_iter().map(|i| spin(20, i)).collect();
    check(
        values[0] ^ values[values.len() - 1],
        spin(20, 0) ^ spin(20, LEN - 1),
    )
}

pub fn histogram() -> Outcome {
    static NUMBERS: OnceLock<Vec<u64>> = OnceLock::new();
    let numbers = NUMBERS.get_or_init(|| (0..200_000).collect());
    let bucket = |&number: &u64| (spin(10, number) >> 58) as usize;
    let counts = blitz::ops::par_histogram(numbers, 64, bucket);
    static KNOWN: OnceLock<u64> = OnceLock::new();
    check(counts.iter().sum::<usize>() as u64, 200_000)?;
    check_once(counts[7] as u64, &KNOWN, || {
        numbers.iter().filter(|&number| bucket(number) == 7).count() as u64
    })
}

pub fn matches() -> Outcome {
    static TEXT: OnceLock<Vec<u8>> = OnceLock::new();
    let letters = || (0..4_000_000).map(|i| b'a' + (spin(3, i) >> 62) as u8);
    let text = TEXT.get_or_init(|| letters().collect());
    let word = b"abcdabcd";
    let found = text
        .par_windows(word.len())
        .filter(|window| *window == word)
        .count();
    static KNOWN: OnceLock<u64> = OnceLock::new();
    check_once(found as u64, &KNOWN, || {
        let windows = text.windows(word.len());
        windows.filter(|window| *window == word).count() as u64
    })
}

pub fn merge() -> Outcome {
    static LISTS: OnceLock<[Vec<u64>; 2]> = OnceLock::new();
    let [left, right] = LISTS.get_or_init(|| {
        [1, 2].map(|list| {
            let mut numbers: Vec<u64> = (0..100_000).map(|i| spin(3, 4 * i + list)).collect();
            numbers.sort_unstable();
            numbers
        })
    });
    let mut both = vec![0; left.len() + right.len()];
    merge_into(left, right, &mut both);
    check(u64::from(both.is_sorted()), 1)
}

pub fn product() -> Outcome {
    static FACTORS: OnceLock<[Vec<f64>; 2]> = OnceLock::new();
    let [a, b] = FACTORS.get_or_init(|| {
        let entry = |i: u64| (spin(3, i) >> 60) as f64;
        [1, 2].map(|factor| (0..SIDE * SIDE).map(|i| entry(i as u64 * factor)).collect())
    });
    let mut result = vec![0.0; SIDE * SIDE];
    multiply(a, b, &mut result);
    // Small whole numbers: exact.
    let is_right = |(row, column): (usize, usize)| {
        let products = (0..SIDE).map(|k| a[row * SIDE + k] * b[k * SIDE + column]);
        result[row * SIDE + column] == products.sum::<f64>()
    };
    let places = [(0, 0), (77, 13), (SIDE - 1, SIDE - 1)];
    check(u64::from(places.into_iter().all(is_right)), 1)
}

/// Checks against plain code, which runs the first time only: what is measured later is the parallel part.
fn check_once(result: u64, known: &OnceLock<u64>, plain: impl FnOnce() -> u64) -> Outcome {
    check(result, *known.get_or_init(plain))
}

fn check(result: u64, expected: u64) -> Outcome {
    if result == expected {
        Ok(())
    } else {
        Err(format!("wrong result: {result} instead of {expected}"))
    }
}

fn fibonacci(n: u32) -> u64 {
    if n < 2 {
        return u64::from(n);
    }
    let (a, b) = blitz::join(|| fibonacci(n - 1), || fibonacci(n - 2));
    a + b
}

/// Merges two sorted lists: the longer one is cut in the middle, the other one where that element belongs.
fn merge_into(left: &[u64], right: &[u64], to: &mut [u64]) {
    const SHORT: usize = 8192;
    if left.len() < right.len() {
        return merge_into(right, left, to);
    }
    if to.len() <= SHORT {
        let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
        for place in to {
            let from = match (left.peek(), right.peek()) {
                (Some(a), Some(b)) if b < a => &mut right,
                (None, _) => &mut right,
                _ => &mut left,
            };
            *place = *from.next().expect("there are as many places");
        }
        return;
    }
    let (left_low, left_high) = left.split_at(left.len() / 2);
    let (right_low, right_high) = right.split_at(right.partition_point(|b| *b < left_high[0]));
    let (low, high) = to.split_at_mut(left_low.len() + right_low.len());
    blitz::join(
        || merge_into(left_low, right_low, low),
        || merge_into(left_high, right_high, high),
    );
}

/// Rows and columns of the matrices of `product`.
const SIDE: usize = 192;

/// The product of some rows and a matrix: half of the rows beside the other half, down to four.
fn multiply(rows: &[f64], factor: &[f64], to: &mut [f64]) {
    let count = rows.len() / SIDE;
    if count > 4 {
        let middle = count / 2 * SIDE;
        let (upper, lower) = to.split_at_mut(middle);
        blitz::join(
            || multiply(&rows[..middle], factor, upper),
            || multiply(&rows[middle..], factor, lower),
        );
        return;
    }
    for (row, to) in rows.chunks(SIDE).zip(to.chunks_mut(SIDE)) {
        for (value, others) in row.iter().zip(factor.chunks(SIDE)) {
            for (sum, other) in to.iter_mut().zip(others) {
                *sum += value * other;
            }
        }
    }
}

/// The next row of a board of queens: which columns are there, and which of them a queen above attacks, straight or aslant.
#[derive(Clone, Copy)]
struct Row {
    columns: u32,
    straight: u32,
    left: u32,
    right: u32,
}

impl Row {
    fn first(columns: u32) -> Self {
        Row {
            columns: (1 << columns) - 1,
            straight: 0,
            left: 0,
            right: 0,
        }
    }

    /// The row below a queen in one column.
    fn below(self, queen: u32) -> Self {
        Row {
            columns: self.columns,
            straight: self.straight | queen,
            left: (self.left | queen) << 1,
            right: (self.right | queen) >> 1,
        }
    }
}

/// In how many ways the board can be completed from this row on.
fn solutions(row: Row) -> u64 {
    if row.straight == row.columns {
        return 1;
    }
    let free = row.columns & !(row.straight | row.left | row.right);
    let places = (0..32)
        .map(|column| 1 << column)
        .filter(|place| free & place != 0);
    let places: Vec<u32> = places.collect();
    places
        .par_iter()
        .map(|&queen| solutions(row.below(queen)))
        .sum()
}

/// Dependent steps of about a nanosecond each.
#[inline(never)]
fn spin(steps: u64, seed: u64) -> u64 {
    (0..steps).fold(seed | 1, |value, _| {
        (value ^ (value >> 29)).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_any_lengths_are_merged() {
        for (left, right) in [(0, 0), (0, 9), (1, 20_000), (30_000, 30_000), (50_000, 7)] {
            let left: Vec<u64> = (0..left).map(|i| 3 * i).collect();
            let right: Vec<u64> = (0..right).map(|i| 2 * i).collect();
            let mut both = vec![0; left.len() + right.len()];
            merge_into(&left, &right, &mut both);
            let mut expected = [left, right].concat();
            expected.sort_unstable();
            assert_eq!(both, expected);
        }
    }

    #[test]
    fn boards_have_the_known_numbers_of_solutions() {
        let counts: Vec<u64> = (1..=8).map(|size| solutions(Row::first(size))).collect();
        assert_eq!(counts, [1, 0, 0, 2, 10, 4, 40, 92]);
    }
}
