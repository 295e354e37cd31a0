//! `once`: exactly one item.

use crate::delegate::delegate_indexed;
use crate::option;

/// A parallel iterator over one item.
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let line: Vec<i32> = blitz::iter::once(0).chain(5..8).collect();
/// assert_eq!(line, [0, 5, 6, 7]);
/// ```
pub fn once<T>(item: T) -> Once<T>
where
    T: Send,
{
    Once {
        inner: option::IntoIter::of(Some(item)),
    }
}

/// Yields one item. Made by [`once`].
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let single: blitz::iter::Once<char> = blitz::iter::once('!');
/// assert_eq!(single.count(), 1);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
#[derive(Clone, Debug)]
pub struct Once<T> {
    inner: option::IntoIter<T>,
}

delegate_indexed! { impl [T: Send] Once<T> => T }
