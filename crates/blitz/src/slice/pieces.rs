//! Pieces of slices and strings, cut where a predicate says so.
//!
//! `par_split`, `par_split_inclusive`, `par_chunk_by` and their string and exclusive relatives all do the same: look at
//! positions of the data one after the other, decide at which of them to cut, and hand out what lies between. Only the
//! [`Cutter`] differs. The one producer here, [`Pieces`], serves them all, and guarantees:
//!
//! * the pieces are those of the sequential method, in order;
//! * however often it is split, it examines a position at most once before it is folded (a predicate may be expensive, and data
//!   without any cut would otherwise be searched again by every split).
//!
//! The second point is what `unseen` is for. Positions `0..unseen` have not been examined. Positions from `unseen` on have,
//! and none of them is a cut. A split searches from the middle of the unseen part towards its end. If that finds nothing, it searches from the middle towards
//! its beginning. So both parts again consist of an unseen beginning and an end without cuts.

use super::windows::ArrayWindowsIter;
use crate::iter::plumbing::{Folder, UnindexedProducer};

/// Decides where data of type `V` is cut. Positions run from 0 to `positions(data)`.
pub(crate) trait Cutter<V>: Copy + Send {
    /// Length of the data; `cut` moves the beginning of the right part by the difference of two lengths.
    fn len(data: &V) -> usize;

    /// Number of positions where a cut is possible.
    fn positions(data: &V) -> usize;

    /// A position near the middle of `0..unseen` at which a search may begin.
    fn middle(data: &V, unseen: usize) -> usize;

    /// The first cut among the positions `from..to`.
    fn first_cut(self, data: &V, from: usize, to: usize) -> Option<usize>;

    /// The last cut among the positions `0..to`.
    fn last_cut(self, data: &V, to: usize) -> Option<usize>;

    /// Cuts the data at a position found by one of the searches.
    fn cut(self, data: V, at: usize) -> (V, V);

    /// Passes all pieces of data nobody has examined yet to the folder.
    fn fold_pieces<F: Folder<V>>(self, data: V, folder: F) -> F;

    /// Passes data that is known to contain no cut to the folder.
    fn fold_piece<F: Folder<V>>(data: V, folder: F) -> F {
        folder.consume(data)
    }
}

/// The separator belongs to no piece.
#[derive(Clone, Copy)]
pub(crate) struct WithoutSeparator<S>(pub(crate) S);

/// The separator ends the piece before it.
#[derive(Clone, Copy)]
pub(crate) struct WithSeparator<S>(pub(crate) S);

/// A cut falls between two neighbours that do not belong together.
#[derive(Clone, Copy)]
pub(crate) struct Between<S>(pub(crate) S);

/// Producer of the pieces a [`Cutter`] makes of some data.
pub(crate) struct Pieces<V, C> {
    data: V,
    cutter: C,
    /// Positions `unseen..` are known to contain no cut.
    unseen: usize,
}

impl<V, C: Cutter<V>> Pieces<V, C> {
    pub(crate) fn new(data: V, cutter: C) -> Self {
        Pieces {
            unseen: C::positions(&data),
            data,
            cutter,
        }
    }
}

impl<V: Send, C: Cutter<V>> UnindexedProducer for Pieces<V, C> {
    type Item = V;

    fn split(self) -> (Self, Option<Self>) {
        let Pieces {
            data,
            cutter,
            unseen,
        } = self;

        let middle = C::middle(&data, unseen);
        let (at, left_unseen) = if let Some(at) = cutter.first_cut(&data, middle, unseen) {
            (at, middle)
        } else if let Some(at) = cutter.last_cut(&data, middle) {
            (at, at)
        } else {
            let left = Pieces {
                data,
                cutter,
                unseen: 0,
            };
            return (left, None);
        };

        let len = C::len(&data);
        let (left, right) = cutter.cut(data, at);
        let right_start = len - C::len(&right);
        // A cut behind the middle leaves what follows it unseen; one before the middle was found last, after all that follows.
        let right_unseen = if at < middle { 0 } else { unseen - right_start };
        let left = Pieces {
            data: left,
            cutter,
            unseen: left_unseen,
        };
        let right = Pieces {
            data: right,
            cutter,
            unseen: right_unseen,
        };
        (left, Some(right))
    }

    fn fold_with<F: Folder<V>>(self, folder: F) -> F {
        let Pieces {
            data,
            cutter,
            unseen,
        } = self;

        if unseen == C::positions(&data) {
            cutter.fold_pieces(data, folder)
        } else if let Some(at) = cutter.last_cut(&data, unseen) {
            let (left, last) = cutter.cut(data, at);
            let folder = cutter.fold_pieces(left, folder);
            if folder.full() {
                folder
            } else {
                C::fold_piece(last, folder)
            }
        } else {
            C::fold_piece(data, folder)
        }
    }
}

/// What `&[T]` and `&mut [T]` have in common here, so that the cutters are written once for both.
pub(crate) trait AnySlice: Send + Sized {
    type Element;

    fn as_slice(&self) -> &[Self::Element];
    fn split_at(self, index: usize) -> (Self, Self);
    fn split(self, separator: impl Fn(&Self::Element) -> bool) -> impl Iterator<Item = Self>;
    fn split_inclusive(
        self,
        separator: impl Fn(&Self::Element) -> bool,
    ) -> impl Iterator<Item = Self>;
    fn chunk_by(
        self,
        together: impl Fn(&Self::Element, &Self::Element) -> bool,
    ) -> impl Iterator<Item = Self>;
}

impl<T: Sync> AnySlice for &[T] {
    type Element = T;

    fn as_slice(&self) -> &[T] {
        self
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        self.split_at(index)
    }

    fn split(self, separator: impl Fn(&T) -> bool) -> impl Iterator<Item = Self> {
        <[T]>::split(self, separator)
    }

    fn split_inclusive(self, separator: impl Fn(&T) -> bool) -> impl Iterator<Item = Self> {
        <[T]>::split_inclusive(self, separator)
    }

    fn chunk_by(self, together: impl Fn(&T, &T) -> bool) -> impl Iterator<Item = Self> {
        <[T]>::chunk_by(self, together)
    }
}

impl<T: Send> AnySlice for &mut [T] {
    type Element = T;

    fn as_slice(&self) -> &[T] {
        self
    }

    fn split_at(self, index: usize) -> (Self, Self) {
        self.split_at_mut(index)
    }

    fn split(self, separator: impl Fn(&T) -> bool) -> impl Iterator<Item = Self> {
        self.split_mut(separator)
    }

    fn split_inclusive(self, separator: impl Fn(&T) -> bool) -> impl Iterator<Item = Self> {
        self.split_inclusive_mut(separator)
    }

    fn chunk_by(self, together: impl Fn(&T, &T) -> bool) -> impl Iterator<Item = Self> {
        self.chunk_by_mut(together)
    }
}

/// What the two separator cutters share: a position is an element, and a cut is an element the predicate accepts.
macro_rules! separator_search {
    () => {
        fn len(data: &V) -> usize {
            data.as_slice().len()
        }

        fn positions(data: &V) -> usize {
            data.as_slice().len()
        }

        fn middle(_data: &V, unseen: usize) -> usize {
            unseen / 2
        }

        fn first_cut(self, data: &V, from: usize, to: usize) -> Option<usize> {
            let found = data.as_slice()[from..to].iter().position(self.0)?;
            Some(from + found)
        }

        fn last_cut(self, data: &V, to: usize) -> Option<usize> {
            data.as_slice()[..to].iter().rposition(self.0)
        }
    };
}

impl<V, P> Cutter<V> for WithoutSeparator<&P>
where
    V: AnySlice,
    P: Fn(&V::Element) -> bool + Sync,
{
    separator_search!();

    fn cut(self, data: V, at: usize) -> (V, V) {
        let (left, right) = data.split_at(at);
        let (_separator, right) = right.split_at(1);
        (left, right)
    }

    fn fold_pieces<F: Folder<V>>(self, data: V, folder: F) -> F {
        folder.consume_iter(data.split(self.0))
    }
}

impl<V, P> Cutter<V> for WithSeparator<&P>
where
    V: AnySlice,
    P: Fn(&V::Element) -> bool + Sync,
{
    separator_search!();

    fn cut(self, data: V, at: usize) -> (V, V) {
        data.split_at(at + 1)
    }

    fn fold_pieces<F: Folder<V>>(self, data: V, folder: F) -> F {
        folder.consume_iter(data.split_inclusive(self.0))
    }
}

/// A position is a pair of neighbours, named by its left one, and a cut is a pair the predicate rejects.
impl<V, P> Cutter<V> for Between<&P>
where
    V: AnySlice,
    P: Fn(&V::Element, &V::Element) -> bool + Sync,
{
    fn len(data: &V) -> usize {
        data.as_slice().len()
    }

    fn positions(data: &V) -> usize {
        data.as_slice().len().saturating_sub(1)
    }

    fn middle(_data: &V, unseen: usize) -> usize {
        unseen / 2
    }

    fn first_cut(self, data: &V, from: usize, to: usize) -> Option<usize> {
        // No pair at all: the data may be empty, and then there is no element `to` either.
        if from == to {
            return None;
        }
        let mut pairs = ArrayWindowsIter::new(&data.as_slice()[from..=to]);
        let found = pairs.position(|[left, right]| !(self.0)(left, right))?;
        Some(from + found)
    }

    fn last_cut(self, data: &V, to: usize) -> Option<usize> {
        if to == 0 {
            return None;
        }
        let mut pairs = ArrayWindowsIter::new(&data.as_slice()[..=to]);
        pairs.rposition(|[left, right]| !(self.0)(left, right))
    }

    fn cut(self, data: V, at: usize) -> (V, V) {
        data.split_at(at + 1)
    }

    fn fold_pieces<F: Folder<V>>(self, data: V, folder: F) -> F {
        folder.consume_iter(data.chunk_by(self.0))
    }
}
