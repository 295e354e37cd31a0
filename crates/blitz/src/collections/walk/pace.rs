//! What the clock says about a walk: whether to share the rest, and how long the next block should be.

use super::FEW;
use crate::engine::{current_thread_index, demand};

/// A block is at most this many times as long as the one before. A few cheap items prove little about the others.
const GROWTH: usize = 8;

/// Measurements of shorter blocks say more about cold caches than about the items.
const TRUSTED_US: u64 = 5;

/// A block takes about this long, or a quarter of what the loop took so far if that is longer.
const BLOCK_US: u64 = 50;

/// With less than this ahead, items are not shared even if somebody waits for them.
const WORTH_SHARING_US: u64 = 16;

/// With less than this ahead, nobody is called for help.
const WORTH_CALLING_US: u64 = 60;

/// A rest shorter than this, of cheap items in random order, is run as one block once a quarter of all has been measured.
const FORESEEN_US: u64 = 150;

/// What the order of items means.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::collections) enum Order {
    /// Neighbours may be alike; what has been walked says little about what comes at the end.
    Meaningful,
    /// As in a hash table: what has been walked is a fair sample of all. Since counting items costs a hash table's tight loop a
    /// third of its speed, a rest that is foreseeable is not counted.
    Random,
}

/// So much work that somebody may be called for it.
pub(super) fn is_worth_calling(ticks: u64) -> bool {
    ticks >= WORTH_CALLING_US * demand::ticks_per_us()
}

/// The speed of a walk.
pub(super) struct Pace {
    order: Order,
    /// When the walk began.
    began: u64,
    /// When its last block ended.
    now: u64,
    /// Items in all blocks.
    walked: usize,
    /// Items in the last block, and the time it took.
    items: usize,
    ticks: u64,
}

impl Pace {
    /// Starts the clock.
    pub(super) fn begin(order: Order) -> Self {
        let now = demand::ticks_at_work();
        Pace {
            order,
            began: now,
            now,
            walked: 0,
            items: 0,
            ticks: 0,
        }
    }

    /// Takes in that a block of this many items is done.
    pub(super) fn note(&mut self, items: usize) {
        let before = self.now;
        self.now = demand::ticks_at_work();
        // Clocks of different CPUs may disagree a little.
        self.ticks = self.now.saturating_sub(before);
        self.items = items;
        self.walked += items;
    }

    /// The last block took long enough to tell something about the items.
    fn is_trusted(&self) -> bool {
        self.ticks >= TRUSTED_US * demand::ticks_per_us()
    }

    /// How long `items` would take, in ticks: as long as lately, or as on average if that was faster. A block that happened to be
    /// interrupted must not have a cheap collection gathered, which cannot be undone.
    pub(super) fn estimate(&self, items: usize) -> u64 {
        let per_item = |ticks: u64, items: usize| ticks as f64 / items.max(1) as f64;
        let on_average = per_item(self.now.saturating_sub(self.began), self.walked);
        (per_item(self.ticks, self.items).min(on_average) * items as f64) as u64
    }

    /// Whether items take so long that sharing them pays for gathering them.
    fn items_are_dear<T>(&self) -> bool {
        // Walking to an item, and moving it twice through memory that is probably not in a cache. With two threads, that is won
        // back when the item takes twice as long.
        let gathering_ns = 4 + size_of::<T>() as u64 / 8;
        self.is_trusted() && self.estimate(1000) >= 2 * gathering_ns * demand::ticks_per_us()
    }

    /// Whether it pays to gather the items ahead and share them.
    pub(super) fn calls_for_help<T>(&self, ahead: usize) -> bool {
        let (ticks_per_us, ticks) = (demand::ticks_per_us(), self.estimate(ahead));
        if ticks < WORTH_SHARING_US * ticks_per_us || !self.items_are_dear::<T>() {
            return false;
        }
        // A thread outside of any pool cannot see who would help, and has to assume that somebody does.
        demand::hungry()
            || is_worth_calling(ticks)
                && (demand::worth_waking(ticks) || current_thread_index().is_none())
    }

    /// How many items make the next block, after one of `block`, with `ahead` left to do.
    pub(super) fn next_block<T>(&self, block: usize, ahead: usize) -> usize {
        let ticks_per_us = demand::ticks_per_us();
        let is_foreseen = self.order == Order::Random
            && self.walked >= ahead / 3
            && !self.items_are_dear::<T>()
            && self.estimate(ahead) < FORESEEN_US * ticks_per_us;
        if is_foreseen {
            return ahead;
        }
        let longest = block.saturating_mul(GROWTH).min((ahead / 2).max(FEW));
        let target = if self.is_trusted() {
            (self.now.saturating_sub(self.began) / 4).max(BLOCK_US * ticks_per_us)
        } else {
            2 * TRUSTED_US * ticks_per_us
        };
        let by_time = target as f64 / self.ticks.max(1) as f64 * self.items as f64;
        // A float that is too large becomes the largest integer.
        (by_time as usize).clamp(1, longest)
    }
}
