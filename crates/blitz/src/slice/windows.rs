//! Overlapping windows of a slice.
//!
//! Window `i` covers the elements `i .. i + size`. A split at window `k` therefore keeps `k + size - 1` elements on the left
//! and starts the right part at element `k`: the parts share `size - 1` elements, which is sound because windows only read.

use crate::delegate::indexed_source;
use crate::iter::plumbing::{Folder, Producer};

/// Parallel iterator over overlapping windows as slices. Made by [`par_windows`](super::ParallelSlice::par_windows).
///
/// ```
/// use blitz::prelude::*;
///
/// let altitude = [120, 180, 150, 210];
/// let climbs = altitude.par_windows(2).filter(|step| step[1] > step[0]).count();
/// assert_eq!(climbs, 2);
/// ```
#[derive(Debug)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct Windows<'data, T> {
    window_size: usize,
    slice: &'data [T],
}

/// Parallel iterator over overlapping windows as arrays. Made by
/// [`par_array_windows`](super::ParallelSlice::par_array_windows).
///
/// ```
/// use blitz::prelude::*;
///
/// let altitude = [120, 180, 150, 210];
/// let climbs = altitude.par_array_windows().filter(|[before, after]| after > before).count();
/// assert_eq!(climbs, 2);
/// ```
#[derive(Debug)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct ArrayWindows<'data, T: Sync, const N: usize> {
    slice: &'data [T],
}

impl<'data, T> Windows<'data, T> {
    /// `window_size` is at least 1: the public method has checked it.
    pub(super) fn new(window_size: usize, slice: &'data [T]) -> Self {
        Windows { window_size, slice }
    }
}

impl<'data, T: Sync, const N: usize> ArrayWindows<'data, T, N> {
    /// `N` is at least 1: the public method has checked it.
    pub(super) fn new(slice: &'data [T]) -> Self {
        ArrayWindows { slice }
    }
}

// By hand: a derive would ask for `T: Clone`, although only references are copied.
impl<T> Clone for Windows<'_, T> {
    fn clone(&self) -> Self {
        Windows { ..*self }
    }
}

impl<T: Sync, const N: usize> Clone for ArrayWindows<'_, T, N> {
    fn clone(&self) -> Self {
        ArrayWindows { slice: self.slice }
    }
}

indexed_source! {
    impl ['data, T: Sync] Windows<'data, T> => &'data [T];
    fn len(self) { self.slice.len().saturating_sub(self.window_size - 1) }
    fn with_producer(self, callback) {
        callback.callback(WindowsProducer { window_size: self.window_size, slice: self.slice })
    }
}

indexed_source! {
    impl ['data, T: Sync, const N: usize] ArrayWindows<'data, T, N> => &'data [T; N];
    fn len(self) { self.slice.len().saturating_sub(N - 1) }
    fn with_producer(self, callback) {
        callback.callback(ArrayWindowsProducer { slice: self.slice })
    }
}

/// The elements under the first `index` windows, and the elements under the rest.
///
/// With fewer elements than one window there is nothing to produce, `index` is 0, and the left part is cut short.
#[inline]
fn split_windows<T>(slice: &[T], window_size: usize, index: usize) -> (&[T], &[T]) {
    let left_end = index.saturating_add(window_size - 1).min(slice.len());
    (&slice[..left_end], &slice[index..])
}

struct WindowsProducer<'data, T> {
    window_size: usize,
    slice: &'data [T],
}

impl<'data, T: Sync> Producer for WindowsProducer<'data, T> {
    type Item = &'data [T];
    type IntoIter = std::slice::Windows<'data, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.slice.windows(self.window_size)
    }

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self) {
        let window_size = self.window_size;
        let (left, right) = split_windows(self.slice, window_size, index);
        let part = |slice| WindowsProducer { window_size, slice };
        (part(left), part(right))
    }

    fn fold_with<F: Folder<&'data [T]>>(self, folder: F) -> F {
        // Nearly all windows are this small. With a size the compiler knows, the closure's `window[1]` needs no bounds check
        // and the loop vectorises, as in sequential code, where the size is a literal nearby.
        match self.window_size {
            2 => folder.consume_iter(ArrayWindowsIter::new(self.slice).map(<[T; 2]>::as_slice)),
            3 => folder.consume_iter(ArrayWindowsIter::new(self.slice).map(<[T; 3]>::as_slice)),
            _ => folder.consume_iter(self.into_iter()),
        }
    }
}

struct ArrayWindowsProducer<'data, T, const N: usize> {
    slice: &'data [T],
}

impl<'data, T: Sync, const N: usize> Producer for ArrayWindowsProducer<'data, T, N> {
    type Item = &'data [T; N];
    type IntoIter = ArrayWindowsIter<'data, T, N>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        ArrayWindowsIter::new(self.slice)
    }

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self) {
        let (left, right) = split_windows(self.slice, N, index);
        let part = |slice| ArrayWindowsProducer { slice };
        (part(left), part(right))
    }
}

/// Windows of a length that the compiler knows, one after the other. The standard library has them since Rust 1.94.
#[derive(Debug)]
pub(super) struct ArrayWindowsIter<'data, T, const N: usize> {
    /// From the first element of the next window to the last one of the last.
    unseen: &'data [T],
}

impl<'data, T, const N: usize> ArrayWindowsIter<'data, T, N> {
    /// `N` is at least 1.
    #[inline]
    pub(super) fn new(slice: &'data [T]) -> Self {
        ArrayWindowsIter { unseen: slice }
    }
}

impl<'data, T, const N: usize> Iterator for ArrayWindowsIter<'data, T, N> {
    type Item = &'data [T; N];

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let window = self.unseen.first_chunk()?;
        self.unseen = &self.unseen[1..];
        Some(window)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let windows = self.unseen.len().saturating_sub(N - 1);
        (windows, Some(windows))
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<Self::Item> {
        self.unseen = self.unseen.get(n..).unwrap_or_default();
        self.next()
    }
}

impl<T, const N: usize> DoubleEndedIterator for ArrayWindowsIter<'_, T, N> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        let window = self.unseen.last_chunk()?;
        self.unseen = &self.unseen[..self.unseen.len() - 1];
        Some(window)
    }

    #[inline]
    fn nth_back(&mut self, n: usize) -> Option<Self::Item> {
        let kept = self.unseen.len().saturating_sub(n);
        self.unseen = &self.unseen[..kept];
        self.next_back()
    }
}

impl<T, const N: usize> ExactSizeIterator for ArrayWindowsIter<'_, T, N> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn array_windows_are_windows_from_either_end() {
        let v = [1, 2, 3, 4, 5, 6];
        for len in 0..v.len() {
            let (ours, theirs) = (
                || ArrayWindowsIter::<_, 3>::new(&v[..len]),
                || v[..len].windows(3),
            );
            assert_eq!(ours().len(), theirs().len());
            assert!(ours().map(|w| &w[..]).eq(theirs()));
            assert!(ours().rev().map(|w| &w[..]).eq(theirs().rev()));
            for n in 0..=len {
                assert_eq!(ours().nth(n).map(|w| &w[..]), theirs().nth(n));
                assert_eq!(ours().nth_back(n).map(|w| &w[..]), theirs().nth_back(n));
                assert!(ours().skip(n).map(|w| &w[..]).eq(theirs().skip(n)));
            }
        }
    }
}
