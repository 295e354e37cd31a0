//! Scenario `sorts`: random, crafted and nearly sorted values, sorted in every way there is and compared with the standard library.

use ::blitz::prelude::*;

use super::dice::Dice;
use super::program::mix;
use super::{Stress, on_some_pool};

pub fn run(stress: &Stress, seed: u64) -> Result<(), String> {
    let mut dice = Dice::new(seed);
    let values = values(&mut dice);
    let way = dice.below(8);
    // Keys that differ in a few bits only, so that many are equal: what comes first stays first, if the sort is stable.
    let mask = dice.roll() >> dice.below(64);
    let key = |value: &u64| value & mask;
    let mut expected = values.clone();
    match way {
        0..=3 => expected.sort(),
        _ => expected.sort_by_key(key),
    }
    let mut sorted = values;
    on_some_pool(stress, &mut dice, || match way {
        0 => sorted.par_sort(),
        1 => sorted.par_sort_unstable(),
        2 => sorted.par_sort_by(u64::cmp),
        3 => sorted.par_sort_radix(),
        4 => sorted.par_sort_by_key(key),
        5 => sorted.par_sort_by_cached_key(key),
        6 => sorted.par_sort_by(|a, b| key(a).cmp(&key(b))),
        _ => {
            sorted.par_sort_unstable_by_key(key);
            // Among equal keys any order is right.
            sorted.sort_by_key(|value| (key(value), mix(*value)));
            expected.sort_by_key(|value| (key(value), mix(*value)));
        }
    });
    if sorted == expected {
        return Ok(());
    }
    Err(format!(
        "way {way} has not sorted {} values",
        expected.len()
    ))
}

/// Lengths and patterns around the plans of the sorts.
fn values(dice: &mut Dice) -> Vec<u64> {
    let len = match dice.below(6) {
        0 => dice.below(4),
        1 => dice.below(70),
        2..=4 => dice.below(6000),
        _ => dice.below(120_000),
    };
    let (salt, few) = (dice.roll(), dice.between(1, 40) as u64);
    let shift = dice.below(64);
    let pattern = dice.below(9);
    let value = |index: u64| match pattern {
        0 => mix(index ^ salt),
        1 => mix(index ^ salt) % few,
        2 => index,
        3 => u64::MAX - index,
        // Sorted, but for a few.
        4 if mix(index).is_multiple_of(97) => mix(index ^ salt),
        4 => index << 8,
        // Equal but for some bits in the middle: crafted against sorts that look at the top ones.
        5 => salt ^ (mix(index) % 16) << (shift % 60),
        // One value far away from all others.
        6 if index == salt % (len as u64) => u64::MAX,
        6 => mix(index) % 1000,
        // Organ pipe.
        7 => index.min(len as u64 - index),
        // Values that a sample of every n-th one sees as all the same.
        _ => {
            if index.is_multiple_of(1 + salt % 64) {
                7
            } else {
                mix(index ^ salt) >> shift
            }
        }
    };
    (0..len as u64).map(value).collect()
}
