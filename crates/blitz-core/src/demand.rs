//! For loops that split on demand: is anybody waiting for work, and is the rest worth a wake?
//!
//! A parallel loop that forks eagerly pays for parallelism that nobody may want. With these calls it can
//! run as the plain loop, look around between blocks, and fork only when it pays. `blitz`'s parallel
//! iterators are built that way.

#[doc(hidden)]
pub use crate::by_code::{ByCode, Entry};
use crate::console::Called;
use crate::entered;
use crate::global;
use crate::join::{FnContext, Known, join_knowing};
use crate::pool::Pool;
use crate::seat::{self, Seat};
use crate::wake;
#[cfg(target_os = "linux")]
use std::{cell::Cell, mem::MaybeUninit};

pub use crate::clock::{
    affords_a_reading, between, coarse_is_cheap, coarse_mark, reading_ns, ticks, ticks_per_us,
};
#[doc(hidden)]
pub use crate::inherited::inherits_nothing;
pub use crate::join::Within;
#[doc(hidden)]
pub use crate::priority::ticks_away;
#[doc(hidden)]
pub use crate::profile::Parts;
#[doc(hidden)]
pub use crate::wake::{ends_a_row, outlasts_a_wake, recall, record};
#[doc(hidden)]
pub use crate::wake_cost::worth_a_wake;

/// As [`ticks`], but the time that the calling thread has stood aside for others does not count ([`Priority::Background`](crate::Priority)): what loops measure their items
/// with. Only differences on one thread mean something.
///
/// ```
/// use blitz_core::demand::ticks_at_work;
/// let start = ticks_at_work();
/// assert!(ticks_at_work() >= start);
/// ```
#[inline]
pub fn ticks_at_work() -> u64 {
    ticks().wrapping_sub(ticks_away())
}

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

/// Has every other thread of the current pool work? Then nobody would take anything now, and nobody could be woken to take it.
///
/// ```
/// let nobody_could_help: bool = blitz_core::demand::all_others_are_busy();
/// # let _ = nobody_could_help;
/// ```
#[inline]
pub fn all_others_are_busy() -> bool {
    match seat::current() {
        Some(seat) => {
            seat.beat();
            seat.pool().all_others_are_busy(seat)
        }
        None => entered::started().is_some_and(Pool::all_are_busy),
    }
}

/// Has the calling thread forks that thieves see and have not taken? Those that only it knew of are shown, as they are by the next fork.
///
/// ```
/// use blitz_core::demand::has_work_on_offer;
/// assert!(!has_work_on_offer());
/// ```
#[inline]
pub fn has_work_on_offer() -> bool {
    seat::current().is_some_and(offers_forks)
}

/// Would nobody take more than is on offer already? The calling thread [has work on offer](has_work_on_offer), and all others are busy. Whoever comes first is served with
/// that; as long as it is so, a loop inside of it need neither be cut nor timed. (With one asleep, somebody has to find out whether to wake it, and that takes the clock.)
///
/// ```
/// let nobody_wants_more: bool = blitz_core::demand::others_are_served();
/// # let _ = nobody_wants_more;
/// ```
#[inline]
pub fn others_are_served() -> bool {
    seat::current().is_some_and(|seat| offers_forks(seat) && seat.pool().all_others_are_busy(seat))
}

#[inline]
fn offers_forks(seat: &Seat) -> bool {
    seat.stack.shows_work() || seat.stack.hides_work() && show_forks(seat)
}

#[cold]
#[inline(never)]
fn show_forks(seat: &Seat) -> bool {
    // SAFETY: the seat is the caller's.
    unsafe { seat.stack.show() };
    // Whoever is about to sleep looks again.
    seat.pool().sleep.post();
    true
}

/// May the calling thread run parts of a loop itself?
///
/// A thread in a pool may. A thread outside may if the pool that its calls go to admits guests. The global pool does, unless its threads were given
/// stacks or handlers that the caller does not have: then everything must run on them.
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

/// Has another thread been given the calling one's CPU since this was last asked on it? `true` where nobody knows: the first time, and on systems that do not say.
///
/// A system call: for those who have just seen something that should not take so long.
///
/// ```
/// // Milliseconds where there should be nanoseconds:
/// let says_nothing = blitz_core::demand::may_have_lost_its_cpu();
/// # let _ = says_nothing;
/// ```
#[cold]
pub fn may_have_lost_its_cpu() -> bool {
    #[cfg(target_os = "linux")]
    {
        thread_local! { static BEFORE: Cell<libc::c_long> = const { Cell::new(-1) } }
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the kernel fills it in; if it does not, it is all zeros, which is a valid value.
        let usage = unsafe {
            libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
            usage.assume_init()
        };
        BEFORE.replace(usage.ru_nivcsw) != usage.ru_nivcsw
    }
    #[cfg(not(target_os = "linux"))]
    true
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
            counters.searching() == 0 && (counters.sleeping() > 0 || seat.pool().waiters.any())
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
#[cfg_attr(feature = "sites", track_caller)]
pub fn join_context_expecting<A, B, RA, RB>(expected_ticks: u64, a: A, b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    join_context_within(Within::NOTHING, expected_ticks, || (), a, b)
}

/// [`join`](crate::join()) for libraries: where places are asked for, the fork is the place where the user called the library, not a line of
/// the library. See [`site`](crate::site).
///
/// ```
/// let (a, b) = blitz_core::demand::join_in_operation(|| 1, || 2);
/// assert_eq!(a + b, 3);
/// ```
#[inline]
#[cfg_attr(feature = "sites", track_caller)]
pub fn join_in_operation<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    join_knowing(Known::NOTHING, |_| a(), |_| b())
}

/// Runs `work` as a loop, if the calling thread sits in a pool: a thread that waits for one of its parts may help with the others, as far as these
/// are not larger. See [`join_context_within`].
///
/// ```
/// use blitz_core::demand::{Within, in_loop, join_context_within};
/// fn sum(within: Within, from: u64, to: u64) -> u64 {
///     if to - from == 1 {
///         return from;
///     }
///     let middle = from + (to - from) / 2;
///     let (a, b) = join_context_within(within, 0, || (), |_| sum(within, from, middle), |_| sum(within, middle, to));
///     a + b
/// }
/// let pool = blitz_core::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
/// assert_eq!(pool.install(|| in_loop(|within| sum(within, 0, 100))), 4950);
/// ```
pub fn in_loop<R>(work: impl FnOnce(Within) -> R) -> R {
    match seat::current() {
        // SAFETY: it is the caller's. Whatever is forked in `work` is taken back there, also if it unwinds.
        Some(seat) => unsafe { seat.run_loop(|context| work(Within(context))) },
        None => work(Within::NOTHING),
    }
}

/// [`join_context_expecting`] for two parts of a loop. Between the beginning of the loop and this call there is nobody's code but the loop's own on the caller's
/// stack, or the stack begins with such a part: so whatever the loop runs may run there. `before_wait` is called before the caller waits for the second part, which another
/// thread has: what must not meet its like on the same thread should be gone then. If it panics, that is
/// the join's panic.
#[inline]
#[cfg_attr(feature = "sites", track_caller)]
pub fn join_context_within<W, A, B, RA, RB>(
    within: Within,
    expected_ticks: u64,
    before_wait: W,
    a: A,
    b: B,
) -> (RA, RB)
where
    W: Fn() + Send,
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    let known = Known {
        expected: Some(expected_ticks),
        within,
        before_wait,
        called: Called::BY_US,
    };
    join_knowing(known, a, b)
}

/// The calling thread has been at a piece of work for longer than anybody could know beforehand. If it has more that others could take and nobody looks
/// for work, somebody is woken.
///
/// ```
/// blitz_core::demand::wake_for_forks(); // there are none
/// ```
#[cold]
pub fn wake_for_forks() {
    if let Some(seat) = seat::current().filter(|seat| seat.offers_work() || seat.hides_work()) {
        seat.pool().wake_if_nobody_searches();
    }
}
