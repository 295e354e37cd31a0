//! Transposing a matrix that lies in a slice, row by row.
//!
//! The output is split into bands of whole rows. A band is filled tile by tile. The rows of a tile are read along in the input, and
//! written along in the output. Both fit the first cache together, so every cache line is fetched once.

use super::pieces::{pieces, pieces_of_at_least};
use crate::engine::operation;
use crate::engine::primitives::SyncPtr;
use crate::iter::ParallelIterator;
use crate::slice::sort::raw::welcome_huge_pages;
use std::mem::MaybeUninit;
use std::ptr;

/// Bytes of a tile's row: a few lines of memory.
const TILE_BYTES: usize = 128;

/// The transposed matrix: `rows` rows of `columns` elements become `columns` rows of `rows` elements.
///
/// Work: `O(n)`. Span: `O(log n)` and one band of a few output rows. Allocates the result.
///
/// # Panics
/// When `v` does not have exactly `rows * columns` elements.
///
/// ```
/// let matrix = [1, 2, 3,
///               4, 5, 6];
/// assert_eq!(blitz::ops::par_transpose(&matrix, 2, 3), [1, 4, 2, 5, 3, 6]);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_transpose<T>(v: &[T], rows: usize, columns: usize) -> Vec<T>
where
    T: Copy + Send + Sync,
{
    let _operation = operation();
    let mut output = Vec::with_capacity(v.len());
    welcome_huge_pages(&mut output);
    transpose(
        v,
        rows,
        columns,
        &mut output.spare_capacity_mut()[..v.len()],
    );
    // SAFETY: `transpose` has written all elements, as many as the input has.
    unsafe { output.set_len(v.len()) };
    output
}

/// As [`par_transpose`], into memory that is there.
///
/// # Panics
/// When `v` or `output` do not have exactly `rows * columns` elements.
///
/// ```
/// let mut output = [0; 4];
/// blitz::ops::par_transpose_into(&[1, 2, 3, 4], 2, 2, &mut output);
/// assert_eq!(output, [1, 3, 2, 4]);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_transpose_into<T>(v: &[T], rows: usize, columns: usize, output: &mut [T])
where
    T: Copy + Send + Sync,
{
    let _operation = operation();
    // SAFETY: the same elements, and `transpose` only writes initialised ones to them.
    let target = unsafe { &mut *(std::ptr::from_mut(output) as *mut [MaybeUninit<T>]) };
    transpose(v, rows, columns, target);
}

/// Writes every element of `output`, or panics.
fn transpose<T>(v: &[T], rows: usize, columns: usize, output: &mut [MaybeUninit<T>])
where
    T: Copy + Send + Sync,
{
    let elements = rows.checked_mul(columns);
    assert!(
        elements == Some(v.len()),
        "par_transpose: {rows} rows of {columns} columns are not the {} elements given",
        v.len()
    );
    assert_eq!(
        v.len(),
        output.len(),
        "par_transpose: the output must be as long as the input"
    );
    if v.is_empty() {
        return;
    }
    let tile = (TILE_BYTES / size_of::<T>().max(1)).clamp(4, 64);
    let output = SyncPtr::new(output);
    // A single row or column stays as it is.
    if rows == 1 || columns == 1 {
        return pieces(0..v.len()).for_each(|part| {
            // SAFETY: pieces are disjoint parts of both slices.
            let target = unsafe { output.slice_from(part.start, part.len()) };
            let source = &v[part];
            // SAFETY: they are equally long, and no slice overlaps memory that only we write to.
            unsafe {
                ptr::copy_nonoverlapping(source.as_ptr(), target.as_mut_ptr().cast(), source.len());
            }
        });
    }
    pieces_of_at_least(0..columns, tile).for_each(|band| {
        for left in band.clone().step_by(tile) {
            let right = (left + tile).min(band.end);
            for top in (0..rows).step_by(tile) {
                let bottom = (top + tile).min(rows);
                for column in left..right {
                    // SAFETY: part of output row `column`, which belongs to this band alone.
                    let target = unsafe { output.slice_from(column * rows + top, bottom - top) };
                    for (row, target) in (top..bottom).zip(target) {
                        target.write(v[row * columns + column]);
                    }
                }
            }
        }
    });
}
