//! Mapping and concatenating, into memory that is there or into a new vector.

use super::build::build;
use super::pieces::for_each_part;
use crate::engine::demand;
use crate::engine::operation;
use crate::iter::{
    IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator,
    IntoParallelRefMutIterator, ParallelIterator,
};
use std::ops::Range;

/// The vector `[f(0), f(1), …, f(n - 1)]`.
///
/// Work: `O(n)` calls. Span: `O(log n)` and one piece.
///
/// ```
/// assert_eq!(blitz::ops::par_tabulate(5, |i| i * i), [0, 1, 4, 9, 16]);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_tabulate<T, F>(n: usize, f: F) -> Vec<T>
where
    T: Send,
    F: Fn(usize) -> T + Sync + Send,
{
    let _operation = operation();
    (0..n).into_par_iter().map(f).collect()
}

/// Maps every element of `input` to the element of `output` at the same place.
///
/// Work: `O(n)` calls. Span: `O(log n)` and one piece. Allocates nothing.
///
/// # Panics
/// When the slices differ in length, and with the panics of `map`.
///
/// ```
/// let mut lengths = [0; 3];
/// blitz::ops::par_collect_into(&["a", "bcd", ""], &mut lengths, |word| word.len());
/// assert_eq!(lengths, [1, 3, 0]);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_collect_into<T, U, F>(input: &[T], output: &mut [U], map: F)
where
    T: Sync,
    U: Send,
    F: Fn(&T) -> U + Sync,
{
    let _operation = operation();
    assert_eq!(
        input.len(),
        output.len(),
        "par_collect_into: input and output must have the same length"
    );
    let pairs = output.par_iter_mut().zip(input);
    pairs
        .with_min_len(demand::grain())
        .for_each(|(target, source)| *target = map(source));
}

/// Replaces every element by what `map` makes of it.
///
/// Work: `O(n)` calls. Span: `O(log n)` and one piece. Allocates nothing.
///
/// ```
/// let mut v = [1, 2, 3];
/// blitz::ops::par_map_in_place(&mut v, |x| x * 10);
/// assert_eq!(v, [10, 20, 30]);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_map_in_place<T, F>(v: &mut [T], map: F)
where
    T: Send,
    F: Fn(&T) -> T + Sync,
{
    let _operation = operation();
    let elements = v.par_iter_mut().with_min_len(demand::grain());
    elements.for_each(|x| *x = map(x));
}

/// Where each of some consecutive pieces starts, and where the last one ends: the sums of the lengths before each.
///
/// Sequential: there are rarely many pieces, and adding is faster than sharing. For long lists of lengths, use
/// [`par_scan_exclusive`](super::par_scan_exclusive).
///
/// ```
/// assert_eq!(blitz::ops::offsets([3, 0, 2]), [0, 3, 3, 5]);
/// ```
///
/// # Panics
/// When the sum overflows.
pub fn offsets(lengths: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let mut end = 0_usize;
    let mut offsets = vec![0];
    offsets.extend(lengths.into_iter().map(|len| {
        end = end
            .checked_add(len)
            .expect("the lengths add up to more than the address space");
        end
    }));
    offsets
}

/// All elements of all slices, one after the other.
///
/// The work is shared by elements, not by slices: one long slice among many short ones is copied by all threads.
///
/// Work: `O(n + s)` for `s` slices. Span: `O(s + log n)` and one piece.
///
/// ```
/// assert_eq!(blitz::ops::par_flatten(&[vec![1, 2], vec![], vec![3]]), [1, 2, 3]);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_flatten<S, T>(slices: &[S]) -> Vec<T>
where
    S: AsRef<[T]> + Sync,
    T: Copy + Send + Sync,
{
    let _operation = operation();
    let offsets = offsets(slices.iter().map(|slice| slice.as_ref().len()));
    build(offsets[slices.len()], |range, filler| {
        for_each_overlap(slices, &offsets, range, |part| filler.push_copies(part));
    })
}

/// Copies all elements of all slices to `output`, one after the other, and returns the [`offsets`] of the slices in it: slice `i` is at
/// `output[offsets[i]..offsets[i + 1]]`.
///
/// Work: `O(n + s)` for `s` slices. Span: `O(s + log n)` and one piece.
///
/// # Panics
/// When `output` is not exactly as long as all slices together.
///
/// ```
/// let mut all = [0; 3];
/// assert_eq!(blitz::ops::par_flatten_into(&[vec![1, 2], vec![], vec![3]], &mut all), [0, 2, 2, 3]);
/// assert_eq!(all, [1, 2, 3]);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_flatten_into<S, T>(slices: &[S], output: &mut [T]) -> Vec<usize>
where
    S: AsRef<[T]> + Sync,
    T: Copy + Send + Sync,
{
    let _operation = operation();
    let offsets = offsets(slices.iter().map(|slice| slice.as_ref().len()));
    assert_eq!(
        offsets[slices.len()],
        output.len(),
        "par_flatten_into: the output must be as long as all slices together"
    );
    for_each_part(output, |start, mut rest| {
        let range = start..start + rest.len();
        for_each_overlap(slices, &offsets, range, |part| {
            let (target, after) = std::mem::take(&mut rest).split_at_mut(part.len());
            target.copy_from_slice(part);
            rest = after;
        });
    });
    offsets
}

/// Calls `body` with the parts of the slices that cover `range` of their concatenation, in order.
fn for_each_overlap<'a, S, T, F>(
    slices: &'a [S],
    offsets: &[usize],
    range: Range<usize>,
    mut body: F,
) where
    S: AsRef<[T]>,
    T: 'a,
    F: FnMut(&'a [T]),
{
    let mut number = offsets.partition_point(|start| *start <= range.start) - 1;
    let mut position = range.start;
    while position < range.end {
        let slice = slices[number].as_ref();
        let from = position - offsets[number];
        let to = slice.len().min(range.end - offsets[number]);
        if from < to {
            body(&slice[from..to]);
            position += to - from;
        }
        number += 1;
    }
}

/// The elements at the given positions.
///
/// Work: `O(n)` copies at random. Span: `O(log n)` and one piece.
///
/// # Panics
/// When a position is out of bounds.
///
/// ```
/// assert_eq!(blitz::ops::par_gather(&['a', 'b', 'c'], &[2, 0, 0]), ['c', 'a', 'a']);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_gather<T>(values: &[T], indices: &[usize]) -> Vec<T>
where
    T: Clone + Send + Sync,
{
    let _operation = operation();
    indices.par_iter().map(|i| values[*i].clone()).collect()
}
