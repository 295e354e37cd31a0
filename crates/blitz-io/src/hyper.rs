//! What hyper needs of a runtime beside sockets: something to spawn on, and timers. Feature `hyper`.

use crate::time::{Instant, Sleep, sleep_until};
use hyper::rt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Spawns hyper's tasks in the current runtime; see [`hyper::rt::Executor`].
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
#[derive(Debug, Clone, Copy, Default)]
pub struct Timer;

impl rt::Timer for Timer {
    fn sleep(&self, duration: std::time::Duration) -> Pin<Box<dyn rt::Sleep>> {
        Box::pin(HyperSleep(crate::time::sleep(duration)))
    }

    fn sleep_until(&self, deadline: std::time::Instant) -> Pin<Box<dyn rt::Sleep>> {
        Box::pin(HyperSleep(sleep_until(Instant::from_std(deadline))))
    }

    fn reset(&self, sleep: &mut Pin<Box<dyn rt::Sleep>>, deadline: std::time::Instant) {
        *sleep = rt::Timer::sleep_until(self, deadline);
    }
}

struct HyperSleep(Sleep);

impl Future for HyperSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // SAFETY: the field is pinned with the whole.
        unsafe { self.map_unchecked_mut(|this| &mut this.0) }.poll(cx)
    }
}

impl rt::Sleep for HyperSleep {}
