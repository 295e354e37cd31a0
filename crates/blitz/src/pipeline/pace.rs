//! How long items take, and what follows from it: whether to share them at all, and in blocks of how many.

use crate::engine::demand::{outlasts_a_wake, ticks_at_work, ticks_per_us};

/// Blocks of cheap items are made so long, if the look-ahead allows.
const BLOCK_US: u64 = 20;

/// A block that takes less than this is not worth handing to another thread.
const WORTH_SHARING_US: u64 = 4;

/// Of cheap items that are not shared, one in so many is timed.
const SELDOM: u32 = 64;

/// Items that take less than this, as far as one can tell by reading the clock before and after, may be tried in a [stretch](Stretch).
const TINY_NS: u64 = 25;

/// A stretch whose items take less than this, with all that is done with them, is followed by another.
const STRETCH_NS: u64 = 10;

/// What a pipeline knows about its items.
#[derive(Debug)]
pub(crate) struct Pace {
    /// Ticks per item, lately.
    each: f32,
    /// What has been run alone so far, in ticks.
    alone: f32,
    /// So many items are run before one is timed again.
    pause: u32,
}

impl Pace {
    pub(crate) fn new() -> Self {
        Pace {
            each: 0.0,
            alone: 0.0,
            pause: 0,
        }
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
        // Of something whose end is unknown, as much is ahead as has been done.
        outlasts_a_wake(self.alone as u64)
    }

    /// So many items may be run before one is timed again.
    pub(crate) fn pause(&self) -> u32 {
        self.pause
    }

    /// Are items so cheap that timing one of them would take longer than to run it?
    pub(crate) fn is_tiny(&self) -> bool {
        self.pause == SELDOM - 1 && self.each * 1000.0 < (TINY_NS * ticks_per_us()) as f32
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

/// Items that are run alone in a row, with a reading of the clock after each row, so with all that the source and the consumer do.
#[derive(Debug)]
pub(crate) struct Stretch {
    last: u64,
    longest: u64,
}

impl Stretch {
    /// So many items are run in a row.
    pub(crate) const LEN: usize = SELDOM as usize;

    /// Now.
    pub(crate) fn start() -> Self {
        Stretch {
            last: ticks_at_work(),
            longest: STRETCH_NS * ticks_per_us() * Self::LEN as u64 / 1000,
        }
    }

    /// A row is over. Is another one in order?
    #[inline]
    pub(crate) fn goes_on(&mut self) -> bool {
        let now = ticks_at_work();
        let took = now.saturating_sub(self.last);
        self.last = now;
        took < self.longest
    }
}
