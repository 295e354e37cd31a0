//! How long items take, and what follows from it: whether to share them at all, and in blocks of how many.

use crate::engine::demand::{outlasts_a_wake, ticks_per_us};

/// Blocks of cheap items are made so long, if the look-ahead allows.
const BLOCK_US: u64 = 20;

/// A block that takes less than this is not worth handing to another thread.
const WORTH_SHARING_US: u64 = 4;

/// Of cheap items that are not shared, one in so many is timed.
const SELDOM: u32 = 64;

/// What a pipeline knows about its items.
#[derive(Debug)]
pub(crate) struct Pace {
    /// Ticks per item, lately.
    each: f32,
    /// What has been run alone so far, in ticks.
    alone: f32,
    /// So many items are run before one is timed again.
    untimed: u32,
    pause: u32,
}

impl Pace {
    pub(crate) fn new() -> Self {
        Pace {
            each: 0.0,
            alone: 0.0,
            untimed: 0,
            pause: 0,
        }
    }

    /// Is the next item, which is run alone, to be timed?
    #[inline]
    pub(crate) fn is_time_to_look(&mut self) -> bool {
        if self.untimed > 0 {
            self.untimed -= 1;
            return false;
        }
        true
    }

    /// So many items have taken so long.
    pub(crate) fn note(&mut self, items: usize, ticks: u64) {
        let each = ticks.max(1) as f32 / items.max(1) as f32;
        // A jump upwards counts at once: it is better to share too early than too late.
        self.each = if each > self.each {
            each
        } else {
            self.each * 0.75 + each * 0.25
        };
    }

    /// The same for an item that was run alone. `true`: time to see whether to go on alone.
    pub(crate) fn note_alone(&mut self, ticks: u64) -> bool {
        self.note(1, ticks);
        self.alone += self.each * (1 + self.pause) as f32;
        let dear = self.each >= ticks_per_us() as f32;
        self.pause = if dear {
            0
        } else {
            (self.pause * 2 + 1).min(SELDOM - 1)
        };
        self.untimed = self.pause;
        // Of something whose end is unknown, as much is ahead as has been done.
        outlasts_a_wake(self.alone as u64)
    }

    /// Has anything been timed?
    pub(crate) fn is_known(&self) -> bool {
        self.each > 0.0
    }

    /// Would it last to run so many items?
    pub(crate) fn outlasts_a_wake(&self, items: usize) -> bool {
        outlasts_a_wake((self.each * items as f32) as u64)
    }

    /// How many items make a block of the right length: at most `most`. `None`: it would still be too short to be shared.
    pub(crate) fn block(&self, most: usize) -> Option<usize> {
        let us = ticks_per_us() as f32;
        if self.each * (most as f32) < WORTH_SHARING_US as f32 * us {
            return None;
        }
        let right = BLOCK_US as f32 * us / self.each.max(1.0);
        Some((right as usize).clamp(1, most))
    }
}
