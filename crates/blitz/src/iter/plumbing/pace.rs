//! How fast a loop runs, and what that says about cutting it.
//!
//! All times are in ticks of the engine's clock. A reading costs about 10 ns, so there is one per block of some
//! microseconds and at most four in a loop too short to be worth a cut.
//!
//! [`Site`] remembers the cost of an item from one run of a loop to the next. There is one per loop in the program, more or
//! less: the key is the address of the loop's compiled code, which is unique to the types (and so to the closures) it was
//! compiled for. Two loops that share an entry only confuse each other's guesses.

use crate::engine::{current_thread_index, demand};
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A block should take about this long: short enough for others to get their share soon, long enough not to notice the
/// clock, the cut and the fork (some 20 ns together).
const BLOCK_US: u64 = 8;

/// A loop with less than this ahead is not cut, whoever waits: handing work over costs about a microsecond.
const WORTH_A_CUT_US: u64 = 2 * BLOCK_US;

/// What the engine takes for worth a wake-up. A loop with this much ahead is always forked, so that the engine can wake
/// somebody if nobody is awake.
const WORTH_A_WAKE_US: u64 = 60;

/// With less than this ahead the clock is not worth reading again.
const TINY_US: u64 = 1;

const SITES: usize = 1024;

/// What is known about the items of one loop: the bits of an `f32`, ticks per item; 0 if it never ran.
pub(super) struct Site(AtomicU32);

static KNOWN: [Site; SITES] = [const { Site(AtomicU32::new(0)) }; SITES];

impl Site {
    /// The entry of the loop whose code is at `address`.
    #[inline]
    pub(super) fn of(address: usize) -> &'static Site {
        let hash = (address as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        &KNOWN[(hash >> (64 - SITES.trailing_zeros())) as usize]
    }

    #[inline]
    fn rate(&self) -> f32 {
        f32::from_bits(self.0.load(Relaxed))
    }

    /// Takes in what the last run measured. Dear items are believed at once, cheap ones slowly: taking a dear loop for a
    /// cheap one loses parallelism, the reverse only some nanoseconds.
    fn learn(&self, rate: f32) {
        let before = self.rate();
        let now = if rate >= before {
            rate
        } else {
            before - (before - rate) / 16.0
        };
        self.0.store(now.max(f32::MIN_POSITIVE).to_bits(), Relaxed);
    }
}

/// The speed of a running loop, as its thread sees it.
pub(super) struct Pace {
    site: &'static Site,
    /// Ticks per item, as of lately; 0 if unknown.
    rate: Cell<f32>,
    /// When the clock was last read.
    last: Cell<u64>,
    /// What was measured in all.
    ticks: Cell<u64>,
    items: Cell<f32>,
    ticks_per_us: f32,
    /// Whether the clock is read at all.
    clocked: bool,
}

impl Pace {
    /// The pace of a loop that begins, with what is known from earlier runs.
    #[inline]
    pub(super) fn begin(site: &'static Site) -> Pace {
        Pace::at_rate(site, site.rate())
    }

    /// The pace of a part that was handed to this thread.
    pub(super) fn at_rate(site: &'static Site, rate: f32) -> Pace {
        Pace {
            site,
            rate: Cell::new(rate),
            last: Cell::new(0),
            ticks: Cell::new(0),
            items: Cell::new(0.0),
            ticks_per_us: demand::ticks_per_us() as f32,
            clocked: true,
        }
    }

    /// The same, without looking at the clock in most runs.
    ///
    /// For loops of few dear items. They are often recursive: the same code runs for the root, where an item is half of
    /// everything, and for the leaves, where a reading of the clock would be most of the cost.
    pub(super) fn rarely_clocked(self) -> Pace {
        thread_local! { static RUNS: Cell<u8> = const { Cell::new(0) } }
        let run = RUNS.get();
        RUNS.set(run.wrapping_add(1));
        Pace {
            clocked: run.is_multiple_of(16),
            ..self
        }
    }

    #[inline]
    pub(super) fn site(&self) -> &'static Site {
        self.site
    }

    #[inline]
    pub(super) fn rate(&self) -> f32 {
        self.rate.get()
    }

    /// Is anything known about the cost of an item?
    #[inline]
    pub(super) fn is_known(&self) -> bool {
        self.rate.get() > 0.0
    }

    /// How long `items` would take, in microseconds. 0 if unknown.
    #[inline]
    pub(super) fn estimate_us(&self, items: f32) -> f32 {
        self.rate.get() * items / self.ticks_per_us
    }

    /// The same in ticks.
    #[inline]
    pub(super) fn estimate_ticks(&self, items: f32) -> u64 {
        (self.rate.get() * items) as u64
    }

    /// An item alone takes a good part of a block, so that a loop over few of them must be cut before it begins.
    #[inline]
    pub(super) fn items_are_dear(&self) -> bool {
        self.estimate_us(1.0) > BLOCK_US as f32 / 2.0
    }

    /// So short that it is not worth a reading of the clock.
    #[inline]
    pub(super) fn is_tiny(&self, items: f32) -> bool {
        self.estimate_us(items) < TINY_US as f32
    }

    /// Long enough to be cut further.
    #[inline]
    pub(super) fn is_worth_a_cut(&self, items: f32) -> bool {
        self.estimate_us(items) > WORTH_A_CUT_US as f32
    }

    /// Should a loop that has run alone so far, with `items` ahead, be offered to others now?
    #[inline]
    pub(super) fn should_share(&self, items: f32) -> bool {
        let us = self.estimate_us(items);
        us > WORTH_A_WAKE_US as f32 || (us > WORTH_A_CUT_US as f32 && somebody_may_be_hungry())
    }

    /// How many items make the next block, after one of `previous`, with `ahead` left to do.
    ///
    /// A block is at most eight times as long as the one before: a few cheap items prove little about all others.
    #[inline]
    pub(super) fn next_block(&self, previous: usize, ahead: usize) -> usize {
        let by_time = BLOCK_US as f32 * self.ticks_per_us / self.rate.get();
        let longest = previous.saturating_mul(8).min(ahead);
        // A float that is too large becomes the largest integer.
        (by_time as usize).clamp(1, longest)
    }

    /// Begins to measure.
    #[inline]
    pub(super) fn start(&self) {
        if self.clocked {
            self.last.set(demand::ticks());
        }
    }

    /// Has anything been measured in this run, on this thread?
    #[inline]
    pub(super) fn has_measured(&self) -> bool {
        self.items.get() > 0.0
    }

    /// How many items have been measured.
    #[inline]
    pub(super) fn items_measured(&self) -> f32 {
        self.items.get()
    }

    /// Takes in that `items` have been done since the last reading.
    #[inline]
    pub(super) fn note(&self, items: f32) {
        if !self.clocked {
            return;
        }
        let now = demand::ticks();
        // Clocks of different CPUs may disagree a little.
        let ticks = now.saturating_sub(self.last.get());
        self.last.set(now);
        self.ticks.set(self.ticks.get() + ticks);
        self.items.set(self.items.get() + items);
        // An upward jump counts at once, because what comes next may be as dear; a downward one by half.
        let (before, measured) = (self.rate.get(), ticks as f32 / items);
        let rate = if measured >= before || before == 0.0 {
            measured
        } else {
            (before + measured) / 2.0
        };
        self.rate.set(rate.max(f32::MIN_POSITIVE));
    }

    /// Remembers what was measured for the next run.
    #[inline]
    pub(super) fn remember(&self) {
        if self.has_measured() {
            self.site.learn(self.ticks.get() as f32 / self.items.get());
        }
    }
}

/// A thread outside of any pool cannot see who is hungry before it enters, so it has to assume that somebody is.
#[inline]
fn somebody_may_be_hungry() -> bool {
    demand::hungry() || current_thread_index().is_none()
}

/// Nobody could help right now: all threads of the pool are busy. Only a thread in a pool can know.
#[inline]
pub(super) fn nobody_is_idle() -> bool {
    current_thread_index().is_some() && !demand::hungry() && !demand::worth_waking(u64::MAX)
}
