//! Writing to places that are computed: `output[indices[i]] = values[i]`.
//!
//! Two writers of one place would be a data race, so it must be known that there are none. [`par_scatter`] checks before it
//! writes. Every thread that takes part marks its places in a bitmap of its own, and no bit may be set twice, neither in one
//! bitmap nor in two. [`par_scatter_unchecked`] trusts the caller.

use super::pieces::pieces_of_at_least;
use crate::engine::operation;
use crate::engine::primitives::SyncPtr;
use crate::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

/// Writes `values[i]` to `output[indices[i]]`, for all `i`, and checks that no place is written twice.
///
/// Places that no index names keep what they have.
///
/// Work: `O(n + tm / 64)` for `t` threads and an output of `m`. Span: `O(log n + m / 64)` and one piece. Allocates one bit per place
/// and thread.
///
/// # Panics
/// When there are not as many indices as values, when an index is out of bounds, and when two are equal. Nothing has been
/// written then.
///
/// ```
/// let mut out = ['-'; 5];
/// blitz::ops::par_scatter(&['a', 'b', 'c'], &[4, 0, 2], &mut out);
/// assert_eq!(out, ['b', '-', 'c', '-', 'a']);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_scatter<T>(values: &[T], indices: &[usize], output: &mut [T])
where
    T: Clone + Send + Sync,
{
    let _operation = operation();
    check_lengths(values.len(), indices.len());
    check_indices(indices, output.len());
    // SAFETY: all indices are in bounds, and each occurs once.
    unsafe { par_scatter_unchecked(values, indices, output) };
}

/// A bitmap of so many words needs no allocation, and marking what it has room for takes less time than to tell somebody.
const FEW_WORDS: usize = 64;

/// # Panics
/// When an index is not below `len`, or occurs twice.
// Compiled where it is used, as loops are: nearly nobody would need it with this crate.
#[inline]
fn check_indices(indices: &[usize], len: usize) {
    let words = len.div_ceil(64);
    if words <= FEW_WORDS && indices.len() <= 64 * FEW_WORDS {
        return mark(indices, &mut [0; FEW_WORDS][..words], len);
    }
    // No piece is shorter than the bitmap it may have to make.
    let bitmaps = pieces_of_at_least(0..indices.len(), words).fold(
        || vec![0u64; words],
        |mut taken, part| {
            mark(&indices[part], &mut taken, len);
            taken
        },
    );
    bitmaps.reduce_with(|mut left, right| {
        for (number, (left, right)) in left.iter_mut().zip(right).enumerate() {
            let both = *left & right;
            if both != 0 {
                twice(64 * number + both.trailing_zeros() as usize);
            }
            *left |= right;
        }
        left
    });
}

/// Sets the bits of these indices, each of which must be below `len` and not be set.
#[inline(never)]
fn mark(indices: &[usize], taken: &mut [u64], len: usize) {
    for &index in indices {
        assert!(
            index < len,
            "par_scatter: index {index} is out of bounds of an output of {len}"
        );
        let (word, bit) = (&mut taken[index / 64], 1 << (index % 64));
        if *word & bit != 0 {
            twice(index);
        }
        *word |= bit;
    }
}

#[cold]
fn twice(index: usize) -> ! {
    panic!("par_scatter: index {index} occurs twice");
}

/// Writes `values[i]` to `output[indices[i]]`, for all `i`, without checking anything but lengths.
///
/// Work: `O(n)`. Span: `O(log n)` and one piece. Allocates nothing.
///
/// # Safety
/// All indices are below the length of the output, and no two are equal.
///
/// # Panics
/// When there are not as many indices as values.
///
/// ```
/// let mut out = [0; 3];
/// // SAFETY: the indices are 0, 1 and 2, each of them once.
/// unsafe { blitz::ops::par_scatter_unchecked(&[7, 8, 9], &[1, 2, 0], &mut out) };
/// assert_eq!(out, [9, 7, 8]);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub unsafe fn par_scatter_unchecked<T>(values: &[T], indices: &[usize], output: &mut [T])
where
    T: Clone + Send + Sync,
{
    let _operation = operation();
    check_lengths(values.len(), indices.len());
    let output = SyncPtr::new(output);
    values.par_iter().zip(indices).for_each(|(value, &index)| {
        let value = value.clone();
        // SAFETY: in bounds, and named by no other index, as the caller promises.
        unsafe { *output.ptr_at(index) = value };
    });
}

fn check_lengths(values: usize, indices: usize) {
    assert_eq!(
        values, indices,
        "par_scatter: there must be one index per value"
    );
}
