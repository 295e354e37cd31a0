//! Pipelines: sequential iterators whose items are computed in advance, in parallel.
//!
//! [`ParallelPipeline::par_map`] is `map` for any [`Iterator`], with the closure run by the threads of the pool. What comes out is an ordinary iterator again, in order. Between the
//! source and the consumer there are never more items than the look-ahead. So a slow consumer slows the source down.
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
//! * **Only the thread that calls `next` asks the source.** So the source need not be [`Send`], and neither need the code that consumes the results.
//! * **The caller takes part.** If nobody has begun the result that is returned next, the caller computes it. So a pipeline works in a pool of one thread, in a
//!   pool whose threads are all busy, and inside of other pipelines.
//! * **Waiting runs nothing unrelated.** A caller that waits for a result that another thread computes helps only with forks of that result. A lock may be held across `next`.
//! * **Cheap items are not shared.** Items are timed. As long as they are too cheap to be worth another thread, `next` calls the closure itself, one item at a time, as `map` does.
//!   Items that are shared are computed in blocks of 20 microseconds or so, if the look-ahead allows.
//! * **Panics come at their place.** If the closure panics for an item, so does the `next` that would have returned its result. The same holds for the source. After that you may go on
//!   with the pipeline, as with `map`.
//! * **What `next` has inherited counts.** A [token](crate::CancelToken) that the caller of `next` runs under stops the pipeline, in `next`. The closure finds the caller's
//!   [values](crate::Inherited) and its priority.
//! * **Dropping it ends it.** Items that nobody has begun are dropped, and items that are being computed are waited for.

pub(crate) mod line;
mod pace;
mod par_map;
mod seq;

pub(crate) use self::line::Order;
pub use self::par_map::{Detached, ParMap, ParallelPipeline};
pub(crate) use self::seq::with_seq;
pub use self::seq::{IntoSeq, Seq};
