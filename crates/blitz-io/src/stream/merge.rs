//! Two streams as one.

use futures_core::Stream;
use pin_project_lite::pin_project;
use std::pin::Pin;
use std::task::{Context, Poll};

pin_project! {
    /// See [`StreamExt::merge`](super::StreamExt::merge).
    #[derive(Debug)]
    pub struct Merge<A, B> {
        #[pin]
        first: A,
        #[pin]
        second: B,
        first_ended: bool,
        second_ended: bool,
        second_is_next: bool,
    }
}

impl<A, B> Merge<A, B> {
    pub(super) fn new(first: A, second: B) -> Self {
        Self {
            first,
            second,
            first_ended: false,
            second_ended: false,
            second_is_next: false,
        }
    }
}

/// Asks a stream that has not ended; an item, if there is one at once.
fn poll_one<S: Stream>(
    stream: Pin<&mut S>,
    ended: &mut bool,
    cx: &mut Context<'_>,
) -> Option<S::Item> {
    if *ended {
        return None;
    }
    match stream.poll_next(cx) {
        Poll::Ready(Some(item)) => return Some(item),
        Poll::Ready(None) => *ended = true,
        Poll::Pending => {}
    }
    None
}

impl<A: Stream, B: Stream<Item = A::Item>> Stream for Merge<A, B> {
    type Item = A::Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<A::Item>> {
        let mut this = self.project();
        // Both at most once, this one first.
        for _ in 0..2 {
            let item = if *this.second_is_next {
                poll_one(this.second.as_mut(), this.second_ended, cx)
            } else {
                poll_one(this.first.as_mut(), this.first_ended, cx)
            };
            *this.second_is_next = !*this.second_is_next;
            if item.is_some() {
                return Poll::Ready(item);
            }
        }
        if *this.first_ended && *this.second_ended {
            Poll::Ready(None)
        } else {
            Poll::Pending
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let hint = |ended, hint| if ended { (0, Some(0)) } else { hint };
        let (least, most) = hint(self.first_ended, self.first.size_hint());
        let (other_least, other_most) = hint(self.second_ended, self.second.size_hint());
        let most = most.zip(other_most).and_then(|(a, b)| a.checked_add(b));
        (least.saturating_add(other_least), most)
    }
}
