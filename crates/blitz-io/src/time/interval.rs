//! Something to be done again and again.

use super::Instant;
use super::sleep::{Sleep, sleep_until};
use futures_core::Stream;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// Ticks at once and then every `period`.
///
/// # Panics
/// If `period` is zero, or the thread is in no runtime.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
/// use blitz_io::time::{Duration, interval};
///
/// let mut interval = interval(Duration::from_secs(2));
/// let first = interval.tick().await;
/// assert_eq!(interval.tick().await, first + Duration::from_secs(2));
/// # });
/// ```
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    interval_at(Instant::now(), period)
}

/// Ticks at `start` and then every `period`.
///
/// # Panics
/// If `period` is zero, or the thread is in no runtime.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
/// use blitz_io::time::{Duration, Instant, interval_at};
///
/// let start = Instant::now() + Duration::from_secs(10);
/// let mut interval = interval_at(start, Duration::from_secs(1));
/// assert_eq!(interval.tick().await, start);
/// assert_eq!(interval.tick().await, start + Duration::from_secs(1));
/// # });
/// ```
#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    assert!(
        !period.is_zero(),
        "the period of an interval must not be zero: it would tick all the time"
    );
    Interval {
        sleep: Box::pin(sleep_until(start)),
        period,
        behavior: MissedTickBehavior::default(),
    }
}

/// What an [`Interval`] does when somebody comes for a tick after the next one was due already.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
/// use blitz_io::time::{Duration, Instant, MissedTickBehavior, interval, sleep};
///
/// let second = Duration::from_secs(1);
/// let mut interval = interval(second);
/// interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
/// let start = interval.tick().await;
/// sleep(second * 5 / 2).await; // too long: two ticks were due
/// assert_eq!(interval.tick().await, start + second); // late
/// assert!(interval.tick().await >= start + second * 7 / 2); // a second after that one came
/// # });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MissedTickBehavior {
    /// The missed ticks follow at once, one after the other, until it has caught up.
    #[default]
    Burst,
    /// The next tick is a period after the late one: the schedule moves. (Not for one that is late by 5 ms or less, if the next one is not due yet.)
    Delay,
    /// The missed ticks are left out; the next one is where it would have been.
    Skip,
}

/// By how much a tick may be late and count as in time: threads are woken a little late, and a schedule that moved with each time would drift.
const TOLERATED: Duration = Duration::from_millis(5);

impl MissedTickBehavior {
    /// The tick after one that was due at `due` and delivered at `now`.
    fn next(self, due: Instant, now: Instant, period: Duration) -> Instant {
        let late = now.duration_since(due);
        match self {
            Self::Burst => due.later(period),
            Self::Delay if late <= TOLERATED && late < period => due.later(period),
            Self::Delay => now.later(period),
            Self::Skip => {
                let into_period = late.as_nanos() % period.as_nanos();
                // Less than a period, and periods that have passed once fit 64 bits.
                now.later(period - Duration::from_nanos(into_period as u64))
            }
        }
    }
}

/// A series of ticks. See [`interval`].
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
/// use blitz_io::time::{Duration, MissedTickBehavior, interval};
///
/// let mut interval = interval(Duration::from_secs(60));
/// interval.set_missed_tick_behavior(MissedTickBehavior::Skip);
/// assert_eq!(interval.missed_tick_behavior(), MissedTickBehavior::Skip);
/// assert_eq!(interval.period(), Duration::from_secs(60));
/// let first = interval.tick().await; // at once
/// assert_eq!(interval.tick().await - first, interval.period());
/// # });
/// ```
#[derive(Debug)]
pub struct Interval {
    sleep: Pin<Box<Sleep>>,
    period: Duration,
    behavior: MissedTickBehavior,
}

impl Interval {
    /// Waits for the next tick and says when it was due.
    ///
    /// Dropping the future loses no tick.
    ///
    /// ```
    /// use std::time::Duration;
    /// # blitz_io::Runtime::new().unwrap().block_on(async {
    /// let mut every = blitz_io::time::interval(Duration::from_millis(2));
    /// let first = every.tick().await;
    /// assert!(every.tick().await >= first + Duration::from_millis(2));
    /// # });
    /// ```
    pub async fn tick(&mut self) -> Instant {
        poll_fn(|cx| self.poll_tick(cx)).await
    }

    /// As [`tick`](Self::tick).
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
    /// use blitz_io::time::{Duration, interval};
    /// use std::future::poll_fn;
    ///
    /// let mut interval = interval(Duration::from_secs(1));
    /// let first = poll_fn(|cx| interval.poll_tick(cx)).await;
    /// assert_eq!(interval.tick().await - first, Duration::from_secs(1));
    /// # });
    /// ```
    pub fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant> {
        ready!(self.sleep.as_mut().poll(cx));
        let due = self.sleep.deadline();
        let next = self.behavior.next(due, Instant::now(), self.period);
        self.sleep.as_mut().reset(next);
        Poll::Ready(due)
    }

    /// The next tick is a period from now.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
    /// use blitz_io::time::{Duration, Instant, interval, sleep};
    ///
    /// let mut interval = interval(Duration::from_secs(10));
    /// interval.tick().await;
    /// sleep(Duration::from_secs(7)).await;
    /// let now = Instant::now();
    /// interval.reset();
    /// assert_eq!(interval.tick().await - now, Duration::from_secs(10));
    /// # });
    /// ```
    pub fn reset(&mut self) {
        self.reset_at(Instant::now().later(self.period));
    }

    /// The next tick is now.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
    /// use blitz_io::time::{Duration, Instant, interval};
    ///
    /// let mut interval = interval(Duration::from_secs(10));
    /// interval.tick().await;
    /// let now = Instant::now();
    /// interval.reset_immediately();
    /// assert!(interval.tick().await - now < Duration::from_secs(1));
    /// # });
    /// ```
    pub fn reset_immediately(&mut self) {
        self.reset_at(Instant::now());
    }

    /// The next tick is after `duration`.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
    /// use blitz_io::time::{Duration, Instant, interval};
    ///
    /// let mut interval = interval(Duration::from_secs(10));
    /// interval.tick().await;
    /// let now = Instant::now();
    /// interval.reset_after(Duration::from_secs(3));
    /// assert_eq!(interval.tick().await - now, Duration::from_secs(3));
    /// # });
    /// ```
    pub fn reset_after(&mut self, duration: Duration) {
        self.reset_at(Instant::now().later(duration));
    }

    /// The next tick is at `deadline`.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
    /// use blitz_io::time::{Duration, Instant, interval};
    ///
    /// let mut interval = interval(Duration::from_secs(10));
    /// interval.tick().await;
    /// let noon = Instant::now() + Duration::from_secs(3600);
    /// interval.reset_at(noon);
    /// assert_eq!(interval.tick().await, noon);
    /// # });
    /// ```
    pub fn reset_at(&mut self, deadline: Instant) {
        self.sleep.as_mut().reset(deadline);
    }

    /// What it does about missed ticks.
    pub fn missed_tick_behavior(&self) -> MissedTickBehavior {
        self.behavior
    }

    /// Changes what it does about missed ticks.
    pub fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior) {
        self.behavior = behavior;
    }

    /// The time between two ticks.
    pub fn period(&self) -> Duration {
        self.period
    }
}

/// The ticks, as [`tick`](Interval::tick) returns them. It never ends.
impl Stream for Interval {
    type Item = Instant;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Instant>> {
        self.poll_tick(cx).map(Some)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (usize::MAX, None)
    }
}
