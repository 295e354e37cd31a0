//! Reductions: many values to one, in order.

use super::pieces::{halve, loop_pieces};
use crate::engine::demand;
use crate::engine::operation;
use crate::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use std::ops::Range;

/// Maps every index to a value and combines all values, in the order of the indices.
///
/// `combine` must be associative, and need not be commutative. `identity` makes the value that changes nothing; it is called once per
/// part that some thread works on. Which parts there are depends on who helps, so a sum of floats may differ in its last bits from
/// run to run; [`par_reduce_with_grain`] always adds in the same order.
///
/// Work: `O(n)` maps and combinations. Span: `O(log n)` and one piece.
///
/// ```
/// let sum_of_squares = blitz::ops::par_reduce(0..1000, || 0, |i| i * i, |a, b| a + b);
/// assert_eq!(sum_of_squares, 332_833_500);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_reduce<T, I, M, C>(range: Range<usize>, identity: I, map: M, combine: C) -> T
where
    T: Send,
    I: Fn() -> T + Sync + Send,
    M: Fn(usize) -> T + Sync + Send,
    C: Fn(T, T) -> T + Sync + Send,
{
    let _operation = operation();
    let indices = range.into_par_iter().with_min_len(demand::grain());
    indices.map(map).reduce(identity, combine)
}

/// Maps whole sub-ranges to values and combines these, in order.
///
/// The body can run the tightest loop there is over its sub-range, which is never empty.
///
/// Work: that of the bodies. Span: `O(log n)` and one piece.
///
/// ```
/// let v: Vec<u64> = (0..10_000).collect();
/// let sum = blitz::ops::par_reduce_chunked(0..v.len(), || 0, |part| v[part].iter().sum::<u64>(), |a, b| a + b);
/// assert_eq!(sum, 49_995_000);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_reduce_chunked<T, I, M, C>(range: Range<usize>, identity: I, map: M, combine: C) -> T
where
    T: Send,
    I: Fn() -> T + Sync + Send,
    M: Fn(Range<usize>) -> T + Sync + Send,
    C: Fn(T, T) -> T + Sync + Send,
{
    let _operation = operation();
    loop_pieces(range).map(map).reduce(identity, combine)
}

/// As [`par_reduce_chunked`], over pieces of at most `grain` indices, which are made by halving.
///
/// The pieces and the order of combinations are the same on any number of threads. So is the result, to the last bit.
///
/// Work: that of the bodies and `n / grain` forks. Span: `O(log n)` and one piece.
///
/// ```
/// let sum = |part: std::ops::Range<usize>| part.map(|i| 1.0 / (i + 1) as f64).sum::<f64>();
/// let one = blitz::ops::par_reduce_with_grain(0..100_000, 1000, || 0.0, sum, |a, b| a + b);
/// let two = blitz::ops::par_reduce_with_grain(0..100_000, 1000, || 0.0, sum, |a, b| a + b);
/// assert_eq!(one.to_bits(), two.to_bits());
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_reduce_with_grain<T, I, M, C>(
    range: Range<usize>,
    grain: usize,
    identity: I,
    map: M,
    combine: C,
) -> T
where
    T: Send,
    I: Fn() -> T + Sync + Send,
    M: Fn(Range<usize>) -> T + Sync + Send,
    C: Fn(T, T) -> T + Sync + Send,
{
    let _operation = operation();
    if range.is_empty() {
        return identity();
    }
    halve(range, grain, &map, &combine)
}
