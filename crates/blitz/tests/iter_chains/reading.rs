//! The same case over `std` iterators.

use crate::case::{Answer, Case, Last, Step, Terminal, op};
use crate::item::call;

fn items(len: usize) -> Vec<i64> {
    (0..len).map(op::source).collect()
}

/// `a[0], b[0], a[1], …`; when one has ended, the other goes on, unless it is to stop there.
fn interleave(a: Vec<i64>, b: Vec<i64>, go_on: bool) -> Vec<i64> {
    let (mut a, mut b) = (a.into_iter(), b.into_iter());
    let mut all = Vec::new();
    loop {
        match a.next() {
            Some(n) => all.push(n),
            None if go_on => {
                all.extend(b);
                return all;
            }
            None => return all,
        }
        match b.next() {
            Some(n) => all.push(n),
            None if go_on => {
                all.extend(a);
                return all;
            }
            None => return all,
        }
    }
}

fn apply(step: Step, list: Vec<i64>) -> Vec<i64> {
    let chunks = |n| {
        list.chunks(n)
            .map(|chunk| chunk.iter().copied().fold(1, op::pair))
    };
    match step {
        Step::Map => list.into_iter().map(op::map).collect(),
        Step::Inspect => list.into_iter().inspect(|_| call()).collect(),
        Step::Update => list.into_iter().map(op::update).collect(),
        Step::Enumerate => {
            let numbered = list.into_iter().enumerate();
            numbered
                .map(|(index, n)| op::with_index(index, n))
                .collect()
        }
        Step::Rev => list.into_iter().rev().collect(),
        Step::Skip(n) => list.into_iter().skip(n).collect(),
        Step::Take(n) => list.into_iter().take(n).collect(),
        Step::Every(n) => list.into_iter().step_by(n).collect(),
        Step::Chain(n) => list.into_iter().chain(items(n)).collect(),
        Step::Zip(n) => {
            let pairs = list.into_iter().zip(items(n));
            pairs.map(|(a, b)| op::pair(a, b)).collect()
        }
        Step::Interleave(n) => interleave(list, items(n), true),
        Step::InterleaveShortest(n) => interleave(list, items(n), false),
        Step::Chunks(n) | Step::FoldChunks(n) => chunks(n).collect(),
        Step::Intersperse => {
            let with_comma = list.into_iter().flat_map(|n| [-1, n]);
            with_comma.skip(1).collect()
        }
        Step::MinLen(_) | Step::MaxLen(_) | Step::PanicFuse | Step::Progress => list,
    }
}

fn last(last: Last, list: Vec<i64>) -> Vec<i64> {
    let copies = |n| (0..op::copies(n)).map(move |copy| n + copy);
    match last {
        Last::Nothing | Last::Blocks(_) | Last::Pieces(_) | Last::Reproducible => list,
        Last::Filter => list.into_iter().filter(|n| op::keep(*n)).collect(),
        Last::FilterMap => {
            let kept = list.into_iter().filter(|n| op::keep(*n));
            kept.map(|n| n + 1).collect()
        }
        Last::FlatMap | Last::FlatMapIter => list.into_iter().flat_map(copies).collect(),
        Last::MapInit | Last::MapWith => list.into_iter().map(op::map).collect(),
        Last::FilterThenChain(n) => {
            let kept = list.into_iter().filter(|n| op::keep(*n));
            kept.chain(items(n)).collect()
        }
        Last::FoldThenFlatten => list.into_iter().inspect(|_| call()).collect(),
    }
}

/// The answer of the sequential reading. It calls the closures about as often as the parallel one does.
pub fn of(case: &Case) -> Answer {
    let mut list = items(case.len);
    for step in &case.steps {
        list = apply(*step, list);
    }
    let list = last(case.last, list);
    match case.terminal {
        Terminal::Collect | Terminal::CollectUnlessCancelled => Answer::List(list),
        Terminal::Sum => Answer::Number(list.iter().sum()),
        Terminal::Reduce => {
            let hashes = list.iter().map(|n| (*n, op::BASE));
            Answer::Number(hashes.fold((0, 1), op::concat).0)
        }
        Terminal::ReduceWith => Answer::Maybe(list.into_iter().max()),
        Terminal::FindFirst => Answer::Maybe(list.into_iter().find(|n| op::hit(*n))),
        Terminal::FindLast => Answer::Maybe(list.into_iter().rfind(|n| op::hit(*n))),
        Terminal::ForEach => Answer::Number(list.into_iter().map(op::map).sum()),
        Terminal::Partition => {
            let (kept, others) = list.into_iter().partition(|n| op::keep(*n));
            Answer::Lists(kept, others)
        }
        Terminal::TryReduce => Answer::Maybe(if list.iter().any(|n| op::hit(*n)) {
            None
        } else {
            Some(list.iter().sum())
        }),
    }
}
