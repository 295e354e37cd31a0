//! Writing to places that are computed: `output[indices[i]] = values[i]`.
//!
//! Two writers of one place would be a data race, so somebody has to know that there are none. [`par_scatter`] checks: one bit
//! per place, set by the first writer and found set by the second. [`par_scatter_unchecked`] takes the caller's word.

use crate::engine::primitives::SyncPtr;
use crate::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use std::sync::atomic::{AtomicU64, Ordering};

/// Writes `values[i]` to `output[indices[i]]`, for all `i`, and checks that no place is written twice.
///
/// Places that no index names keep what they have.
///
/// Work: `O(n + m / 64)` for an output of `m`. Span: `O(log n)` and one piece. Allocates one bit per place.
///
/// # Panics
/// When there are not as many indices as values, when an index is out of bounds, and when two are equal. Some values may have
/// been written then.
///
/// ```
/// let mut out = ['-'; 5];
/// blitz::ops::par_scatter(&['a', 'b', 'c'], &[4, 0, 2], &mut out);
/// assert_eq!(out, ['b', '-', 'c', '-', 'a']);
/// ```
pub fn par_scatter<T>(values: &[T], indices: &[usize], output: &mut [T])
where
    T: Clone + Send + Sync,
{
    check_lengths(values.len(), indices.len());
    let taken: Vec<AtomicU64> = (0..output.len().div_ceil(64))
        .map(|_| AtomicU64::new(0))
        .collect();
    let output = SyncPtr::new(output);
    values.par_iter().zip(indices).for_each(|(value, &index)| {
        let len = output.len();
        assert!(
            index < len,
            "par_scatter: index {index} is out of bounds of an output of {len}"
        );
        let bit = 1 << (index % 64);
        // Relaxed: only the bit itself counts, it guards no other memory of the first writer's.
        let before = taken[index / 64].fetch_or(bit, Ordering::Relaxed);
        assert!(before & bit == 0, "par_scatter: index {index} occurs twice");
        let value = value.clone();
        // SAFETY: in bounds, and nobody else has got this index.
        unsafe { *output.ptr_at(index) = value };
    });
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
pub unsafe fn par_scatter_unchecked<T>(values: &[T], indices: &[usize], output: &mut [T])
where
    T: Clone + Send + Sync,
{
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
