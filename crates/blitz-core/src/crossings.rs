//! Threads that are being started or are about to end, and a fork, which waits until there is none.
//!
//! The standard library locks something of its own for a moment in each thread that starts and in each one that ends. In the child of a fork that comes in
//! such a moment it stays locked, and no thread can be started there, nor can one end. We cannot open that lock; but we can choose the moment, as far as
//! threads of ours are concerned ([`crate::process_fork`]).
//!
//! One word: how many threads are crossing, and whether somebody is forking. A thread that wants to cross waits while somebody is forking (and while
//! somebody wants to: otherwise threads that come and go all the time would keep a fork waiting for ever). Whoever forks waits until nobody is crossing, and for whoever forks already.
//!
//! Why nobody waits in a circle: a crossing thread takes locks of the standard library and of the allocator, runs nobody's code, and does not begin a
//! second crossing. So it comes to the end of the first whatever others hold, and whoever forks, too.
//!
//! Acquire and Release: what a thread has done while crossing is done before the fork, and what comes with the fork before the next crossing.

use crate::sync::{AtomicU32, Ordering};
use blitz_primitives::flaw::Flaws;
use blitz_primitives::futex;

/// Somebody forks, or wants to. The other bits are the number of threads.
const FORKING: u32 = 1 << 31;

/// What the models break on purpose; see [`Flaws`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(dead_code, reason = "constructed by loom models only")]
enum Flaw {
    EnterBlindly,
    ForkBlindly,
    ForkTogether,
    LeaveSilently,
    OpenSilently,
    RelaxedLeave,
    RelaxedOpen,
}

/// See the module's documentation.
#[derive(Debug)]
pub(crate) struct Crossings {
    word: AtomicU32,
    flaws: Flaws<Flaw>,
}

impl Crossings {
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Crossings {
            word: AtomicU32::new(0),
            flaws: Flaws::NONE,
        }
    }

    /// A thread begins to cross. It may be another one than the caller: one that the caller is about to start.
    pub(crate) fn enter(&self) {
        self.when_nobody_forks(Flaw::EnterBlindly, |word| word + 1);
    }

    /// Waits while somebody forks, and makes the word what `next` says.
    fn when_nobody_forks(&self, blindly: Flaw, next: impl Fn(u32) -> u32) {
        let free = |word| word & FORKING == 0 || self.flaws.has(blindly);
        let next = |word| free(word).then(|| next(word));
        let (order, failed) = (Ordering::Acquire, Ordering::Relaxed);
        while let Err(word) = self.word.fetch_update(order, failed, next) {
            futex::wait(&self.word, word);
        }
    }

    /// It is across.
    pub(crate) fn leave(&self) {
        let order = self.flaws.relax(Flaw::RelaxedLeave, Ordering::Release);
        let before = self.word.fetch_sub(1, order);
        if before == FORKING | 1 && !self.flaws.has(Flaw::LeaveSilently) {
            futex::wake_all(&raw const self.word);
        }
    }

    /// The calling thread is about to fork: returns when nobody is crossing, and nobody does before [`Crossings::open`].
    #[cfg(any(unix, loom))]
    pub(crate) fn close(&self) {
        self.when_nobody_forks(Flaw::ForkTogether, |word| word | FORKING);
        while !self.flaws.has(Flaw::ForkBlindly) {
            let word = self.word.load(Ordering::Acquire);
            if word == FORKING {
                return;
            }
            futex::wait(&self.word, word);
        }
    }

    /// It has forked, in the parent or, where nobody is there to be woken, in the child.
    #[cfg(any(unix, loom))]
    pub(crate) fn open(&self) {
        let order = self.flaws.relax(Flaw::RelaxedOpen, Ordering::Release);
        self.word.fetch_and(!FORKING, order);
        let tell = || futex::wake_all(&raw const self.word);
        self.flaws.unless(Flaw::OpenSilently, tell);
    }
}

#[cfg(all(test, loom))]
mod models;
