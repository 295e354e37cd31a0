//! Cuts that cost more than the items between them: whoever cuts a loop has to see that, or it ends in pieces of one item each.
//!
//! The cuts are counted, not timed. A thread that loses its CPU inside of an item takes that one for dear, and cuts more often for a while: what counts is the run in the middle.

use blitz::ThreadPoolBuilder;
use blitz::iter::plumbing::{Consumer, Producer, ProducerCallback, UnindexedConsumer, bridge};
use blitz::prelude::*;
use std::hint::black_box;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

const ITEMS: u64 = 20_000;
/// With pieces of a few hundred microseconds, there are tens of them; with one item each, there are as many as items.
const MANY: usize = ITEMS as usize / 8;

/// A cut at that place.
fn cut(range: Range<u64>, at: u64, cuts: &AtomicUsize) -> (Range<u64>, Range<u64>) {
    cuts.fetch_add(1, Relaxed);
    let start = Instant::now();
    while start.elapsed() < Duration::from_micros(5) {}
    (range.start..at, at..range.end)
}

fn item(number: u64) -> u64 {
    (0..10).fold(number, |number, _| black_box(number.wrapping_mul(3)))
}

/// Runs it again and again on two threads.
fn assert_few_cuts(run: impl Fn(&AtomicUsize) -> u64 + Sync) {
    let expected = (0..ITEMS).map(item).fold(0, u64::wrapping_add);
    let pool = ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let mut cuts = [0; 15].map(|_: usize| {
        let cuts = AtomicUsize::new(0);
        assert_eq!(pool.install(|| run(&cuts)), expected);
        cuts.into_inner()
    });
    cuts.sort_unstable();
    assert!(cuts[cuts.len() / 2] < MANY, "{cuts:?}");
}

#[test]
fn a_split_that_takes_long_is_made_seldom() {
    assert_few_cuts(|cuts| {
        let halves = |range: Range<u64>| {
            if range.end - range.start < 2 {
                return (range, None);
            }
            let middle = range.start.midpoint(range.end);
            let (left, right) = cut(range, middle, cuts);
            (left, Some(right))
        };
        blitz::iter::split(0..ITEMS, halves)
            .map(|range| range.map(item).fold(0, u64::wrapping_add))
            .reduce(|| 0, u64::wrapping_add)
    });
}

/// Numbers whose producer is slow to split.
struct Numbers<'a>(Range<u64>, &'a AtomicUsize);

impl Producer for Numbers<'_> {
    type Item = u64;
    type IntoIter = std::vec::IntoIter<u64>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.collect::<Vec<_>>().into_iter()
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        let at = self.0.start + index as u64;
        let (left, right) = cut(self.0, at, self.1);
        (Numbers(left, self.1), Numbers(right, self.1))
    }
}

impl ParallelIterator for Numbers<'_> {
    type Item = u64;

    fn drive_unindexed<C: UnindexedConsumer<u64>>(self, consumer: C) -> C::Result {
        bridge(self, consumer)
    }
}

impl IndexedParallelIterator for Numbers<'_> {
    fn len(&self) -> usize {
        (self.0.end - self.0.start) as usize
    }

    fn drive<C: Consumer<u64>>(self, consumer: C) -> C::Result {
        bridge(self, consumer)
    }

    fn with_producer<CB: ProducerCallback<u64>>(self, callback: CB) -> CB::Output {
        callback.callback(self)
    }
}

#[test]
fn a_producer_that_is_slow_to_split_is_split_seldom() {
    assert_few_cuts(|cuts| {
        Numbers(0..ITEMS, cuts)
            .map(item)
            .reduce(|| 0, u64::wrapping_add)
    });
}
