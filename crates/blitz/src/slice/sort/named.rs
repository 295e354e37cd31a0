//! The original Blitz's names for sorting, as functions.
//!
//! Functions and not methods, because slices have methods of their own called `sort_by_key` and `sort_by_cached_key`, and
//! those would win.

use super::{
    par_sort_unstable, par_sort_unstable_by, par_sort_unstable_by_key, runs, sort_integers,
};
use crate::engine::operation;
use crate::slice::cached_key;

/// Sorts a slice from the smallest element to the largest, in parallel; equal elements may change places.
///
/// The same as [`par_sort_unstable`](crate::slice::ParallelSliceMut::par_sort_unstable), which also says what it costs.
///
/// ```
/// let mut v = [5, -3, 2];
/// blitz::slice::sort_asc(&mut v);
/// assert_eq!(v, [-3, 2, 5]);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn sort_asc<T: Ord + Send>(v: &mut [T]) {
    let _operation = operation();
    par_sort_unstable(v);
}

/// Sorts a slice from the largest element to the smallest, in parallel; equal elements may change places.
///
/// Costs what [`sort_asc`] costs.
///
/// ```
/// let mut v = [5, -3, 2];
/// blitz::slice::sort_desc(&mut v);
/// assert_eq!(v, [5, 2, -3]);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn sort_desc<T: Ord + Send>(v: &mut [T]) {
    let _operation = operation();
    if sort_integers(v) {
        runs::reverse_in_parallel(v);
    } else {
        par_sort_unstable_by(v, |a, b| b.cmp(a));
    }
}

/// Sorts a slice by a key that is computed for every comparison, in parallel; elements with equal keys may change places.
///
/// The same as [`par_sort_unstable_by_key`](crate::slice::ParallelSliceMut::par_sort_unstable_by_key).
///
/// ```
/// let mut v = [4_i32, -6, 1];
/// blitz::slice::sort_by_key(&mut v, |x| x.abs());
/// assert_eq!(v, [1, 4, -6]);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn sort_by_key<T, K, F>(v: &mut [T], key: F)
where
    T: Send,
    K: Ord,
    F: Fn(&T) -> K + Sync,
{
    let _operation = operation();
    par_sort_unstable_by_key(v, key);
}

/// Sorts a slice by a key that is computed once per element, in parallel. Stable, which the original was not.
///
/// The same as [`par_sort_by_cached_key`](crate::slice::ParallelSliceMut::par_sort_by_cached_key).
///
/// ```
/// let mut v = [10, 9, 100];
/// blitz::slice::sort_by_cached_key(&mut v, |n| n.to_string());
/// assert_eq!(v, [10, 100, 9]);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn sort_by_cached_key<T, K, F>(v: &mut [T], key: F)
where
    T: Send,
    K: Ord + Send,
    F: Fn(&T) -> K + Sync,
{
    let _operation = operation();
    cached_key::sort(v, &key);
}
