//! Parallel iterators over slices, and the slice methods that make them.
//!
//! [`ParallelSlice`] adds chunks, windows and splitting to every `[T]`, [`ParallelSliceMut`] their exclusive forms and
//! sorting; both come with the [prelude](crate::prelude) and reach vectors, arrays and boxed slices by auto-deref. The plain
//! `par_iter()` and `par_iter_mut()` come from [`IntoParallelRefIterator`](crate::iter::IntoParallelRefIterator) and
//! [`IntoParallelRefMutIterator`](crate::iter::IntoParallelRefMutIterator).
//!
//! Nothing here allocates: all iterators borrow the slice and split by moving pointers. The types are public so that they can
//! be named; you rarely need to.

mod cached_key;
mod chunking;
mod chunks;
mod iter;
pub(crate) mod keep;
mod moves;
mod ordered;
mod parallel_slice;
mod parallel_slice_mut;
pub(crate) mod pieces;
mod rchunks;
pub(crate) mod sort;
mod split;
mod windows;

#[cfg(test)]
pub(crate) mod tests;

pub use self::chunks::{Chunks, ChunksExact, ChunksExactMut, ChunksMut};
pub use self::iter::{Iter, IterMut};
pub use self::parallel_slice::ParallelSlice;
pub use self::parallel_slice_mut::ParallelSliceMut;
pub use self::rchunks::{RChunks, RChunksExact, RChunksExactMut, RChunksMut};
pub use self::sort::{RadixKey, sort_asc, sort_by_cached_key, sort_by_key, sort_desc};
pub use self::split::{ChunkBy, ChunkByMut, Split, SplitInclusive, SplitInclusiveMut, SplitMut};
pub use self::windows::{ArrayWindows, Windows};
