//! Gates: what `take_any` and its relatives have in common.
//!
//! A gate says yes to items, one at a time and from any thread, until it says no; from then on it says no to everybody. It
//! shuts at a moment, not at a place: which items still came through depends on who was there first. `take_any` and
//! `take_any_while` pass on what the gate says yes to ([`Admit`]), `skip_any` and `skip_any_while` the others ([`Refuse`]).

use super::plumbing::Folder;
use super::stage::{Stage, its_own_plan};

/// Says yes until it says no for good.
pub(super) trait Gate<In> {
    /// Asks for one item, which may be the one that shuts the gate.
    fn says_yes(&self, item: &In) -> bool;

    /// True when the answer can only be no.
    fn is_shut(&self) -> bool;
}

/// Passes on what the gate says yes to.
#[derive(Clone)]
pub(super) struct Admit<G> {
    pub(super) gate: G,
}

its_own_plan! { [G,] Admit<G> }

impl<In, G> Stage<In> for Admit<G>
where
    G: Gate<In>,
{
    type Out = In;

    #[inline]
    fn feed<F>(&mut self, folder: F, item: In) -> F
    where
        F: Folder<In>,
    {
        if self.gate.says_yes(&item) {
            folder.consume(item)
        } else {
            folder
        }
    }

    #[inline]
    fn feed_iter<F, I>(&mut self, folder: F, iter: I) -> F
    where
        F: Folder<In>,
        I: Iterator<Item = In>,
    {
        folder.consume_iter(iter.take_while(|item| self.gate.says_yes(item)))
    }

    const CAN_BE_FULL: bool = true;

    #[inline]
    fn full(&self) -> bool {
        self.gate.is_shut()
    }
}

/// Drops what the gate says yes to, and passes on everything after.
#[derive(Clone)]
pub(super) struct Refuse<G> {
    pub(super) gate: G,
}

its_own_plan! { [G,] Refuse<G> }

impl<In, G> Stage<In> for Refuse<G>
where
    G: Gate<In>,
{
    type Out = In;

    #[inline]
    fn feed<F>(&mut self, folder: F, item: In) -> F
    where
        F: Folder<In>,
    {
        if self.gate.says_yes(&item) {
            folder
        } else {
            folder.consume(item)
        }
    }

    #[inline]
    fn feed_iter<F, I>(&mut self, folder: F, iter: I) -> F
    where
        F: Folder<In>,
        I: Iterator<Item = In>,
    {
        folder.consume_iter(iter.skip_while(|item| self.gate.says_yes(item)))
    }
}
