//! The half that receives.

use super::about_the_channel;
use super::error::{RecvError, TryRecvError};
use super::flow::Flow;
use crate::channel::core::{Core, add};
use crate::channel::handles::read;
use crate::channel::queue::{Limited, Queue};
use crate::coop;
use crate::primitives::{Arc, Ordering};
use crate::waiters::{Node, State};
#[cfg(feature = "stream")]
use futures_core::stream::{FusedStream, Stream};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

type Shared<T> = Core<T, Flow<T>>;

/// The half that receives: clone it for more of them. The last one that is dropped closes the channel and drops what is in it.
///
/// With the feature `stream` it is a `Stream`, too, which keeps a place in line of its own: 80 bytes, allocated the first time that the stream waits.
///
/// ```
/// let (sender, receiver) = blitz_sync::mpmc::bounded(4);
/// (1..=3).for_each(|number| sender.try_send(number).unwrap());
/// assert_eq!((receiver.len(), receiver.capacity(), receiver.is_full()), (3, Some(4), false));
/// assert_eq!((receiver.sender_count(), receiver.receiver_count()), (1, 1));
/// let other = receiver.clone(); // each message goes to one of them
/// assert!(receiver.same_channel(&other));
/// assert_eq!((receiver.try_recv(), other.try_recv()), (Ok(1), Ok(2)));
/// assert!(receiver.close()); // what is there can still be received
/// assert!(receiver.is_closed() && !receiver.is_empty());
/// assert_eq!(other.try_recv(), Ok(3));
/// ```
pub struct Receiver<T> {
    core: Arc<Shared<T>>,
    stream: Option<Pin<Box<Node>>>,
}

about_the_channel!(Receiver, |this| this.core);

impl<T> Receiver<T> {
    /// The first one, which is counted already.
    pub(super) fn new(core: Arc<Shared<T>>) -> Self {
        Receiver { core, stream: None }
    }

    /// Waits for the next message.
    ///
    /// Cancel-safe: dropped before it is ready, it has taken nothing, and if it was woken for a message it wakes the next
    /// receiver.
    ///
    /// # Errors
    /// If the channel is closed and all messages have been received.
    ///
    /// ```
    /// # blitz_sync::block_on(async {
    /// let (sender, receiver) = blitz_sync::mpmc::unbounded();
    /// sender.send(1).await.unwrap();
    /// assert_eq!(receiver.recv().await, Ok(1));
    /// drop(sender);
    /// assert!(receiver.recv().await.is_err());
    /// # });
    /// ```
    #[inline]
    pub fn recv(&self) -> Recv<'_, T> {
        Recv {
            core: &self.core,
            node: None,
        }
    }

    /// Takes a message if there is one.
    ///
    /// # Errors
    /// See [`TryRecvError`].
    ///
    /// ```
    /// let (sender, receiver) = blitz_sync::mpmc::unbounded();
    /// assert!(receiver.try_recv().is_err());
    /// sender.try_send(1).unwrap();
    /// assert_eq!(receiver.try_recv(), Ok(1));
    /// ```
    #[inline]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        // SAFETY: the queue is for many receivers.
        unsafe { self.core.try_recv(Core::serve_senders) }.map_err(|finished| match finished {
            true => TryRecvError::Closed,
            false => TryRecvError::Empty,
        })
    }

    /// As [`recv`](Self::recv), on a thread that may block.
    ///
    /// # Errors
    /// If the channel is closed and all messages have been received.
    ///
    /// # Panics
    /// Inside of a current-thread runtime, whose thread would wait for itself.
    ///
    /// ```
    /// let (sender, receiver) = blitz_sync::mpmc::bounded(1);
    /// let thread = std::thread::spawn(move || {
    ///     for n in 0..100 {
    ///         sender.send_blocking(n).unwrap();
    ///     }
    /// });
    /// for n in 0..100 {
    ///     assert_eq!(receiver.recv_blocking(), Ok(n));
    /// }
    /// thread.join().unwrap();
    /// ```
    #[cfg(not(loom))]
    #[track_caller]
    pub fn recv_blocking(&self) -> Result<T, RecvError> {
        crate::parking::wait("recv_blocking", self.recv())
    }

    /// Do both belong to the same channel?
    ///
    /// ```
    /// let (_, one) = blitz_sync::mpmc::unbounded::<u32>();
    /// let (_, two) = blitz_sync::mpmc::unbounded::<u32>();
    /// assert!(one.same_channel(&one.clone()) && !one.same_channel(&two));
    /// ```
    pub fn same_channel(&self, other: &Self) -> bool {
        std::ptr::eq::<Shared<T>>(&*self.core, &*other.core)
    }

    /// A handle that does not keep the channel open.
    ///
    /// ```
    /// let (_sender, receiver) = blitz_sync::mpmc::unbounded::<u32>();
    /// let weak = receiver.downgrade();
    /// assert!(weak.upgrade().unwrap().same_channel(&receiver));
    /// ```
    #[must_use]
    pub fn downgrade(&self) -> WeakReceiver<T> {
        WeakReceiver(Arc::clone(&self.core))
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        add(&self.core.receiver_count);
        Receiver::new(Arc::clone(&self.core))
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        if let Some(node) = &self.stream {
            self.core.stop_waiting(node.as_ref());
        }
        if self.core.receiver_count.fetch_sub(1, Ordering::AcqRel) == 1 {
            // SAFETY: that was the last one, and the queue is for many.
            unsafe { self.core.abandon() };
        }
    }
}

impl<T> Unpin for Receiver<T> {}

#[cfg(feature = "stream")]
impl<T> Stream for Receiver<T> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let this = self.get_mut();
        let node = this.stream.get_or_insert_with(|| Box::pin(Node::new()));
        // SAFETY: borrowed exclusively; the receiver stops waiting when it is dropped.
        unsafe { this.core.poll_recv(node.as_ref(), Core::serve_senders, cx) }
    }
}

#[cfg(feature = "stream")]
impl<T> FusedStream for Receiver<T> {
    fn is_terminated(&self) -> bool {
        self.is_closed() && self.is_empty()
    }
}

/// Waits for a message; see [`Receiver::recv`].
#[must_use = "futures do nothing unless polled"]
pub struct Recv<'a, T> {
    core: &'a Arc<Shared<T>>,
    /// There once it has to wait: a message that is there already is received without it.
    node: Option<Node>,
}

impl<T> Recv<'_, T> {
    fn node(self: Pin<&mut Self>) -> Pin<&Node> {
        // SAFETY: the node is pinned with the whole, and is not replaced.
        unsafe {
            let this = self.get_unchecked_mut();
            Pin::new_unchecked(this.node.get_or_insert_with(Node::new))
        }
    }
}

impl<T> Future for Recv<'_, T> {
    type Output = Result<T, RecvError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let unit = ready!(coop::take_unit(cx));
        let core: &Shared<T> = self.core;
        if self.node.is_none() {
            // SAFETY: the queue is for many receivers.
            if let Some(message) = unsafe { core.take(Core::serve_senders) } {
                return Poll::Ready(Ok(message));
            }
        }
        let node = self.as_mut().node();
        // SAFETY: borrowed exclusively; `drop` stops waiting.
        let polled = unsafe { core.poll_recv_in_line(node, Core::serve_senders, cx) };
        if polled.is_pending() {
            unit.refund();
        }
        polled.map(|message| message.ok_or(RecvError))
    }
}

impl<T> Drop for Recv<'_, T> {
    #[inline]
    fn drop(&mut self) {
        let node = self.node.as_ref();
        if let Some(node) = node.filter(|node| node.state() != State::Idle) {
            // SAFETY: what is dropped does not move any more.
            let node = unsafe { Pin::new_unchecked(node) };
            self.core.stop_waiting(node);
        }
    }
}

impl<T> fmt::Debug for Recv<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Recv { .. }")
    }
}

/// A receiver that does not keep the channel open.
///
/// ```
/// let (sender, receiver) = blitz_sync::mpmc::unbounded::<u32>();
/// let weak = receiver.downgrade(); // does not keep the channel open
/// assert!(weak.upgrade().is_some());
/// drop(receiver);
/// assert!(weak.upgrade().is_none() && sender.is_closed());
/// ```
pub struct WeakReceiver<T>(Arc<Shared<T>>);

impl<T> WeakReceiver<T> {
    /// A receiver, unless all receivers are gone.
    #[must_use]
    pub fn upgrade(&self) -> Option<Receiver<T>> {
        let one_more = |count: usize| (count > 0).then_some(count + 1);
        let revived =
            self.0
                .receiver_count
                .fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more);
        revived.ok().map(|_| Receiver::new(Arc::clone(&self.0)))
    }
}

impl<T> Clone for WeakReceiver<T> {
    fn clone(&self) -> Self {
        WeakReceiver(Arc::clone(&self.0))
    }
}

impl<T> fmt::Debug for WeakReceiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WeakReceiver")
            .field("receiver_count", &read(&self.0.receiver_count))
            .finish()
    }
}
