//! Parallel iterators over the parts of a slice between separators, and over runs of related neighbours.
//!
//! The work is done by [`pieces`](super::pieces); here are the public types, which keep the slice and the predicate until the
//! iteration starts.

use super::pieces::{Between, Pieces, WithSeparator, WithoutSeparator};
use crate::delegate::unindexed_source;
use std::fmt;

/// Defines a public iterator that holds a slice and a predicate; the predicate is left out of its `Debug` form.
macro_rules! predicate_iterator {
    ($(#[$doc:meta])* $name:ident, $slice:ty, $predicate:ident) => {
        $(#[$doc])*
        #[must_use = "iterator adaptors are lazy and do nothing unless consumed"]
        pub struct $name<'data, T, P> {
            slice: $slice,
            $predicate: P,
        }

        impl<'data, T, P> $name<'data, T, P> {
            pub(super) fn new(slice: $slice, $predicate: P) -> Self {
                $name { slice, $predicate }
            }
        }

        impl<T: fmt::Debug, P> fmt::Debug for $name<'_, T, P> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("slice", &self.slice).finish()
            }
        }
    };
}

/// Lets the iterators over shared slices be cloned whenever their predicate can.
macro_rules! clone_with_predicate {
    ($name:ident, $predicate:ident) => {
        impl<T, P: Clone> Clone for $name<'_, T, P> {
            fn clone(&self) -> Self {
                $name {
                    slice: self.slice,
                    $predicate: self.$predicate.clone(),
                }
            }
        }
    };
}

predicate_iterator! {
    /// Parallel iterator over the parts of a shared slice between separators. Made by
    /// [`par_split`](super::ParallelSlice::par_split).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let lengths: Vec<usize> = [3, 1, 0, 4, 0].par_split(|&x| x == 0).map(<[i32]>::len).collect();
    /// assert_eq!(lengths, [2, 1, 0]);
    /// ```
    Split, &'data [T], separator
}
clone_with_predicate!(Split, separator);

predicate_iterator! {
    /// Parallel iterator over the parts of a shared slice that separators end. Made by
    /// [`par_split_inclusive`](super::ParallelSlice::par_split_inclusive).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let lengths: Vec<usize> = [3, 1, 0, 4, 0].par_split_inclusive(|&x| x == 0).map(<[i32]>::len).collect();
    /// assert_eq!(lengths, [3, 2]);
    /// ```
    SplitInclusive, &'data [T], separator
}
clone_with_predicate!(SplitInclusive, separator);

predicate_iterator! {
    /// Parallel iterator over the parts of an exclusive slice between separators. Made by
    /// [`par_split_mut`](super::ParallelSliceMut::par_split_mut).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut data = [1, 2, 0, 3, 4];
    /// data.par_split_mut(|&x| x == 0).for_each(<[i32]>::reverse);
    /// assert_eq!(data, [2, 1, 0, 4, 3]);
    /// ```
    SplitMut, &'data mut [T], separator
}

predicate_iterator! {
    /// Parallel iterator over the parts of an exclusive slice that separators end. Made by
    /// [`par_split_inclusive_mut`](super::ParallelSliceMut::par_split_inclusive_mut).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut data = [1, 2, 0, 3, 4];
    /// data.par_split_inclusive_mut(|&x| x == 0).for_each(<[i32]>::reverse);
    /// assert_eq!(data, [0, 2, 1, 4, 3]);
    /// ```
    SplitInclusiveMut, &'data mut [T], separator
}

predicate_iterator! {
    /// Parallel iterator over the longest runs of a shared slice whose neighbours belong together. Made by
    /// [`par_chunk_by`](super::ParallelSlice::par_chunk_by).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let rising = [1, 2, 5, 3, 4, 0].par_chunk_by(|a, b| a <= b).map(<[i32]>::len).max();
    /// assert_eq!(rising, Some(3));
    /// ```
    ChunkBy, &'data [T], together
}
clone_with_predicate!(ChunkBy, together);

predicate_iterator! {
    /// Parallel iterator over the longest runs of an exclusive slice whose neighbours belong together. Made by
    /// [`par_chunk_by_mut`](super::ParallelSliceMut::par_chunk_by_mut).
    ///
    /// ```
    /// use blitz::prelude::*;
    ///
    /// let mut data = [1, 1, 2, 3, 3];
    /// data.par_chunk_by_mut(|a, b| a == b).for_each(|run| run.fill(run.len()));
    /// assert_eq!(data, [2, 2, 1, 2, 2]);
    /// ```
    ChunkByMut, &'data mut [T], together
}

unindexed_source! {
    impl ['data, T: Sync, P: Fn(&T) -> bool + Sync + Send] Split<'data, T, P> => &'data [T];
    fn size(this) { this.slice.len() }
    fn producer(self) { Pieces::new(self.slice, WithoutSeparator(&self.separator)) }
}

unindexed_source! {
    impl ['data, T: Sync, P: Fn(&T) -> bool + Sync + Send] SplitInclusive<'data, T, P> => &'data [T];
    fn size(this) { this.slice.len() }
    fn producer(self) { Pieces::new(self.slice, WithSeparator(&self.separator)) }
}

unindexed_source! {
    impl ['data, T: Send, P: Fn(&T) -> bool + Sync + Send] SplitMut<'data, T, P> => &'data mut [T];
    fn size(this) { this.slice.len() }
    fn producer(self) { Pieces::new(self.slice, WithoutSeparator(&self.separator)) }
}

unindexed_source! {
    impl ['data, T: Send, P: Fn(&T) -> bool + Sync + Send] SplitInclusiveMut<'data, T, P> => &'data mut [T];
    fn size(this) { this.slice.len() }
    fn producer(self) { Pieces::new(self.slice, WithSeparator(&self.separator)) }
}

unindexed_source! {
    impl ['data, T: Sync, P: Fn(&T, &T) -> bool + Send + Sync] ChunkBy<'data, T, P> => &'data [T];
    fn size(this) { this.slice.len() }
    fn producer(self) { Pieces::new(self.slice, Between(&self.together)) }
}

unindexed_source! {
    impl ['data, T: Send, P: Fn(&T, &T) -> bool + Send + Sync] ChunkByMut<'data, T, P> => &'data mut [T];
    fn size(this) { this.slice.len() }
    fn producer(self) { Pieces::new(self.slice, Between(&self.together)) }
}
