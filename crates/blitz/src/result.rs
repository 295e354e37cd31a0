//! Parallel iterators over the success value in a `Result`, and collecting into one.
//!
//! Iteration sees `Ok(value)` as one item and `Err(_)` as none, so the three iterators are those of [`option`](mod@crate::option).

use crate::delegate::{clone_references, delegate_indexed};
use crate::engine::sync::locks::Mutex;
use crate::iter::{FromParallelIterator, IntoParallelIterator, ParallelIterator};
use crate::option;

/// Parallel iterator over the success value of a `Result`, by value.
///
/// ```
/// use blitz::prelude::*;
///
/// let parsed: Vec<i32> = ["1", "x", "3"].par_iter().flat_map(|s| s.parse::<i32>()).collect();
/// assert_eq!(parsed, [1, 3]);
/// ```
#[derive(Debug, Clone)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct IntoIter<T> {
    inner: option::IntoIter<T>,
}

/// Parallel iterator over the success value of a `Result`, by reference.
///
/// ```
/// use blitz::prelude::*;
///
/// let answer: Result<i32, String> = Ok(42);
/// assert_eq!(answer.par_iter().max(), Some(&42));
/// ```
#[derive(Debug)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct Iter<'a, T> {
    inner: option::IntoIter<&'a T>,
}

/// Parallel iterator over the success value of a `Result`, by exclusive reference.
///
/// ```
/// use blitz::prelude::*;
///
/// let mut answer: Result<i32, String> = Ok(41);
/// answer.par_iter_mut().for_each(|x| *x += 1);
/// assert_eq!(answer, Ok(42));
/// ```
#[derive(Debug)]
#[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
pub struct IterMut<'a, T> {
    inner: option::IntoIter<&'a mut T>,
}

clone_references! { Iter of T }

impl<T: Send, E> IntoParallelIterator for Result<T, E> {
    type Item = T;
    type Iter = IntoIter<T>;

    fn into_par_iter(self) -> Self::Iter {
        IntoIter {
            inner: self.ok().into_par_iter(),
        }
    }
}

impl<'a, T: Sync, E> IntoParallelIterator for &'a Result<T, E> {
    type Item = &'a T;
    type Iter = Iter<'a, T>;

    fn into_par_iter(self) -> Self::Iter {
        Iter {
            inner: self.as_ref().ok().into_par_iter(),
        }
    }
}

impl<'a, T: Send, E> IntoParallelIterator for &'a mut Result<T, E> {
    type Item = &'a mut T;
    type Iter = IterMut<'a, T>;

    fn into_par_iter(self) -> Self::Iter {
        IterMut {
            inner: self.as_mut().ok().into_par_iter(),
        }
    }
}

delegate_indexed! { impl [T: Send] IntoIter<T> => T }
delegate_indexed! { impl ['a, T: Sync] Iter<'a, T> => &'a T }
delegate_indexed! { impl ['a, T: Send] IterMut<'a, T> => &'a mut T }

/// Collects the values if all items are `Ok`, and stops everybody at an `Err`, which is then the result.
///
/// With several errors, which of them is returned depends on who finds one first.
///
/// ```
/// use blitz::prelude::*;
///
/// let parse = |v: &[&str]| v.par_iter().map(|s| s.parse::<u8>()).collect::<Result<Vec<u8>, _>>();
/// assert_eq!(parse(&["1", "2"]), Ok(vec![1, 2]));
/// assert!(parse(&["1", "two"]).is_err());
/// ```
impl<C, T, E> FromParallelIterator<Result<T, E>> for Result<C, E>
where
    C: FromParallelIterator<T>,
    T: Send,
    E: Send,
{
    fn from_par_iter<I>(par_iter: I) -> Self
    where
        I: IntoParallelIterator<Item = Result<T, E>>,
    {
        let first_error = Mutex::new(None);
        let collection = par_iter
            .into_par_iter()
            .map(|item| match item {
                Ok(value) => Some(value),
                Err(error) => keep(&first_error, error),
            })
            .while_some()
            .collect();
        match first_error.into_inner() {
            Ok(Some(error)) => Err(error),
            Ok(None) => Ok(collection),
            Err(_) => unreachable!("a panic while storing an error has already been resumed"),
        }
    }
}

/// Keeps the error if it is the first. Out of the way of the loop, which is the faster for it.
#[cold]
fn keep<T, E>(first_error: &Mutex<Option<E>>, error: E) -> Option<T> {
    // Never blocks: whoever holds the lock is storing an error of their own, and one is enough. A poisoned lock means that
    // dropping an error panicked; that panic is on its way to the caller.
    if let Ok(mut first_error) = first_error.try_lock() {
        first_error.get_or_insert(error);
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::prelude::*;

    #[test]
    fn a_result_is_a_sequence_of_its_success_value() {
        let mut good: Result<i32, &str> = Ok(5);
        let mut bad: Result<i32, &str> = Err("no");
        assert_eq!(good.par_iter().len(), 1);
        assert_eq!(bad.par_iter().len(), 0);
        good.par_iter_mut()
            .chain(bad.par_iter_mut())
            .for_each(|x| *x *= 2);
        assert_eq!((good, bad), (Ok(10), Err("no")));
        assert_eq!(good.into_par_iter().clone().collect::<Vec<_>>(), [10]);
        assert_eq!(good.par_iter().clone().chain(bad.par_iter()).count(), 1);
    }

    #[test]
    fn one_error_anywhere_becomes_the_result() {
        for len in [0usize, 1, 2, 3, 100, 5000] {
            let all: Vec<Result<usize, String>> = (0..len).map(Ok).collect();
            let values = all.par_iter().cloned().collect::<Result<Vec<_>, _>>();
            assert_eq!(values, Ok((0..len).collect()));
            for wrong in [0, len / 2, len.saturating_sub(1)]
                .into_iter()
                .filter(|&wrong| wrong < len)
            {
                let mut faulty = all.clone();
                faulty[wrong] = Err(format!("item {wrong}"));
                let result = faulty.into_par_iter().collect::<Result<Vec<_>, _>>();
                assert_eq!(result, Err(format!("item {wrong}")));
            }
        }
    }

    #[test]
    fn with_many_errors_one_of_them_is_returned() {
        let result: Result<Vec<()>, usize> = (0..1000usize).into_par_iter().map(Err).collect();
        assert!(result.unwrap_err() < 1000);
    }
}
