//! A random case, and how it is run in parallel.

use crate::boxed::Boxed;
use crate::item::{Item, call};
use blitz::iter::{CancelToken, Progress, Splitter};
use blitz::prelude::*;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};

/// A step that keeps positions.
#[derive(Debug, Clone, Copy)]
pub enum Step {
    Map,
    Inspect,
    Update,
    Enumerate,
    Rev,
    Skip(usize),
    Take(usize),
    Every(usize),
    Chain(usize),
    Zip(usize),
    Interleave(usize),
    InterleaveShortest(usize),
    Chunks(usize),
    FoldChunks(usize),
    Intersperse,
    MinLen(usize),
    MaxLen(usize),
    PanicFuse,
    Progress,
}

/// The last step, which need not keep positions.
#[derive(Debug, Clone, Copy)]
pub enum Last {
    Nothing,
    Filter,
    FilterMap,
    FlatMap,
    FlatMapIter,
    MapInit,
    MapWith,
    Blocks(usize),
    Pieces(usize),
    Reproducible,
    FilterThenChain(usize),
    FoldThenFlatten,
}

#[derive(Debug, Clone, Copy)]
pub enum Terminal {
    Collect,
    Sum,
    Reduce,
    ReduceWith,
    FindFirst,
    FindLast,
    ForEach,
    Partition,
    TryReduce,
    CollectUnlessCancelled,
}

#[derive(Debug, PartialEq)]
pub enum Answer {
    Number(i64),
    Maybe(Option<i64>),
    List(Vec<i64>),
    Lists(Vec<i64>, Vec<i64>),
}

#[derive(Debug)]
pub struct Case {
    pub len: usize,
    pub steps: Vec<Step>,
    pub last: Last,
    pub terminal: Terminal,
}

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 31)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        ((mixed >> 33) as usize) % limit
    }

    fn step(&mut self, len: usize) -> Step {
        let some = self.below(len + 3);
        let few = 1 + self.below(5);
        match self.below(19) {
            0 => Step::Map,
            1 => Step::Inspect,
            2 => Step::Update,
            3 => Step::Enumerate,
            4 => Step::Rev,
            5 => Step::Skip(some / 4),
            6 => Step::Take(len - some / 4),
            7 => Step::Every(few),
            8 => Step::Chain(some),
            9 => Step::Zip(some),
            10 => Step::Interleave(some),
            11 => Step::InterleaveShortest(some),
            12 => Step::Chunks(few),
            13 => Step::FoldChunks(few),
            14 => Step::Intersperse,
            15 => Step::MinLen(some),
            16 => Step::MaxLen(1 + some / 2),
            17 => Step::PanicFuse,
            _ => Step::Progress,
        }
    }
}

impl Case {
    pub fn random(seed: u64, len: usize) -> Case {
        let mut dice = Dice(seed.wrapping_mul(0x2545_F491_4F6C_DD1D));
        let steps = (0..dice.below(5)).map(|_| dice.step(len)).collect();
        let some = 1 + dice.below(len + 3);
        let last = match dice.below(12) {
            0 => Last::Nothing,
            1 => Last::Filter,
            2 => Last::FilterMap,
            3 => Last::FlatMap,
            4 => Last::FlatMapIter,
            5 => Last::MapInit,
            6 => Last::MapWith,
            7 => Last::Blocks(some),
            8 => Last::Pieces(some),
            9 => Last::Reproducible,
            10 => Last::FilterThenChain(some),
            _ => Last::FoldThenFlatten,
        };
        let terminal = match dice.below(10) {
            0 => Terminal::Collect,
            1 => Terminal::Sum,
            2 => Terminal::Reduce,
            3 => Terminal::ReduceWith,
            4 => Terminal::FindFirst,
            5 => Terminal::FindLast,
            6 => Terminal::ForEach,
            7 => Terminal::Partition,
            8 => Terminal::TryReduce,
            _ => Terminal::CollectUnlessCancelled,
        };
        Case {
            len,
            steps,
            last,
            terminal,
        }
    }

    pub fn with_steps(mut self, most: usize) -> Case {
        self.steps.truncate(most);
        self
    }
}

/// What the closures compute, for both readings. Every one of them may panic.
pub mod op {
    use super::call;

    pub fn source(n: usize) -> i64 {
        (n as i64).wrapping_mul(7919) % 1009
    }

    pub fn map(n: i64) -> i64 {
        call();
        n.wrapping_mul(31) % 10_007 - 5
    }

    pub fn update(n: i64) -> i64 {
        call();
        n ^ 0x55
    }

    pub fn with_index(index: usize, n: i64) -> i64 {
        call();
        n.wrapping_add(index as i64 * 3)
    }

    pub fn pair(a: i64, b: i64) -> i64 {
        call();
        a.wrapping_mul(3).wrapping_sub(b)
    }

    pub fn keep(n: i64) -> bool {
        call();
        n % 3 != 0
    }

    pub fn hit(n: i64) -> bool {
        call();
        n % 97 == 13
    }

    /// How many copies `flat_map` makes.
    pub fn copies(n: i64) -> i64 {
        call();
        n.rem_euclid(3)
    }

    /// A hash that depends on the order but not on how the items are grouped: polynomials are concatenated.
    pub fn concat(a: (i64, i64), b: (i64, i64)) -> (i64, i64) {
        call();
        let hash = a.0.wrapping_mul(b.1).wrapping_add(b.0);
        (hash, a.1.wrapping_mul(b.1))
    }

    pub const BASE: i64 = 1_000_003;
}

fn items(len: usize) -> Vec<Item> {
    (0..len).map(|n| Item::new(op::source(n))).collect()
}

fn apply(step: Step, iter: Boxed<Item>) -> Boxed<Item> {
    static PROGRESS: Progress = Progress::new();
    match step {
        Step::Map => Boxed::new(iter.map(|item| Item::new(op::map(item.get())))),
        Step::Inspect => Boxed::new(iter.inspect(|_| call())),
        Step::Update => Boxed::new(iter.update(|item| item.set(op::update(item.get())))),
        Step::Enumerate => Boxed::new(
            iter.enumerate()
                .map(|(index, item)| Item::new(op::with_index(index, item.get()))),
        ),
        Step::Rev => Boxed::new(iter.rev()),
        Step::Skip(n) => Boxed::new(iter.skip(n)),
        Step::Take(n) => Boxed::new(iter.take(n)),
        Step::Every(n) => Boxed::new(iter.step_by(n)),
        Step::Chain(n) => Boxed::new(iter.chain(items(n))),
        Step::Zip(n) => Boxed::new(
            iter.zip(items(n))
                .map(|(a, b)| Item::new(op::pair(a.get(), b.get()))),
        ),
        Step::Interleave(n) => Boxed::new(iter.interleave(items(n))),
        Step::InterleaveShortest(n) => Boxed::new(iter.interleave_shortest(items(n))),
        Step::Chunks(n) => Boxed::new(iter.chunks(n).map(|chunk| {
            let pairs = chunk.iter().map(Item::get);
            Item::new(pairs.fold(1, op::pair))
        })),
        Step::FoldChunks(n) => Boxed::new(iter.fold_chunks(
            n,
            || Item::new(1),
            |a, b| Item::new(op::pair(a.get(), b.get())),
        )),
        Step::Intersperse => Boxed::new(iter.intersperse(Item::new(-1))),
        Step::MinLen(n) => Boxed::new(iter.with_min_len(n)),
        Step::MaxLen(n) => Boxed::new(iter.with_max_len(n)),
        Step::PanicFuse => Boxed::new(iter.panic_fuse()),
        Step::Progress => Boxed::new(iter.with_progress(&PROGRESS)),
    }
}

fn copies(item: &Item) -> Vec<Item> {
    (0..op::copies(item.get()))
        .map(|n| Item::new(item.get() + n))
        .collect()
}

/// Runs the case on the current pool.
pub fn run(case: &Case) -> Answer {
    let mut iter = Boxed::new(items(case.len).into_par_iter());
    for step in &case.steps {
        iter = apply(*step, iter);
    }
    let terminal = case.terminal;
    match case.last {
        Last::Nothing => finish(iter, terminal),
        Last::Filter => finish(iter.filter(|item| op::keep(item.get())), terminal),
        Last::FilterMap => finish(
            iter.filter_map(|item| op::keep(item.get()).then(|| Item::new(item.get() + 1))),
            terminal,
        ),
        Last::FlatMap => finish(iter.flat_map(|item| copies(&item)), terminal),
        Last::FlatMapIter => finish(iter.flat_map_iter(|item| copies(&item)), terminal),
        Last::MapInit => finish(
            iter.map_init(Vec::new, |scratch, item| {
                scratch.clear();
                scratch.push(item);
                Item::new(op::map(scratch[0].get()))
            }),
            terminal,
        ),
        Last::MapWith => finish(
            iter.map_with(Item::new(0), |kept, item| {
                let mapped = Item::new(op::map(item.get()));
                *kept = item;
                mapped
            }),
            terminal,
        ),
        Last::Blocks(n) => finish(iter.by_uniform_blocks(n), terminal),
        Last::Pieces(n) => finish(iter.with_splitter(Splitter::pieces(n)), terminal),
        Last::Reproducible => finish(iter.reproducible(), terminal),
        Last::FilterThenChain(n) => finish(
            iter.filter(|item| op::keep(item.get())).chain(items(n)),
            terminal,
        ),
        Last::FoldThenFlatten => finish(
            iter.fold(Vec::new, |mut list, item| {
                call();
                list.push(item);
                list
            })
            .flatten_iter(),
            terminal,
        ),
    }
}

fn values(items: Vec<Item>) -> Vec<i64> {
    items.iter().map(Item::get).collect()
}

fn value(item: Option<Item>) -> Option<i64> {
    item.map(|item| item.get())
}

fn finish<I>(iter: I, terminal: Terminal) -> Answer
where
    I: ParallelIterator<Item = Item>,
{
    match terminal {
        Terminal::Collect => Answer::List(values(iter.collect())),
        Terminal::Sum => Answer::Number(iter.map(|item| item.get()).sum()),
        Terminal::Reduce => {
            let hashes = iter.map(|item| (item.get(), op::BASE));
            Answer::Number(hashes.reduce(|| (0, 1), op::concat).0)
        }
        Terminal::ReduceWith => Answer::Maybe(value(iter.reduce_with(|a, b| {
            call();
            if b.get() > a.get() { b } else { a }
        }))),
        Terminal::FindFirst => Answer::Maybe(value(iter.find_first(|item| op::hit(item.get())))),
        Terminal::FindLast => Answer::Maybe(value(iter.find_last(|item| op::hit(item.get())))),
        Terminal::ForEach => {
            let sum = AtomicI64::new(0);
            iter.for_each(|item| {
                sum.fetch_add(op::map(item.get()), Relaxed);
            });
            Answer::Number(sum.into_inner())
        }
        Terminal::Partition => {
            let (kept, others) = iter.partition(|item: &Item| op::keep(item.get()));
            Answer::Lists(values(kept), values(others))
        }
        Terminal::TryReduce => Answer::Maybe(
            iter.map(|item| (!op::hit(item.get())).then(|| item.get()))
                .try_reduce(|| 0, |a, b| Some(a + b)),
        ),
        Terminal::CollectUnlessCancelled => {
            let token = CancelToken::new();
            let run = iter.with_cancel(&token).collect::<Vec<Item>>();
            Answer::List(values(run.completed().expect("nobody cancels")))
        }
    }
}
