//! Deliberate faults, so that a model that passes is known to be a model that can fail.
//!
//! A loom model says nothing if it could not see the bug it guards against. Each protocol
//! therefore names the orderings, fences and checks it rests on in an enum, asks
//! [`Flaws::has`] at those places, and its models run once as shipped and once per flaw, the
//! latter under `#[should_panic]`.
//!
//! Outside of loom builds [`Flaws`] is a zero-sized type whose `has` is the constant `false`: the
//! weakened paths do not exist in the program.

use crate::sync::{Ordering, fence};

/// Which fault, if any, a structure under test was built with.
#[derive(Debug, Clone, Copy)]
pub struct Flaws<F> {
    #[cfg(loom)]
    only: Option<F>,
    #[cfg(not(loom))]
    kind: std::marker::PhantomData<fn() -> F>,
}

#[cfg(not(loom))]
impl<F> Flaws<F> {
    /// The shipped protocol.
    pub const NONE: Self = Self {
        kind: std::marker::PhantomData,
    };

    /// Never: flaws exist in models only.
    #[inline(always)]
    pub const fn has(&self, _flaw: F) -> bool
    where
        F: Copy,
    {
        false
    }

    /// The ordering as shipped.
    #[inline(always)]
    pub const fn relax(&self, _flaw: F, shipped: Ordering) -> Ordering
    where
        F: Copy,
    {
        shipped
    }

    /// A full fence.
    #[inline(always)]
    pub fn fence(&self, _flaw: F)
    where
        F: Copy,
    {
        fence(Ordering::SeqCst);
    }

    /// Does nothing: the shipped protocol takes the step elsewhere, or not at all.
    #[inline(always)]
    pub fn when(&self, _flaw: F, _step: impl FnOnce())
    where
        F: Copy,
    {
    }

    /// Takes the step.
    #[inline(always)]
    pub fn unless(&self, _flaw: F, step: impl FnOnce())
    where
        F: Copy,
    {
        step();
    }
}

#[cfg(loom)]
impl<F: PartialEq> Flaws<F> {
    /// The shipped protocol.
    pub const NONE: Self = Self { only: None };

    /// The protocol with one thing wrong.
    pub const fn only(flaw: F) -> Self {
        Self { only: Some(flaw) }
    }

    /// The protocol with one thing wrong, or as shipped.
    pub fn only_if(flawed: bool, flaw: F) -> Self {
        Self {
            only: flawed.then_some(flaw),
        }
    }

    /// Whether the structure is to misbehave in this way.
    pub fn has(&self, flaw: F) -> bool {
        self.only.as_ref() == Some(&flaw)
    }

    /// The ordering as shipped, or none at all if that is the flaw.
    pub fn relax(&self, flaw: F, shipped: Ordering) -> Ordering {
        if self.has(flaw) {
            Ordering::Relaxed
        } else {
            shipped
        }
    }

    /// A full fence, or none if that is the flaw.
    pub fn fence(&self, flaw: F) {
        self.unless(flaw, || fence(Ordering::SeqCst));
    }

    /// Takes the step if that is the flaw.
    pub fn when(&self, flaw: F, step: impl FnOnce()) {
        if self.has(flaw) {
            step();
        }
    }

    /// Takes the step, or does not if that is the flaw.
    pub fn unless(&self, flaw: F, step: impl FnOnce()) {
        if !self.has(flaw) {
            step();
        }
    }
}
