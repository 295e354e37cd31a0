//! One message from one sender to one receiver.
//!
//! ```
//! use blitz_sync::oneshot;
//!
//! # blitz_sync::block_on(async {
//! let (sender, receiver) = oneshot::channel();
//! std::thread::spawn(move || sender.send(6 * 7));
//! assert_eq!(receiver.await, Ok(42));
//! # });
//! ```
//!
//! The names are tokio's. Both halves share one allocation, and that is all that is ever allocated; sending costs one
//! compare-and-swap, receiving a message that is there already costs none. `state.rs` has the protocol.

mod state;

#[cfg(all(test, loom))]
mod models;

use crate::coop;
use crate::primitives::UnsafeCell;
use blitz_primitives::flaw::Flaws;
use error::{RecvError, TryRecvError};
use state::{Flaw, Leave, RECEIVER, SENDER, State};
use std::fmt;
use std::future::{Future, poll_fn};
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll, Waker, ready};

/// What can go wrong.
pub mod error {
    use crate::primitives::error;

    /// The sender was dropped without sending, or the receiver was closed before.
    ///
    /// ```
    /// # fn block_on<F: Future>(f: F) -> F::Output { let mut f = std::pin::pin!(f); loop { if let std::task::Poll::Ready(x) = f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) { return x } std::thread::yield_now() } }
    /// # block_on(async {
    /// let (sender, receiver) = blitz_sync::oneshot::channel::<u32>();
    /// drop(sender);
    /// println!("{}", receiver.await.unwrap_err());
    /// # });
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct RecvError(pub(super) ());

    error!(RecvError, _ => "channel closed");

    /// Why [`Receiver::try_recv`](super::Receiver::try_recv) has nothing.
    ///
    /// ```
    /// use blitz_sync::oneshot::{channel, error::TryRecvError};
    ///
    /// let (sender, mut receiver) = channel::<u32>();
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    /// drop(sender);
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
    /// ```
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum TryRecvError {
        /// Nothing was sent yet.
        Empty,
        /// The sender was dropped without sending, or the message was received before.
        Closed,
    }

    error!(TryRecvError, Self::Empty => "channel empty", Self::Closed => "channel closed");
}

/// What both halves share.
struct Shared<T> {
    state: State,
    value: UnsafeCell<MaybeUninit<T>>,
    receiver: UnsafeCell<Option<Waker>>,
    sender: UnsafeCell<Option<Waker>>,
    /// Which waker is in the receiver's cell, to tell without looking: that cell is not the receiver's while it is there. This one is, always.
    registered: UnsafeCell<Identity>,
    /// Loom notices if this is not freed.
    #[cfg(loom)]
    _tracked: loom::alloc::Track<()>,
}

/// A waker's data and vtable.
type Identity = (usize, usize);

/// No waker: none has its vtable there.
const NOBODY: Identity = (0, 0);

/// Makes a channel for one message.
///
/// ```
/// let (sender, mut receiver) = blitz_sync::oneshot::channel();
/// assert!(receiver.try_recv().is_err());
/// sender.send("hello").unwrap();
/// assert_eq!(receiver.try_recv(), Ok("hello"));
/// ```
#[inline]
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    with_flaws(Flaws::NONE)
}

#[inline]
fn with_flaws<T>(flaws: Flaws<Flaw>) -> (Sender<T>, Receiver<T>) {
    // Written where it stays: copying what has just been written in smaller pieces is what would cost most here.
    let mut place = Box::<Shared<T>>::new_uninit();
    place.write(Shared {
        state: State::new(flaws),
        value: UnsafeCell::new(MaybeUninit::uninit()),
        receiver: UnsafeCell::new(None),
        sender: UnsafeCell::new(None),
        registered: UnsafeCell::new(NOBODY),
        #[cfg(loom)]
        _tracked: loom::alloc::Track::new(()),
    });
    // SAFETY: written above.
    let shared = NonNull::from(Box::leak(unsafe { place.assume_init() }));
    let receiver = Receiver {
        shared: Some(shared),
    };
    (Sender { shared }, receiver)
}

/// Frees the memory. Wakers that are left in it are dropped; a value is not.
///
/// # Safety
/// The other end is gone, and the caller goes.
unsafe fn free<T>(shared: NonNull<Shared<T>>) {
    // Freed memory is as good as written to; loom is told.
    #[cfg(loom)]
    // SAFETY: as below.
    unsafe {
        shared.as_ref().receiver.with_mut(|cell| *cell = None);
        shared.as_ref().sender.with_mut(|cell| *cell = None);
    }
    // SAFETY: made by `Box::leak`, and nobody else has it, says the caller.
    drop(unsafe { Box::from_raw(shared.as_ptr()) });
}

/// The half that sends.
///
/// ```
/// let (sender, receiver) = blitz_sync::oneshot::channel();
/// std::thread::spawn(move || sender.send(6 * 7));
/// assert_eq!(receiver.blocking_recv(), Ok(42));
/// ```
pub struct Sender<T> {
    shared: NonNull<Shared<T>>,
}

/// The half that receives: await it.
///
/// It may be dropped at any time. A message that arrives later comes back to its sender as an error.
///
/// ```
/// # fn block_on<F: Future>(f: F) -> F::Output { let mut f = std::pin::pin!(f); loop { if let std::task::Poll::Ready(x) = f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) { return x } std::thread::yield_now() } }
/// # block_on(async {
/// let (sender, mut receiver) = blitz_sync::oneshot::channel();
/// assert!(receiver.is_empty() && !receiver.is_terminated());
/// sender.send(42).unwrap();
/// assert!(!receiver.is_empty());
/// assert_eq!((&mut receiver).await, Ok(42));
/// assert!(receiver.is_terminated());
/// # });
/// ```
#[must_use = "a receiver does nothing unless it is awaited"]
pub struct Receiver<T> {
    /// Empty once the message, or the news that there is none, has been received.
    shared: Option<NonNull<Shared<T>>>,
}

// SAFETY: a value moves from one end to the other, and nothing else of it is shared.
unsafe impl<T: Send> Send for Sender<T> {}
// SAFETY: a shared sender gives access to the state only.
unsafe impl<T: Send> Sync for Sender<T> {}
// SAFETY: as the sender.
unsafe impl<T: Send> Send for Receiver<T> {}
// SAFETY: as the sender.
unsafe impl<T: Send> Sync for Receiver<T> {}

impl<T> Unpin for Receiver<T> {}

impl<T> Sender<T> {
    fn shared(&self) -> &Shared<T> {
        // SAFETY: the sender is not gone, so the memory is there.
        unsafe { self.shared.as_ref() }
    }

    /// Sends the message, and never waits.
    ///
    /// # Errors
    /// The message, if the receiver was dropped or closed before.
    ///
    /// ```
    /// let (sender, receiver) = blitz_sync::oneshot::channel();
    /// drop(receiver);
    /// assert_eq!(sender.send(7), Err(7));
    /// ```
    #[inline]
    pub fn send(self, value: T) -> Result<(), T> {
        let this = std::mem::ManuallyDrop::new(self);
        let shared = this.shared();
        // SAFETY: the cell is ours until the step that sends.
        shared
            .value
            .with_mut(|cell| unsafe { (*cell).write(value) });
        let leave = shared.state.leave(SENDER, true);
        if leave == Leave::Gone {
            return Ok(());
        }
        let refused = (leave == Leave::OtherIsDone).then(|| {
            // SAFETY: not sent, so still ours, and written above.
            shared
                .value
                .with(|cell| unsafe { (*cell).assume_init_read() })
        });
        // SAFETY: this is our end, which is not used after it.
        unsafe { finish(this.shared, SENDER, leave) };
        refused.map_or(Ok(()), Err)
    }

    /// Has the receiver been dropped or closed?
    ///
    /// ```
    /// let (sender, receiver) = blitz_sync::oneshot::channel::<u32>();
    /// drop(receiver);
    /// assert!(sender.is_closed());
    /// ```
    pub fn is_closed(&self) -> bool {
        self.shared().state.is_done(RECEIVER)
    }

    /// Waits until the receiver is dropped or closed: the answer is not wanted any more. Cancel-safe.
    ///
    /// ```
    /// # blitz_sync::block_on(async {
    /// let (mut sender, receiver) = blitz_sync::oneshot::channel::<u32>();
    /// let work = async {
    ///     sender.closed().await;
    ///     "nobody waits for it"
    /// };
    /// drop(receiver);
    /// assert_eq!(work.await, "nobody waits for it");
    /// # });
    /// ```
    pub async fn closed(&mut self) {
        poll_fn(|cx| self.poll_closed(cx)).await;
    }

    /// As [`closed`](Self::closed), for futures written by hand.
    ///
    /// ```
    /// # fn block_on<F: Future>(f: F) -> F::Output { let mut f = std::pin::pin!(f); loop { if let std::task::Poll::Ready(x) = f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) { return x } std::thread::yield_now() } }
    /// # block_on(async {
    /// use std::future::poll_fn;
    ///
    /// let (mut sender, receiver) = blitz_sync::oneshot::channel::<u32>();
    /// drop(receiver);
    /// poll_fn(|cx| sender.poll_closed(cx)).await; // the answer is not wanted any more
    /// # });
    /// ```
    pub fn poll_closed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let unit = ready!(coop::take_unit(cx));
        let shared = self.shared();
        // As in `Receiver::register`.
        let waker = cx.waker().clone();
        if shared.state.take_back(SENDER) {
            // SAFETY: taken back, and the receiver was not done: it does not look.
            let replaced = shared
                .sender
                .with_mut(|cell| unsafe { (*cell).replace(waker) });
            let waits = shared.state.wait(SENDER);
            drop(replaced);
            if waits {
                unit.refund();
                return Poll::Pending;
            }
        }
        Poll::Ready(())
    }
}

/// What follows a step of [`State::leave`]: wakes the other end, and frees the memory if nobody uses it any more.
///
/// # Safety
/// `leave` is what the step of `me` returned, and its end is not used any more.
#[cold]
unsafe fn finish<T>(shared: NonNull<Shared<T>>, me: state::End, leave: Leave) {
    // SAFETY: not gone, so the memory is there.
    let inner = unsafe { shared.as_ref() };
    let waker = (leave == Leave::Wake).then(|| inner.take_waker_of_other(me));
    if inner.state.depart(me) {
        // SAFETY: both are gone.
        unsafe { free(shared) };
    }
    // Last, and with nothing of the channel in hand: a waker is somebody else's code.
    if let Some(waker) = waker.flatten() {
        waker.wake();
    }
}

impl<T> Shared<T> {
    /// `me` is done and found the other end waiting.
    fn take_waker_of_other(&self, me: state::End) -> Option<Waker> {
        let cell = if me.is_sender() {
            &self.receiver
        } else {
            &self.sender
        };
        // SAFETY: the step that made us done gave us the cell.
        cell.with_mut(|cell| unsafe { (*cell).take() })
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let leave = self.shared().state.leave(SENDER, false);
        if leave != Leave::Gone {
            // SAFETY: this is our end, which is not used after it.
            unsafe { finish(self.shared, SENDER, leave) };
        }
    }
}

impl<T> Receiver<T> {
    fn shared(&self) -> Option<&Shared<T>> {
        // SAFETY: the receiver is not gone, so the memory is there.
        self.shared
            .as_ref()
            .map(|shared| unsafe { shared.as_ref() })
    }

    /// Takes what the sender has left, if it is done; the receiver is gone then.
    #[inline]
    fn take(&mut self) -> Option<Option<T>> {
        let pointer = self.shared?;
        let shared = self.shared()?;
        let (done, sent) = shared.state.sent();
        if !done {
            return None;
        }
        let value = sent.then(|| {
            // SAFETY: sent, so the value is there and ours; it is taken once, because we are gone after it.
            shared
                .value
                .with(|cell| unsafe { (*cell).assume_init_read() })
        });
        let last = shared.state.depart(RECEIVER);
        self.shared = None;
        if last {
            // SAFETY: both are gone.
            unsafe { free(pointer) };
        }
        Some(value)
    }

    /// Whether it was closed and there is nothing to take: nothing will come. Then the receiver is gone. Call it after [`take`](Self::take).
    fn is_refused(&mut self) -> bool {
        // Only we close it, so it was closed before `take` looked, and nothing can have been sent since.
        let (Some(pointer), Some(shared)) = (self.shared, self.shared()) else {
            return false;
        };
        if !shared.state.is_done(RECEIVER) {
            return false;
        }
        let last = shared.state.depart(RECEIVER);
        self.shared = None;
        if last {
            // SAFETY: both are gone.
            unsafe { free(pointer) };
        }
        true
    }

    /// Takes the message if it is there.
    ///
    /// # Errors
    /// See [`TryRecvError`].
    ///
    /// ```
    /// let (sender, mut receiver) = blitz_sync::oneshot::channel();
    /// assert!(receiver.try_recv().is_err());
    /// sender.send(1).unwrap();
    /// assert_eq!(receiver.try_recv(), Ok(1));
    /// ```
    #[inline]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        if let Some(value) = self.take() {
            return value.ok_or(TryRecvError::Closed);
        }
        if self.shared.is_none() || self.is_refused() {
            return Err(TryRecvError::Closed);
        }
        Err(TryRecvError::Empty)
    }

    /// Waits for the message on a thread that may block.
    ///
    /// # Errors
    /// If the sender was dropped without sending.
    ///
    /// # Panics
    /// Inside of a current-thread runtime, whose thread would wait for itself.
    ///
    /// ```
    /// let (sender, receiver) = blitz_sync::oneshot::channel();
    /// std::thread::spawn(move || sender.send(7));
    /// assert_eq!(receiver.blocking_recv(), Ok(7));
    /// ```
    #[cfg(not(loom))]
    #[track_caller]
    pub fn blocking_recv(self) -> Result<T, RecvError> {
        crate::parking::wait("blocking_recv", self)
    }

    /// Refuses a message from now on. One that was sent before can still be received.
    ///
    /// ```
    /// let (sender, mut receiver) = blitz_sync::oneshot::channel();
    /// receiver.close();
    /// assert!(sender.is_closed());
    /// assert_eq!(sender.send(7), Err(7));
    /// assert!(receiver.try_recv().is_err());
    /// ```
    pub fn close(&mut self) {
        let closed = self.shared().filter(|shared| shared.state.close());
        if let Some(waker) = closed.and_then(|shared| shared.take_waker_of_other(RECEIVER)) {
            waker.wake();
        }
    }

    /// Has the message, or the news that there is none, been received?
    pub fn is_terminated(&self) -> bool {
        self.shared.is_none()
    }

    /// Is there no message to be received right now?
    pub fn is_empty(&self) -> bool {
        !self.shared().is_some_and(|shared| shared.state.sent().1)
    }

    /// Leaves the waker for the sender. `false`: there is something to take.
    fn register(&mut self, waker: &Waker) -> bool {
        let identity = (
            waker.data() as usize,
            std::ptr::from_ref(waker.vtable()) as usize,
        );
        let Some(shared) = self.shared() else {
            return false;
        };
        // SAFETY: the receiver's, and we have it alone.
        if shared.registered.with(|cell| unsafe { *cell }) == identity {
            // The sender was not done a moment ago, and whatever it does now it will find this waker.
            return true;
        }
        // First, because it is somebody else's code: if it panics, nothing has changed. What is replaced is dropped last, likewise.
        let waker = waker.clone();
        if !shared.state.take_back(RECEIVER) {
            return false;
        }
        // SAFETY: taken back, and the sender was not done: it does not look.
        let replaced = shared
            .receiver
            .with_mut(|cell| unsafe { (*cell).replace(waker) });
        let waits = shared.state.wait(RECEIVER);
        let registered = if waits { identity } else { NOBODY };
        // SAFETY: as above.
        shared
            .registered
            .with_mut(|cell| unsafe { *cell = registered });
        drop(replaced);
        waits
    }
}

impl<T> Future for Receiver<T> {
    type Output = Result<T, RecvError>;

    /// # Panics
    /// If it is polled after it was ready.
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let unit = ready!(coop::take_unit(cx));
        let this = self.get_mut();
        assert!(this.shared.is_some(), "polled after it was ready");
        loop {
            if let Some(value) = this.take() {
                return Poll::Ready(value.ok_or(RecvError(())));
            }
            if this.is_refused() {
                return Poll::Ready(Err(RecvError(())));
            }
            if this.register(cx.waker()) {
                unit.refund();
                return Poll::Pending;
            }
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let (Some(pointer), Some(shared)) = (self.shared, self.shared()) else {
            return;
        };
        match shared.state.leave(RECEIVER, false) {
            Leave::Gone => {}
            // Sent, perhaps: the message is dropped here, by its receiver.
            Leave::OtherIsDone => drop(self.take()),
            // SAFETY: this is our end, which is not used after it.
            leave => unsafe { finish(pointer, RECEIVER, leave) },
        }
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("is_closed", &self.is_closed())
            .finish()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("is_terminated", &self.is_terminated())
            .finish()
    }
}
