//! Parking one thread, with a token: `unpark` before `park` is not lost.
//!
//! Parkers are never freed, only recycled. That is what makes the engine's latches simple to argue about:
//! a thread that completes a job may read the waiter's `&'static Parker`, publish the completion,
//! and unpark afterwards, although the waiter, its stack frame, its pool and even its thread may be
//! gone by then. The price is that a parker's next user can find a token it did not expect, so
//! every `park` sits in a loop that checks a condition. It would have to anyway.

use super::flaw::Flaws;
use super::futex;
#[cfg(not(loom))]
use crate::clock::Stopwatch;
use crate::sync::{AtomicU32, Ordering};
#[cfg(not(loom))]
use std::{cell::Cell, time::Duration};

const EMPTY: u32 = 0;
const PARKED: u32 = 1;
const NOTIFIED: u32 = 2;

/// What a parker without one of its pillars would do; see [`Flaws`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "constructed by loom models only")]
enum Flaw {
    IgnoreToken,
    WakeBeforeToken,
    RelaxedToken,
    TakeBlindly,
}

/// A place where one thread at a time sleeps until it is told to go on.
#[derive(Debug)]
pub(crate) struct Parker {
    state: AtomicU32,
    flaws: Flaws<Flaw>,
}

impl Parker {
    pub(crate) fn new() -> Self {
        Self::with_flaws(Flaws::NONE)
    }

    fn with_flaws(flaws: Flaws<Flaw>) -> Self {
        Parker {
            state: AtomicU32::new(EMPTY),
            flaws,
        }
    }

    /// Blocks until there is a token, and takes it. One thread at a time.
    pub(crate) fn park(&self) {
        self.park_in(|state| futex::wait(state, PARKED));
    }

    /// The same, but without a token for `limit` at most, about.
    #[cfg(not(loom))]
    pub(crate) fn park_at_most(&self, limit: Duration) {
        let watch = Stopwatch::start();
        // Without a clock one wait has to do, though it may end for no reason.
        let has_waited = Cell::new(false);
        self.park_in(|state| {
            let waited = has_waited.replace(true);
            let passed = watch.elapsed();
            let passed = passed.unwrap_or(if waited { limit } else { Duration::ZERO });
            match limit.checked_sub(passed) {
                Some(left) if !left.is_zero() => futex::wait_at_most(state, PARKED, left),
                // Nobody else turns PARKED into EMPTY.
                _ => drop(state.compare_exchange(
                    PARKED,
                    EMPTY,
                    Ordering::Acquire,
                    Ordering::Acquire,
                )),
            }
        });
    }

    fn park_in(&self, wait: impl Fn(&AtomicU32)) {
        if self.flaws.has(Flaw::IgnoreToken) {
            self.state.store(EMPTY, Ordering::Relaxed);
        }
        // Acquire on every way out: what the unparking thread did before is visible.
        if self
            .state
            .compare_exchange(EMPTY, PARKED, Ordering::Acquire, Ordering::Acquire)
            .is_ok()
        {
            while self.state.load(Ordering::Acquire) == PARKED {
                wait(&self.state);
            }
        }
        if self.flaws.has(Flaw::TakeBlindly) {
            return self.state.store(EMPTY, Ordering::Relaxed);
        }
        // Not a plain store: a second token may have come since we looked, and whoever takes it must see
        // what its sender did. A store would wipe it out unread, and the caller could go back to sleep
        // on a condition that has come true.
        self.state.swap(EMPTY, Ordering::Acquire);
    }

    /// Is there a token that nobody has taken yet?
    pub(crate) fn has_token(&self) -> bool {
        // Relaxed: nothing is read on the strength of it; who needs an order has a fence.
        self.state.load(Ordering::Relaxed) == NOTIFIED
    }

    /// Leaves a token and wakes the parked thread, if there is one.
    pub(crate) fn unpark(&self) {
        if self.flaws.has(Flaw::WakeBeforeToken) {
            futex::wake_one(&raw const self.state);
            return self.state.store(NOTIFIED, Ordering::Release);
        }
        // Release: see `park`.
        let order = self.flaws.relax(Flaw::RelaxedToken, Ordering::AcqRel);
        if self.state.swap(NOTIFIED, order) == PARKED {
            futex::wake_one(&raw const self.state);
        }
    }
}

/// A parker on loan: given back on drop, kept by the process for ever.
#[cfg(not(loom))]
#[derive(Debug)]
pub(crate) struct Lease(&'static Parker);

#[cfg(not(loom))]
mod stock {
    use super::Parker;
    use crate::fork::ForkLock;

    static IDLE: ForkLock<Vec<&'static Parker>> = ForkLock::new(Vec::new());

    pub(super) fn take() -> &'static Parker {
        let idle = IDLE.lock().pop();
        idle.unwrap_or_else(|| Box::leak(Box::new(Parker::new())))
    }

    pub(super) fn give(parker: &'static Parker) {
        IDLE.lock().push(parker);
    }
}

#[cfg(not(loom))]
impl Lease {
    pub(crate) fn new() -> Self {
        Lease(stock::take())
    }

    pub(crate) fn parker(&self) -> &'static Parker {
        self.0
    }
}

#[cfg(not(loom))]
impl Drop for Lease {
    fn drop(&mut self) {
        stock::give(self.0);
    }
}

#[cfg(all(test, loom))]
mod models;
