//! Pipelines: sequential iterators whose items are computed ahead, in parallel.
//!
//! [`ParallelPipeline::par_map`] is `map` for any [`Iterator`], with the closure run by the threads of the pool; what comes out is an ordinary iterator again, in order. Between the
//! source and whoever consumes the results there are never more items than the look-ahead: a slow consumer slows the source down.
//!
//! ```
//! use blitz::prelude::*;
//!
//! let lengths: Vec<usize> = "one two three".split(' ').map(str::to_owned).par_map(|word| word.len()).collect();
//! assert_eq!(lengths, [3, 3, 5]);
//! ```
//!
//! [`into_seq`](crate::iter::ParallelIterator::into_seq) goes the other way: the results of a parallel iterator, one after the other and in order, while the rest is computed.
//!
//! # What to expect
//! * **The source is only ever asked by the thread that calls `next`**, so it needs not be [`Send`], and neither does what consumes the results.
//! * **The caller takes part.** If the result that is due has not been begun, the caller computes it. So a pipeline works in a pool of one thread, in a
//!   pool whose threads are all busy, and inside of other pipelines.
//! * **Waiting runs nothing unrelated.** A caller that waits for a result that another thread computes helps only with what that result has forked. A lock may be held across `next`.
//! * **Cheap items are not shared.** Items are timed. As long as they are too cheap to be worth another thread, `next` calls the closure itself, one item at a time, as `map` does.
//!   Items that are shared are computed in blocks of 20 microseconds or so, if the look-ahead allows.
//! * **Panics come at their place.** If the closure panics for an item, so does the `next` that would have returned its result; the same goes for the source. After that the pipeline
//!   can be gone on with, as `map` can.
//! * **What `next` has inherited counts.** A [token](crate::CancelToken) that the caller of `next` runs under stops the pipeline, in `next`; the closure finds the caller's
//!   [values](crate::Inherited) and its priority.
//! * **Dropping it ends it.** What nobody has begun is dropped, and what runs is waited for.

pub(crate) mod line;
mod pace;
mod par_map;
mod seq;

pub(crate) use self::line::Order;
pub use self::par_map::{Detached, ParMap, ParallelPipeline};
pub(crate) use self::seq::with_seq;
pub use self::seq::{IntoSeq, Seq};
