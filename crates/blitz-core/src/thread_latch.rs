//! A latch that plain blocking threads wait on: thread start, thread end.

use crate::sync::locks::{Condvar, Mutex, ignore_poison};
use std::sync::MutexGuard;
use std::time::Instant;

/// Set once for each thread, waited for by anybody, without spinning.
#[derive(Debug, Default)]
pub(crate) struct ThreadLatch {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    set: bool,
    /// For how many threads it has been before this one.
    resets: u64,
}

impl ThreadLatch {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        ignore_poison(self.state.lock())
    }

    pub(crate) fn set(&self) {
        self.lock().set = true;
        self.changed.notify_all();
    }

    /// For another thread. Nobody waits in [`wait`](Self::wait): that would be for the other one.
    pub(crate) fn reset(&self) {
        let mut state = self.lock();
        state.set = false;
        state.resets += 1;
        drop(state);
        self.changed.notify_all();
    }

    pub(crate) fn is_set(&self) -> bool {
        self.lock().set
    }

    pub(crate) fn wait(&self) {
        self.wait_within(None);
    }

    /// Waits no longer than until `deadline`, if there is one. `false`: not set by then.
    pub(crate) fn wait_within(&self, deadline: Option<Instant>) -> bool {
        let state = self.lock();
        let Some(deadline) = deadline else {
            self.wait_while(state, |state| !state.set);
            return true;
        };
        let left = deadline.saturating_duration_since(Instant::now());
        let waited = self
            .changed
            .wait_timeout_while(state, left, |state| !state.set);
        ignore_poison(waited).0.set
    }

    /// Nothing, if it is set; else what to give to [`wait_for_this`](Self::wait_for_this).
    pub(crate) fn this_thread(&self) -> Option<u64> {
        let state = self.lock();
        (!state.set).then_some(state.resets)
    }

    /// Waits until it has been set for that thread, whether or not it is for another one by now.
    pub(crate) fn wait_for_this(&self, thread: u64) {
        self.wait_while(self.lock(), |state| !state.set && state.resets == thread);
    }

    fn wait_while(&self, mut state: MutexGuard<'_, State>, what: impl Fn(&State) -> bool) {
        while what(&state) {
            let woken = self.changed.wait(state);
            state = ignore_poison(woken);
        }
    }
}
