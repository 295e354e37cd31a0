//! A future and the longest that it may take.

use super::Instant;
use super::error::Elapsed;
use super::sleep::{Sleep, sleep, sleep_until};
use crate::coop;
use pin_project_lite::pin_project;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// Awaits `future` for at most `duration`; then it is dropped.
///
/// # Errors
/// [`Elapsed`] if it was not ready in time.
///
/// # Panics
/// If the thread is in no runtime.
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
/// use blitz_io::time::{Duration, timeout};
///
/// let never = std::future::pending::<()>();
/// assert!(timeout(Duration::from_secs(1), never).await.is_err());
/// assert_eq!(timeout(Duration::from_secs(1), async { 7 }).await, Ok(7));
/// # });
/// ```
#[track_caller]
#[inline]
pub fn timeout<F>(duration: Duration, future: F) -> Timeout<F::IntoFuture>
where
    F: IntoFuture,
{
    Timeout {
        future: future.into_future(),
        limit: sleep(duration),
    }
}

/// Awaits `future` until `deadline`, as [`timeout`].
///
/// # Errors
/// [`Elapsed`] if it was not ready in time.
///
/// # Panics
/// If the thread is in no runtime.
///
/// ```
/// use blitz_io::time::Instant;
/// use std::time::Duration;
/// # blitz_io::Runtime::new().unwrap().block_on(async {
/// let end = Instant::now() + Duration::from_millis(2);
/// let never = std::future::pending::<()>();
/// assert!(blitz_io::time::timeout_at(end, never).await.is_err());
/// # });
/// ```
#[track_caller]
#[inline]
pub fn timeout_at<F>(deadline: Instant, future: F) -> Timeout<F::IntoFuture>
where
    F: IntoFuture,
{
    Timeout {
        future: future.into_future(),
        limit: sleep_until(deadline),
    }
}

pin_project! {
    /// See [`timeout`].
    ///
    /// ```
    /// # blitz_io::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap().block_on(async {
    /// use blitz_io::time::{Duration, sleep, timeout};
    ///
    /// let mut limited = timeout(Duration::from_secs(1), Box::pin(sleep(Duration::from_secs(60))));
    /// // The future inside can be looked at, changed, and let off its limit.
    /// let deadline = limited.get_ref().deadline();
    /// limited.get_mut().as_mut().reset(deadline - Duration::from_secs(30));
    /// limited.into_inner().await; // half a minute
    /// # });
    /// ```
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Timeout<F> {
        #[pin]
        future: F,
        #[pin]
        limit: Sleep,
    }
}

impl<F> Timeout<F> {
    /// The future.
    pub fn get_ref(&self) -> &F {
        &self.future
    }

    /// The future, to be changed.
    pub fn get_mut(&mut self) -> &mut F {
        &mut self.future
    }

    /// The future alone: it may take as long as it likes.
    pub fn into_inner(self) -> F {
        self.future
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        if let Poll::Ready(output) = this.future.poll(cx) {
            return Poll::Ready(Ok(output));
        }
        // A future that uses up the whole budget in each poll could otherwise go on for ever.
        coop::without_budget(|| this.limit.poll(cx)).map(|()| Err(Elapsed::new()))
    }
}
