//! A task's budget: how much it may do in one poll before it must let others have the thread.
//!
//! A future that reads from a socket that always has data, in a loop, never returns `Pending`: without a budget
//! it would keep its thread for ever. So each poll of a task starts with 128 units, every operation of this crate
//! that completes takes one, and with none left an operation that could complete says `Pending` instead and wakes its own
//! task: the others get their turn, and it goes on after them.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// What one poll of a task may consume.
pub(crate) const BUDGET: u8 = 128;

/// Outside of tasks nobody waits for the thread: no limit.
const UNLIMITED: u8 = u8::MAX;

thread_local! {
    static LEFT: Cell<u8> = const { Cell::new(UNLIMITED) };
}

/// Runs `poll` with a fresh budget of `budget`, and restores the caller's afterwards, also if it unwinds.
#[inline]
fn with_budget<R>(budget: u8, poll: impl FnOnce() -> R) -> R {
    struct Restore(u8);
    impl Drop for Restore {
        fn drop(&mut self) {
            LEFT.set(self.0);
        }
    }
    let _restore = Restore(LEFT.replace(budget));
    poll()
}

/// Runs one poll of a task.
#[inline]
pub(crate) fn budgeted<R>(poll: impl FnOnce() -> R) -> R {
    with_budget(BUDGET, poll)
}

/// Runs `poll` without a budget: for what must have its say even if the rest of the task has used it up.
#[inline]
pub(crate) fn without_budget<R>(poll: impl FnOnce() -> R) -> R {
    with_budget(UNLIMITED, poll)
}

/// An operation is about to complete: takes a unit of the budget, or wakes the task and says `Pending`.
///
/// Call it first, and give the unit back with [`Unit::refund`] if the operation turns out to have to wait.
#[inline]
pub(crate) fn take_unit(cx: &mut Context<'_>) -> Poll<Unit> {
    let left = LEFT.get();
    match left {
        UNLIMITED => Poll::Ready(Unit { limited: false }),
        0 => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
        _ => {
            LEFT.set(left - 1);
            Poll::Ready(Unit { limited: true })
        }
    }
}

/// A unit of the budget that has been taken.
#[must_use = "refund it if the operation has to wait"]
pub(crate) struct Unit {
    limited: bool,
}

impl Unit {
    /// The operation has done nothing after all.
    #[inline]
    pub(crate) fn refund(self) {
        if self.limited {
            LEFT.set(LEFT.get() + 1);
        }
    }
}

/// Lets a future run without the budget of its task.
///
/// ```
/// # use std::task::{Context, Waker};
/// let mut future = std::pin::pin!(blitz_io::coop::unconstrained(async { 7 }));
/// let mut cx = Context::from_waker(Waker::noop());
/// assert!(future.as_mut().poll(&mut cx).is_ready());
/// # use std::future::Future;
/// ```
pub fn unconstrained<F: Future>(future: F) -> Unconstrained<F> {
    Unconstrained { future }
}

/// See [`unconstrained`].
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Unconstrained<F> {
    future: F,
}

impl<F: Future> Future for Unconstrained<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        // SAFETY: the future is pinned with the whole and never moved out of it.
        let future = unsafe { self.map_unchecked_mut(|this| &mut this.future) };
        with_budget(UNLIMITED, || future.poll(cx))
    }
}

/// Takes one unit of the task's budget: a place where a long computation of ready steps lets others run.
///
/// ```
/// # async fn crunch(items: &[u64]) -> u64 {
/// let mut sum = 0;
/// for item in items {
///     sum += item;
///     blitz_io::coop::consume_budget().await;
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
