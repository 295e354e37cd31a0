//! Parallel loops, reductions and algorithms over index ranges and slices: what is awkward to say as an iterator chain.
//!
//! | to | call |
//! |---|---|
//! | run a loop whose body gets whole sub-ranges | [`par_for`], [`par_for_with_grain`], [`par_for_early_exit`], [`try_par_for`] |
//! | run it index by index | [`par_for_each_index`] |
//! | reduce | [`par_reduce`], [`par_reduce_chunked`], [`par_reduce_with_grain`], [`try_par_reduce`] |
//! | search | [`par_any`], [`par_all`], [`par_find`], [`par_find_first`] |
//! | fill memory | [`par_tabulate`], [`par_collect_into`], [`par_map_in_place`], [`par_flatten`], [`par_flatten_into`], [`par_gather`] |
//! | add up prefixes, with any operator | [`par_scan`], [`par_scan_exclusive`], and both in place |
//! | bring equal keys together | [`par_group_by`], [`par_collect_reduce`], [`par_count_by`], [`par_unique`] |
//! | the same for small integers | [`par_histogram`], [`par_collect_reduce_by_index`], [`par_group_by_index`] |
//! | keep some elements | [`par_pack`], [`par_filter_index`], [`par_dedup`], [`par_dedup_by_key`] |
//! | write to computed places, reorder | [`par_scatter`], [`par_scatter_unchecked`], [`par_shuffle`], [`par_random_permutation`], [`par_transpose`] |
//! | find extremes, multiply vectors | [`par_min_max`], [`par_argmin`], [`par_argmax`], [`par_dot`] |
//!
//! Methods of slices ([`ParallelSlice`](crate::slice::ParallelSlice), [`ParallelSliceMut`](crate::slice::ParallelSliceMut)) sort,
//! merge, partition, select, rotate, reverse, fill and copy.
//!
//! Everything here starts as the plain sequential loop, and is shared only once that has proved worthwhile. So calls on
//! short inputs cost what plain code does. Work and span are stated per function. "One piece" is what the loop splits off at a
//! time, some microseconds of work.
//!
//! **Grain.** Loops are cut by measured time. Where that is not wanted, name the longest piece per call
//! ([`par_for_with_grain`], [`par_reduce_with_grain`]) or the shortest per pool
//! ([`ThreadPoolBuilder::grain`](crate::ThreadPoolBuilder::grain)).

pub(crate) mod build;
mod chunks;
mod collect;
mod dedup;
mod extremes;
mod fallible;
mod group;
mod loops;
pub(crate) mod pack;
pub(crate) mod pieces;
mod reduce;
mod scan;
mod scatter;
mod shuffle;
pub(crate) mod stopwatch;
mod transpose;

pub use self::collect::{
    offsets, par_collect_into, par_flatten, par_flatten_into, par_gather, par_map_in_place,
    par_tabulate,
};
pub use self::dedup::{par_dedup, par_dedup_by_key};
pub use self::extremes::{
    par_argmax, par_argmax_by, par_argmin, par_argmin_by, par_dot, par_min_max, par_min_max_by,
};
pub use self::fallible::{OnError, try_par_for, try_par_reduce};
pub use self::group::{
    par_collect_reduce, par_collect_reduce_by_index, par_collect_reduce_with_hasher, par_count_by,
    par_group_by, par_group_by_index, par_histogram, par_unique,
};
pub use self::loops::{
    par_all, par_any, par_find, par_find_first, par_for, par_for_each_index, par_for_early_exit,
    par_for_with_grain,
};
pub use self::pack::{par_filter_index, par_pack};
pub use self::reduce::{par_reduce, par_reduce_chunked, par_reduce_with_grain};
pub use self::scan::{
    par_scan, par_scan_exclusive, par_scan_exclusive_in_place, par_scan_in_place,
};
pub use self::scatter::{par_scatter, par_scatter_unchecked};
pub use self::shuffle::{par_random_permutation, par_shuffle};
pub use self::transpose::{par_transpose, par_transpose_into};
