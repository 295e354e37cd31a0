//! A bell: what one thread, its *owner*, waits for again and again.
//!
//! The owner hushes it, lets others know that it is about to wait (under a lock, or by a word, of its own), and waits; whoever has news and knows that rings. Ringing and falling asleep meet under the
//! bell's mutex, so neither can miss the other. What an owner may help with while it waits descends from the bell's context: that is what those who will ring run in.

use crate::context::Context;
use crate::entered::current;
use crate::fork;
use crate::guest::{outsider_parker, wait_outside};
use crate::primitives::parker::Parker;
use crate::seat;
use crate::wait::{Awaited, wait_for};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

pub(crate) struct Bell {
    /// Of the process that it belongs to; see [`crate::fork`].
    generation: u64,
    pub(crate) context: Context,
    rung: AtomicBool,
    /// The owner's, if it sleeps.
    sleeper: Mutex<Option<&'static Parker>>,
}

impl Bell {
    pub(crate) fn new(parent: *const Context) -> Self {
        Bell {
            generation: fork::generation(),
            context: Context::new(parent),
            rung: AtomicBool::new(false),
            sleeper: Mutex::new(None),
        }
    }

    pub(crate) fn is_rung(&self) -> bool {
        self.rung.load(Ordering::Acquire)
    }

    /// Owner: forgets that it was rung.
    pub(crate) fn hush(&self) {
        // Relaxed: the owner tells others afterwards, and before that nobody rings.
        self.rung.store(false, Ordering::Relaxed);
    }

    /// There is news. Touches the bell until it returns.
    pub(crate) fn ring(&self) {
        let mut sleeper = self.sleeper();
        self.rung.store(true, Ordering::Release);
        let parker = sleeper.take();
        drop(sleeper);
        if let Some(parker) = parker {
            parker.unpark();
        }
    }

    /// Owner: waits until it has been rung, helping with what descends from its context if the caller is in a pool.
    pub(crate) fn wait(&self) {
        if !self.is_rung() {
            fork::assert_may_wait(self.generation);
        }
        match seat::current() {
            // SAFETY: the caller occupies the seat.
            Some(seat) => unsafe { wait_for(seat, &Listening(self, seat.parker())) },
            None => {
                let parker = outsider_parker();
                wait_outside(&current(), &Listening(self, parker), parker);
            }
        }
    }

    fn sleeper(&self) -> MutexGuard<'_, Option<&'static Parker>> {
        self.sleeper.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Listening<'a>(&'a Bell, &'static Parker);

impl Awaited for Listening<'_> {
    fn context(&self) -> *const Context {
        &raw const self.0.context
    }

    fn is_done(&self) -> bool {
        self.0.is_rung()
    }

    fn announce_parked(&self) -> bool {
        let mut sleeper = self.0.sleeper();
        let parks = !self.0.is_rung();
        if parks {
            *sleeper = Some(self.1);
        }
        parks
    }

    fn announce_awake(&self) {
        *self.0.sleeper() = None;
    }
}
