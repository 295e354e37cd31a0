//! The smallest thing that can be built with a line, for tests and models: tokens that are given and taken.

use super::{Flaw, Node, State, Waiters};
use blitz_primitives::flaw::Flaws;
use std::future::Future;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Some tokens.
pub(super) struct Tokens {
    waiters: Waiters<usize>,
}

impl Tokens {
    pub(super) fn new(number: usize) -> Self {
        Self {
            waiters: Waiters::new(number),
        }
    }

    /// Hands a token to the first who waits, or keeps it.
    pub(super) fn give(&self) {
        self.waiters.releasing(|guarded, batch| {
            if !guarded.line.release_first(State::Granted, batch) {
                guarded.state += 1;
            }
        });
    }

    /// Tells everybody who waits that it is over for them; they take no token.
    pub(super) fn dismiss_all(&self) {
        self.waiters.release_all(State::Dismissed, |_| true);
    }

    pub(super) fn take(&self, flaws: Flaws<Flaw>) -> Take<'_> {
        Take {
            tokens: self,
            node: Node::with_flaws(flaws),
        }
    }

    /// The owner of a node gives it up. Returns whether it had been granted a token.
    pub(super) fn withdraw(&self, node: Pin<&Node>) -> bool {
        self.waiters.withdraw(node, |_| {}).0 == State::Granted
    }

    pub(super) fn left(&self) -> usize {
        self.waiters.locked(|guarded| {
            assert!(guarded.line.is_empty() || guarded.state == 0);
            guarded.state
        })
    }
}

/// Waits for a token; `false`: it was told not to wait any more.
pub(super) struct Take<'a> {
    tokens: &'a Tokens,
    node: Node,
}

impl Take<'_> {
    pub(super) fn node(self: Pin<&Self>) -> Pin<&Node> {
        // SAFETY: the node is pinned with the whole.
        unsafe { self.map_unchecked(|this| &this.node) }
    }
}

impl Future for Take<'_> {
    type Output = bool;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<bool> {
        let waiters = &self.tokens.waiters;
        let node = self.as_ref().node();
        let state = match node.state() {
            State::Idle => {
                // SAFETY: one list, `&mut self`, and `drop` withdraws it.
                let arrived = unsafe {
                    waiters.arrive(node, cx.waker(), |guarded| {
                        if guarded.state == 0 {
                            return ControlFlow::Continue(1);
                        }
                        guarded.state -= 1;
                        ControlFlow::Break(())
                    })
                };
                return match arrived {
                    ControlFlow::Continue(()) => Poll::Pending,
                    ControlFlow::Break(()) => Poll::Ready(true),
                };
            }
            State::Waiting => waiters.again(node, cx.waker()),
            let_go => let_go,
        };
        if state == State::Waiting {
            return Poll::Pending;
        }
        Poll::Ready(self.tokens.withdraw(node))
    }
}

impl Drop for Take<'_> {
    fn drop(&mut self) {
        // SAFETY: what is dropped does not move any more.
        let node = unsafe { Pin::new_unchecked(&self.node) };
        if self.tokens.withdraw(node) {
            self.tokens.give();
        }
    }
}
