//! Receivers of channels as streams. Those of `mpsc` and `mpmc` are streams themselves; these wait with a future that has to stay somewhere.

use crate::sync::broadcast::error::RecvError;
use crate::sync::{broadcast, watch};
use futures_core::Stream;
use pin_project_lite::pin_project;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The messages of a broadcast channel. An error says how many were missed, and the stream goes on.
///
/// # Cost
/// One allocation, here. None per message.
///
/// ```
/// use blitz_io::sync::broadcast;
/// use blitz_io::stream;
///
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let (sender, receiver) = broadcast::channel(2);
/// for number in 0..5 {
///     sender.send(number).unwrap();
/// }
/// drop(sender);
/// let mut numbers = stream::broadcast(receiver);
/// assert_eq!(stream::next(&mut numbers).await, Some(Err(3)), "three were missed");
/// assert_eq!(stream::next(&mut numbers).await, Some(Ok(3)));
/// assert_eq!(stream::next(&mut numbers).await, Some(Ok(4)));
/// assert_eq!(stream::next(&mut numbers).await, None);
/// # });
/// ```
pub fn broadcast<T: Clone>(
    receiver: broadcast::Receiver<T>,
) -> Pin<Box<impl Stream<Item = Result<T, u64>>>> {
    unfold(receiver, |mut receiver| async move {
        let message = match receiver.recv().await {
            Ok(message) => Ok(message),
            Err(RecvError::Lagged(missed)) => Err(missed),
            Err(RecvError::Closed) => return None,
        };
        Some((message, receiver))
    })
}

/// The values of a watch channel: the one that is there now, and then each that is the latest when the stream is asked.
///
/// # Cost
/// One allocation, here. None per value.
///
/// ```
/// use blitz_io::sync::watch;
/// use blitz_io::stream;
///
/// # let runtime = blitz_io::Runtime::new().unwrap();
/// # runtime.block_on(async {
/// let (sender, receiver) = watch::channel("first");
/// let mut values = stream::watch(receiver);
/// assert_eq!(stream::next(&mut values).await, Some("first"));
/// sender.send("second").unwrap();
/// sender.send("third").unwrap();
/// drop(sender);
/// assert_eq!(stream::next(&mut values).await, Some("third"));
/// assert_eq!(stream::next(&mut values).await, None);
/// # });
/// ```
pub fn watch<T: Clone>(mut receiver: watch::Receiver<T>) -> Pin<Box<impl Stream<Item = T>>> {
    receiver.mark_changed();
    unfold(receiver, |mut receiver| async move {
        receiver.changed().await.ok()?;
        let value = receiver.borrow_and_update().clone();
        Some((value, receiver))
    })
}

pin_project! {
    /// A stream made of a future that returns an item and what the next future needs. The future stays when a wait is given up, so
    /// nothing is lost.
    struct Unfold<S, N, F> {
        next: N,
        state: Option<S>,
        #[pin]
        future: Option<F>,
    }
}

fn unfold<S, T, F, N>(state: S, next: N) -> Pin<Box<Unfold<S, N, F>>>
where
    N: FnMut(S) -> F,
    F: Future<Output = Option<(T, S)>>,
{
    Box::pin(Unfold {
        next,
        state: Some(state),
        future: None,
    })
}

impl<S, T, F, N> Stream for Unfold<S, N, F>
where
    N: FnMut(S) -> F,
    F: Future<Output = Option<(T, S)>>,
{
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let mut this = self.project();
        if let Some(state) = this.state.take() {
            let future = (this.next)(state);
            this.future.set(Some(future));
        }
        let Some(future) = this.future.as_mut().as_pin_mut() else {
            return Poll::Ready(None);
        };
        let output = ready!(future.poll(cx));
        this.future.set(None);
        let item = output.map(|(item, state)| {
            *this.state = Some(state);
            item
        });
        Poll::Ready(item)
    }
}
