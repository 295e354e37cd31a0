//! Waiting until a point in time.

use super::Instant;
use crate::context;
use crate::coop;
use crate::driver::Handle;
use crate::driver::timers::{Timer, tick_after};
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// Waits for a while.
///
/// # Panics
/// If the thread is in no runtime.
///
/// ```
/// use blitz_io::time::{Duration, Instant, sleep};
///
/// # async fn example() {
/// let start = Instant::now();
/// sleep(Duration::from_millis(5)).await;
/// assert!(start.elapsed() >= Duration::from_millis(5));
/// # }
/// ```
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    sleep_until(Instant::now().later(duration))
}

/// Waits until `deadline`; not at all if that is over.
///
/// # Panics
/// If the thread is in no runtime.
#[track_caller]
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep::with_handle(context::driver(), deadline)
}

pin_project! {
    /// A future that is ready at its deadline. See [`sleep`].
    ///
    /// Nothing happens before it is polled. Dropping it, at any time, leaves nothing behind.
    ///
    /// If its runtime has ended, threads and all, and the deadline is not over, polling it panics: it would never be ready.
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Sleep {
        deadline: Instant,
        #[pin]
        timer: Timer,
    }
}

fn tick_of(handle: &Handle, deadline: Instant) -> u64 {
    tick_after(handle.clock().nanos_at(deadline.into_std()))
}

impl Sleep {
    fn with_handle(handle: Arc<Handle>, deadline: Instant) -> Self {
        let when = tick_of(&handle, deadline);
        Self {
            deadline,
            timer: Timer::new(handle, when),
        }
    }

    /// When it is ready.
    pub fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Whether it has been ready since it was last given a deadline.
    pub fn is_elapsed(&self) -> bool {
        self.timer.has_fired()
    }

    /// Gives it another deadline, also when it has been ready already. A task that waits for it waits on, for
    /// the new one, and need not poll it again before.
    ///
    /// ```
    /// use blitz_io::time::{Duration, Instant, sleep};
    ///
    /// # async fn example() {
    /// let mut quiet = std::pin::pin!(sleep(Duration::from_secs(60)));
    /// quiet.as_mut().reset(Instant::now() + Duration::from_millis(1));
    /// quiet.await;
    /// # }
    /// ```
    pub fn reset(self: Pin<&mut Self>, deadline: Instant) {
        let this = self.project();
        *this.deadline = deadline;
        let when = tick_of(this.timer.handle(), deadline);
        this.timer.reset(when);
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
