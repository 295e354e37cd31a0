//! A point in time of the runtime's clock.

use crate::context;
use crate::driver::clock;
use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time::Duration;

/// A point in time: [`std::time::Instant`], except that [`now`](Instant::now) asks the runtime's clock, which a test may
/// have [paused](crate::time::pause).
///
/// ```
/// use blitz_io::time::{Duration, Instant};
///
/// let start = Instant::now();
/// assert!(start + Duration::from_secs(1) > Instant::now());
/// assert_eq!(start.duration_since(start + Duration::from_secs(1)), Duration::ZERO);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(std::time::Instant);

impl Instant {
    /// Now, according to the clock of the runtime that this thread is in, or else to the system's.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
    /// use blitz_io::time::{Duration, Instant, sleep};
    ///
    /// let start = Instant::now();
    /// sleep(Duration::from_secs(60)).await; // the clock of this test jumps
    /// assert!(Instant::now() >= start + Duration::from_secs(60));
    /// # });
    /// ```
    pub fn now() -> Self {
        if clock::any_virtual() {
            if let Some(driver) = context::try_driver() {
                return Self(driver.clock().now());
            }
        }
        Self(std::time::Instant::now())
    }

    /// The same point in time for the standard library.
    ///
    /// ```
    /// use blitz_io::time::Instant;
    ///
    /// let now = Instant::now();
    /// assert_eq!(Instant::from_std(now.into_std()), now);
    /// ```
    pub fn into_std(self) -> std::time::Instant {
        self.0
    }

    /// The point in time that the standard library means.
    pub fn from_std(instant: std::time::Instant) -> Self {
        Self(instant)
    }

    /// How long ago it was, zero if it is yet to come.
    ///
    /// ```
    /// use blitz_io::time::{Duration, Instant};
    ///
    /// assert_eq!((Instant::now() + Duration::from_secs(60)).elapsed(), Duration::ZERO); // still to come
    /// ```
    pub fn elapsed(&self) -> Duration {
        Self::now().duration_since(*self)
    }

    /// How much later it is than `earlier`, zero if it is not.
    ///
    /// ```
    /// use blitz_io::time::{Duration, Instant};
    ///
    /// let start = Instant::now();
    /// let later = start + Duration::from_secs(1);
    /// assert_eq!(later.duration_since(start), Duration::from_secs(1));
    /// assert_eq!(start.saturating_duration_since(later), Duration::ZERO);
    /// assert_eq!(start.checked_duration_since(later), None);
    /// ```
    pub fn duration_since(&self, earlier: Self) -> Duration {
        self.0.saturating_duration_since(earlier.0)
    }

    /// As [`duration_since`](Self::duration_since).
    pub fn saturating_duration_since(&self, earlier: Self) -> Duration {
        self.duration_since(earlier)
    }

    /// How much later it is than `earlier`, if it is.
    pub fn checked_duration_since(&self, earlier: Self) -> Option<Duration> {
        self.0.checked_duration_since(earlier.0)
    }

    /// The point in time `duration` later, if there is one.
    ///
    /// ```
    /// use blitz_io::time::{Duration, Instant};
    ///
    /// let now = Instant::now();
    /// assert_eq!(now.checked_add(Duration::MAX), None);
    /// assert_eq!(now.checked_add(Duration::ZERO), now.checked_sub(Duration::ZERO));
    /// ```
    pub fn checked_add(&self, duration: Duration) -> Option<Self> {
        self.0.checked_add(duration).map(Self)
    }

    /// The point in time `duration` earlier, if there is one.
    pub fn checked_sub(&self, duration: Duration) -> Option<Self> {
        self.0.checked_sub(duration).map(Self)
    }

    /// So long from now.
    pub(crate) fn in_a_while(duration: Duration) -> Self {
        Self::now().later(duration)
    }

    /// The point in time `duration` later, or one so late that nobody waits for it.
    pub(crate) fn later(&self, duration: Duration) -> Self {
        const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
        self.checked_add(duration)
            .unwrap_or_else(|| *self + CENTURY)
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<std::time::Instant> for Instant {
    fn from(instant: std::time::Instant) -> Self {
        Self(instant)
    }
}

impl From<Instant> for std::time::Instant {
    fn from(instant: Instant) -> Self {
        instant.0
    }
}

impl Add<Duration> for Instant {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0 + duration)
    }
}

impl AddAssign<Duration> for Instant {
    fn add_assign(&mut self, duration: Duration) {
        self.0 += duration;
    }
}

impl Sub<Duration> for Instant {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        Self(self.0 - duration)
    }
}

impl SubAssign<Duration> for Instant {
    fn sub_assign(&mut self, duration: Duration) {
        self.0 -= duration;
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        self.duration_since(earlier)
    }
}
