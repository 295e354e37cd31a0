//! Reads a table in CSV and computes minimum, maximum and mean of each column.
//!
//! `par_lines` cuts the text at line ends; `fold` gives each thread statistics of its own, and `reduce` puts them together. Amounts
//! are whole cents: integers can be added in any order without changing the sum.

use blitz::prelude::*;
use blitz_examples::{Random, Recipe};
use std::fmt::Write;

const COLUMNS: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Column {
    count: u64,
    sum: i64,
    min: i64,
    max: i64,
}

impl Column {
    const EMPTY: Column = Column {
        count: 0,
        sum: 0,
        min: i64::MAX,
        max: i64::MIN,
    };

    fn merge(self, other: Column) -> Column {
        Column {
            count: self.count + other.count,
            sum: self.sum + other.sum,
            min: self.min.min(other.min),
            max: self.max.max(other.max),
        }
    }
}

type Table = [Column; COLUMNS];

/// `-12.05` as -1205. `None` if it is no amount with two decimals.
fn cents(text: &str) -> Option<i64> {
    let (whole, decimals) = text.split_once('.')?;
    let value: i64 = whole.parse().ok()?;
    let part: i64 = decimals.parse().ok().filter(|_| decimals.len() == 2)?;
    let negative = whole.starts_with('-');
    Some(value * 100 + if negative { -part } else { part })
}

/// Adds a line to the statistics; fields that are no amounts are left out.
fn add_line(mut table: Table, line: &str) -> Table {
    for (column, field) in table.iter_mut().zip(line.split(',')) {
        if let Some(value) = cents(field) {
            *column = column.merge(Column {
                count: 1,
                sum: value,
                min: value,
                max: value,
            });
        }
    }
    table
}

fn merge(a: Table, b: Table) -> Table {
    std::array::from_fn(|column| a[column].merge(b[column]))
}

fn main() {
    let recipe = Recipe::start("CSV statistics: minimum, maximum and mean of each column");
    let lines = recipe.size(400_000, 5_000);
    let mut random = Random::new(2);
    let mut text = String::new();
    for _ in 0..lines {
        for column in 0..COLUMNS {
            let separator = if column == 0 { "" } else { "," };
            match random.below(50) {
                0 => write!(text, "{separator}n/a"),
                _ => write!(
                    text,
                    "{separator}{}.{:02}",
                    random.below(20_000),
                    random.below(100)
                ),
            }
            .expect("strings take everything");
        }
        text.push('\n');
    }
    let table = recipe.compare(
        || text.lines().fold([Column::EMPTY; COLUMNS], add_line),
        || {
            text.par_lines()
                .fold(|| [Column::EMPTY; COLUMNS], add_line)
                .reduce(|| [Column::EMPTY; COLUMNS], merge)
        },
    );
    for (index, column) in table.iter().enumerate() {
        assert!(column.min <= column.max && column.count <= lines as u64);
        println!(
            "  column {index}: {} values from {:.2} to {:.2}, mean {:.2}",
            column.count,
            column.min as f64 / 100.0,
            column.max as f64 / 100.0,
            column.sum as f64 / 100.0 / column.count as f64
        );
    }
}
