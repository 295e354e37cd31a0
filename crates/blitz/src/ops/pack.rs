//! Keeping some of the elements, in order.
//!
//! [`par_pack`] counts what is kept in every block first, so that each block knows where its elements go and writes them there
//! at once. The loop over a block writes every element and moves on only if it is kept: no branch depends on the flags.

use super::build::Building;
use super::collect::offsets;
use super::pieces::loop_pieces;
use crate::engine::operation;
use crate::iter::{IntoParallelIterator, ParallelIterator};
use std::ops::Range;

/// Elements per block: long enough to make its start's eight bytes negligible, short enough for the first cache.
pub(crate) const BLOCK: usize = 4096;

/// Where the kept elements of every block of flags start, and where they end. Compiled where it is used, as loops are: nearly nobody would need it with this crate.
#[inline]
pub(crate) fn block_starts(keep: &[bool]) -> Vec<usize> {
    let counts: Vec<usize> = (0..keep.len().div_ceil(BLOCK))
        .into_par_iter()
        .map(|i| count(&keep[block(i, keep.len())]))
        .collect();
    offsets(counts)
}

/// The elements of block `i`.
pub(crate) fn block(i: usize, len: usize) -> Range<usize> {
    i * BLOCK..((i + 1) * BLOCK).min(len)
}

/// How many flags are set.
fn count(keep: &[bool]) -> usize {
    // At most 128 per byte-wide lane, so that counting needs no wide numbers.
    keep.chunks(128)
        .map(|flags| usize::from(flags.iter().fold(0u8, |sum, flag| sum + u8::from(*flag))))
        .sum()
}

/// The elements whose flag is set, in order.
///
/// Work: `O(n)`. Span: `O(n / 4096 + log n)` and one piece. Allocates the result, and one number per 4096 elements.
///
/// # Panics
/// When there are not as many flags as elements.
///
/// ```
/// let kept = blitz::ops::par_pack(&['a', 'b', 'c', 'd'], &[true, false, false, true]);
/// assert_eq!(kept, ['a', 'd']);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_pack<T>(v: &[T], keep: &[bool]) -> Vec<T>
where
    T: Copy + Send + Sync,
{
    let _operation = operation();
    assert_eq!(
        v.len(),
        keep.len(),
        "par_pack: there must be one flag per element"
    );
    let starts = block_starts(keep);
    let building = Building::new(starts[starts.len() - 1]);
    (0..starts.len() - 1).into_par_iter().for_each(|i| {
        let range = block(i, v.len());
        // SAFETY: the starts grow from block to block, so no two blocks share a place.
        unsafe {
            building.fill(starts[i]..starts[i + 1], |filler| {
                filler.push_where(&v[range.clone()], &keep[range]);
            });
        }
    });
    building.finish()
}

/// The indices for which `predicate` holds, in order.
///
/// Work: `O(n)`, one call per index. Span: `O(k + log n)` for `k` results, and one piece.
///
/// ```
/// let v = [3, 8, 1, 9];
/// assert_eq!(blitz::ops::par_filter_index(0..v.len(), |i| v[i] > 5), [1, 3]);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_filter_index<F>(range: Range<usize>, predicate: F) -> Vec<usize>
where
    F: Fn(usize) -> bool + Sync + Send,
{
    let _operation = operation();
    let kept = loop_pieces(range).fold(Vec::new, |mut kept, part| {
        kept.extend(part.filter(|i| predicate(*i)));
        kept
    });
    // There are as many vectors as threads that helped.
    kept.reduce(Vec::new, |mut left, mut right| {
        if left.is_empty() {
            return right;
        }
        left.append(&mut right);
        left
    })
}
