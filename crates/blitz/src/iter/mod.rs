//! Parallel iterators.

mod convert;
mod indexed;
mod parallel_iterator;
pub mod plumbing;

pub use self::convert::{
    FromParallelIterator, IntoParallelIterator, IntoParallelRefIterator,
    IntoParallelRefMutIterator, ParallelDrainFull, ParallelDrainRange, ParallelExtend,
};
pub use self::indexed::IndexedParallelIterator;
pub use self::parallel_iterator::ParallelIterator;
pub use either::Either;
