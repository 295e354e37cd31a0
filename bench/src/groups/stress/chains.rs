//! Scenario `chains`: a random source, a chain of adaptors, random cuts and a terminal operation, compared with the same chain of plain iterators.
//!
//! Types of chains are fixed when this is compiled, so there are a number of shapes; what they do (how long, what is kept, skipped and cut) is random.
//! Each shape is written once and read twice, in parallel and plainly: its plain items are what every terminal operation is worked out from.

use ::blitz::iter::Splitter;
use ::blitz::prelude::*;

use super::dice::Dice;
use super::program::mix;
use super::{Stress, on_some_pool};

/// The numbers that a chain works with.
#[derive(Clone, Copy, Debug)]
struct Plan {
    len: u64,
    salt: u64,
    /// One in so many items passes a filter.
    sparse: u64,
    skip: usize,
    take: usize,
    step: usize,
    min_len: usize,
    max_len: usize,
    /// Some items take longer than all others.
    heavy: u64,
}

impl Plan {
    fn new(dice: &mut Dice) -> Self {
        let len = match dice.below(6) {
            0 => dice.below(4),
            1..=3 => dice.below(300),
            4 => dice.below(5000),
            _ => dice.below(60_000),
        };
        let around = |dice: &mut Dice| dice.below(len + len / 4 + 2);
        Plan {
            len: len as u64,
            salt: dice.roll(),
            sparse: 1 + (dice.roll() >> dice.between(52, 63)),
            skip: if dice.once_in(2) { 0 } else { around(dice) },
            take: if dice.once_in(2) { len } else { around(dice) },
            step: dice.between(1, 5),
            min_len: dice.between(1, 40),
            max_len: dice.between(1, 400),
            heavy: if dice.once_in(3) {
                dice.between(20, 200) as u64
            } else {
                u64::MAX
            },
        }
    }

    fn map(self, item: u64) -> u64 {
        let value = mix(item ^ self.salt);
        if item % self.heavy == 7 {
            return std::hint::black_box(crate::spin::spin(3000, value)) & 1 | value & !1;
        }
        value
    }

    fn keeps(self, item: u64) -> bool {
        item.is_multiple_of(self.sparse)
    }

    /// Up to four items that follow from one.
    fn several(self, item: u64) -> std::ops::Range<u64> {
        let first = item >> 4;
        first..first + item % 5
    }

    fn indices(self) -> std::ops::Range<usize> {
        0..self.len as usize
    }

    fn source(self) -> Vec<u64> {
        (0..self.len).map(|index| mix(index ^ !self.salt)).collect()
    }
}

/// The same chain in parallel and plain.
macro_rules! shapes {
    ($($name:literal $kind:ident: |$plan:ident, $values:ident| $parallel:expr, $plain:expr;)*) => {
        const SHAPES: &[&str] = &[$($name),*];

        fn run_shape(shape: &str, plan: Plan, dice: &mut Dice, stress: &Stress) -> Result<(), String> {
            match shape {
                $($name => {
                    let values = plan.source();
                    let plain: Vec<u64> = {
                        let ($plan, $values) = (plan, &values);
                        $plain.collect()
                    };
                    let terminal = Terminal::new(dice, &plain);
                    on_some_pool(stress, dice, || {
                        let ($plan, $values) = (plan, &values);
                        terminal.$kind($parallel)
                    })
                })*
                _ => unreachable!("a shape of the list"),
            }
        }
    };
}

shapes! {
    "range" indexed: |plan, _values|
        plan.indices().into_par_iter().map(move |item| plan.map(item as u64)),
        plan.indices().map(move |item| plan.map(item as u64));
    "windows" indexed: |plan, values|
        values.par_iter().copied().skip(plan.skip).take(plan.take).rev(),
        values.iter().copied().skip(plan.skip).take(plan.take).rev();
    "lengths" indexed: |plan, values|
        values.par_iter().with_min_len(plan.min_len).map(|&item| plan.map(item)).with_max_len(plan.min_len + plan.max_len),
        values.iter().map(|&item| plan.map(item));
    "zip" indexed: |plan, values|
        values.par_iter().skip(plan.skip).zip(plan.indices()).map(|(left, right)| left ^ right as u64),
        values.iter().skip(plan.skip).zip(plan.indices()).map(|(left, right)| left ^ right as u64);
    "chain" indexed: |plan, values|
        values.par_iter().copied().take(plan.take).chain(values.par_iter().map(|&item| plan.map(item))).enumerate().map(|(index, item)| item ^ index as u64),
        values.iter().copied().take(plan.take).chain(values.iter().map(|&item| plan.map(item))).enumerate().map(|(index, item)| item ^ index as u64);
    "steps" indexed: |plan, values|
        values.par_iter().step_by(plan.step).copied().enumerate().rev().map(|(index, item)| item.wrapping_add(index as u64)),
        values.iter().step_by(plan.step).copied().enumerate().rev().map(|(index, item)| item.wrapping_add(index as u64));
    "owned" unindexed: |plan, values|
        values.clone().into_par_iter().with_splitter(plan.splitter()).map(move |item| plan.map(item)),
        values.iter().map(move |&item| plan.map(item));
    "chunks" indexed: |plan, values|
        values.par_chunks(plan.max_len).map(|chunk| chunk.iter().fold(chunk.len() as u64, |sum, item| mix(sum ^ item))),
        values.chunks(plan.max_len).map(|chunk| chunk.iter().fold(chunk.len() as u64, |sum, item| mix(sum ^ item)));
    "filter" unindexed: |plan, values|
        values.par_iter().map(|&item| plan.map(item)).filter(|&item| plan.keeps(item)),
        values.iter().map(|&item| plan.map(item)).filter(|&item| plan.keeps(item));
    "flat_map" unindexed: |plan, values|
        values.par_iter().flat_map(|&item| plan.several(item)).filter(|&item| plan.keeps(item)),
        values.iter().flat_map(|&item| plan.several(item)).filter(|&item| plan.keeps(item));
    "flat_map_iter" unindexed: |plan, values|
        values.par_iter().filter(|&&item| plan.keeps(item)).flat_map_iter(|&item| plan.several(item)).map(move |item| plan.map(item)),
        values.iter().filter(|&&item| plan.keeps(item)).flat_map(|&item| plan.several(item)).map(move |item| plan.map(item));
    "filtered chain" unindexed: |plan, values|
        values.par_iter().copied().filter(|&item| plan.keeps(item)).chain(plan.indices().into_par_iter().rev().filter_map(|item| plan.keeps(item as u64).then_some(!item as u64))),
        values.iter().copied().filter(|&item| plan.keeps(item)).chain(plan.indices().rev().filter_map(|item| plan.keeps(item as u64).then_some(!item as u64)));
}

impl Plan {
    fn splitter(self) -> Splitter {
        match self.salt % 4 {
            0 => Splitter::adaptive(1),
            1 => Splitter::pieces(self.min_len),
            2 => Splitter::recursive(self.max_len),
            _ => Splitter::reproducible(),
        }
    }
}

/// What is done with the items, and what has to come of it.
struct Terminal<'a> {
    which: usize,
    plain: &'a [u64],
    /// The item that is searched for; it may be there several times or not at all.
    wanted: u64,
}

impl<'a> Terminal<'a> {
    fn new(dice: &mut Dice, plain: &'a [u64]) -> Self {
        let wanted = match plain {
            [] => 0,
            _ if dice.once_in(4) => dice.roll(),
            _ => plain[dice.below(plain.len())],
        };
        Terminal {
            which: dice.below(16),
            plain,
            wanted,
        }
    }

    fn indexed(&self, items: impl IndexedParallelIterator<Item = u64>) -> Result<(), String> {
        let (plain, wanted) = (self.plain, self.wanted);
        if items.len() != plain.len() {
            return Err(format!("{} items, not {}", items.len(), plain.len()));
        }
        let mut positions = plain
            .iter()
            .enumerate()
            .filter(|(_, item)| **item == wanted);
        match self.which {
            0 => {
                let first = positions.next().map(|found| found.0);
                same(
                    "position_first",
                    items.position_first(|item| item == wanted),
                    first,
                )
            }
            1 => {
                let last = positions.next_back().map(|found| found.0);
                same(
                    "position_last",
                    items.position_last(|item| item == wanted),
                    last,
                )
            }
            2 => {
                let found = items.position_any(|item| item == wanted);
                let there = positions.next().is_some();
                let right = found.map_or(!there, |index| plain.get(index) == Some(&wanted));
                same("position_any", right, true)
            }
            3 => same("eq", items.eq(plain.to_vec()), true),
            4 => {
                let mut other = plain.to_vec();
                if let Some(item) = other.iter_mut().find(|item| **item == wanted) {
                    *item = !*item;
                }
                let expected = plain.cmp(&other[..]);
                same("cmp", items.cmp(other), expected)
            }
            5 => {
                let mut target = vec![1, 2, 3];
                items.collect_into_vec(&mut target);
                same("collect_into_vec", &target[..], plain)
            }
            _ => self.unindexed(items),
        }
    }

    fn unindexed(&self, items: impl ParallelIterator<Item = u64>) -> Result<(), String> {
        let (plain, wanted) = (self.plain, self.wanted);
        let is_wanted = |item: &u64| *item == wanted;
        let there = plain.contains(&wanted).then_some(wanted);
        match self.which {
            0 | 6 => same("find_any", items.find_any(is_wanted), there),
            1 | 7 => {
                // Any of these will do for the search; the first and the last of them are one each.
                let passes = |item: &u64| *item >= wanted;
                let first = plain.iter().copied().find(passes);
                same("find_first", items.find_first(passes), first)
            }
            2 | 8 => {
                let passes = |item: &u64| *item >= wanted;
                let last = plain.iter().copied().rfind(passes);
                same("find_last", items.find_last(passes), last)
            }
            9 => same("any", items.any(|item| item == wanted), there.is_some()),
            10 => same("all", items.all(|item| item != wanted), there.is_none()),
            11 => {
                let sum = plain
                    .iter()
                    .fold(0, |sum: u64, item| sum.wrapping_add(*item));
                same("reduce", items.reduce(|| 0, u64::wrapping_add), sum)
            }
            12 => {
                let (low, high): (Vec<u64>, Vec<u64>) = items.partition(|item| *item < wanted);
                let expected: (Vec<u64>, Vec<u64>) = plain.iter().partition(|item| **item < wanted);
                same("partition", (low, high), expected)
            }
            13 => same("min", items.min(), plain.iter().min().copied()),
            14 => {
                let sum = plain.iter().map(|item| item >> 32).sum();
                same("sum", items.map(|item| item >> 32).sum::<u64>(), sum)
            }
            15 => same("count", items.count(), plain.len()),
            3 => same("max", items.max(), plain.iter().max().copied()),
            _ => same("collect", &items.collect::<Vec<u64>>()[..], plain),
        }
    }
}

/// Short enough to be read: where long ones differ is found by repeating the seed.
fn same<T: PartialEq + std::fmt::Debug>(what: &str, got: T, expected: T) -> Result<(), String> {
    if got == expected {
        return Ok(());
    }
    let shown = |value: T| format!("{value:x?}").chars().take(300).collect::<String>();
    let (got, expected) = (shown(got), shown(expected));
    Err(format!("{what} gave {got}, not {expected}"))
}

pub fn run(stress: &Stress, seed: u64) -> Result<(), String> {
    let mut dice = Dice::new(seed);
    let shape = SHAPES[dice.below(SHAPES.len())];
    let plan = Plan::new(&mut dice);
    run_shape(shape, plan, &mut dice, stress)
        .map_err(|message| format!("{shape} with {plan:?}: {message}"))
}
