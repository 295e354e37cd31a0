//! Waiting for something that happens once, or is looked at again: that a channel is closed, that nobody listens any more.
//!
//! Who makes it happen changes an atomic word first and then calls `release_all` on the line, which takes its lock. A future looks at the word under
//! the same lock before it waits. If its section is the earlier one, it is released; if the other one is, it sees the change.

use crate::coop;
use crate::waiters::{Node, State, Waiters};
use std::future::Future;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Waits in line until it is released, unless `is_over` says at the beginning that there is nothing to wait for. Cancel-safe.
#[must_use = "futures do nothing unless polled"]
pub(super) struct Until<'a, C: Fn() -> bool> {
    line: &'a Waiters<()>,
    is_over: C,
    node: Node,
}

impl<'a, C: Fn() -> bool> Until<'a, C> {
    pub(super) fn new(line: &'a Waiters<()>, is_over: C) -> Self {
        Until {
            line,
            is_over,
            node: Node::new(),
        }
    }

    fn node(self: Pin<&Self>) -> Pin<&Node> {
        // SAFETY: the node is pinned with the whole.
        unsafe { self.map_unchecked(|this| &this.node) }
    }
}

impl<C: Fn() -> bool> Future for Until<'_, C> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let unit = ready!(coop::take_unit(cx));
        let this = self.as_ref();
        let (line, node) = (this.line, this.node());
        let waits = match node.state() {
            State::Idle => {
                // SAFETY: one line, `&mut self`, and `drop` withdraws it.
                let arrived = unsafe {
                    line.arrive(node, cx.waker(), |_| {
                        if (this.is_over)() {
                            ControlFlow::Break(())
                        } else {
                            ControlFlow::Continue(1)
                        }
                    })
                };
                arrived.is_continue()
            }
            State::Waiting => line.again(node, cx.waker()) == State::Waiting,
            _ => false,
        };
        if waits {
            unit.refund();
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    }
}

impl<C: Fn() -> bool> Drop for Until<'_, C> {
    fn drop(&mut self) {
        // SAFETY: what is dropped does not move any more.
        let node = unsafe { Pin::new_unchecked(&*self) }.node();
        self.line.withdraw(node, |_| {});
    }
}
