//! For loops that split on demand: is anybody waiting for work, and is the rest worth a wake?
//!
//! A parallel loop that forks eagerly pays for parallelism that nobody may want. With these calls it can
//! run as the plain loop, look around between blocks, and fork only when it pays. `blitz`'s parallel
//! iterators are built that way.

use crate::entered;
use crate::global;
use crate::join::{FnContext, join_expecting};
use crate::seat;
use crate::wake;

pub use crate::clock::{ticks, ticks_per_us};

/// Is a thread of the current pool awake and without work right now? A fork would be taken at once.
///
/// One load. Outside of pools the question is about the global pool, and the answer `false` if that has not been started.
///
/// ```
/// let somebody_could_help_at_once: bool = blitz_core::demand::hungry();
/// # let _ = somebody_could_help_at_once;
/// ```
#[inline]
pub fn hungry() -> bool {
    let pool = match seat::current() {
        Some(seat) => {
            // Callers ask between two blocks of a loop: the place to think of others, too.
            seat.beat();
            Some(seat.pool())
        }
        None => entered::started(),
    };
    pool.is_some_and(|pool| pool.sleep.counters().searching() > 0)
}

/// May the calling thread run parts of a loop itself?
///
/// A thread in a pool may. A thread outside may if the pool that its calls go to admits guests; the global pool does unless its threads were given
/// stacks or handlers that the caller does not have, and then everything must run on them.
///
/// ```
/// assert!(blitz_core::demand::caller_may_take_part());
/// ```
#[inline]
pub fn caller_may_take_part() -> bool {
    is_in_pool() || entered::started().map_or_else(|| global::pool().guests, |pool| pool.guests)
}

/// Does the calling thread sit in a pool, with an index or without?
///
/// ```
/// use blitz_core::demand::is_in_pool;
/// assert!(!is_in_pool());
/// assert!(blitz_core::join(is_in_pool, || ()).0);
/// ```
#[inline]
pub fn is_in_pool() -> bool {
    seat::current().is_some()
}

/// The caller is between two steps of something long. If an async runtime shares the threads, this lets it see to its tasks.
///
/// A load and a compare, unless there is such a runtime.
///
/// ```
/// for step in 0..10 {
///     // ... twenty microseconds of work ...
///     blitz_core::demand::beat();
/// }
/// ```
#[inline]
pub fn beat() {
    if let Some(seat) = seat::current() {
        seat.beat();
    }
}

/// Nobody is awake, somebody sleeps, and `remaining_ticks` of work would outlast waking them?
///
/// ```
/// assert!(!blitz_core::demand::worth_waking(1));
/// ```
#[inline]
pub fn worth_waking(remaining_ticks: u64) -> bool {
    wake::outlasts_a_wake(remaining_ticks)
        && seat::current().is_some_and(|seat| {
            let counters = seat.pool().sleep.counters();
            counters.searching() == 0 && (counters.sleeping() > 0 || seat.pool().has_blocked())
        })
}

/// The shortest piece that a loop over indices should be cut into in the current pool: what
/// [`ThreadPoolBuilder::grain`](crate::ThreadPoolBuilder::grain) was given, or 1.
///
/// Outside of pools it is the global pool's, if that has been started.
///
/// ```
/// assert_eq!(blitz_core::demand::grain(), 1);
/// ```
#[inline]
pub fn grain() -> usize {
    match seat::current() {
        Some(seat) => seat.pool().grain,
        None => entered::started().map_or(1, |pool| pool.grain),
    }
}

/// [`join_context`](crate::join_context) for callers that know how much work the two halves are together:
/// whether somebody is woken depends on `expected_ticks` instead of the call site's past. 0: nobody is.
///
/// ```
/// let (a, b) = blitz_core::demand::join_context_expecting(0, |_| 1, |_| 2);
/// assert_eq!(a + b, 3);
/// ```
#[inline]
pub fn join_context_expecting<A, B, RA, RB>(expected_ticks: u64, a: A, b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    join_expecting(expected_ticks, a, b)
}

/// How long work of this site (an address that stands for the code) takes, if it has been recorded.
#[doc(hidden)]
pub fn recall(site: usize) -> Option<u64> {
    wake::recall(site)
}

/// Work of this site took so many ticks.
#[doc(hidden)]
pub fn record(site: usize, ticks: u64) {
    wake::record(site, ticks);
}

/// Would waking a thread for work of so many ticks pay?
#[doc(hidden)]
pub fn outlasts_a_wake(ticks: u64) -> bool {
    wake::outlasts_a_wake(ticks)
}
