//! Work and span of a real computation, measured while it runs.
//!
//! A *strand* is a piece of code between two points where the scheduler has a say: a fork, a join, a spawn, the end of a scope.
//! Each strand is timed on the thread that runs it. Its time is added to the **work** (what one core would have to do) and to
//! the **span** of the path that it lies on. Where paths meet (at the end of a join or of a scope) the longest one goes on: the
//! span of the whole is the time that no number of cores can get below. Work divided by span is the **parallelism**.
//!
//! A second span is **burdened**: every fork and spawn adds the price of a steal to the path that would be stolen. It is what
//! predictions use, because a computation whose span consists of steals does not scale however parallel it looks.
//!
//! ```
//! # fn work(n: u64) -> u64 { (0..n).fold(1, |a, b| a ^ (b.wrapping_mul(a | 1))) }
//! let ((a, b), profile) = blitz_core::profile(|| blitz_core::join(|| work(100_000), || work(100_000)));
//! assert_eq!(a, b);
//! println!("{profile}");
//! assert!(profile.parallelism() >= 1.0);
//! assert_eq!(profile.forks(), 1);
//! ```
//!
//! # What is measured and what is not
//! The time that threads really ran: what other programs take away, and what a strand sleeps, is no work (on Linux, Android, macOS and FreeBSD; elsewhere it is the time that
//! passed). `profile/taken.rs` says how, and how exactly.
//!
//! A loop that was not cut, because nobody was there to help, counts with the parallelism that it *has*: its items are strands beside each other. Within a
//! block of it, that is some microseconds once the loop knows its pace, items are taken to be alike.
//!
//! Everything that runs inside of the closure and is waited for there: joins, scopes, parallel iterators, sorts, installs,
//! handles that are joined; and polls of async tasks that were spawned there (`profile/polled.rs`). Tasks of the pool spawned without a handle, and `spawn_broadcast`, are nobody's strands; waiting is no work. If the
//! computation panics, so does [`profile`], and there is no report.
//!
//! # What it costs
//! With the cargo feature `profile` and no profile under way: a load of a thread-local per fork. Inside of a profile: some readings of
//! the clock per fork, about 180 ns; what they add to a strand is measured beforehand and subtracted from the strands. Without the feature the hooks are
//! empty functions of empty types, and nothing remains of them.

mod path;
mod plot;
mod polled;
mod recording;
mod report;
mod strand;
mod taken;
#[cfg(test)]
mod tests;

#[doc(hidden)]
pub use polled::{Followed, Polled, in_turn};
pub use recording::record;
pub use report::{Longest, Profile};
#[doc(hidden)]
pub use strand::Parts;
pub use strand::label;
pub(crate) use strand::{Carried, Ends, Forked, Spawned, pause};

use crate::clock;
use crate::thread_pool::current_num_threads;
use polled::Profiled;
use std::sync::OnceLock;
use std::time::Duration;
use strand::{Config, Reached, Strand};

/// Runs `computation` and reports its work and span.
///
/// ```
/// let (sum, profile) = blitz_core::profile(|| {
///     let (a, b) = blitz_core::join(|| 1, || 2);
///     a + b
/// });
/// assert_eq!(sum, 3);
/// assert!(profile.work() >= profile.span());
/// ```
///
/// # Panics
/// If the computation does.
pub fn profile<R>(computation: impl FnOnce() -> R) -> (R, Profile) {
    Profiler::new().run(computation)
}

/// How to profile: the price of a steal, and by which clock.
///
/// ```
/// use std::time::Duration;
/// let profiler = blitz_core::profile::Profiler::new().burden(Duration::from_micros(3));
/// let (_, profile) = profiler.run(|| blitz_core::join(|| (), || ()));
/// assert!(profile.burdened_span() >= Duration::from_micros(3));
/// ```
#[derive(Clone, Debug)]
pub struct Profiler {
    burden: Duration,
    clock: Option<(fn() -> u64, u64)>,
    grain: Option<Duration>,
}

/// What a steal costs the path that it lies on, unless told otherwise: a wake-up is 5 to 17 us, a theft by a thread that is awake
/// well below 1 us.
const BURDEN: Duration = Duration::from_micros(10);

impl Default for Profiler {
    fn default() -> Self {
        Self::new()
    }
}

impl Profiler {
    /// The usual settings: 10 us per steal, the time that threads really ran, nothing recorded.
    ///
    /// ```
    /// let (sum, profile) = blitz_core::profile::Profiler::new().run(|| 1 + 1);
    /// assert_eq!((sum, profile.forks()), (2, 0));
    /// ```
    pub fn new() -> Self {
        Profiler {
            burden: BURDEN,
            clock: None,
            grain: None,
        }
    }

    /// Records the shape of the computation: what ran after what and beside what. What takes less than `grain` in all is not told in detail.
    /// [`record`] takes 2 us.
    ///
    /// ```
    /// use std::time::Duration;
    /// let profiler = blitz_core::profile::Profiler::new().recording(Duration::from_micros(1));
    /// let (_, profile) = profiler.run(|| blitz_core::join(|| (), || ()));
    /// assert!(profile.recording().is_some());
    /// ```
    pub fn recording(mut self, grain: Duration) -> Self {
        self.grain = Some(grain);
        self
    }

    /// Sets what a steal is supposed to cost the path that it lies on.
    ///
    /// ```
    /// use blitz_core::profile::Profiler;
    /// use std::time::Duration;
    ///
    /// let free = Profiler::new().burden(Duration::ZERO);
    /// let (_, profile) = free.run(|| blitz_core::join(|| 1, || 2));
    /// assert_eq!(profile.burdened_span(), profile.span());
    /// ```
    pub fn burden(mut self, burden: Duration) -> Self {
        self.burden = burden;
        self
    }

    /// Sets the clock: a function that returns ticks of the calling thread, and how many make a microsecond.
    ///
    /// Only differences of readings on one thread are used, so a thread-local counter that the computation itself advances will
    /// do: that makes a profile exact and repeatable, in tests.
    ///
    /// # Panics
    /// If `ticks_per_us` is zero.
    ///
    /// ```
    /// use std::cell::Cell;
    /// use std::time::Duration;
    ///
    /// thread_local!(static STEPS: Cell<u64> = const { Cell::new(0) });
    /// let step = |steps| STEPS.set(STEPS.get() + steps);
    ///
    /// // A step is a microsecond.
    /// let profiler = blitz_core::profile::Profiler::new().clock(|| STEPS.get(), 1);
    /// let (_, profile) = profiler.run(|| blitz_core::join(|| step(30), || step(10)));
    /// assert_eq!(profile.work(), Duration::from_micros(40));
    /// assert_eq!(profile.span(), Duration::from_micros(30));
    /// ```
    pub fn clock(mut self, now: fn() -> u64, ticks_per_us: u64) -> Self {
        assert!(ticks_per_us > 0, "a clock must tick: ticks_per_us is zero");
        self.clock = Some((now, ticks_per_us));
        self
    }

    /// Runs `computation` and reports its work and span. See [`profile`].
    ///
    /// # Panics
    /// If the computation does.
    ///
    /// ```
    /// let profiler = blitz_core::profile::Profiler::new();
    /// let (sum, profile) = profiler.run(|| (1..=10).sum::<u32>());
    /// assert_eq!(sum, 55);
    /// assert!(profile.strands() >= 1);
    /// ```
    pub fn run<R>(&self, computation: impl FnOnce() -> R) -> (R, Profile) {
        let (now, ticks_per_us, cost) = match self.clock {
            Some((now, ticks_per_us)) => (now, ticks_per_us, 0),
            None => (
                clock::ticks as fn() -> u64,
                settled_ticks_per_us(),
                cost_of_a_strand(),
            ),
        };
        let in_ticks = |time: Duration| (time.as_secs_f64() * 1e6 * ticks_per_us as f64) as u64;
        let profiled = Profiled::begin();
        let config = Config {
            profile: profiled.number(),
            clock: self.clock.map(|(now, _)| now),
            cost,
            burden: in_ticks(self.burden),
            grain: self.grain.map(in_ticks),
        };
        let begin = now();
        let mut reached = Reached::default();
        let result = Strand::first(config).run(
            |end| {
                // A profile inside of a profile: the outer one has measured nothing meanwhile.
                strand::absorb(&end);
                reached = *end;
            },
            || {
                let result = computation();
                profiled.end();
                result
            },
        );
        let elapsed = now().saturating_sub(begin);
        let mut profile = Profile::new(&reached, elapsed, ticks_per_us, current_num_threads());
        if config.grain.is_some() {
            profile.keep(recording::text(&reached.path, &profile, ticks_per_us));
        }
        (result, profile)
    }
}

/// The clock's rate, once it is known well.
fn settled_ticks_per_us() -> u64 {
    clock::ticks_per_us();
    std::thread::sleep(Duration::from_millis(2));
    clock::ticks_per_us()
}

/// What the profiler adds to a strand.
fn cost_of_a_strand() -> u64 {
    static COST: OnceLock<u64> = OnceLock::new();
    *COST.get_or_init(strand::cost)
}
