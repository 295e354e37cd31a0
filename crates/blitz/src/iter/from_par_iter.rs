//! `FromParallelIterator` for the standard collections. (`Option` and `Result` are in their own modules.)

use super::noop::Nothing;
use super::{FromParallelIterator, IntoParallelIterator, ParallelExtend, ParallelIterator};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, Hash};
use std::rc::Rc;
use std::sync::Arc;

/// Collections that start empty and are extended.
macro_rules! collect_by_extending {
    ($([$($generics:tt)*] $collection:ty, $item:ty;)+) => {
        $(
            /// Collects the items of a parallel iterator.
            impl<$($generics)*> FromParallelIterator<$item> for $collection {
                fn from_par_iter<ITER>(par_iter: ITER) -> Self
                where
                    ITER: IntoParallelIterator<Item = $item>,
                {
                    let mut collection = Self::default();
                    collection.par_extend(par_iter);
                    collection
                }
            }
        )+
    };
}

collect_by_extending! {
    [T: Send] Vec<T>, T;
    [T: Send] LinkedList<T>, T;
    [K: Eq + Hash + Send, V: Send, S: BuildHasher + Default + Send] HashMap<K, V, S>, (K, V);
    [V: Eq + Hash + Send, S: BuildHasher + Default + Send] HashSet<V, S>, V;
    [] String, char;
    ['a] String, &'a char;
    ['a] String, &'a str;
    [] String, String;
    [] String, Box<str>;
    ['a] String, Cow<'a, str>;
    ['a] OsString, &'a OsStr;
    [] OsString, OsString;
    ['a] OsString, Cow<'a, OsStr>;
}

/// Collections that the standard library builds from all items at once in half the time that inserting them one by one takes: it sorts them first. Of equal keys it keeps
/// the last one, with its value.
macro_rules! collect_all_at_once {
    ($([$($generics:tt)*] $collection:ty, $item:ty;)+) => {
        $(
            /// Collects the items of a parallel iterator. They are made in parallel and put in by the calling thread.
            impl<$($generics)*> FromParallelIterator<$item> for $collection {
                fn from_par_iter<ITER>(par_iter: ITER) -> Self
                where
                    ITER: IntoParallelIterator<Item = $item>,
                {
                    Vec::from_par_iter(par_iter).into_iter().collect()
                }
            }
        )+
    };
}

collect_all_at_once! {
    [K: Ord + Send, V: Send] BTreeMap<K, V>, (K, V);
    [V: Ord + Send] BTreeSet<V>, V;
}

/// Collections that are made from another one.
macro_rules! collect_by_converting {
    ($([$($generics:tt)*] $collection:ty, $item:ty, from $first:ty;)+) => {
        $(
            /// Collects the items of a parallel iterator.
            impl<$($generics)*> FromParallelIterator<$item> for $collection {
                fn from_par_iter<ITER>(par_iter: ITER) -> Self
                where
                    ITER: IntoParallelIterator<Item = $item>,
                {
                    <$first>::from_par_iter(par_iter).into()
                }
            }
        )+
    };
}

collect_by_converting! {
    [T: Send] VecDeque<T>, T, from Vec<T>;
    [T: Ord + Send] BinaryHeap<T>, T, from Vec<T>;
    [T: Send] Box<[T]>, T, from Vec<T>;
    [T: Send] Rc<[T]>, T, from Vec<T>;
    [T: Send] Arc<[T]>, T, from Vec<T>;
    [] Box<str>, char, from String;
    ['a] Box<str>, &'a char, from String;
    ['a] Box<str>, &'a str, from String;
    [] Box<str>, String, from String;
    [] Box<str>, Box<str>, from String;
    ['a] Box<str>, Cow<'a, str>, from String;
}

/// Collects into the owned form.
impl<'a, C, T> FromParallelIterator<T> for Cow<'a, C>
where
    C: ToOwned<Owned: FromParallelIterator<T>> + ?Sized,
    T: Send,
{
    fn from_par_iter<I>(par_iter: I) -> Self
    where
        I: IntoParallelIterator<Item = T>,
    {
        Cow::Owned(C::Owned::from_par_iter(par_iter))
    }
}

/// Runs the iterator; there is nothing to keep. Useful inside a `Result`:
///
/// ```
/// use blitz::prelude::*;
/// let done: Result<(), String> = ["1", "x"].par_iter()
///     .map(|text| text.parse::<u8>().map(drop).map_err(|_| format!("{text} is no number")))
///     .collect();
/// assert_eq!(done, Err("x is no number".into()));
/// ```
impl FromParallelIterator<()> for () {
    fn from_par_iter<I>(par_iter: I) -> Self
    where
        I: IntoParallelIterator<Item = ()>,
    {
        par_iter.into_par_iter().drive_unindexed(Nothing);
    }
}
