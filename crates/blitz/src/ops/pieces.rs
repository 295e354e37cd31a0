//! The one primitive under the loops of this module: a range, cut into pieces on demand.
//!
//! [`Pieces`] is a parallel iterator over a range of indices whose items are *sub-ranges*: each piece that the loop cuts off
//! arrives whole, so that a body can run its own tight loop over it. Cutting follows the same rules as everywhere in this
//! crate: sequential until sharing pays, no piece is empty, pieces cover the range exactly once and results meet in order.
//!
//! The loop counts units of the shortest piece allowed, and cuts between units only; the last unit is longer if the range is
//! no multiple. Items are pieces, not units, which is fine for every consumer that does not count items; the type is private
//! to the crate, and only such consumers are used with it.

use crate::engine::checkpoint;
use crate::engine::demand::{self, join_in_operation};
use crate::engine::primitives::SyncPtr;
use crate::iter::ParallelIterator;
use crate::iter::plumbing::{Folder, Producer, UnindexedConsumer, bridge_producer_consumer};
use std::iter;
use std::ops::Range;

/// A parallel iterator over the pieces of a range.
pub(crate) struct Pieces {
    range: Range<usize>,
    /// No piece is shorter, unless the range is.
    unit: usize,
}

/// The pieces of `range`, cut by time alone.
pub(crate) fn pieces(range: Range<usize>) -> Pieces {
    pieces_of_at_least(range, 1)
}

/// The pieces of `range` for a user's loop: none shorter than the pool's grain.
pub(crate) fn loop_pieces(range: Range<usize>) -> Pieces {
    pieces_of_at_least(range, demand::grain())
}

/// The pieces of `range`, none shorter than `shortest` if the range is not.
pub(crate) fn pieces_of_at_least(range: Range<usize>, shortest: usize) -> Pieces {
    Pieces {
        range,
        unit: shortest.max(1),
    }
}

impl ParallelIterator for Pieces {
    type Item = Range<usize>;

    #[inline]
    fn drive_unindexed<C>(self, consumer: C) -> C::Result
    where
        C: UnindexedConsumer<Self::Item>,
    {
        if self.range.is_empty() {
            return consumer.into_folder().complete();
        }
        let units = (self.range.len() / self.unit).max(1);
        bridge_producer_consumer(units, self, consumer)
    }
}

impl Producer for Pieces {
    type Item = Range<usize>;
    type IntoIter = iter::Once<Range<usize>>;

    fn into_iter(self) -> Self::IntoIter {
        iter::once(self.range)
    }

    #[inline]
    fn split_at(self, index: usize) -> (Self, Self) {
        // An empty right side may be asked for, and then the last unit's surplus must not go there.
        let unit = self.unit;
        let units = (self.range.len() / unit).max(1);
        let middle = if index < units {
            self.range.start + index * unit
        } else {
            self.range.end
        };
        let piece = |range| Pieces { range, unit };
        (
            piece(self.range.start..middle),
            piece(middle..self.range.end),
        )
    }

    #[inline]
    fn fold_with<F>(self, folder: F) -> F
    where
        F: Folder<Self::Item>,
    {
        if self.range.is_empty() {
            folder
        } else {
            folder.consume(self.range)
        }
    }
}

/// Calls `body` with the disjoint pieces of a slice, each with the index of its first element; elements need not be `Sync`.
pub(crate) fn for_each_part<T, F>(v: &mut [T], body: F)
where
    T: Send,
    F: Fn(usize, &mut [T]) + Sync,
{
    let all = SyncPtr::new(v);
    pieces(0..all.len()).for_each(|part| {
        // SAFETY: pieces are disjoint parts of the slice, which is borrowed exclusively.
        body(part.start, unsafe {
            all.slice_from(part.start, part.len())
        });
    });
}

/// Halves `range` until no piece is longer than `grain`, whoever is there to help: the same pieces on any number of threads.
/// Results are combined in order. The range is not empty.
pub(crate) fn halve<T, M, C>(range: Range<usize>, grain: usize, map: &M, combine: &C) -> T
where
    T: Send,
    M: Fn(Range<usize>) -> T + Sync,
    C: Fn(T, T) -> T + Sync,
{
    if range.len() <= grain.max(1) {
        checkpoint();
        return map(range);
    }
    let middle = range.start + range.len() / 2;
    let (left, right) = join_in_operation(
        || halve(range.start..middle, grain, map, combine),
        || halve(middle..range.end, grain, map, combine),
    );
    combine(left, right)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn pieces_cover_the_range_once_and_are_never_empty() {
        for (len, shortest) in [
            (0, 1),
            (1, 1),
            (2, 5),
            (100, 7),
            (100_000, 1),
            (100_000, 4096),
        ] {
            let seen = Mutex::new(Vec::new());
            pieces_of_at_least(10..10 + len, shortest).for_each(|part| {
                assert!(part.len() >= shortest.min(len) && !part.is_empty());
                seen.lock().unwrap().push(part);
            });
            let mut seen = seen.into_inner().unwrap();
            seen.sort_by_key(|part| part.start);
            assert!(seen.into_iter().flatten().eq(10..10 + len));
        }
    }

    #[test]
    #[expect(clippy::reversed_empty_ranges)]
    fn an_inverted_range_has_no_pieces() {
        pieces(5..2).for_each(|_| panic!("there is nothing to do"));
    }
}
