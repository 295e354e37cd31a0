//! A stream with a speed limit.

use crate::time::{Instant, Sleep, sleep_until};
use futures_core::Stream;
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

pin_project! {
    /// See [`StreamExt::throttle`](super::StreamExt::throttle).
    #[derive(Debug)]
    pub struct Throttle<S> {
        #[pin]
        stream: S,
        #[pin]
        pause: Sleep,
        duration: Duration,
        // Whether the pause after the last item is over.
        rested: bool,
    }
}

impl<S> Throttle<S> {
    #[track_caller]
    pub(super) fn new(stream: S, duration: Duration) -> Self {
        Self {
            stream,
            pause: sleep_until(Instant::now()),
            duration,
            rested: true,
        }
    }
}

impl<S: Stream> Stream for Throttle<S> {
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let mut this = self.project();
        if !*this.rested {
            ready!(this.pause.as_mut().poll(cx));
            *this.rested = true;
        }
        let item = ready!(this.stream.poll_next(cx));
        if item.is_some() && !this.duration.is_zero() {
            let next = Instant::now().later(*this.duration);
            this.pause.as_mut().reset(next);
            *this.rested = false;
        }
        Poll::Ready(item)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.stream.size_hint()
    }
}
