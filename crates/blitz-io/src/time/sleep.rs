//! Waiting until a point in time.

use super::Instant;
use crate::context;
use crate::coop;
use crate::driver::timers::Timer;
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// Waits for a while.
///
/// # Panics
/// If the thread is in no runtime.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
/// use blitz_io::time::{Duration, Instant, sleep};
///
/// let start = Instant::now();
/// sleep(Duration::from_secs(1)).await;
/// assert!(start.elapsed() >= Duration::from_secs(1));
/// # });
/// ```
#[track_caller]
#[inline(always)] // The whole future is copied otherwise, right after it was written in smaller pieces: that costs more than all the rest.
pub fn sleep(duration: Duration) -> Sleep {
    // Before the clock is read, which waits for all that has been begun: the other way around takes 3 ns longer.
    let driver = context::driver();
    Sleep {
        timer: Timer::new(driver, Instant::in_a_while(duration).into_std()),
    }
}

/// Waits until `deadline`; not at all if that is over.
///
/// # Panics
/// If the thread is in no runtime.
///
/// ```
/// use blitz_io::time::Instant;
/// use std::time::Duration;
/// # blitz_io::Runtime::new().unwrap().block_on(async {
/// let end = Instant::now() + Duration::from_millis(2);
/// blitz_io::time::sleep_until(end).await;
/// assert!(Instant::now() >= end);
/// # });
/// ```
#[track_caller]
#[inline(always)] // See `sleep`.
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep {
        timer: Timer::new(context::driver(), deadline.into_std()),
    }
}

pin_project! {
    /// A future that is ready at its deadline. See [`sleep`].
    ///
    /// Nothing happens before it is polled. Dropping it, at any time, leaves nothing behind.
    ///
    /// If its runtime has ended, threads and all, and the deadline is not over, polling it panics: it would never be ready.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
    /// use blitz_io::time::{Duration, Instant, sleep};
    /// use std::pin::pin;
    ///
    /// let deadline = Instant::now() + Duration::from_secs(1);
    /// let mut pause = pin!(sleep(Duration::from_secs(1)));
    /// assert!(pause.deadline() >= deadline && !pause.is_elapsed());
    /// pause.as_mut().await;
    /// assert!(pause.is_elapsed());
    /// # });
    /// ```
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Sleep {
        #[pin]
        timer: Timer,
    }
}

impl Sleep {
    /// When it is ready.
    pub fn deadline(&self) -> Instant {
        Instant::from_std(self.timer.deadline())
    }

    /// Whether it has been ready since it was last given a deadline.
    pub fn is_elapsed(&self) -> bool {
        self.timer.has_fired()
    }

    /// Gives it another deadline, also when it has been ready already. A task that waits for it waits on, for
    /// the new one, and need not poll it again before.
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
    /// use blitz_io::time::{Duration, Instant, sleep};
    ///
    /// let start = Instant::now();
    /// let mut quiet = std::pin::pin!(sleep(Duration::from_secs(60)));
    /// quiet.as_mut().reset(start + Duration::from_secs(90));
    /// quiet.await;
    /// assert!(start.elapsed() >= Duration::from_secs(90));
    /// # });
    /// ```
    pub fn reset(self: Pin<&mut Self>, deadline: Instant) {
        self.project().timer.reset(deadline.into_std());
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let unit = ready!(coop::take_unit(cx));
        let poll = self.project().timer.poll(cx);
        if poll.is_pending() {
            unit.refund();
        }
        poll
    }
}
