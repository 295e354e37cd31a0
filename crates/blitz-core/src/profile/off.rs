//! The hooks of the profiler without the feature: empty types and empty functions, of which nothing remains.

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
    pub(crate) fn run<R>(self, _ends: &Ends, part: impl FnOnce() -> R) -> R {
        part()
    }
}

impl Ends {
    #[inline(always)]
    pub(crate) fn new() -> Self {
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
    pub(crate) fn passage(&self) -> Passage {
        Passage
    }

    #[inline(always)]
    pub(crate) fn arrived(self, _reached: ()) {}
}

impl Passage {
    #[inline(always)]
    pub(crate) fn run<R>(self, work: impl FnOnce() -> R) -> (R, ()) {
        (work(), ())
    }
}

#[inline(always)]
pub(crate) fn pause() -> Paused {
    Paused
}
