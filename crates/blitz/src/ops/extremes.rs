//! The smallest, the largest, and the sum of products.

use super::chunks::chunks_of;
use super::pieces::pieces;
use crate::engine::operation;
use crate::iter::{IntoParallelIterator, ParallelIterator};
use std::cmp::Ordering;
use std::iter::Sum;
use std::ops::{Add, Mul, Range};

/// The smallest and the largest element in one pass. Nothing for an empty slice. Which one of several equal elements it is, is
/// not specified; [`par_min_max_by`] and [`par_argmin`] say.
///
/// Work: `O(n)`, two comparisons per element. Span: `O(log n)` and one piece.
///
/// ```
/// assert_eq!(blitz::ops::par_min_max(&[3, 1, 4, 1, 5]), Some((1, 5)));
/// assert_eq!(blitz::ops::par_min_max::<i32>(&[]), None);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_min_max<T: Ord + Copy + Send + Sync>(v: &[T]) -> Option<(T, T)> {
    let _operation = operation();
    pieces(0..v.len())
        .map(|part| min_max(&v[part]))
        .reduce_with(|a, b| (a.0.min(b.0), a.1.max(b.1)))
}

/// The slice is not empty.
fn min_max<T: Ord + Copy>(v: &[T]) -> (T, T) {
    v.iter()
        .fold((v[0], v[0]), |(low, high), x| (low.min(*x), high.max(*x)))
}

/// As [`par_min_max`], for elements that cannot be copied or have no order of their own. Gives references to them, of equal ones to
/// the first smallest and to the last largest, as `min` and `max` of the standard library have it.
///
/// ```
/// let words = ["kiwi", "fig", "banana", "nut"];
/// let by_length = blitz::ops::par_min_max_by(&words, |a, b| a.len().cmp(&b.len()));
/// assert_eq!(by_length, Some((&"fig", &"banana")));
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_min_max_by<T, F>(v: &[T], compare: F) -> Option<(&T, &T)>
where
    T: Sync,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    let _operation = operation();
    let lower = |a, b| if compare(b, a).is_lt() { b } else { a };
    let higher = |a, b| if compare(b, a).is_lt() { a } else { b };
    pieces(0..v.len())
        .map(|part| {
            let first = &v[part.start];
            let both = |(low, high), x| (lower(low, x), higher(high, x));
            v[part].iter().fold((first, first), both)
        })
        .reduce_with(|a, b| (lower(a.0, b.0), higher(a.1, b.1)))
}

/// The index of the smallest element, the first one if there are several. Nothing for an empty slice.
///
/// Work: `O(n)`. Span: `O(log n)` and one piece.
///
/// ```
/// assert_eq!(blitz::ops::par_argmin(&[3, 1, 4, 1, 5]), Some(1));
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_argmin<T: Ord + Sync>(v: &[T]) -> Option<usize> {
    let _operation = operation();
    par_argmin_by(v, T::cmp)
}

/// As [`par_argmin`], by a comparison function: for floats, `f64::total_cmp`.
///
/// ```
/// assert_eq!(blitz::ops::par_argmin_by(&[2.5, -1.0, 7.0], f64::total_cmp), Some(1));
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_argmin_by<T, F>(v: &[T], compare: F) -> Option<usize>
where
    T: Sync,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    let _operation = operation();
    // Whichever comes first stays, unless the other one is strictly smaller.
    let better = |a: usize, b: usize| if compare(&v[b], &v[a]).is_lt() { b } else { a };
    pieces(0..v.len())
        .map(|part| {
            let first = part.start;
            part.fold(first, better)
        })
        .reduce_with(better)
}

/// The index of the largest element, the first one if there are several. Nothing for an empty slice.
///
/// Work: `O(n)`. Span: `O(log n)` and one piece.
///
/// ```
/// assert_eq!(blitz::ops::par_argmax(&[3, 5, 4, 1, 5]), Some(1));
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_argmax<T: Ord + Sync>(v: &[T]) -> Option<usize> {
    let _operation = operation();
    par_argmax_by(v, T::cmp)
}

/// As [`par_argmax`], by a comparison function.
///
/// ```
/// assert_eq!(blitz::ops::par_argmax_by(&[2.5, -1.0, 7.0], f64::total_cmp), Some(2));
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_argmax_by<T, F>(v: &[T], compare: F) -> Option<usize>
where
    T: Sync,
    F: Fn(&T, &T) -> Ordering + Sync,
{
    let _operation = operation();
    par_argmin_by(v, |a, b| compare(b, a))
}

/// Elements that are multiplied and added up in one go.
const DOT_BLOCK: usize = 4096;

/// The sum of the products of corresponding elements.
///
/// The order of the additions depends on the length alone. So the result is the same to the last bit on any number of
/// threads, also for floats. It is not the one that a plain loop from left to right gets: eight sums run side by side, which
/// loses less precision, not more.
///
/// Work: `O(n)`. Span: `O(log n)` and one block of 4096 elements. Allocates one number per block, if there are several.
///
/// # Panics
/// When the slices differ in length.
///
/// ```
/// assert_eq!(blitz::ops::par_dot(&[1, 2, 3], &[4, 5, 6]), 32);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_dot<T>(a: &[T], b: &[T]) -> T
where
    T: Copy + Send + Sync + Mul<Output = T> + Add<Output = T> + Sum,
{
    let _operation = operation();
    assert_eq!(
        a.len(),
        b.len(),
        "par_dot: both slices must have the same length"
    );
    let block = |range: Range<usize>| dot(&a[range.clone()], &b[range]);
    if a.len() <= DOT_BLOCK {
        return block(0..a.len());
    }
    let sums: Vec<T> = (0..a.len().div_ceil(DOT_BLOCK))
        .into_par_iter()
        .map(|i| block(i * DOT_BLOCK..((i + 1) * DOT_BLOCK).min(a.len())))
        .collect();
    sums.into_iter().sum()
}

/// Eight sums side by side, so that no addition waits for the one before.
fn dot<T>(a: &[T], b: &[T]) -> T
where
    T: Copy + Mul<Output = T> + Add<Output = T> + Sum,
{
    const LANES: usize = 8;
    let (a_lanes, a_rest) = chunks_of::<T, LANES>(a);
    let (b_lanes, b_rest) = chunks_of::<T, LANES>(b);
    let mut sums: [T; LANES] = std::array::from_fn(|_| std::iter::empty().sum());
    for (a, b) in a_lanes.iter().zip(b_lanes) {
        for lane in 0..LANES {
            sums[lane] = sums[lane] + a[lane] * b[lane];
        }
    }
    let rest: T = a_rest.iter().zip(b_rest).map(|(a, b)| *a * *b).sum();
    sums.into_iter().sum::<T>() + rest
}
