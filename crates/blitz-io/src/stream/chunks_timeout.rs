//! Items in batches that do not wait for ever.

use crate::coop;
use crate::time::{Instant, Sleep, sleep_until};
use futures_core::Stream;
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

pin_project! {
    /// See [`StreamExt::chunks_timeout`](super::StreamExt::chunks_timeout).
    #[derive(Debug)]
    pub struct ChunksTimeout<S: Stream> {
        #[pin]
        stream: S,
        // Set when the first item of a chunk comes.
        #[pin]
        limit: Sleep,
        items: Vec<S::Item>,
        size: usize,
        duration: Duration,
        ended: bool,
    }
}

impl<S: Stream> ChunksTimeout<S> {
    #[track_caller]
    pub(super) fn new(stream: S, size: usize, duration: Duration) -> Self {
        assert!(size > 0, "chunks_timeout: a chunk has at least one item");
        Self {
            stream,
            limit: sleep_until(Instant::now()),
            items: Vec::new(),
            size,
            duration,
            ended: false,
        }
    }
}

impl<S: Stream> Stream for ChunksTimeout<S> {
    type Item = Vec<S::Item>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut this = self.project();
        while !*this.ended && this.items.len() < *this.size {
            match this.stream.as_mut().poll_next(cx) {
                Poll::Ready(Some(item)) => {
                    if this.items.is_empty() {
                        let end = Instant::now().later(*this.duration);
                        this.limit.as_mut().reset(end);
                    }
                    this.items.push(item);
                }
                Poll::Ready(None) => *this.ended = true,
                Poll::Pending => {
                    // Without a budget: an item that is there must not wait longer because others have used it up.
                    if this.items.is_empty()
                        || coop::without_budget(|| this.limit.poll(cx)).is_pending()
                    {
                        return Poll::Pending;
                    }
                    break;
                }
            }
        }
        let items = std::mem::take(this.items);
        Poll::Ready((!items.is_empty()).then_some(items))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let waiting = usize::from(!self.items.is_empty());
        let (least, most) = self.stream.size_hint();
        let most = most.and_then(|most| most.checked_add(waiting));
        (least / self.size + usize::from(least == 0) * waiting, most)
    }
}
