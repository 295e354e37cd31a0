//! Removing repeated elements from vectors.

use crate::engine::operation;
use crate::slice::keep;

/// Removes all elements that equal the one before them; as `Vec::dedup`. Of a sorted vector, every value is left once.
///
/// Equality must be transitive: an element goes if it equals the one before it, or the last one before it that stays.
///
/// Work: `O(n)`. Span: `O(n / t)` for `t` threads, and moving what stays together. In place: allocates next to nothing, or a byte
/// per element if comparisons are dear. If they are as cheap as those of integers, memory sets the pace, and the calling thread
/// does it alone.
///
/// # Panics
/// With the panics of the comparison. Elements may be in another order then, and the vector may be empty.
///
/// ```
/// let mut v = vec![1, 1, 2, 3, 3, 1];
/// blitz::ops::par_dedup(&mut v);
/// assert_eq!(v, [1, 2, 3, 1]);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_dedup<T>(v: &mut Vec<T>)
where
    T: PartialEq + Send,
{
    let _operation = operation();
    keep::dedup(v, &|before, x| before == x);
}

/// As [`par_dedup`], for elements whose keys are equal; as `Vec::dedup_by_key`. A key is computed about twice per element.
///
/// ```
/// let mut words = vec!["fig", "nut", "pear", "plum", "kiwi", "fig"];
/// blitz::ops::par_dedup_by_key(&mut words, |word| word.len());
/// assert_eq!(words, ["fig", "pear", "fig"]);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_dedup_by_key<T, K, F>(v: &mut Vec<T>, key: F)
where
    T: Send,
    K: PartialEq,
    F: Fn(&T) -> K + Sync,
{
    let _operation = operation();
    keep::dedup(v, &|before, x| key(before) == key(x));
}
