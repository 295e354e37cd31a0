//! The first of several futures with the same kind of output.

use super::select::start;
use pin_project_lite::pin_project;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Awaits two futures at once, returns the output of the first that is ready, and drops the other with itself.
///
/// If both are ready at the same time, chance decides.
///
/// # Cost
/// No allocation.
///
/// ```
/// use blitz_io::future::race;
/// use blitz_io::time::{Duration, sleep};
///
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let slow = async {
///     sleep(Duration::from_secs(60)).await;
///     "slow"
/// };
/// assert_eq!(race(slow, async { "quick" }).await, "quick");
/// # });
/// ```
pub fn race<A, B>(first: A, second: B) -> Race<A::IntoFuture, B::IntoFuture>
where
    A: IntoFuture,
    B: IntoFuture<Output = A::Output>,
{
    Race {
        first: first.into_future(),
        second: second.into_future(),
    }
}

pin_project! {
    /// See [`race`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Race<A, B> {
        #[pin]
        first: A,
        #[pin]
        second: B,
    }
}

impl<A: Future, B: Future<Output = A::Output>> Future for Race<A, B> {
    type Output = A::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<A::Output> {
        let this = self.project();
        if start(2) == 0 {
            this.first.poll(cx).or_else(|| this.second.poll(cx))
        } else {
            this.second.poll(cx).or_else(|| this.first.poll(cx))
        }
    }
}

/// What `Poll` lacks.
trait OrElse {
    fn or_else(self, other: impl FnOnce() -> Self) -> Self;
}

impl<T> OrElse for Poll<T> {
    fn or_else(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Poll::Pending => other(),
            ready => ready,
        }
    }
}

/// Awaits any number of futures at once, returns the output of the first that is ready and its index, and drops the rest with
/// itself.
///
/// If several are ready at the same time, chance decides. All are polled whenever one is woken: for hundreds of futures
/// spawn tasks in a [`JoinSet`](crate::task::JoinSet) instead.
///
/// # Panics
/// If there are none: nothing would ever be ready.
///
/// # Cost
/// One allocation, for all futures together.
///
/// ```
/// use blitz_io::future::race_all;
/// use blitz_io::time::{Duration, sleep};
///
/// # let runtime = blitz_io::Builder::new_current_thread().start_paused(true).build().unwrap();
/// # runtime.block_on(async {
/// let runners = [30, 10, 20].map(|seconds| async move {
///     sleep(Duration::from_secs(seconds)).await;
///     seconds
/// });
/// assert_eq!(race_all(runners).await, (10, 1));
/// # });
/// ```
#[track_caller]
pub fn race_all<I>(futures: I) -> RaceAll<<I::Item as IntoFuture>::IntoFuture>
where
    I: IntoIterator<Item: IntoFuture>,
{
    let futures: Box<[_]> = futures.into_iter().map(IntoFuture::into_future).collect();
    assert!(
        !futures.is_empty(),
        "race_all: without any future nothing would ever be ready"
    );
    RaceAll {
        futures: Box::into_pin(futures),
    }
}

/// See [`race_all`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct RaceAll<F> {
    futures: Pin<Box<[F]>>,
}

impl<F: Future> Future for RaceAll<F> {
    type Output = (F::Output, usize);

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let count = self.futures.len();
        let start = start(u32::try_from(count).unwrap_or(u32::MAX)) as usize;
        // SAFETY: nothing is moved out of the slice, and each future is pinned as the whole is.
        let futures = unsafe { self.futures.as_mut().get_unchecked_mut() };
        for index in (start..count).chain(0..start) {
            // SAFETY: as above.
            let future = unsafe { Pin::new_unchecked(&mut futures[index]) };
            if let Poll::Ready(output) = future.poll(cx) {
                return Poll::Ready((output, index));
            }
        }
        Poll::Pending
    }
}
