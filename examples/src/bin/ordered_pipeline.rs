//! A stream of records that is read, packed and written: one reader, one writer, and the packing in between on all threads.
//!
//! The reader knows its next record only after the last one, and the writer has to write in order. Neither is a parallel iterator, nor has to be: `par_map` sits between two ordinary
//! iterators. At most `LOOK_AHEAD` records are in memory, however long the stream is and however slow the writer.

use blitz::prelude::*;
use blitz_examples::{Random, Recipe};

const LOOK_AHEAD: usize = 32;

/// Reads records of several lengths, until the end of the stream.
fn records(mut count: usize) -> impl Iterator<Item = Vec<u8>> {
    let mut random = Random::new(11);
    std::iter::from_fn(move || {
        count = count.checked_sub(1)?;
        let len = 2_000 + random.below(20_000);
        let letters = b"aaaabbbcde";
        Some(
            (0..len)
                .map(|_| letters[random.below(letters.len())])
                .collect(),
        )
    })
}

/// Moves what was used last to the front, then writes runs: cheap to undo, dear enough to be worth a thread.
fn pack(record: &[u8]) -> Vec<u8> {
    let mut table: Vec<u8> = (0..=255).collect();
    let mut packed = Vec::new();
    let mut run = (0, 0_u8);
    for byte in record {
        let place = table.iter().position(|known| known == byte).unwrap_or(0);
        table[..=place].rotate_right(1);
        let place = place as u8;
        if run.0 == place && run.1 < u8::MAX {
            run.1 += 1;
        } else {
            packed.extend([run.0, run.1]);
            run = (place, 1);
        }
    }
    packed.extend([run.0, run.1]);
    packed
}

/// Writes each packed record behind the others: a checksum that depends on their order.
fn write(sum: u64, packed: &[u8]) -> u64 {
    packed.iter().fold(sum.rotate_left(5), |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3)
    })
}

fn main() {
    let recipe = Recipe::start("Ordered pipeline: read, pack on all threads, write in order");
    let count = recipe.size(4_000, 300);
    let sum = recipe.compare(
        || {
            records(count)
                .map(|r| pack(&r))
                .fold(0, |s, p| write(s, &p))
        },
        || {
            let packed = records(count).par_map(|r| pack(&r)).look_ahead(LOOK_AHEAD);
            packed.fold(0, |s, p| write(s, &p))
        },
    );
    println!("  {count} records, checksum {sum:016x}");

    // The same from a parallel iterator, whose results are wanted one by one.
    let all: Vec<Vec<u8>> = records(count).collect();
    let sum_of_seq = all
        .par_iter()
        .map(|record| pack(record))
        .with_seq(|seq| seq.look_ahead(LOOK_AHEAD).fold(0, |s, p| write(s, &p)));
    assert_eq!(sum, sum_of_seq);
}
