//! The hooks of the console without the feature: empty types and empty functions, of which nothing remains.

use crate::join_stack::Pushed;
use crate::pool::Pool;
use crate::seat::Seat;
use crate::site::Site;
use std::sync::Arc;

/// See `console::OfSeat`.
#[derive(Debug)]
pub(crate) struct OfSeat;

impl OfSeat {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        OfSeat
    }

    #[inline(always)]
    pub(crate) fn thread_begins(&self) {}

    #[inline(always)]
    pub(crate) fn guest(&self, _comes: bool) {}
}

/// See `console::OfPool`.
#[derive(Debug)]
pub(crate) struct OfPool;

impl OfPool {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        OfPool
    }

    #[inline(always)]
    pub(crate) fn begins(_pool: &Arc<Pool>) {}

    #[inline(always)]
    pub(crate) fn injected(&self) {}
}

/// See `console::Adopted`.
pub(crate) struct Adopted;

impl Adopted {
    #[inline(always)]
    pub(crate) fn end(self) {}
}

#[inline(always)]
pub(crate) fn adopt(_victim: &Seat) -> Adopted {
    Adopted
}

/// See `console::Carried`.
#[derive(Clone, Copy)]
pub(crate) struct Carried;

impl Carried {
    #[inline(always)]
    pub(crate) fn away() -> Self {
        Carried
    }

    #[inline(always)]
    pub(crate) fn run<R>(self, work: impl FnOnce() -> R) -> R {
        work()
    }
}

/// See `console::Called`.
#[derive(Clone, Copy)]
pub(crate) struct Called;

impl Called {
    pub(crate) const BY_US: Self = Called;

    #[inline(always)]
    pub(crate) fn at(_site: Site) -> Self {
        Called
    }
}

#[inline(always)]
pub(crate) fn is_looked_at() -> bool {
    false
}

#[inline(always)]
pub(crate) fn join_begins(_seat: &Seat, _pushed: Pushed, _called: Called) {}

#[inline(always)]
pub(crate) fn ending_join(_seat: &Seat, _depth: usize) -> Ending {
    Ending
}

/// See `console::Call`.
pub(crate) struct Ending;
