//! Parallel iterators: like the sequential ones, but the work may be done by several threads.
//!
//! `par_iter`, `par_iter_mut` and `into_par_iter` (from the [prelude](crate::prelude)) stand in for `iter`, `iter_mut` and
//! `into_iter`; the methods keep their names.
//!
//! ```
//! use blitz::prelude::*;
//!
//! let squares: u64 = (0..1000u64).into_par_iter().map(|n| n * n).filter(|n| n % 3 == 0).sum();
//! assert_eq!(squares, (0..1000u64).map(|n| n * n).filter(|n| n % 3 == 0).sum());
//! ```
//!
//! # What to expect
//!
//! * **It is never slower than the sequential loop**, apart from 5 % and 100 nanoseconds at most, and the exceptions that the
//!   book lists ("Where it does not win"). A loop that has been short so far begins as the sequential loop on the calling thread. It is shared when
//!   enough of it is left, measured by the clock: with threads that have nothing else to do, and, if it is long enough for that,
//!   with others that are woken. You need not guess from which size parallel pays.
//! * **Order is kept** wherever the result has one: `collect`, `reduce` with a non-commutative operation, `find_first`.
//! * **Panics** in a closure reach the caller, after the pieces that other threads have begun are done
//!   ([`panic_fuse`](ParallelIterator::panic_fuse) stops them earlier). Every item is dropped exactly once.
//!
//! # Iterators of one's own
//!
//! [`split`](fn@split) turns anything that can be cut in two into a parallel iterator; [`ParallelBridge`] does it for sequential
//! iterators; [`walk_tree`](fn@walk_tree) for trees. For full control there is [`plumbing`].

mod blocks;
mod both;
mod cancel;
mod chain;
mod chunks;
mod collect;
mod context;
mod convert;
mod copied;
mod empty;
mod enumerate;
mod extend;
mod filter;
mod find;
mod find_first_last;
mod flat_map;
mod flat_map_iter;
mod fold;
mod for_each;
mod from_par_iter;
mod gate;
mod indexed;
mod inspect;
mod interleave;
mod intersperse;
mod len;
mod map;
mod map_with;
mod multizip;
mod noop;
mod once;
mod originals;
mod outcome;
mod panic_fuse;
mod par_bridge;
mod parallel_iterator;
pub mod plumbing;
mod positions;
mod progress;
mod recipe;
mod reduce;
mod reducer;
mod repeat;
mod rev;
mod skip_take;
mod split;
mod splitter;
mod stage;
mod step_by;
mod strides;
mod sum;
mod take_any;
mod take_any_while;
#[cfg(test)]
mod tests;
mod try_fold;
mod try_reduce;
mod try_result;
mod unzip;
mod update;
mod walk_tree;
mod while_some;
mod with_pool;
mod with_priority;
mod zip;

pub use self::blocks::{ExponentialBlocks, UniformBlocks};
pub use self::cancel::{Watched, WithCancel};
pub use self::chain::Chain;
pub use self::chunks::{Chunks, FoldChunks, FoldChunksWith};
pub use self::context::{ContextFilter, ContextMap, ContextMapIndexed, WithContext};
pub use self::convert::{
    FromParallelIterator, IntoParallelIterator, IntoParallelRefIterator,
    IntoParallelRefMutIterator, ParallelDrainFull, ParallelDrainRange, ParallelExtend,
};
pub use self::copied::{Cloned, Copied};
pub use self::empty::{Empty, empty};
pub use self::enumerate::Enumerate;
pub use self::filter::{Filter, FilterMap};
pub use self::flat_map::{FlatMap, Flatten};
pub use self::flat_map_iter::{FlatMapIter, FlattenIter};
pub use self::fold::{Fold, FoldWith};
pub use self::indexed::IndexedParallelIterator;
pub use self::inspect::Inspect;
pub use self::interleave::{Interleave, InterleaveShortest};
pub use self::intersperse::Intersperse;
pub use self::len::{MaxLen, MinLen};
pub use self::map::Map;
pub use self::map_with::{MapInit, MapWith};
pub use self::multizip::MultiZip;
pub use self::once::{Once, once};
pub use self::outcome::{CancelToken, Outcome, Run, Stopped};
pub use self::panic_fuse::PanicFuse;
pub use self::par_bridge::{IterBridge, ParallelBridge};
pub use self::parallel_iterator::ParallelIterator;
pub use self::positions::Positions;
pub use self::progress::{Progress, WithProgress};
pub use self::reducer::{Number, Reducer};
#[allow(deprecated)]
pub use self::repeat::{Repeat, RepeatN, repeat, repeat_n, repeatn};
pub use self::rev::Rev;
pub use self::skip_take::{Skip, Take};
pub use self::split::{Split, split};
pub use self::splitter::{Splitter, WithSplitter};
pub use self::step_by::StepBy;
pub use self::take_any::{SkipAny, TakeAny};
pub use self::take_any_while::{SkipAnyWhile, TakeAnyWhile};
pub use self::try_fold::{TryFold, TryFoldWith};
pub use self::update::Update;
pub use self::walk_tree::{
    WalkTree, WalkTreePostfix, WalkTreePrefix, walk_tree, walk_tree_postfix, walk_tree_prefix,
};
pub use self::while_some::WhileSome;
pub use self::with_pool::WithPool;
pub use self::with_priority::WithPriority;
pub use self::zip::{Zip, ZipEq};
pub use either::Either;
