//! A task's budget: how much it may do in one poll before it must let others have the thread.
//!
//! A future that reads from a socket that always has data, in a loop, never returns `Pending`: without a budget
//! it would keep its thread for ever. So each poll of a task of `blitz-io` starts with 128 units, every operation of that crate and of this one
//! that completes takes one, and with none left an operation that could complete says `Pending` instead and wakes its own
//! task: the others get their turn, and it goes on after them. Other executors may do the same ([`budgeted`]); without that there is no limit.

use pin_project_lite::pin_project;
use std::cell::Cell;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// What one poll of a task may consume.
pub(crate) const BUDGET: u8 = 128;

/// Outside of tasks nobody waits for the thread: no limit.
const UNLIMITED: u8 = u8::MAX;

thread_local! {
    static LEFT: Cell<u8> = const { Cell::new(UNLIMITED) };
}

/// `LocalKey::set` is for values that may have to be made first, and calls a function to find out; `with` is one store.
#[inline]
fn set_left(units: u8) {
    LEFT.with(|left| left.set(units));
}

/// Runs `poll` with a fresh budget of `budget`, and restores the caller's afterwards, also if it unwinds.
#[inline]
fn with_budget<R>(budget: u8, poll: impl FnOnce() -> R) -> R {
    struct Restore(u8);
    impl Drop for Restore {
        fn drop(&mut self) {
            set_left(self.0);
        }
    }
    let _restore = Restore(LEFT.replace(budget));
    poll()
}

/// Runs one poll of a task: with a fresh budget, of which every operation of this crate that completes takes a unit. Afterwards the caller's own counts again. For executors.
///
/// ```
/// use blitz_sync::{coop, mpsc};
/// use std::task::{Context, Waker};
///
/// let (sender, mut receiver) = mpsc::unbounded_channel();
/// let mut sends_for_ever = std::pin::pin!(async {
///     loop {
///         sender.send(()).unwrap();
///         receiver.recv().await; // there is always a message
///     }
/// });
/// # use std::future::Future;
/// let mut cx = Context::from_waker(Waker::noop());
/// // Yet the poll comes to an end.
/// assert!(coop::budgeted(|| sends_for_ever.as_mut().poll(&mut cx)).is_pending());
/// ```
#[inline]
pub fn budgeted<R>(poll: impl FnOnce() -> R) -> R {
    with_budget(BUDGET, poll)
}

#[doc(hidden)]
/// Runs `poll` without a budget: for what must have its say even if the rest of the task has used it up.
#[inline]
pub fn without_budget<R>(poll: impl FnOnce() -> R) -> R {
    with_budget(UNLIMITED, poll)
}

#[doc(hidden)]
/// An operation is about to complete: takes a unit of the budget, or wakes the task and says `Pending`.
///
/// Call it first, and give the unit back with [`Unit::refund`] if the operation turns out to have to wait.
#[inline]
pub fn take_unit(cx: &mut Context<'_>) -> Poll<Unit> {
    match try_take_unit() {
        Some(unit) => Poll::Ready(unit),
        None => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    }
}

#[doc(hidden)]
/// As [`take_unit`], for an operation that has something else to do if there is none.
#[inline]
pub fn try_take_unit() -> Option<Unit> {
    let left = LEFT.get();
    match left {
        UNLIMITED => Some(Unit { limited: false }),
        0 => None,
        _ => {
            set_left(left - 1);
            Some(Unit { limited: true })
        }
    }
}

#[doc(hidden)]
/// A unit of the budget that has been taken.
#[must_use = "refund it if the operation has to wait"]
pub struct Unit {
    limited: bool,
}

impl Unit {
    /// The operation has done nothing after all.
    #[inline]
    pub fn refund(self) {
        if self.limited {
            set_left(LEFT.get() + 1);
        }
    }
}

/// Lets a future run without the budget of its task.
///
/// ```
/// # use std::task::{Context, Waker};
/// let mut future = std::pin::pin!(blitz_sync::coop::unconstrained(async { 7 }));
/// let mut cx = Context::from_waker(Waker::noop());
/// assert!(future.as_mut().poll(&mut cx).is_ready());
/// # use std::future::Future;
/// ```
pub fn unconstrained<F>(future: F) -> Unconstrained<F> {
    Unconstrained { future }
}

pin_project! {
    /// See [`unconstrained`].
    #[must_use = "futures do nothing unless polled"]
    pub struct Unconstrained<F> {
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for Unconstrained<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let future = self.project().future;
        with_budget(UNLIMITED, || future.poll(cx))
    }
}

/// Makes a future take part in its task's budget: it takes a unit when it is ready, and lets others run when none is left.
///
/// ```
/// # fn block_on<F: Future>(f: F) -> F::Output { let mut f = std::pin::pin!(f); loop { if let std::task::Poll::Ready(x) = f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) { return x } std::thread::yield_now() } }
/// # block_on(async {
/// use blitz_sync::coop::cooperative;
///
/// // A source of events that always has one ready: with this, its task lets others run.
/// let events = std::future::ready("event");
/// assert_eq!(cooperative(events).await, "event");
/// # });
/// ```
#[inline]
pub fn cooperative<F: Future>(future: F) -> Coop<F> {
    Coop { future }
}

pin_project! {
    /// See [`cooperative`].
    #[derive(Debug)]
    #[must_use = "futures do nothing unless polled"]
    pub struct Coop<F: Future> {
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for Coop<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let unit = ready!(take_unit(cx));
        let polled = self.project().future.poll(cx);
        if polled.is_pending() {
            unit.refund();
        }
        polled
    }
}

/// Is there something left of the budget of the task that runs here? Outside of tasks, always.
///
/// ```
/// use blitz_sync::coop::{budgeted, has_budget_remaining, poll_proceed};
/// use std::task::{Context, Waker};
///
/// assert!(has_budget_remaining()); // outside of tasks, always
/// let mut cx = Context::from_waker(Waker::noop());
/// budgeted(|| {
///     while has_budget_remaining() {
///         poll_proceed(&mut cx).map(|unit| unit.made_progress()); // a step
///     }
/// }); // comes to an end
/// ```
#[inline]
pub fn has_budget_remaining() -> bool {
    LEFT.get() > 0
}

/// Wakes the task and says `Pending` if nothing is left of its budget. Takes nothing.
#[doc(hidden)]
#[inline]
pub fn poll_budget_available(cx: &mut Context<'_>) -> Poll<()> {
    if has_budget_remaining() {
        return Poll::Ready(());
    }
    cx.waker().wake_by_ref();
    Poll::Pending
}

/// Takes a unit of the task's budget, or wakes the task and says `Pending`. For hand-written futures.
///
/// The unit comes back when the value is dropped, unless [`made_progress`](RestoreOnPending::made_progress) was called.
///
/// ```
/// # fn block_on<F: Future>(f: F) -> F::Output { let mut f = std::pin::pin!(f); loop { if let std::task::Poll::Ready(x) = f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) { return x } std::thread::yield_now() } }
/// # block_on(async {
/// use blitz_sync::coop::poll_proceed;
/// use std::future::poll_fn;
/// use std::task::{Poll, ready};
///
/// let mut numbers = 1..=3;
/// // A future of one's own that takes part in the budget.
/// let next = poll_fn(|cx| {
///     let unit = ready!(poll_proceed(cx));
///     let number = numbers.next();
///     unit.made_progress();
///     Poll::Ready(number)
/// });
/// assert_eq!(next.await, Some(1));
/// # });
/// ```
#[inline]
pub fn poll_proceed(cx: &mut Context<'_>) -> Poll<RestoreOnPending> {
    let before = LEFT.get();
    take_unit(cx).map(|_taken| RestoreOnPending {
        before: Cell::new(before),
        not_send: PhantomData,
    })
}

/// A unit of the budget that comes back if nothing is done with it; see [`poll_proceed`].
///
/// ```
/// # fn block_on<F: Future>(f: F) -> F::Output { let mut f = std::pin::pin!(f); loop { if let std::task::Poll::Ready(x) = f.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())) { return x } std::thread::yield_now() } }
/// # block_on(async {
/// use blitz_sync::coop::poll_proceed;
/// use std::future::poll_fn;
///
/// // Nothing was done: the unit comes back.
/// poll_fn(|cx| poll_proceed(cx).map(drop)).await;
/// # });
/// ```
#[derive(Debug)]
#[must_use = "the unit comes back when this is dropped"]
pub struct RestoreOnPending {
    /// What was left before, if it is to be restored.
    before: Cell<u8>,
    /// The budget is the thread's.
    not_send: PhantomData<*mut ()>,
}

impl RestoreOnPending {
    /// The operation has done something: the unit is used up.
    ///
    /// ```
    /// use blitz_sync::coop::poll_proceed;
    /// use std::task::{Context, Poll, Waker};
    ///
    /// let mut cx = Context::from_waker(Waker::noop());
    /// if let Poll::Ready(unit) = poll_proceed(&mut cx) {
    ///     unit.made_progress(); // something was done
    /// }
    /// ```
    pub fn made_progress(&self) {
        self.before.set(UNLIMITED);
    }
}

impl Drop for RestoreOnPending {
    fn drop(&mut self) {
        if self.before.get() != UNLIMITED {
            set_left(self.before.get());
        }
    }
}

/// Takes one unit of the task's budget: a place where a long computation of ready steps lets others run.
///
/// ```
/// # async fn crunch(items: &[u64]) -> u64 {
/// let mut sum = 0;
/// for item in items {
///     sum += item;
///     blitz_sync::coop::consume_budget().await;
/// }
/// # sum }
/// ```
pub async fn consume_budget() {
    std::future::poll_fn(|cx| {
        let _spent = ready!(take_unit(cx));
        Poll::Ready(())
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Waker;

    fn take() -> bool {
        take_unit(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn a_poll_gets_128_units_and_then_has_to_wait() {
        budgeted(|| {
            assert_eq!(
                (0..1000).take_while(|_| take()).count(),
                usize::from(BUDGET)
            );
            with_budget(UNLIMITED, || assert!((0..1000).all(|_| take())));
            assert!(!take());
        });
        assert!((0..1000).all(|_| take()), "no limit outside of tasks");
    }

    #[test]
    fn a_unit_that_was_not_used_comes_back() {
        budgeted(|| {
            for _ in 0..1000 {
                let Poll::Ready(unit) = take_unit(&mut Context::from_waker(Waker::noop())) else {
                    panic!("refunded units run out");
                };
                unit.refund();
            }
        });
    }
}
