//! A channel with room for so many messages.

#[cfg(all(feature = "timeout", not(loom)))]
use super::error::SendTimeoutError;
use super::error::{SendError, TryRecvError, TrySendError};
use super::permit::{OwnedPermit, Permit, PermitIterator};
use super::receiver::{receiver, senders};
use crate::channel::core::{Closed, Core};
use crate::channel::handles::{Tx, WeakTx, read};
use crate::channel::queue::bounded::Bounded;
use crate::channel::queue::{Limited, Queue, Refused};
use crate::primitives::Arc;
use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll, ready};
#[cfg(all(feature = "timeout", not(loom)))]
use {crate::coop, blitz_primitives::host, std::future::Future, std::pin::pin};

/// Makes a channel with room for `buffer` messages.
///
/// # Panics
/// If `buffer` is 0 or more than `usize::MAX >> 3`.
///
/// ```
/// use blitz_sync::mpsc::{self, error::TrySendError};
///
/// let (sender, mut receiver) = mpsc::channel(1);
/// assert_eq!(sender.try_send("a"), Ok(()));
/// assert_eq!(sender.try_send("b"), Err(TrySendError::Full("b")));
/// assert_eq!(receiver.try_recv(), Ok("a"));
/// assert_eq!(sender.try_send("b"), Ok(()));
/// ```
#[track_caller]
pub fn channel<T>(buffer: usize) -> (Sender<T>, Receiver<T>) {
    halves(Core::new(Bounded::new(buffer)))
}

pub(super) fn halves<T>(core: Arc<Core<T, Bounded<T>>>) -> (Sender<T>, Receiver<T>) {
    (Sender(Tx::new(Arc::clone(&core))), Receiver(core))
}

/// The half that sends: clone it for more of them. The channel is closed when the last one is dropped.
///
/// ```
/// let (sender, mut receiver) = blitz_sync::mpsc::channel::<u32>(2);
/// assert!(sender.same_channel(&sender.clone()));
/// let weak = sender.downgrade(); // does not keep the channel open
/// assert_eq!((sender.strong_count(), sender.weak_count()), (1, 1));
/// weak.upgrade().unwrap().try_send(7).unwrap();
/// assert_eq!((sender.capacity(), sender.max_capacity()), (1, 2));
/// receiver.close();
/// assert!(sender.is_closed());
/// assert_eq!(receiver.try_recv(), Ok(7));
/// ```
pub struct Sender<T>(pub(super) Tx<T, Bounded<T>>);

receiver! {
    /// The half that receives. Also a `Stream`.
    ///
    /// ```
    /// # fn block_on<F: Future>(f: F) -> F::Output { let mut f = std::pin::pin!(f); loop { if let std::task::Poll::Ready(x) = f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) { return x } std::thread::yield_now() } }
    /// # block_on(async {
    /// use std::future::poll_fn;
    ///
    /// let (sender, mut receiver) = blitz_sync::mpsc::channel(8);
    /// (0..6).for_each(|number| sender.try_send(number).unwrap());
    /// assert_eq!((receiver.len(), receiver.capacity(), receiver.max_capacity()), (6, 2, 8));
    /// assert_eq!((receiver.sender_strong_count(), receiver.sender_weak_count()), (1, 0));
    /// // One at a time, or several.
    /// assert_eq!(poll_fn(|cx| receiver.poll_recv(cx)).await, Some(0));
    /// let mut several = vec![];
    /// assert_eq!(receiver.recv_many(&mut several, 2).await, 2);
    /// assert_eq!(poll_fn(|cx| receiver.poll_recv_many(cx, &mut several, 2)).await, 2);
    /// receiver.close(); // what is there can still be received
    /// assert!(receiver.is_closed() && !receiver.is_empty());
    /// assert_eq!(receiver.blocking_recv_many(&mut several, 10), 1);
    /// assert_eq!(several, [1, 2, 3, 4, 5]);
    /// # });
    /// ```
    Receiver, Bounded, Core::serve_senders, "blitz_sync::mpsc::channel(4)"
}

senders! {
    Sender,
    /// A sender that does not keep the channel open.
    ///
    /// ```
    /// let (sender, mut receiver) = blitz_sync::mpsc::channel::<u32>(1);
    /// let weak = sender.downgrade();
    /// weak.upgrade().unwrap().try_send(7).unwrap();
    /// assert_eq!((weak.strong_count(), weak.weak_count()), (1, 1));
    /// drop(sender);
    /// assert!(weak.upgrade().is_none()); // the channel is closed
    /// assert_eq!(receiver.try_recv(), Ok(7));
    /// ```
    WeakSender, Bounded
}

impl<T> Receiver<T> {
    /// How much room is left: neither used nor reserved.
    pub fn capacity(&self) -> usize {
        self.0.queue.room()
    }

    /// How many messages fit.
    pub fn max_capacity(&self) -> usize {
        self.0.queue.capacity().unwrap_or(usize::MAX)
    }
}

impl<T> Sender<T> {
    /// Sends a message, and waits for room if there is none.
    ///
    /// Cancel-safe: dropped before it is ready, it has sent nothing (and the message is dropped with it; [`reserve`](Self::reserve) keeps
    /// it). Who waits keeps its place in line.
    ///
    /// # Errors
    /// The message, if the receiver is gone or has been closed.
    ///
    /// ```
    /// use blitz_sync::mpsc;
    /// # blitz_sync::block_on(async {
    /// let (sender, mut receiver) = mpsc::channel(1);
    /// sender.send(42).await.unwrap();
    /// assert_eq!(receiver.recv().await, Some(42));
    /// drop(receiver);
    /// assert_eq!(sender.send(43).await.unwrap_err().0, 43);
    /// # });
    /// ```
    pub async fn send(&self, message: T) -> Result<(), SendError<T>> {
        self.0.send(message).await.map_err(SendError)
    }

    /// Sends a message if there is room.
    ///
    /// # Errors
    /// The message, if there is no room (or others wait for it), or if the receiver is gone or has been closed.
    ///
    /// ```
    /// use blitz_sync::mpsc;
    /// let (sender, _receiver) = mpsc::channel(1);
    /// assert!(sender.try_send(1).is_ok());
    /// assert!(sender.try_send(2).is_err(), "there is no room");
    /// ```
    #[inline]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.0.try_send(message).map_err(refused)
    }

    /// As [`send`](Self::send), but waits no longer than `limit`.
    ///
    /// # Errors
    /// The message, if there was no room in time, or if the receiver is gone or has been closed.
    ///
    /// # Panics
    /// If the thread is in no Blitz runtime, which has the timers. On other executors, put their time-out around [`reserve`](Self::reserve).
    ///
    /// ```
    /// use blitz_sync::mpsc::{Sender, error::SendTimeoutError};
    /// use std::time::Duration;
    ///
    /// /// In a task of a `blitz_io` runtime.
    /// async fn offer(sender: &Sender<String>, text: String) -> bool {
    ///     match sender.send_timeout(text, Duration::from_millis(100)).await {
    ///         Ok(()) => true,
    ///         Err(SendTimeoutError::Timeout(text)) => {
    ///             println!("nobody has time for {text}");
    ///             false
    ///         }
    ///         Err(SendTimeoutError::Closed(_)) => false,
    ///     }
    /// }
    /// # let _ = offer;
    /// ```
    #[cfg(all(feature = "timeout", not(loom)))]
    pub async fn send_timeout(
        &self,
        message: T,
        limit: std::time::Duration,
    ) -> Result<(), SendTimeoutError<T>> {
        // Asked whether there is room or not: a program without timers learns it in its first run.
        (host::get().assert_has_timers)();
        let mut room = pin!(self.reserve());
        let mut timer = None;
        let in_time = poll_fn(|cx| {
            if let Poll::Ready(room) = room.as_mut().poll(cx) {
                return Poll::Ready(Some(room));
            }
            let timer = timer.get_or_insert_with(|| (host::get().timer)(limit));
            // Also if the rest of the task has used up the budget.
            coop::without_budget(|| timer.as_mut().poll(cx)).map(|()| None)
        });
        match in_time.await {
            None => Err(SendTimeoutError::Timeout(message)),
            Some(Err(_)) => Err(SendTimeoutError::Closed(message)),
            Some(Ok(permit)) => {
                permit.send(message);
                Ok(())
            }
        }
    }

    /// As [`send`](Self::send), on a thread that may block.
    ///
    /// # Errors
    /// The message, if the receiver is gone or has been closed.
    ///
    /// # Panics
    /// Inside of a current-thread runtime, whose thread would wait for itself.
    ///
    /// ```
    /// let (sender, mut receiver) = blitz_sync::mpsc::channel(1);
    /// let thread = std::thread::spawn(move || {
    ///     for n in 0..100 {
    ///         sender.blocking_send(n).unwrap();
    ///     }
    /// });
    /// for n in 0..100 {
    ///     assert_eq!(receiver.blocking_recv(), Some(n));
    /// }
    /// thread.join().unwrap();
    /// ```
    #[cfg(not(loom))]
    #[track_caller]
    pub fn blocking_send(&self, message: T) -> Result<(), SendError<T>> {
        crate::parking::wait("blocking_send", self.send(message))
    }

    /// Waits for room for one message and reserves it. Cancel-safe.
    ///
    /// # Errors
    /// If the receiver is gone or has been closed.
    ///
    /// ```
    /// # blitz_sync::block_on(async {
    /// let (sender, mut receiver) = blitz_sync::mpsc::channel(1);
    /// let permit = sender.reserve().await.unwrap();
    /// assert!(sender.try_send("no room").is_err());
    /// permit.send("reserved");
    /// assert_eq!(receiver.recv().await, Some("reserved"));
    /// # });
    /// ```
    pub async fn reserve(&self) -> Result<Permit<'_, T>, SendError<()>> {
        self.wait_for_room(1).await?;
        Ok(Permit::new(&self.0))
    }

    /// Waits for room for `count` messages and reserves it. Cancel-safe.
    ///
    /// # Errors
    /// If the receiver is gone or has been closed, or if so many never fit.
    ///
    /// ```
    /// # fn block_on<F: Future>(f: F) -> F::Output { let mut f = std::pin::pin!(f); loop { if let std::task::Poll::Ready(x) = f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) { return x } std::thread::yield_now() } }
    /// # block_on(async {
    /// let (sender, mut receiver) = blitz_sync::mpsc::channel(4);
    /// for permit in sender.reserve_many(2).await.unwrap() {
    ///     permit.send("hello");
    /// }
    /// assert_eq!(receiver.len(), 2);
    /// # receiver.close();
    /// # });
    /// ```
    pub async fn reserve_many(&self, count: usize) -> Result<PermitIterator<'_, T>, SendError<()>> {
        if count > self.max_capacity() {
            return Err(SendError(()));
        }
        self.wait_for_room(count).await?;
        Ok(PermitIterator::new(&self.0, count))
    }

    /// As [`reserve`](Self::reserve), with a permit that has the sender in it.
    ///
    /// # Errors
    /// If the receiver is gone or has been closed.
    ///
    /// ```
    /// # fn block_on<F: Future>(f: F) -> F::Output { let mut f = std::pin::pin!(f); loop { if let std::task::Poll::Ready(x) = f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) { return x } std::thread::yield_now() } }
    /// # block_on(async {
    /// let (sender, mut receiver) = blitz_sync::mpsc::channel(1);
    /// let permit = sender.reserve_owned().await.unwrap(); // may go to another task
    /// let sender = permit.send("hello");
    /// assert_eq!(receiver.recv().await, Some("hello"));
    /// # drop(sender);
    /// # });
    /// ```
    pub async fn reserve_owned(self) -> Result<OwnedPermit<T>, SendError<()>> {
        self.wait_for_room(1).await?;
        Ok(OwnedPermit::new(self))
    }

    async fn wait_for_room(&self, count: usize) -> Result<(), SendError<()>> {
        self.0.reserve(count).await.map_err(|Closed| SendError(()))
    }

    /// Reserves room for one message if there is.
    ///
    /// # Errors
    /// If there is none (or others wait for it), or if the receiver is gone or has been closed.
    ///
    /// ```
    /// let (sender, _receiver) = blitz_sync::mpsc::channel(1);
    /// let permit = sender.try_reserve().unwrap();
    /// assert!(sender.try_reserve().is_err());
    /// permit.send("hello");
    /// ```
    pub fn try_reserve(&self) -> Result<Permit<'_, T>, TrySendError<()>> {
        self.0.queue.reserve(1).map_err(refused)?;
        Ok(Permit::new(&self.0))
    }

    /// Reserves room for `count` messages if there is.
    ///
    /// # Errors
    /// If there is not that much (or others wait for it), or if the receiver is gone or has been closed. That so many never fit is said first, as full; none always fit.
    ///
    /// ```
    /// let (sender, _receiver) = blitz_sync::mpsc::channel::<u32>(2);
    /// assert!(sender.try_reserve_many(3).is_err());
    /// assert_eq!(sender.try_reserve_many(2).unwrap().len(), 2);
    /// ```
    pub fn try_reserve_many(
        &self,
        count: usize,
    ) -> Result<PermitIterator<'_, T>, TrySendError<()>> {
        if count > self.max_capacity() {
            return Err(TrySendError::Full(()));
        }
        match self.0.queue.reserve(count) {
            // Who wants no room need not wait for those who do.
            Err(Refused::Full(())) if count == 0 => {}
            result => result.map_err(refused)?,
        }
        Ok(PermitIterator::new(&self.0, count))
    }

    /// As [`try_reserve`](Self::try_reserve), with a permit that has the sender in it.
    ///
    /// # Errors
    /// The sender, if there is no room (or others wait for it), or if the receiver is gone or has been closed.
    ///
    /// ```
    /// let (sender, _receiver) = blitz_sync::mpsc::channel::<u32>(1);
    /// let permit = sender.clone().try_reserve_owned().unwrap();
    /// assert!(sender.try_reserve_owned().is_err());
    /// permit.send(7);
    /// ```
    pub fn try_reserve_owned(self) -> Result<OwnedPermit<T>, TrySendError<Self>> {
        match self.0.queue.reserve(1) {
            Ok(()) => Ok(OwnedPermit::new(self)),
            Err(Refused::Full(())) => Err(TrySendError::Full(self)),
            Err(Refused::Closed(())) => Err(TrySendError::Closed(self)),
        }
    }

    /// How much room is left: neither used nor reserved.
    pub fn capacity(&self) -> usize {
        self.0.queue.room()
    }

    /// How many messages fit.
    pub fn max_capacity(&self) -> usize {
        self.0.queue.capacity().unwrap_or(usize::MAX)
    }
}

fn refused<T>(refused: Refused<T>) -> TrySendError<T> {
    match refused {
        Refused::Full(message) => TrySendError::Full(message),
        Refused::Closed(message) => TrySendError::Closed(message),
    }
}
