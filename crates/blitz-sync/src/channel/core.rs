//! What the halves of a queueing channel share: the queue, the waiters, and the ends that are left.
//!
//! # Why no message and no wake-up is lost
//! *Receivers.* A receiver that finds nothing links itself into the line under its lock. In the same section it announces that in the queue's
//! word, by a swap that fails if a message was pushed since it last checked. A push that comes later finds the bit in the word that it swaps, takes the lock and releases
//! the first in line. The bit is set as long as the line is not empty. A receiver that has been released takes a message. If it
//! goes away instead, it releases the next one.
//!
//! *Senders* that find no room wait in the same way, and pops find their bit. Room goes to them in the order in which they came. It is
//! *reserved* for the first in line before that sender is woken, so nobody can take it away. If that sender goes away instead, it gives the room back, which
//! serves the next.
//!
//! *Closing* sets the bit in the queue's word and then releases all waiters under the locks. A future that arrives later sees the bit.
//!
//! Wakers are called, and messages dropped, without any lock.

use super::queue::{Limited, Look, Queue, Refused, Wake};
use crate::coop;
use crate::primitives::{Arc, AtomicUsize, Ordering};
use crate::until::Until;
use crate::waiters::{Node, State, Waiters};
use blitz_primitives::flaw::Flaws;
use std::future::Future;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// What the models break on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "constructed by loom models only")]
pub(crate) enum Flaw {
    KeepsTheWake,
    KeepsTheRoom,
    ClosesSilently,
}

pub(crate) struct Core<T, Q> {
    pub(crate) queue: Q,
    /// Those who wait for a message.
    receivers: Waiters<()>,
    /// Those who wait for room.
    senders: Waiters<()>,
    /// Those who wait for the end.
    watchers: Waiters<()>,
    pub(crate) sender_count: AtomicUsize,
    pub(crate) weak_sender_count: AtomicUsize,
    pub(crate) receiver_count: AtomicUsize,
    /// The place in line of the receiver of a channel that has only one.
    single: Node,
    flaws: Flaws<Flaw>,
    messages: PhantomData<fn(T) -> T>,
}

// Nothing here is left half done by a panic: foreign code runs outside of every section.
impl<T, Q> UnwindSafe for Core<T, Q> {}
impl<T, Q> RefUnwindSafe for Core<T, Q> {}

/// The channel takes nothing any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Closed;

impl<T, Q: Queue<T>> Core<T, Q> {
    /// With one sender and one receiver.
    pub(crate) fn new(queue: Q) -> Arc<Self> {
        Self::with_flaws(queue, Flaws::NONE)
    }

    pub(crate) fn with_flaws(queue: Q, flaws: Flaws<Flaw>) -> Arc<Self> {
        Arc::new(Core {
            queue,
            receivers: Waiters::new(()),
            senders: Waiters::new(()),
            watchers: Waiters::new(()),
            sender_count: AtomicUsize::new(1),
            weak_sender_count: AtomicUsize::new(0),
            receiver_count: AtomicUsize::new(1),
            single: Node::new(),
            flaws,
            messages: PhantomData,
        })
    }

    /// Sends a message if there is room.
    #[inline(always)]
    pub(crate) fn try_send(&self, message: T) -> Result<(), Refused<T>> {
        if self.queue.push(message)? {
            self.wake_receiver();
        }
        Ok(())
    }

    /// There is a message: releases the receiver that has waited longest.
    #[cold]
    fn wake_receiver(&self) {
        self.receivers.releasing(|guarded, batch| {
            guarded.line.release_first(State::Granted, batch);
            if guarded.line.is_empty() {
                self.queue.retract_receivers();
            }
        });
    }

    /// Receives or waits.
    ///
    /// # Safety
    /// The node is used with this channel only, by one caller at a time, and [`stop_waiting`](Self::stop_waiting) is called before its memory goes away.
    /// The queue may be for a single receiver only if the caller is that.
    #[inline]
    pub(crate) unsafe fn poll_recv(
        &self,
        node: Pin<&Node>,
        room_made: fn(&Self),
        cx: &mut Context<'_>,
    ) -> Poll<Option<T>> {
        let unit = ready!(coop::take_unit(cx));
        // SAFETY: as given by the caller.
        let polled = unsafe { self.poll_recv_in_line(node, room_made, cx) };
        if polled.is_pending() {
            unit.refund();
        }
        polled
    }

    /// As [`poll_recv`](Self::poll_recv), without the budget.
    ///
    /// # Safety
    /// As there.
    #[inline]
    pub(crate) unsafe fn poll_recv_in_line(
        &self,
        node: Pin<&Node>,
        room_made: fn(&Self),
        cx: &mut Context<'_>,
    ) -> Poll<Option<T>> {
        loop {
            // SAFETY: as given by the caller.
            if let Some(message) = unsafe { self.take(room_made) } {
                if node.state() != State::Idle {
                    self.leave_line(node);
                }
                return Poll::Ready(Some(message));
            }
            // SAFETY: as given by the caller.
            match unsafe { self.wait(node, cx) } {
                Look::Filled => {}
                Look::Finished => return Poll::Ready(None),
                Look::Empty => return Poll::Pending,
            }
        }
    }

    /// Takes the oldest message, if there is one, and hands its room on.
    ///
    /// # Safety
    /// The queue may be for a single receiver only if the caller is that.
    #[inline(always)]
    pub(crate) unsafe fn take(&self, room_made: fn(&Self)) -> Option<T> {
        // SAFETY: as given by the caller.
        let (message, serve) = unsafe { self.queue.pop() }?;
        if serve {
            room_made(self);
        }
        Some(message)
    }

    /// Waits in line, if there is still nothing.
    ///
    /// # Safety
    /// As [`poll_recv`](Self::poll_recv).
    #[cold]
    unsafe fn wait(&self, node: Pin<&Node>, cx: &mut Context<'_>) -> Look {
        match node.state() {
            // It was in line before we looked into the queue: who has pushed since then releases it, or will.
            State::Waiting if self.receivers.again(node, cx.waker()) == State::Waiting => {
                return Look::Empty;
            }
            State::Idle => {}
            // Somebody else has taken the message that it was woken for.
            _ => {
                self.leave_line(node);
            }
        }
        // SAFETY: as given by the caller.
        let arrived = unsafe {
            self.receivers.arrive(node, cx.waker(), |guarded| {
                match self.queue.announce_receiver() {
                    Look::Empty => ControlFlow::Continue(1),
                    look => {
                        if guarded.line.is_empty() {
                            self.queue.retract_receivers();
                        }
                        ControlFlow::Break(look)
                    }
                }
            })
        };
        match arrived {
            ControlFlow::Continue(()) => Look::Empty,
            ControlFlow::Break(look) => look,
        }
    }

    fn leave_line(&self, node: Pin<&Node>) -> State {
        let (state, _) = self.receivers.withdraw(node, |guarded| {
            if guarded.line.is_empty() {
                self.queue.retract_receivers();
            }
        });
        state
    }

    /// A receiver goes away, or stops waiting. The message that it was woken for wakes the next one.
    pub(crate) fn stop_waiting(&self, node: Pin<&Node>) {
        if self.leave_line(node) == State::Granted && !self.flaws.has(Flaw::KeepsTheWake) {
            self.wake_receiver();
        }
    }

    /// Takes a message if there is one. `Err(true)`: none will come any more.
    ///
    /// # Safety
    /// The queue may be for a single receiver only if the caller is that.
    #[inline]
    pub(crate) unsafe fn try_recv(&self, room_made: fn(&Self)) -> Result<T, bool> {
        loop {
            // SAFETY: as given by the caller.
            if let Some(message) = unsafe { self.take(room_made) } {
                return Ok(message);
            }
            match self.queue.look() {
                Look::Filled => {}
                Look::Empty => return Err(false),
                Look::Finished => return Err(true),
            }
        }
    }

    /// The node of the only receiver.
    pub(crate) fn single(this: &Arc<Self>) -> Pin<&Node> {
        // SAFETY: what is in an `Arc` does not move before it is dropped.
        unsafe { Pin::new_unchecked(&this.single) }
    }

    /// Refuses messages from now on, and tells everybody who waits. `true`: that is new.
    pub(crate) fn close(&self) -> bool {
        if !self.queue.close() {
            return false;
        }
        if !self.flaws.has(Flaw::ClosesSilently) {
            self.dismiss_receivers();
        }
        self.senders.release_all(State::Dismissed, |()| true);
        self.watchers.release_all(State::Dismissed, |()| true);
        true
    }

    /// Nothing will come after what is there: releases all receivers.
    #[cold]
    fn dismiss_receivers(&self) {
        self.receivers.release_all(State::Dismissed, |()| {
            self.queue.retract_receivers();
            true
        });
    }

    /// Waits until the channel is closed.
    pub(crate) fn closed(&self) -> Until<'_, impl Fn() -> bool> {
        Until::new(&self.watchers, || self.queue.is_closed())
    }

    /// Closes, and drops what nobody will receive.
    ///
    /// # Safety
    /// No receiver is left.
    pub(crate) unsafe fn abandon(&self) {
        struct Rest<'a, T, Q: Queue<T>>(&'a Core<T, Q>);

        impl<T, Q: Queue<T>> Rest<'_, T, Q> {
            fn drop_all(&self) {
                // SAFETY: no receiver is left, says the caller.
                while let Some((message, _)) = unsafe { self.0.queue.pop() } {
                    drop(message);
                }
            }
        }

        impl<T, Q: Queue<T>> Drop for Rest<'_, T, Q> {
            fn drop(&mut self) {
                self.drop_all();
            }
        }

        self.close();
        // One whose destructor panics does not keep the others.
        Rest(self).drop_all();
    }

    // ---- who is left ------------------------------------------------------------------------

    pub(crate) fn add_sender(&self) {
        add(&self.sender_count);
    }

    pub(crate) fn remove_sender(&self) {
        if self.sender_count.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.close();
        }
    }

    /// A weak handle becomes a sender, unless there is none left.
    pub(crate) fn revive_sender(&self) -> bool {
        let one_more = |count: usize| (count > 0).then_some(count + 1);
        self.sender_count
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more)
            .is_ok()
    }
}

/// Counts one more handle.
pub(crate) fn add(count: &AtomicUsize) {
    // Relaxed: whoever adds one has one.
    if count.fetch_add(1, Ordering::Relaxed) > usize::MAX / 2 {
        // Handles that are cloned and forgotten in a loop: ending here is better than a count that wraps.
        std::process::abort();
    }
}

impl<T, Q: Limited<T>> Core<T, Q> {
    /// A pop has seen that senders wait, or room was given back: reserves what there is for them.
    #[cold]
    pub(crate) fn serve_senders(&self) {
        let rest = self.senders.releasing(|guarded, batch| {
            let line = &mut guarded.line;
            loop {
                if line.is_empty() {
                    self.queue.retract_senders();
                    return 0;
                }
                let mut room = self.queue.reserve_rest();
                if room == 0 {
                    return 0;
                }
                while room > 0 {
                    match line.feed_first(&mut room) {
                        Some(true) => {
                            line.release_first(State::Granted, batch);
                        }
                        Some(false) => {}
                        None => {
                            self.queue.retract_senders();
                            return room;
                        }
                    }
                }
            }
        });
        if rest > 0 {
            self.release(rest);
        }
    }

    /// Gives reserved room back.
    pub(crate) fn release(&self, count: usize) {
        let released = self.queue.release(count);
        if released.serve_senders {
            self.serve_senders();
        }
        if released.finished {
            self.dismiss_receivers();
        }
    }

    /// Sends into reserved room.
    #[inline]
    pub(crate) fn send_reserved(&self, message: T) {
        match self.queue.push_reserved(message) {
            Wake::None => {}
            Wake::One => self.wake_receiver(),
            Wake::All => self.dismiss_receivers(),
        }
    }

    /// Waits for room.
    pub(crate) fn reserve(&self, count: usize) -> Reserve<'_, T, Q> {
        Reserve {
            core: self,
            node: Node::new(),
            count,
        }
    }

    /// Sends, and waits for room if need be.
    pub(crate) async fn send(&self, message: T) -> Result<(), T> {
        coop::consume_budget().await;
        let message = match self.try_send(message) {
            Ok(()) => return Ok(()),
            Err(Refused::Closed(message)) => return Err(message),
            Err(Refused::Full(message)) => message,
        };
        match self.reserve(1).await {
            Ok(()) => {
                self.send_reserved(message);
                Ok(())
            }
            Err(Closed) => Err(message),
        }
    }
}

/// Waits until room is reserved. Dropped afterwards, it does not give it back: that is up to whoever has it then.
#[must_use = "futures do nothing unless polled"]
pub(crate) struct Reserve<'a, T, Q: Limited<T>> {
    core: &'a Core<T, Q>,
    node: Node,
    count: usize,
}

impl<T, Q: Limited<T>> Reserve<'_, T, Q> {
    fn node(self: Pin<&Self>) -> Pin<&Node> {
        // SAFETY: the node is pinned with the whole.
        unsafe { self.map_unchecked(|this| &this.node) }
    }

    /// Leaves the line, and gives back what it has got. `true`: it has got all.
    fn leave(self: Pin<&Self>, keeps: bool) -> bool {
        let core = self.core;
        let (state, need) = core.senders.withdraw(self.node(), |guarded| {
            if guarded.line.is_empty() {
                core.queue.retract_senders();
            }
        });
        match state {
            State::Idle => return false,
            State::Granted if keeps => return true,
            State::Granted if core.flaws.has(Flaw::KeepsTheRoom) => {}
            State::Granted => core.release(self.count),
            State::Waiting | State::Dismissed if need < self.count => {
                core.release(self.count - need);
            }
            // All room is the line's: there is none that was not enough for this one.
            State::Waiting | State::Dismissed => {}
        }
        false
    }
}

impl<T, Q: Limited<T>> Future for Reserve<'_, T, Q> {
    type Output = Result<(), Closed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let unit = ready!(coop::take_unit(cx));
        let this = self.as_ref();
        let (core, count) = (this.core, this.count);
        let state = match this.node().state() {
            State::Idle => {
                match core.queue.reserve(count) {
                    Ok(()) => return Poll::Ready(Ok(())),
                    Err(Refused::Closed(())) => return Poll::Ready(Err(Closed)),
                    Err(Refused::Full(())) => {}
                }
                // SAFETY: one line, `&mut self`, and `drop` withdraws it.
                let arrived = unsafe {
                    core.senders.arrive(this.node(), cx.waker(), |guarded| {
                        let first = guarded.line.is_empty();
                        let result = match core.queue.announce_sender(count, first) {
                            Ok(part) if part < count => {
                                return ControlFlow::Continue(count - part);
                            }
                            Ok(_) => Ok(()),
                            Err(_) => Err(Closed),
                        };
                        if first {
                            core.queue.retract_senders();
                        }
                        ControlFlow::Break(result)
                    })
                };
                if let ControlFlow::Break(result) = arrived {
                    return Poll::Ready(result);
                }
                State::Waiting
            }
            State::Waiting => core.senders.again(this.node(), cx.waker()),
            released => released,
        };
        if state == State::Waiting {
            unit.refund();
            return Poll::Pending;
        }
        // Room that was handed over before the channel was closed is of no use after it.
        Poll::Ready(if this.leave(!core.queue.is_closed()) {
            Ok(())
        } else {
            Err(Closed)
        })
    }
}

impl<T, Q: Limited<T>> Drop for Reserve<'_, T, Q> {
    fn drop(&mut self) {
        // SAFETY: what is dropped does not move any more.
        unsafe { Pin::new_unchecked(&*self) }.leave(false);
    }
}
