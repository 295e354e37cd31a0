//! Writing to places that are computed: `output[indices[i]] = values[i]`.
//!
//! Two writers of one place would be a data race, so somebody has to know that there are none. [`par_scatter`] checks: first every
//! value leaves its number at its place, then it writes there only if the number is still its own. So each place has one
//! writer, and a value that finds another's number has found a place that is named twice; all this with plain loads and stores.
//! [`par_scatter_unchecked`] takes the caller's word.

use crate::engine::primitives::SyncPtr;
use crate::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Writes `values[i]` to `output[indices[i]]`, for all `i`, and checks that no place is written twice.
///
/// Places that no index names keep what they have.
///
/// Work: `O(n + m)` for an output of `m`. Span: `O(log n)` and one piece. Allocates one number per place.
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
    let len = output.len();
    let owners: Vec<AtomicUsize> = {
        let zeros = ManuallyDrop::new(vec![0usize; len]);
        // SAFETY: the same memory. Atomic and plain numbers have the same size and alignment, and the vector has one owner.
        unsafe { Vec::from_raw_parts(zeros.as_ptr().cast_mut().cast(), len, zeros.capacity()) }
    };
    // Relaxed: no other memory is published by these numbers, and the loops are joined in between.
    let numbered = indices.par_iter().enumerate();
    numbered.for_each(|(number, &index)| match owners.get(index) {
        Some(owner) => owner.store(number, Ordering::Relaxed),
        None => panic!("par_scatter: index {index} is out of bounds of an output of {len}"),
    });
    let output = SyncPtr::new(output);
    let numbered = values.par_iter().zip(indices).enumerate();
    numbered.for_each(|(number, (value, &index))| {
        let is_owner = owners[index].load(Ordering::Relaxed) == number;
        assert!(is_owner, "par_scatter: index {index} occurs twice");
        let value = value.clone();
        // SAFETY: in bounds, and owned by this value alone: nobody changes the numbers any more.
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
