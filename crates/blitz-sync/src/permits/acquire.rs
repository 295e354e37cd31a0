//! The futures that wait for permits.
//!
//! One takes what is free and, if that is not enough, joins the line with a node of its own (see `waiters`), which then collects what comes back. It leaves the line
//! when it is dropped, and hands on what it has got: no permit goes away with a future.

use super::{Flaw, Permits, Refused};
use crate::coop;
use crate::waiters::{Node, State};
use std::future::Future;
use std::mem::MaybeUninit;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Waits for permits. See [`Permits::acquire`]. If it is dropped, it hands on what it has got.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub(crate) struct Acquire<'a> {
    permits: &'a Permits,
    wanted: usize,
    phase: Phase,
    /// Most never need it: an untouched one costs nothing.
    node: MaybeUninit<Node>,
}

/// How far it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// It has nothing, and waits for nothing.
    New,
    /// There is a node.
    InLine,
}

impl<'a> Acquire<'a> {
    #[inline]
    pub(super) fn new(permits: &'a Permits, wanted: usize) -> Self {
        Acquire {
            permits,
            wanted,
            phase: Phase::New,
            node: MaybeUninit::uninit(),
        }
    }

    /// Makes something of the result.
    #[inline]
    pub(crate) fn then<F, R>(self, then: F) -> Then<'a, F>
    where
        F: Fn(Result<(), Refused>) -> R,
    {
        Then {
            acquire: self,
            then,
        }
    }

    /// # Safety
    /// There is a node.
    unsafe fn node(self: Pin<&Self>) -> Pin<&Node> {
        // SAFETY: given; and the node is pinned with the whole.
        unsafe { self.map_unchecked(|this| this.node.assume_init_ref()) }
    }

    /// Joins the line, unless there is nothing to wait for.
    #[inline]
    fn join_line(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Refused>> {
        // SAFETY: nothing is moved; there is no node yet.
        unsafe { self.as_mut().get_unchecked_mut() }
            .node
            .write(Node::new());
        let this = self.into_ref();
        let permits = this.permits;
        // SAFETY: one list, a node of ours that only `poll` and `drop` use, and `drop` withdraws it.
        let arrived = unsafe {
            permits
                .waiters
                .arrive(this.node(), cx.waker(), |_| permits.arrive(this.wanted))
        };
        match arrived {
            ControlFlow::Continue(()) => Poll::Pending,
            ControlFlow::Break(result) => Poll::Ready(result),
        }
    }

    /// # Safety
    /// There is a node.
    #[cold]
    unsafe fn poll_line(self: Pin<&Self>, cx: &mut Context<'_>) -> Poll<Result<(), Refused>> {
        let waiters = &self.permits.waiters;
        // SAFETY: given.
        let node = unsafe { self.node() };
        let mut state = node.state();
        if state == State::Waiting {
            state = waiters.again(node, cx.waker());
        }
        match state {
            State::Waiting => Poll::Pending,
            State::Granted => {
                waiters.withdraw(node, |_| {});
                Poll::Ready(Ok(()))
            }
            _ => {
                // SAFETY: given.
                unsafe { self.withdraw() };
                Poll::Ready(Err(Refused::Closed))
            }
        }
    }

    /// The budget of the task is spent, and its place in the line is not to suffer from that: it joins the line. If there is nothing to wait for, it comes again when
    /// others have run, and keeps nothing meanwhile: all of them would have to wait for it, and a lock that many wait for is handed from one to the next from then on, each time by way of
    /// the scheduler (group `sync`, rows `mutex/4tasks`, `rwlock/4r2w`, `semaphore/8tasks`: 4 to 18 times as long).
    #[cold]
    fn arrive_without_budget(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Refused>> {
        let arrived = match self.permits.try_acquire(self.wanted) {
            Ok(()) => Poll::Ready(Ok(())),
            Err(_) => self.as_mut().join_line(cx),
        };
        match arrived {
            // SAFETY: nothing is moved.
            Poll::Pending => unsafe { self.get_unchecked_mut() }.phase = Phase::InLine,
            Poll::Ready(result) => {
                if result.is_ok() {
                    self.permits.release(self.wanted);
                }
                cx.waker().wake_by_ref();
            }
        }
        Poll::Pending
    }

    /// The permits are not there: joins the line, and gives the unit of the budget back.
    #[cold]
    fn wait(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        unit: coop::Unit,
    ) -> Poll<Result<(), Refused>> {
        let polled = self.as_mut().join_line(cx);
        if polled.is_pending() {
            unit.refund();
            // SAFETY: nothing is moved.
            unsafe { self.get_unchecked_mut() }.phase = Phase::InLine;
        }
        polled
    }

    /// It has joined the line.
    ///
    /// # Safety
    /// There is a node.
    #[cold]
    unsafe fn poll_again(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<(), Refused>> {
        // Whoever has waited has let others run.
        // SAFETY: given.
        let result = ready!(unsafe { self.as_ref().poll_line(cx) });
        // A node that has left the line has nothing to drop: its waker is gone.
        // SAFETY: nothing is moved.
        unsafe { self.get_unchecked_mut() }.phase = Phase::New;
        Poll::Ready(result)
    }

    /// Leaves the line, and hands on what it has got so far.
    ///
    /// # Safety
    /// There is a node.
    #[cold]
    unsafe fn withdraw(self: Pin<&Self>) {
        let permits = self.permits;
        // SAFETY: given.
        let node = unsafe { self.node() };
        let (state, need) = permits
            .waiters
            .withdraw(node, |guarded| permits.left(guarded));
        let kept = match state {
            State::Granted => permits.flaws.has(Flaw::KeepsGrant),
            _ => permits.flaws.has(Flaw::KeepsPart),
        };
        let got = self.wanted - need;
        if state != State::Idle && got != 0 && !kept {
            permits.release(got);
        }
    }
}

impl Future for Acquire<'_> {
    type Output = Result<(), Refused>;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.phase == Phase::InLine {
            // SAFETY: so there is a node.
            return unsafe { self.poll_again(cx) };
        }
        let Some(unit) = coop::try_take_unit() else {
            return self.arrive_without_budget(cx);
        };
        if self.permits.try_acquire(self.wanted).is_ok() {
            return Poll::Ready(Ok(()));
        }
        self.wait(cx, unit)
    }
}

impl Drop for Acquire<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.phase == Phase::InLine {
            // SAFETY: what is dropped does not move any more, and there is a node.
            unsafe { Pin::new_unchecked(&*self).withdraw() };
        }
    }
}

/// See [`Acquire::then`]. An `async` block would do the same, but its state lies in memory; of this nothing is left where nobody waits.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub(crate) struct Then<'a, F> {
    acquire: Acquire<'a>,
    then: F,
}

impl<F, R> Future for Then<'_, F>
where
    F: Fn(Result<(), Refused>) -> R,
{
    type Output = R;

    #[inline]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<R> {
        // SAFETY: `acquire` is pinned with the whole, `then` never is.
        let (acquire, then) = unsafe {
            let this = self.get_unchecked_mut();
            (Pin::new_unchecked(&mut this.acquire), &this.then)
        };
        Poll::Ready(then(ready!(acquire.poll(cx))))
    }
}
