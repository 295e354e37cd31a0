//! A stream that says when it is silent.

use crate::coop;
use crate::time::error::Elapsed;
use crate::time::{Instant, Sleep, sleep};
use futures_core::Stream;
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

pin_project! {
    /// See [`StreamExt::timeout`](super::StreamExt::timeout).
    #[derive(Debug)]
    pub struct Timeout<S> {
        #[pin]
        stream: S,
        #[pin]
        limit: Sleep,
        duration: Duration,
        // Whether the silence has been reported already.
        reported: bool,
    }
}

impl<S> Timeout<S> {
    #[track_caller]
    pub(super) fn new(stream: S, duration: Duration) -> Self {
        Self {
            stream,
            limit: sleep(duration),
            duration,
            reported: false,
        }
    }
}

impl<S: Stream> Stream for Timeout<S> {
    type Item = Result<S::Item, Elapsed>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        if let Poll::Ready(item) = this.stream.poll_next(cx) {
            if item.is_some() {
                let next = Instant::now().later(*this.duration);
                this.limit.as_mut().reset(next);
                *this.reported = false;
            }
            return Poll::Ready(item.map(Ok));
        }
        if *this.reported {
            return Poll::Pending;
        }
        // A stream that uses up the whole budget in each poll must not keep the clock from being asked.
        ready!(coop::without_budget(|| this.limit.poll(cx)));
        *this.reported = true;
        Poll::Ready(Some(Err(Elapsed::new())))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        // Silences may come between any two items.
        (self.stream.size_hint().0, None)
    }
}
