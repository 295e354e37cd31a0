//! Loops over ranges of indices, whose bodies get whole sub-ranges or single indices.

use super::pieces::{halve, loop_pieces};
use crate::engine::operation;
use crate::iter::{IntoParallelIterator, ParallelIterator};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Runs `body` on sub-ranges that together cover `range` exactly once.
///
/// The body never sees an empty range. How the range is cut depends on who is there to help: a loop that is not worth sharing arrives
/// in a few pieces, on the calling thread. No piece is shorter than the pool's
/// [grain](crate::ThreadPoolBuilder::grain), which is 1 unless set.
///
/// Work: that of the bodies. Span: `O(log n)` cuts and the longest piece.
///
/// # Panics
/// With the body's panic, after everything that was started has finished.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// let sum = AtomicU64::new(0);
/// blitz::ops::par_for(0..1000, |part| {
///     let part_sum: u64 = part.map(|i| i as u64).sum();
///     sum.fetch_add(part_sum, Ordering::Relaxed);
/// });
/// assert_eq!(sum.into_inner(), 499_500);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_for<F>(range: Range<usize>, body: F)
where
    F: Fn(Range<usize>) + Sync + Send,
{
    let _operation = operation();
    loop_pieces(range).for_each(body);
}

/// Runs `body` on sub-ranges of at most `grain` indices, got by halving `range`.
///
/// The cut is the same on any number of threads. Use it to set the size of a piece by hand: when bodies are so uneven that measuring
/// the first ones says nothing about the rest, or to get reproducible pieces. A `grain` of 0 counts as 1.
///
/// Work: that of the bodies and `n / grain` forks. Span: `O(log n)` and one piece.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// let pieces = AtomicUsize::new(0);
/// blitz::ops::par_for_with_grain(0..100, 30, |part| {
///     assert!((1..=30).contains(&part.len()));
///     pieces.fetch_add(1, Ordering::Relaxed);
/// });
/// assert_eq!(pieces.into_inner(), 4);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_for_with_grain<F>(range: Range<usize>, grain: usize, body: F)
where
    F: Fn(Range<usize>) + Sync + Send,
{
    let _operation = operation();
    if !range.is_empty() {
        halve(range, grain, &body, &|(), ()| ());
    }
}

/// Runs `body` on sub-ranges of `range` until `stop` is set, by a body or from elsewhere. Says whether the whole range was covered.
///
/// The flag is looked at before every piece; pieces that have begun run to their end, unless they look at the flag themselves.
///
/// Work and span: as [`par_for`], for the part that was covered.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
///
/// let found = AtomicBool::new(false);
/// let complete = blitz::ops::par_for_early_exit(0..1_000_000, &found, |part| {
///     if part.contains(&123_456) {
///         found.store(true, Ordering::Relaxed);
///     }
/// });
/// assert!(found.into_inner());
/// # let _ = complete;
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_for_early_exit<F>(range: Range<usize>, stop: &AtomicBool, body: F) -> bool
where
    F: Fn(Range<usize>) + Sync + Send,
{
    let _operation = operation();
    let outcome: Result<(), ()> = loop_pieces(range).try_for_each(|part| {
        if stop.load(Ordering::Relaxed) {
            return Err(());
        }
        body(part);
        Ok(())
    });
    outcome.is_ok()
}

/// Runs `body` once for every index of `range`.
///
/// Work: that of the bodies. Span: `O(log n)` cuts and one piece.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// let squares = [const { AtomicUsize::new(0) }; 10];
/// blitz::ops::par_for_each_index(0..10, |i| squares[i].store(i * i, Ordering::Relaxed));
/// assert_eq!(squares[7].load(Ordering::Relaxed), 49);
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_for_each_index<F>(range: Range<usize>, body: F)
where
    F: Fn(usize) + Sync + Send,
{
    let _operation = operation();
    loop_pieces(range).for_each(|part| part.for_each(&body));
}

/// Whether `predicate` holds for some index. Stops soon after the first one that is found.
///
/// Work: `O(n)` predicates at most. Span: `O(log n)` cuts and one piece.
///
/// ```
/// assert!(blitz::ops::par_any(0..1000, |i| i * i == 144));
/// assert!(!blitz::ops::par_any(0..1000, |i| i * i == 145));
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_any<F>(range: Range<usize>, predicate: F) -> bool
where
    F: Fn(usize) -> bool + Sync + Send,
{
    let _operation = operation();
    range.into_par_iter().any(predicate)
}

/// Whether `predicate` holds for all indices. Stops soon after the first one for which it does not.
///
/// Work and span: as [`par_any`].
///
/// ```
/// let v = [3, 1, 4, 1, 5];
/// assert!(blitz::ops::par_all(0..v.len(), |i| v[i] < 6));
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_all<F>(range: Range<usize>, predicate: F) -> bool
where
    F: Fn(usize) -> bool + Sync + Send,
{
    let _operation = operation();
    range.into_par_iter().all(predicate)
}

/// Some index for which `predicate` holds, not necessarily the first: whichever is found soonest.
///
/// Work and span: as [`par_any`].
///
/// ```
/// let hit = blitz::ops::par_find(0..1000, |i| i % 333 == 332);
/// assert!(matches!(hit, Some(332 | 665 | 998)));
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_find<F>(range: Range<usize>, predicate: F) -> Option<usize>
where
    F: Fn(usize) -> bool + Sync + Send,
{
    let _operation = operation();
    range.into_par_iter().find_any(|i| predicate(*i))
}

/// The first index for which `predicate` holds.
///
/// Work: `O(n)` predicates at most; what lies behind a hit is skipped. Span: `O(log n)` cuts and one piece.
///
/// ```
/// assert_eq!(blitz::ops::par_find_first(0..1000, |i| i % 333 == 332), Some(332));
/// ```
#[cfg_attr(feature = "sites", track_caller)]
pub fn par_find_first<F>(range: Range<usize>, predicate: F) -> Option<usize>
where
    F: Fn(usize) -> bool + Sync + Send,
{
    let _operation = operation();
    range.into_par_iter().find_first(|i| predicate(*i))
}
