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
pub(super) type Admit<G> = Gated<G, true>;

/// Drops what the gate says yes to, and passes on everything after.
pub(super) type Refuse<G> = Gated<G, false>;

/// Asks the gate about every item. Those with the answer `PASSES` are passed on.
#[derive(Clone)]
pub(super) struct Gated<G, const PASSES: bool> {
    pub(super) gate: G,
}

its_own_plan! { [G, const PASSES: bool,] Gated<G, PASSES> }

impl<In, G, const PASSES: bool> Stage<In> for Gated<G, PASSES>
where
    G: Gate<In>,
{
    type Out = In;

    #[inline]
    fn feed<F>(&mut self, folder: F, item: In) -> F
    where
        F: Folder<In>,
    {
        if self.gate.says_yes(&item) == PASSES {
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
        // After the first no, nothing more is even made in the one case, and nobody is asked any more in the other.
        let says_yes = |item: &In| self.gate.says_yes(item);
        if PASSES {
            folder.consume_iter(iter.take_while(says_yes))
        } else {
            folder.consume_iter(iter.skip_while(says_yes))
        }
    }

    const CAN_BE_FULL: bool = PASSES;

    const KEEPS_BACK: bool = !PASSES;

    #[inline]
    fn full(&self) -> bool {
        PASSES && self.gate.is_shut()
    }
}
