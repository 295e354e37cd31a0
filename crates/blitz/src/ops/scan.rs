//! Prefix sums with any associative operator.
//!
//! A block can be scanned only when everything before it has been summed up. So a batch of blocks takes two rounds. In the
//! first round, one thread scans the first block, while the others sum up the blocks after it. In the second round, all of these
//! and one more are scanned, starting from sums that are known now. A batch fits the caches, so memory is read once. Summing
//! is faster than scanning, because it may be vectorised and writes nothing. So the first block is made shorter by that ratio, as
//! measured in the batch before.
//!
//! Nothing is summed in vain: a thread that comes to a block when everything before it is done scans it at once. If nobody
//! helps, a scan of many batches is the plain loop. A sixteenth of the elements, or some thousands, are scanned before
//! anything is shared, which tells what an operation costs.

use super::build::{Building, Filler};
use super::chunks::chunks_of_mut;
use super::stopwatch::{Stopwatch, WORTH_HELP_NS, ticks};
use crate::engine::operation;
use crate::engine::primitives::SyncPtr;
use crate::engine::sync::locks::Mutex;
use crate::engine::{current_num_threads, demand};
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::PoisonError;

/// All prefixes of a slice: place `i` of the result holds `v[0] ∘ v[1] ∘ … ∘ v[i]`.
///
/// `op` must be associative, and need not be commutative. If it is exactly associative, the result is the same for any
/// number of threads; sums of floats may differ in their last bits.
///
/// Work: `O(n)`, at most twice the operations of the sequential scan. Span: `O(n / p + b)` for `p` threads and blocks of `b`
/// elements, some 10 microseconds of work. Allocates the result.
///
/// ```
/// assert_eq!(blitz::ops::par_scan(&[3, 1, 4, 1, 5], |a, b| a + b), [3, 4, 8, 9, 14]);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_scan<T, F>(v: &[T], op: F) -> Vec<T>
where
    T: Clone + Send + Sync,
    F: Fn(&T, &T) -> T + Sync,
{
    let _operation = operation();
    scan_anew(v, None, &op, inclusive).0
}

/// What comes before every element: place `i` of the result holds `identity ∘ v[0] ∘ … ∘ v[i - 1]`; and the sum of all.
///
/// Work, span and guarantees: as [`par_scan`].
///
/// ```
/// let lengths = [3, 0, 2];
/// let (starts, total) = blitz::ops::par_scan_exclusive(&lengths, 0, |a, b| a + b);
/// assert_eq!((starts, total), (vec![0, 3, 3], 5));
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_scan_exclusive<T, F>(v: &[T], identity: T, op: F) -> (Vec<T>, T)
where
    T: Clone + Send + Sync,
    F: Fn(&T, &T) -> T + Sync,
{
    let _operation = operation();
    let (scanned, total) = scan_anew(v, Some(identity.clone()), &op, exclusive);
    (scanned, total.unwrap_or(identity))
}

/// [`par_scan`] in place: every element becomes the sum of itself and all before it.
///
/// Work, span and guarantees: as [`par_scan`]. Allocates next to nothing.
///
/// # Panics
/// With the panics of `op`; some elements have been replaced then, others not.
///
/// ```
/// let mut v = [3, 1, 4, 1, 5];
/// blitz::ops::par_scan_in_place(&mut v, |a, b| a + b);
/// assert_eq!(v, [3, 4, 8, 9, 14]);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_scan_in_place<T, F>(v: &mut [T], op: F)
where
    T: Clone + Send + Sync,
    F: Fn(&T, &T) -> T + Sync,
{
    let _operation = operation();
    scan_in_place(v, None, &op, inclusive_in_place);
}

/// [`par_scan_exclusive`] in place: every element becomes the sum of `identity` and all before it; returns the sum of all.
///
/// Work, span and guarantees: as [`par_scan`]. Allocates next to nothing.
///
/// # Panics
/// With the panics of `op`; some elements have been replaced then, others not.
///
/// ```
/// let mut v = [3, 0, 2];
/// let total = blitz::ops::par_scan_exclusive_in_place(&mut v, 0, |a, b| a + b);
/// assert_eq!((v, total), ([0, 3, 3], 5));
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_scan_exclusive_in_place<T, F>(v: &mut [T], identity: T, op: F) -> T
where
    T: Clone + Send + Sync,
    F: Fn(&T, &T) -> T + Sync,
{
    let _operation = operation();
    scan_in_place(v, Some(identity.clone()), &op, exclusive_in_place).unwrap_or(identity)
}

/// Scans `v` into a new vector, block by block with `scan`; returns also the sum of everything, if there is anything.
fn scan_anew<T, F, S>(v: &[T], before: Option<T>, op: &F, scan: S) -> (Vec<T>, Option<T>)
where
    T: Clone + Send + Sync,
    F: Fn(&T, &T) -> T + Sync,
    S: Fn(&[T], Option<T>, &F, &mut Filler<'_, T>) -> T + Sync,
{
    let building = Building::new(v.len());
    let emit = |range: Range<usize>, before: Option<T>| {
        let fill = |filler: &mut Filler<'_, T>| scan(&v[range.clone()], before, op, filler);
        // SAFETY: a scan emits every block once.
        unsafe { building.fill(range.clone(), fill) }
    };
    let sum = |range| sum(&v[range], op);
    let total = Scan::new(v.len(), op, &sum, &emit).run(before);
    (building.finish(), total)
}

/// Scans `v` where it lies, block by block with `scan`; returns the sum of everything, if there is anything.
fn scan_in_place<T, F, S>(v: &mut [T], before: Option<T>, op: &F, scan: S) -> Option<T>
where
    T: Clone + Send + Sync,
    F: Fn(&T, &T) -> T + Sync,
    S: Fn(&mut [T], Option<T>, &F) -> T + Sync,
{
    let all = SyncPtr::new(v);
    // SAFETY: a scan hands a block to one thread at a time, and the slice is borrowed exclusively.
    let block = |range: Range<usize>| unsafe { all.slice_from(range.start, range.len()) };
    let emit = |range: Range<usize>, before: Option<T>| scan(block(range), before, op);
    let sum = |range| sum(block(range), op);
    Scan::new(all.len(), op, &sum, &emit).run(before)
}

/// Scans a block in place; returns the sum up to its end.
///
/// This and the functions below are not inlined, so that every step of a scan runs the same machine code. They are unrolled
/// by hand: a scan is a chain of short steps, and compilers do not unroll it by themselves, which doubles its time.
#[inline(never)]
fn inclusive_in_place<T: Clone>(
    block: &mut [T],
    before: Option<T>,
    op: &impl Fn(&T, &T) -> T,
) -> T {
    let (first, rest) = block.split_first_mut().expect("blocks are not empty");
    if let Some(before) = before {
        *first = op(&before, first);
    }
    let mut sum = first.clone();
    let (chunks, rest) = chunks_of_mut::<T, UNROLLED>(rest);
    for chunk in chunks {
        for x in chunk {
            sum = op(&sum, x);
            *x = sum.clone();
        }
    }
    for x in rest {
        sum = op(&sum, x);
        *x = sum.clone();
    }
    sum
}

#[inline(never)]
fn exclusive_in_place<T: Clone>(
    block: &mut [T],
    before: Option<T>,
    op: &impl Fn(&T, &T) -> T,
) -> T {
    let mut sum = before.expect("an exclusive scan begins with the identity");
    let (chunks, rest) = chunks_of_mut::<T, UNROLLED>(block);
    for chunk in chunks {
        for x in chunk {
            let next = op(&sum, x);
            *x = std::mem::replace(&mut sum, next);
        }
    }
    for x in rest {
        let next = op(&sum, x);
        *x = std::mem::replace(&mut sum, next);
    }
    sum
}

/// Scans a block into `filler`; returns the sum up to its end.
#[inline(never)]
fn inclusive<T: Clone>(
    block: &[T],
    before: Option<T>,
    op: &impl Fn(&T, &T) -> T,
    filler: &mut Filler<'_, T>,
) -> T {
    let (first, rest) = block.split_first().expect("blocks are not empty");
    let mut sum = match before {
        Some(before) => op(&before, first),
        None => first.clone(),
    };
    filler.push(sum.clone());
    filler.push_all(rest, |x| {
        sum = op(&sum, x);
        sum.clone()
    });
    sum
}

#[inline(never)]
fn exclusive<T: Clone>(
    block: &[T],
    before: Option<T>,
    op: &impl Fn(&T, &T) -> T,
    filler: &mut Filler<'_, T>,
) -> T {
    let mut sum = before.expect("an exclusive scan begins with the identity");
    filler.push_all(block, |x| {
        let next = op(&sum, x);
        std::mem::replace(&mut sum, next)
    });
    sum
}

/// The sum of a block that is not empty.
#[inline(never)]
fn sum<T: Clone>(block: &[T], op: &impl Fn(&T, &T) -> T) -> T {
    let (first, rest) = block.split_first().expect("blocks are not empty");
    rest.iter().fold(first.clone(), |sum, x| op(&sum, x))
}

/// Steps per turn of a scan's loop.
const UNROLLED: usize = 8;

/// The first block is this part of the whole, and no longer than `FIRST_BLOCK` elements; then the clock is read.
const FIRST_PART: usize = 16;
const FIRST_BLOCK: usize = 4096;

/// Nanoseconds of work that a block should have, to be worth handing over.
const BLOCK_NS: f64 = 300_000.0;

/// Bytes of a block at most, so that it stays in a cache between the rounds: the last one, which takes all blocks of a batch.
/// Shorter blocks would fit nearer caches, but batches of less than 100 microseconds lose more by the two meetings.
const BLOCK_BYTES: usize = 2 << 20;

/// A scan of `len` elements: `sum` adds up a block, `emit` scans one, given what comes before it, and returns the sum up to
/// its end. Blocks are not empty; each one is emitted once, and summed before that or not at all.
struct Scan<'a, T, F, S, E> {
    elements: PhantomData<fn(T)>,
    len: usize,
    op: &'a F,
    sum: &'a S,
    emit: &'a E,
}

/// A block on its way through the two rounds.
struct Block<T> {
    range: Range<usize>,
    state: State<T>,
}

enum State<T> {
    /// Nothing is known yet.
    New,
    /// Summed up: the sum of the block alone, and how many nanoseconds that took.
    Summed(T, f64),
    /// Ready to be scanned: what comes before.
    Ready(T),
    /// Scanned: the sum of everything up to its end.
    Scanned(T),
}

impl<'a, T, F, S, E> Scan<'a, T, F, S, E>
where
    T: Clone + Send + Sync,
    F: Fn(&T, &T) -> T + Sync,
    S: Fn(Range<usize>) -> T + Sync,
    E: Fn(Range<usize>, Option<T>) -> T + Sync,
{
    fn new(len: usize, op: &'a F, sum: &'a S, emit: &'a E) -> Self {
        Scan {
            elements: PhantomData,
            len,
            op,
            sum,
            emit,
        }
    }

    /// Returns the sum of everything, `before` included; nothing if there is nothing.
    fn run(&self, before: Option<T>) -> Option<T> {
        if self.len == 0 {
            return before;
        }
        // Two elements at least: the first one of an inclusive scan takes no operation.
        let first = (self.len / FIRST_PART).clamp(2, FIRST_BLOCK).min(self.len);
        let watch = Stopwatch::start();
        let mut done = (self.emit)(0..first, before);
        let ahead = self.len - first;
        if ahead == 0 {
            return Some(done);
        }
        let element_ns = (watch.ns() / first as f64).max(0.05);
        let is_worth_help = element_ns * ahead as f64 >= WORTH_HELP_NS;
        let threads = if is_worth_help {
            current_num_threads()
        } else {
            1
        };
        if threads < 2 {
            return Some((self.emit)(first..self.len, Some(done)));
        }

        let by_time = (BLOCK_NS / element_ns) as usize;
        let by_size = BLOCK_BYTES / size_of::<T>().max(1);
        // Dear operations: do not let one batch be all there is.
        let by_count = ahead.div_ceil(2 * (threads + 1));
        let block = by_time.min(by_size).min(by_count).max(1);
        let mut position = first;
        // What a sum costs, compared with a scan.
        let mut ratio = 0.5;
        while position < self.len {
            let lead = ((block as f64 * ratio) as usize).clamp(1, block);
            let mut batch = self.cut(position, lead, block, threads);
            position = batch.last().map_or(self.len, |block| block.range.end);
            let expected = element_ns * (self.len - position + block) as f64;
            done = self.run_batch(&mut batch, done, ticks(expected), &mut |sum_ns, len| {
                let measured = sum_ns / (len as f64 * element_ns);
                ratio = (ratio + measured.clamp(0.125, 1.0)) / 2.0;
            });
        }
        Some(done)
    }

    /// The blocks of a batch: one that is scanned while the next `threads - 1` are summed up, and one behind them.
    fn cut(&self, start: usize, lead: usize, block: usize, threads: usize) -> Vec<Block<T>> {
        let ends = (0..=threads).map(|i| (start + lead + i * block).min(self.len));
        let starts = std::iter::once(start).chain(ends.clone());
        let ranges = starts.zip(ends).map(|(start, end)| start..end);
        ranges
            .filter(|range| !range.is_empty())
            .map(|range| Block {
                range,
                state: State::New,
            })
            .collect()
    }

    /// Both rounds over one batch. Returns the sum up to its end, and reports to `measured` how long sums took.
    fn run_batch(
        &self,
        batch: &mut [Block<T>],
        before: T,
        expected_ticks: u64,
        measured: &mut impl FnMut(f64, usize),
    ) -> T {
        // The last block is only scanned: nothing in this batch comes after it.
        let all_but_last = batch.len() - 1;
        let mut known = before.clone();
        if all_but_last > 0 {
            let blocks = &mut batch[..all_but_last];
            self.first_round(blocks, Some(before), expected_ticks);
        }
        for block in batch.iter_mut() {
            block.state = match std::mem::replace(&mut block.state, State::New) {
                State::Scanned(end) => {
                    known = end.clone();
                    State::Scanned(end)
                }
                State::Summed(sum, ns) => {
                    measured(ns, block.range.len());
                    let next = (self.op)(&known, &sum);
                    State::Ready(std::mem::replace(&mut known, next))
                }
                // The last one, which knows only now what comes before it.
                State::New | State::Ready(_) => State::Ready(known.clone()),
            };
        }
        // The last block is nearest to what this thread has done; the others are in the caches of those who summed them.
        let scanned = |block: &Block<T>| matches!(block.state, State::Scanned(_));
        let first_ready = batch.partition_point(scanned);
        self.second_round(&mut batch[first_ready..], expected_ticks);
        match batch.last().map(|block| &block.state) {
            Some(State::Scanned(end)) => end.clone(),
            _ => unreachable!("the second round scans what is left"),
        }
    }

    /// Scans the blocks before which everything is known, and sums up the others. Returns the sum up to the end, if it is
    /// known.
    fn first_round(&self, blocks: &mut [Block<T>], before: Option<T>, expected: u64) -> Option<T> {
        if let [block] = blocks {
            let range = block.range.clone();
            return match before {
                Some(before) => {
                    let end = (self.emit)(range, Some(before));
                    block.state = State::Scanned(end.clone());
                    Some(end)
                }
                None => {
                    let watch = Stopwatch::start();
                    let sum = (self.sum)(range);
                    block.state = State::Summed(sum, watch.ns());
                    None
                }
            };
        }
        let (near, far) = blocks.split_at_mut(blocks.len() / 2);
        // Filled when the near half has been scanned: a far half that comes later need not be summed.
        let near_end = Mutex::new(None);
        let lock = || near_end.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, far_end) = demand::join_context_expecting(
            expected,
            |_| {
                let end = self.first_round(near, before, expected);
                *lock() = end;
            },
            |_| {
                let before = lock().take();
                self.first_round(far, before, expected)
            },
        );
        far_end
    }

    /// Scans all blocks that are ready; the right ones first, on this thread.
    fn second_round(&self, blocks: &mut [Block<T>], expected: u64) {
        match blocks {
            [] => {}
            [block] => {
                if let State::Ready(before) = &block.state {
                    let end = (self.emit)(block.range.clone(), Some(before.clone()));
                    block.state = State::Scanned(end);
                }
            }
            blocks => {
                let (left, right) = blocks.split_at_mut(blocks.len() / 2);
                demand::join_context_expecting(
                    expected,
                    |_| self.second_round(right, expected),
                    |_| self.second_round(left, expected),
                );
            }
        }
    }
}
