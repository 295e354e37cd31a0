//! Loops and reductions whose bodies may fail, with a say in what happens then.

use super::pieces::loop_pieces;
use crate::engine::demand;
use crate::engine::operation;
use crate::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use std::ops::Range;

/// What a fallible loop does when a body returns an error.
///
/// ```
/// use blitz::ops::{OnError, try_par_for};
///
/// let odd = |mut part: std::ops::Range<usize>| part.find(|i| i % 2 == 1).map_or(Ok(()), Err);
/// // Always the same error: that of the first part.
/// assert_eq!(try_par_for(0..1000, OnError::RunAll, odd), Err(1));
/// // Some error, as soon as there is one.
/// assert!(try_par_for(0..1000, OnError::StopEarly, odd).is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OnError {
    /// Begin nothing new. Which error is returned, if several bodies fail at about the same time, is not determined; a body that was
    /// never run cannot report anything.
    StopEarly,
    /// Run everything all the same, and return the error of the lowest index: always the same one.
    RunAll,
}

/// Runs `body` on sub-ranges that together cover `range`, until one fails or to the end, as `on_error` says.
///
/// With [`OnError::RunAll`] every index is covered by a call of the body; the error of the leftmost failing sub-range is returned.
/// The body never sees an empty range.
///
/// Work: that of the bodies. Span: `O(log n)` cuts and the longest piece.
///
/// # Errors
/// With the error of a body.
///
/// ```
/// use blitz::ops::{OnError, try_par_for};
///
/// let even_below = |limit: usize| {
///     try_par_for(0..limit, OnError::RunAll, |mut part| match part.find(|i| *i == 700 || *i == 900) {
///         Some(bad) => Err(bad),
///         None => Ok(()),
///     })
/// };
/// assert_eq!(even_below(500), Ok(()));
/// assert_eq!(even_below(1000), Err(700));
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn try_par_for<E, F>(range: Range<usize>, on_error: OnError, body: F) -> Result<(), E>
where
    E: Send,
    F: Fn(Range<usize>) -> Result<(), E> + Sync + Send,
{
    let _operation = operation();
    match on_error {
        OnError::StopEarly => loop_pieces(range).try_for_each(body),
        OnError::RunAll => loop_pieces(range).map(body).reduce(|| Ok(()), Result::and),
    }
}

/// Maps every index to a value or an error and combines the values, in order.
///
/// With [`OnError::RunAll`] every index is mapped, and the error of the lowest failing index is returned. `combine` is associative and
/// called on values only; `identity` makes the value that changes nothing.
///
/// Work: `O(n)` maps and combinations. Span: `O(log n)` and one piece.
///
/// # Errors
/// With an error of `map`.
///
/// ```
/// use blitz::ops::{OnError, try_par_reduce};
///
/// let words = ["1", "2", "x", "4", "y"];
/// let sum = |n: usize| try_par_reduce(0..n, OnError::RunAll, || 0, |i| words[i].parse::<i32>().map_err(|_| i), |a, b| a + b);
/// assert_eq!(sum(2), Ok(3));
/// assert_eq!(sum(5), Err(2));
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn try_par_reduce<T, E, I, M, C>(
    range: Range<usize>,
    on_error: OnError,
    identity: I,
    map: M,
    combine: C,
) -> Result<T, E>
where
    T: Send,
    E: Send,
    I: Fn() -> T + Sync + Send,
    M: Fn(usize) -> Result<T, E> + Sync + Send,
    C: Fn(T, T) -> T + Sync + Send,
{
    let _operation = operation();
    let both = |a, b| match (a, b) {
        (Ok(a), Ok(b)) => Ok(combine(a, b)),
        (Err(first), _) | (_, Err(first)) => Err(first),
    };
    let mapped = range.into_par_iter().with_min_len(demand::grain()).map(map);
    match on_error {
        OnError::StopEarly => mapped.try_reduce(&identity, |a, b| Ok(combine(a, b))),
        OnError::RunAll => mapped.reduce(|| Ok(identity()), both),
    }
}
