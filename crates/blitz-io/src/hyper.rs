//! What hyper needs of a runtime beside sockets: something to spawn on, and timers. Feature `hyper`.

use crate::time::{Instant, Sleep, sleep_until};
use hyper::rt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Spawns hyper's tasks in the current runtime; see [`hyper::rt::Executor`].
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::hyper::Executor;
/// use hyper::rt::Executor as _;
///
/// let (sender, receiver) = blitz_io::sync::oneshot::channel();
/// Executor.execute(async move { sender.send(42) });
/// assert_eq!(receiver.await.unwrap(), 42);
/// # });
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Executor;

impl<F> rt::Executor<F> for Executor
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, future: F) {
        drop(crate::spawn(future));
    }
}

/// Timers of the current runtime for hyper; see [`hyper::rt::Timer`].
///
/// ```
/// # blitz_io::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use blitz_io::hyper::Timer;
/// use hyper::rt::Timer as _;
/// use std::time::Duration;
///
/// let start = Timer.now();
/// Timer.sleep(Duration::from_millis(1)).await;
/// assert!(Timer.now() - start >= Duration::from_millis(1));
/// # });
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Timer;

impl rt::Timer for Timer {
    fn sleep(&self, duration: std::time::Duration) -> Pin<Box<dyn rt::Sleep>> {
        Box::pin(HyperSleep(crate::time::sleep(duration)))
    }

    fn sleep_until(&self, deadline: std::time::Instant) -> Pin<Box<dyn rt::Sleep>> {
        Box::pin(HyperSleep(sleep_until(Instant::from_std(deadline))))
    }

    /// The time of the runtime's clock, which a test may have paused.
    fn now(&self) -> std::time::Instant {
        Instant::now().into_std()
    }

    /// In place: hyper does it for every request of a connection that has a time-out.
    fn reset(&self, sleep: &mut Pin<Box<dyn rt::Sleep>>, deadline: std::time::Instant) {
        match sleep.as_mut().downcast_mut_pin::<HyperSleep>() {
            Some(ours) => ours.sleep().reset(Instant::from_std(deadline)),
            None => *sleep = rt::Timer::sleep_until(self, deadline),
        }
    }
}

struct HyperSleep(Sleep);

impl HyperSleep {
    fn sleep(self: Pin<&mut Self>) -> Pin<&mut Sleep> {
        // SAFETY: the field is pinned with the whole.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }
    }
}

impl Future for HyperSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.sleep().poll(cx)
    }
}

impl rt::Sleep for HyperSleep {}
