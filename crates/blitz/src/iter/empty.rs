//! `empty`: no items at all.

use crate::delegate::delegate_indexed;
use crate::option;
use std::fmt;

/// A parallel iterator without items.
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// assert_eq!(blitz::iter::empty::<i32>().max(), None);
/// ```
pub fn empty<T>() -> Empty<T>
where
    T: Send,
{
    Empty {
        inner: option::IntoIter::of(None),
    }
}

/// Yields nothing. Made by [`empty`].
///
/// # Examples
///
/// ```
/// use blitz::prelude::*;
/// let nothing: blitz::iter::Empty<char> = blitz::iter::empty();
/// assert_eq!(nothing.len(), 0);
/// ```
#[must_use = "parallel iterators do nothing until they are driven"]
pub struct Empty<T> {
    inner: option::IntoIter<T>,
}

impl<T> Clone for Empty<T> {
    fn clone(&self) -> Self {
        Empty {
            inner: option::IntoIter::of(None),
        }
    }
}

impl<T> fmt::Debug for Empty<T>
where
    T: Send,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("Empty")
    }
}

delegate_indexed! { impl [T: Send] Empty<T> => T }
