//! The hooks of the profiler without the feature: empty types and empty functions, of which nothing remains.

use crate::site::Site;

/// See `strand::Ends`.
#[derive(Debug)]
pub(crate) struct Ends;

/// See `strand::Spawned`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spawned;

/// See `strand::Carried`.
pub(crate) struct Carried;

/// See `strand::Passage`.
#[derive(Clone, Copy)]
pub(crate) struct Passage;

/// See `strand::Paused`.
pub(crate) struct Paused;

impl Spawned {
    #[inline(always)]
    pub(crate) fn here() -> Self {
        Spawned
    }

    #[inline(always)]
    pub(crate) fn at(_site: Site) -> Self {
        Spawned
    }

    #[inline(always)]
    pub(crate) fn run<R>(self, _ends: &Ends, part: impl FnOnce() -> R) -> R {
        part()
    }
}

impl Ends {
    #[inline(always)]
    pub(crate) fn at(_site: Site) -> Self {
        Ends
    }

    #[inline(always)]
    pub(crate) fn meet(&self) {}

    #[inline(always)]
    pub(crate) fn note(&self) {}
}

impl Carried {
    #[inline(always)]
    pub(crate) fn away() -> Self {
        Carried
    }

    #[inline(always)]
    pub(crate) fn passage(&mut self) -> Passage {
        Passage
    }
}

impl Passage {
    #[inline(always)]
    pub(crate) fn run<R>(self, work: impl FnOnce() -> R) -> R {
        work()
    }
}

/// See `strand::Parts`.
#[derive(Clone, Copy, Debug)]
pub struct Parts;

impl Parts {
    /// Nobody asks.
    #[inline(always)]
    pub fn of(_len: usize, _shortest: usize) -> Self {
        Parts
    }

    /// Nothing is.
    #[inline(always)]
    pub fn are_counted() -> bool {
        false
    }

    /// Runs it.
    #[inline(always)]
    pub fn run<R>(self, work: impl FnOnce() -> R) -> R {
        work()
    }
}

#[inline(always)]
pub(crate) fn pause() -> Paused {
    Paused
}

/// See `polled::in_turn`.
#[inline(always)]
pub fn in_turn<R>(poll: impl FnOnce() -> R) -> R {
    poll()
}

/// See `polled::Polled`.
#[derive(Debug)]
pub struct Polled;

impl Polled {
    /// Nobody asks.
    #[inline(always)]
    pub fn spawned(_site: Site) -> Self {
        Polled
    }

    /// Polls.
    #[inline(always)]
    pub fn poll<R>(&self, poll: impl FnOnce() -> R) -> R {
        poll()
    }

    /// Nobody asks.
    #[inline(always)]
    pub fn awaited(&self) {}

    /// Waits.
    #[inline(always)]
    pub fn wait<F, R>(_site: Site, future: F, wait: impl FnOnce(F) -> R) -> R {
        wait(future)
    }
}
