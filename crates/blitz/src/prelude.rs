//! The traits that make `par_iter()` and its relatives appear: `use blitz::prelude::*;`.

pub use crate::iter::{
    FromParallelIterator, IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator,
    IntoParallelRefMutIterator, ParallelDrainFull, ParallelDrainRange, ParallelExtend,
    ParallelIterator,
};
