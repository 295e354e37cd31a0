//! How fast a loop runs, and what that says about cutting it.
//!
//! All times are in ticks of the engine's clock, or in microseconds where they are compared with a constant: what a tick is differs
//! from CPU to CPU. A reading costs about 10 ns, so there is one every 2 us or so, and there are three in a loop too short for that.
//!
//! [`Site`] remembers what an item costs from one run of a loop to the next. There is one per loop in the program: the key is the address of
//! the loop's compiled code.

use crate::engine::demand::{self, ByCode, Entry};
use crate::engine::rules::{
    LOOP_BLOCK_US as BLOCK_US, LOOP_WORTH_A_CUT_US as WORTH_A_CUT_US, WORTH_SHARING_US as SHORT_US,
    is_loop_worth_sharing,
};
use crate::engine::{AtomicU64, checkpoint};
use std::cell::Cell;
use std::sync::atomic::Ordering::Relaxed;

/// How long a loop must have run before its own measurements are trusted. The first items of a loop are often slow for
/// reasons that soon pass: code and data that are not in the caches yet.
const TRUSTED_AFTER_US: f32 = 5.0;

/// A block is run in parts of about this length, to see whether it is still what it was taken for.
const PART_US: f32 = BLOCK_US / 4.0;

/// Where a reading of the clock is slow, there are so many times as long as one takes from one to the next.
const READINGS: f32 = 32.0;

/// What is cut takes at least so many times as long as the cut. Those of slices take some nanoseconds; a user's own may copy half of what is left.
const CUTS: f32 = 8.0;

/// A cut counts in its block if a part takes less than so many times as long.
const FEW_CUTS: f32 = 64.0;

/// One shorter than this is so short that further readings of the clock would count.
const TINY_US: f32 = 2.0;

/// A run shorter than this that was much slower than usual was probably disturbed.
const DISTURBED_US: f32 = 14.0;

/// A longer one, if its items seem to be so many times as dear as any before, and its thread may have been without a CPU meanwhile.
const OUTLIER: f32 = 8.0;

/// A thread that has lost its CPU has it back within this, or so seldom later that what comes of it is no matter.
const ACCIDENT_US: f32 = 100_000.0;

/// A loop is long if it takes so many times what is worth a wake.
const LONG: f32 = 10.0;

/// A loop of unknown cost that can be cut into no more than this many pieces is offered at once: the first of them would already be too
/// large a part of it.
pub(super) const FEW: usize = 64;

/// Items of less than this are tiny, and so is whatever loops are in them.
const TINY_ITEM_US: f32 = 0.5;

/// What it takes to offer an item by itself, and to have it back from a thief, is less than this.
const SHARED_ITEM_US: f32 = 4.0;

const SITES: usize = 4096;

/// What is known about the items of one loop: two `f32`s, in ticks per item. The low half is a moving average. The high half
/// is a maximum that fades slowly, because taking a loop of dear items for one of cheap ones loses parallelism; it is negative if the last
/// run was an outlier that was not believed. All 0 if the loop never ran.
pub(super) struct Site(AtomicU64);

static KNOWN: ByCode<Site, SITES> = ByCode::new([const { Entry::new(Site::new()) }; SITES]);

impl Site {
    const fn new() -> Site {
        Site(AtomicU64::new(0))
    }

    /// The entry of the loop whose code is at `address`.
    #[inline]
    pub(super) fn of(address: usize) -> &'static Site {
        KNOWN.of(address)
    }

    /// One whose items have taken so many microseconds.
    #[cfg(test)]
    pub(super) fn of_items(us: f32) -> Site {
        let site = Site::new();
        site.set(in_ticks(us), in_ticks(us));
        site
    }

    /// Average and maximum.
    #[inline]
    fn rates(&self) -> (f32, f32) {
        let (average, most) = self.entry();
        (average, most.abs())
    }

    #[inline]
    fn entry(&self) -> (f32, f32) {
        let both = self.0.load(Relaxed);
        (
            f32::from_bits(both as u32),
            f32::from_bits((both >> 32) as u32),
        )
    }

    fn set(&self, average: f32, most: f32) {
        let bits = u64::from(average.to_bits()) | (u64::from(most.to_bits()) << 32);
        self.0.store(bits, Relaxed);
    }

    /// A run of `ticks` has found items of this `rate`: does that say more about the machine than about them? Not if it is `sure`.
    ///
    /// A thread that loses its CPU in the middle of a tiny loop sees an item of milliseconds. If that were believed, the next few hundred runs would be shared,
    /// at a hundred times their cost. Items that really are dear are so the next time, too, so nothing is disbelieved twice.
    fn is_doubtful(&self, ticks: f32, rate: f32, sure: impl FnOnce() -> bool) -> bool {
        let (average, most) = self.entry();
        let is_outlier = average > 0.0 && is_outlier(ticks, rate, most);
        is_outlier && most > 0.0 && ticks < in_ticks(ACCIDENT_US) && !sure()
    }

    /// How many of `items` take about as long as one part of a block, or fewer; `None` if nothing is known.
    #[inline]
    pub(super) fn items_in_a_part(&self, items: usize) -> Option<usize> {
        let (average, _) = self.rates();
        let (part, all) = (in_ticks(part_us()), average * items as f32);
        if all <= part {
            return (average > 0.0).then_some(items);
        }
        Some((items as f32 * (part / all)) as usize)
    }

    /// Is a run over `items` of them expected to be short? `false` if nothing is known.
    #[inline]
    pub(super) fn is_short(&self, items: f32) -> bool {
        let (average, _) = self.rates();
        average > 0.0 && average * items < in_ticks(SHORT_US)
    }

    /// Is a run over `items` of them taken for one so short that what sharing costs, which it has measured with them, could be most of it? Of few items each may have been cut
    /// off by itself.
    #[inline]
    pub(super) fn may_be_shorter(&self, items: f32) -> bool {
        let (average, _) = self.rates();
        let may_be_cuts = items <= FEW as f32 && average < in_ticks(SHARED_ITEM_US);
        average > 0.0 && (may_be_cuts || is_still_short(average * items))
    }

    /// How many items are tiny together; 0 if nothing is known, or one of them may be dear.
    #[inline]
    pub(super) fn tiny_items(&self) -> usize {
        let (average, most) = self.rates();
        if average > 0.0 && most < in_ticks(SHORT_US) / 4.0 {
            // A float that is too large becomes the largest integer.
            (in_ticks(TINY_US) / average) as usize
        } else {
            0
        }
    }

    /// Is it time to see whether loops are still what they are taken for? One in sixteen, as a die would have it: of loops that take turns, a count would always hit the same one.
    #[inline]
    pub(super) fn is_to_be_checked() -> bool {
        thread_local! { static RUNS: Cell<u32> = const { Cell::new(0) } }
        let run = RUNS.get();
        RUNS.set(run.wrapping_mul(1_664_525).wrapping_add(1_013_904_223));
        run < 1 << 28
    }

    /// Takes in what a run of `ticks` over `items` has measured that nobody else had a part in.
    pub(super) fn learn_alone(&self, ticks: u64, items: f32) {
        self.learn(ticks, items);
        let (average, most) = self.rates();
        // None of its items can have taken longer than all of them.
        if (ticks as f32) < in_ticks(SHORT_US) / 4.0 && most > ticks as f32 {
            let rate = ticks as f32 / items;
            self.set(average.min(2.0 * rate).max(f32::MIN_POSITIVE), ticks as f32);
        }
    }

    /// The same, for `items` that were begun at `start` and were not to be timed: they may take milliseconds now.
    #[cold]
    #[inline(never)]
    pub(super) fn learn_since(&self, start: u64, items: usize) {
        self.learn_alone(demand::ticks().saturating_sub(start), items as f32);
    }

    /// Takes in what a run of `ticks` over `items` has measured.
    pub(super) fn learn(&self, ticks: u64, items: f32) {
        self.learn_if(ticks, items, || !demand::may_have_lost_its_cpu());
    }

    /// The same. Is it `sure` that it was no accident?
    fn learn_if(&self, ticks: u64, items: f32, sure: impl FnOnce() -> bool) {
        let (average, most) = self.rates();
        let rate = (ticks as f32 / items).max(f32::MIN_POSITIVE);
        // Inner loops on several threads share the entry, and a store takes it away from the others: no news is not worth one. A tiny run is timed so roughly, and disturbed so
        // easily (by such a store, for one), that only a much cheaper one is news.
        let (is_as_usual, harmless) = if is_tiny(ticks as f32) && is_tiny(average * items) {
            (4.0 * rate > average, in_ticks(SHORT_US) / 4.0)
        } else {
            (rate > 0.8 * average && rate < 1.25 * average, 4.0 * average)
        };
        if is_as_usual && most < harmless && self.entry().1 > 0.0 {
            return;
        }
        if self.is_doubtful(ticks as f32, rate, sure) {
            return self.set(average, -most);
        }
        let next = if average == 0.0 {
            (rate, rate)
        } else {
            let disturbed = (ticks as f32) < in_ticks(DISTURBED_US);
            let believed = if disturbed {
                rate.min(2.0 * average)
            } else {
                rate
            };
            let faded = most - (most - rate) / 64.0;
            ((average + believed) / 2.0, faded.max(rate))
        };
        self.set(next.0, next.1);
    }
}

/// Are items of this `rate`, measured for so many `ticks`, much dearer than the dearest so far?
#[inline]
fn is_outlier(ticks: f32, rate: f32, most: f32) -> bool {
    rate > OUTLIER * most && ticks > in_ticks(DISTURBED_US)
}

/// So many microseconds of the engine's clock.
#[inline]
fn in_ticks(us: f32) -> f32 {
    us * demand::ticks_per_us() as f32
}

/// How long a part of a block takes, at least.
#[inline]
fn part_us() -> f32 {
    PART_US.max(READINGS * demand::reading_ns() as f32 / 1e3)
}

/// Would a loop of so many ticks be about as short as it was taken for?
#[inline]
pub(super) fn is_still_short(ticks: f32) -> bool {
    ticks < in_ticks(2.0 * SHORT_US)
}

/// A short loop around those that its thread begins meanwhile. What it has taken from its beginning to a moment inside of one of them is more than that one has taken: as
/// long as all of it is short, an inner loop has no need of a beginning and an end of its own.
pub(super) struct Nest {
    start: u64,
    /// What was around it.
    before: u64,
}

thread_local! {
    /// When the innermost of them began; 0 if there is none.
    static NEST: Cell<u64> = const { Cell::new(0) };
}

impl Nest {
    /// A short loop begins, and ends when this is dropped.
    #[inline]
    pub(super) fn begin(start: u64) -> Nest {
        Nest {
            start,
            before: NEST.replace(start),
        }
    }

    /// When the one began that the calling thread is in.
    #[inline]
    pub(super) fn around() -> Option<u64> {
        let start = NEST.get();
        (start != 0).then_some(start)
    }

    /// It is not short after all. So it is none for the loops that follow either: each of them is timed by itself.
    pub(super) fn end() {
        NEST.set(0);
    }
}

impl Drop for Nest {
    #[inline]
    fn drop(&mut self) {
        // Unless it was not short after all.
        if NEST.get() == self.start {
            NEST.set(self.before);
        }
    }
}

/// Is it too short for more than one look at the clock?
#[inline]
pub(super) fn is_tiny(ticks: f32) -> bool {
    ticks < in_ticks(TINY_US)
}

/// What a part of a loop has measured.
#[derive(Clone, Copy, Default)]
pub(super) struct Measured {
    ticks: u64,
    items: f32,
    outliers: u32,
}

impl Measured {
    fn and(self, other: Measured) -> Measured {
        Measured {
            ticks: self.ticks + other.ticks,
            items: self.items + other.items,
            outliers: self.outliers + other.outliers,
        }
    }
}

/// The speed of a running loop, as its thread sees it.
pub(super) struct Pace {
    site: &'static Site,
    /// Ticks per item, as of lately; 0 if unknown.
    rate: Cell<f32>,
    /// What an item costs on average, by earlier runs, if the loop is long; 0 if it is not, or unknown.
    average: f32,
    /// What an item may cost, from earlier runs.
    most: f32,
    /// What the whole loop would take by the average of earlier runs; 0 if unknown.
    usual: f32,
    /// When the clock was last read.
    last: Cell<u64>,
    /// What the last two cuts have taken, in ticks.
    cuts: Cell<(u64, u64)>,
    /// How long the thread had been busy with others then.
    away: Cell<u64>,
    /// When the thread began to wait for a part of the loop that another one has; 0 if it does not wait.
    waits_since: Cell<u64>,
    /// What was measured in all.
    ticks: Cell<u64>,
    items: Cell<f32>,
    /// Items that were done since, and how often that was not worth a reading of a slow clock.
    unread: Cell<(f32, u32)>,
    ticks_per_us: f32,
    /// More loops like this one will probably follow at once.
    more_to_come: Cell<bool>,
    /// How many parts were outliers; one that no accident can explain counts as two.
    outliers: Cell<u32>,
    /// What parts that other threads have taken have measured.
    elsewhere: Cell<Measured>,
    /// There are more than a [few](FEW) items, and none is known to have been dear.
    may_trust_loops: bool,
}

impl Pace {
    /// The pace of a loop over `items` that begins, with what is known from earlier runs.
    #[inline]
    pub(super) fn begin(site: &'static Site, items: f32) -> Pace {
        let (average, most) = site.rates();
        Pace {
            usual: average * items,
            ..Pace::new(site, items, average, most)
        }
    }

    /// The pace of a part of `items` that was handed to this thread.
    #[inline]
    pub(super) fn at_rate(site: &'static Site, items: f32, rate: f32) -> Pace {
        Pace::new(site, items, rate, rate)
    }

    fn new(site: &'static Site, items: f32, rate: f32, most: f32) -> Pace {
        // What forks and wakes cost is in the average of a short loop, and would keep it where it is.
        let (average, dearest) = site.rates();
        let is_long = average * items > LONG * demand::worth_a_wake() as f32;
        Pace {
            site,
            rate: Cell::new(rate),
            average: if is_long { average } else { 0.0 },
            most,
            usual: 0.0,
            last: Cell::new(0),
            cuts: Cell::new((0, 0)),
            away: Cell::new(demand::ticks_away()),
            waits_since: Cell::new(0),
            ticks: Cell::new(0),
            items: Cell::new(0.0),
            unread: Cell::new((0.0, 0)),
            ticks_per_us: demand::ticks_per_us() as f32,
            more_to_come: Cell::new(false),
            outliers: Cell::new(0),
            elsewhere: Cell::default(),
            may_trust_loops: items > FEW as f32 && dearest < in_ticks(TINY_US),
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

    #[inline]
    fn us(&self, ticks: f32) -> f32 {
        ticks / self.ticks_per_us
    }

    /// How long `items` would take, in microseconds. 0 if unknown.
    #[inline]
    fn estimate_us(&self, items: f32) -> f32 {
        self.us(self.rate.get() * items)
    }

    /// How much work `items` that are still ahead are, for the engine to decide whether somebody should be woken. What is
    /// unknown is taken for long: work that should have been shared and was not costs more than a wake too many.
    #[inline]
    pub(super) fn expected_ticks(&self, items: f32) -> u64 {
        if self.is_known() && !self.more_to_come.get() {
            (self.rate.get() * items) as u64
        } else {
            u64::MAX
        }
    }

    /// Is the loop unknown, or long enough for two readings of the clock?
    #[inline]
    pub(super) fn is_worth_a_clock(&self) -> bool {
        demand::reading_ns() == 0 || self.usual == 0.0 || self.us(self.usual) > 2.0 * part_us()
    }

    /// Does an item alone take a good part of a block, so that few of them are worth sharing before the first is done?
    #[inline]
    pub(super) fn items_are_dear(&self) -> bool {
        self.estimate_us(1.0) > BLOCK_US / 2.0
    }

    /// What to reckon with where a loop is cut, in ticks per item. If items are cheaper than they are on average, dear ones are still to come: cuts and
    /// looks at the clock as fine as those will need are too many now, and yet too few to count in the whole.
    #[inline]
    fn fine_rate(&self) -> f32 {
        self.rate.get().max(self.average)
    }

    /// Long enough to be cut further.
    #[inline]
    pub(super) fn is_worth_a_cut(&self, items: f32) -> bool {
        self.us(self.fine_rate() * items) > WORTH_A_CUT_US.max(self.part_us())
    }

    /// Worth a fork. Where a part cannot be looked at before its end, it is kept shorter than a block.
    #[inline]
    pub(super) fn is_worth_a_fork(&self, items: f32) -> bool {
        self.estimate_us(items) > self.part_us()
    }

    /// How long a part takes, at least, in this loop.
    #[inline]
    fn part_us(&self) -> f32 {
        // Of two: a thread that loses its CPU in the middle of a cut says nothing about the next one.
        let (last, before) = self.cuts.get();
        part_us().max(CUTS * self.us(last.min(before) as f32))
    }

    /// Known from earlier runs to be worth sharing before it begins?
    #[inline]
    pub(super) fn should_share_at_once(&self, items: f32) -> bool {
        let us = self.estimate_us(items);
        let affords_more = || us > READINGS * demand::reading_ns() as f32 / 1e3;
        is_loop_worth_sharing(us, self.worth_a_wake_us(), || {
            let ends_a_row = || demand::ends_a_row((self.rate.get() * items) as u64);
            demand::hungry() || {
                self.more_to_come.set(affords_more() && ends_a_row());
                self.more_to_come.get()
            }
        })
    }

    /// What the engine takes for worth a wake-up. A loop with this much ahead is always offered, so that the engine can wake
    /// somebody if nobody is awake.
    fn worth_a_wake_us(&self) -> f32 {
        self.us(demand::worth_a_wake() as f32)
    }

    /// How many items take that long.
    #[inline]
    pub(super) fn items_in(&self, us: f32) -> usize {
        // A float that is too large becomes the largest integer.
        (us * self.ticks_per_us / self.rate.get()) as usize
    }

    /// Have the items of this run shown to be so tiny, those of earlier ones never been dear, and are there so many, that the loops in them need not be looked at one by one until
    /// this loop is?
    #[inline]
    pub(super) fn trusts_loops(&self) -> bool {
        self.may_trust_loops && self.has_measured() && self.us(self.rate.get()) < TINY_ITEM_US
    }

    /// More than that much work?
    #[inline]
    pub(super) fn is_longer_than(&self, us: f32, items: f32) -> bool {
        self.estimate_us(items) > us
    }

    /// Should a loop that has run alone so far, with `items` ahead, be offered to others now?
    #[inline]
    pub(super) fn should_share(&self, items: f32) -> bool {
        let us = self.estimate_us(items);
        self.us(self.ticks.get() as f32) > TRUSTED_AFTER_US
            && is_loop_worth_sharing(us, self.worth_a_wake_us(), demand::hungry)
    }

    /// How many items make the next block, after one of `previous`, if it may have at most `longest`.
    ///
    /// A block is at most twice as long as the one before: a few cheap items prove little about all others.
    #[inline]
    pub(super) fn next_block(&self, previous: usize, longest: usize) -> usize {
        let longest = previous.saturating_mul(2).min(longest).max(1);
        self.items_in(BLOCK_US.max(self.part_us()))
            .clamp(1, longest)
    }

    /// How many of `items` a block may have while the loop runs alone: a 32nd, however cheap those before it were. If the loop is
    /// an old acquaintance, as many as it takes for the looks at the clock not to count.
    #[inline]
    pub(super) fn longest_alone(&self, items: usize) -> usize {
        let part = (items / 32).max(1);
        if self.usual > 0.0 {
            part.max(self.items_in_a_part())
        } else {
            part
        }
    }

    /// How many items take as long as it needs for a look at the clock not to count.
    #[inline]
    pub(super) fn items_in_a_part(&self) -> usize {
        self.items_in(part_us())
    }

    /// How many of the `items` of a block make its next part: all, if nothing is known.
    #[inline]
    pub(super) fn next_part(&self, items: usize) -> usize {
        if self.is_known() {
            let part = (self.part_us() * self.ticks_per_us / self.fine_rate()) as usize;
            part.max(items / 8).max(1)
        } else {
            items
        }
    }

    /// Begins to measure.
    #[inline]
    pub(super) fn start(&self) {
        self.last.set(demand::ticks());
    }

    /// The thread is about to wait for a part of the loop that another one has. That is nothing its own items take: a loop of tiny ones that was taken for dear, and shared, would
    /// find that they are, and be shared for ever.
    pub(super) fn begin_wait(&self) {
        self.waits_since.set(demand::ticks());
    }

    /// It has waited, if [`begin_wait`](Self::begin_wait) was called.
    #[inline]
    pub(super) fn end_wait(&self) {
        if self.waits_since.get() != 0 {
            let waited = demand::ticks().saturating_sub(self.waits_since.take());
            self.last.set(self.last.get() + waited);
        }
    }

    /// The loop has just been cut. That is nothing its items take, either: it would be cut the finer the dearer that is.
    #[inline]
    pub(super) fn note_cut(&self) {
        if demand::reading_ns() == 0 {
            let now = demand::ticks();
            let took = demand::between(self.last.replace(now), now);
            self.cuts.set((took, self.cuts.get().0));
        }
    }

    /// The same for a cut inside of a block, one of many: if the last one has taken next to nothing, it is not worth a reading.
    #[inline]
    pub(super) fn note_cut_in_block(&self) {
        let (last, _) = self.cuts.get();
        if last == 0 || FEW_CUTS * self.us(last as f32) > self.part_us() {
            self.note_cut();
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
        if demand::reading_ns() == 0 {
            return self.note_at(demand::ticks(), items);
        }
        let (before, times) = self.unread.take();
        let items = before + items;
        // Now and then in any case: what is known may be wrong.
        if !self.is_known() || times == 8 || self.estimate_us(items) > part_us() {
            self.note_at(demand::ticks(), items);
        } else {
            self.unread.set((items, times + 1));
            demand::beat();
            checkpoint();
        }
    }

    /// As [`note`](Self::note), for a reading of the clock that was just taken.
    ///
    /// It is between two blocks: the place to stop, if that is what the caller's token says. Then this unwinds.
    pub(super) fn note_at(&self, now: u64, items: f32) {
        // Before the next wait, which comes after `now`.
        let away = demand::ticks_away();
        demand::beat();
        checkpoint();
        // Clocks of different CPUs may disagree a little.
        let ticks = demand::between(self.last.get(), now);
        self.last.set(now);
        let waited_before = self.away.replace(away);
        let has_waited = waited_before != away;
        // Not what the items have taken.
        let ticks = if has_waited {
            ticks.saturating_sub(away - waited_before)
        } else {
            ticks
        };
        if demand::outlasts_a_wake(ticks) {
            // If it was known to be so, somebody has been woken. If not, what is on offer may sleep on with those who could take it.
            demand::wake_for_forks();
        }
        self.ticks.set(self.ticks.get() + ticks);
        self.items.set(self.items.get() + items);
        // An upward jump counts at once, because what comes next may be as dear; a downward one by half. After a wait for others nothing is where it was, which says nothing about
        // the items: a jump upwards would have the loop cut finer, and wait more often.
        let (before, measured) = (self.rate.get(), ticks as f32 / items);
        if self.outliers.get() < 2 && self.is_outlier(ticks as f32, measured) {
            // Which thread has lost its CPU only that one knows.
            let sure = !demand::may_have_lost_its_cpu();
            self.outliers.set(self.outliers.get() + 1 + u32::from(sure));
        }
        let rate = if measured < before {
            (before + measured) / 2.0
        } else if has_waited && self.is_known() {
            before
        } else {
            measured
        };
        self.rate.set(rate.max(f32::MIN_POSITIVE));
    }

    fn is_outlier(&self, ticks: f32, rate: f32) -> bool {
        self.most > 0.0 && is_outlier(ticks, rate, self.most)
    }

    /// As [`start`](Self::start), for a beginning that lies in the past.
    pub(super) fn start_at(&self, then: u64) {
        self.last.set(then);
    }

    /// Remembers what was measured for the next run.
    pub(super) fn remember(&self) {
        if demand::reading_ns() != 0 {
            let (unread, _) = self.unread.take();
            if unread > 0.0 {
                self.note_at(demand::ticks(), unread);
            }
        }
        let all = self.measured();
        if all.items > 0.0 {
            // A thread may lose its CPU once in a run, but hardly in one part after the other. (None: it was many short ones that were dearer than before.)
            self.site
                .learn_if(all.ticks, all.items, || all.outliers != 1);
        }
    }

    /// What was measured in this run, here and in parts that others have taken.
    fn measured(&self) -> Measured {
        let here = Measured {
            ticks: self.ticks.get(),
            items: self.items.get(),
            outliers: self.outliers.get(),
        };
        here.and(self.elsewhere.get())
    }

    /// What a part that was handed over has measured, for the thread that has handed it over. Nothing, if it was short: then it is mostly what that takes.
    pub(super) fn of_part(&self) -> Measured {
        let measured = self.measured();
        if (measured.ticks as f32) < in_ticks(DISTURBED_US) {
            return Measured::default();
        }
        measured
    }

    /// Takes in what a part has measured that this thread has handed over. Dear items at the end of a loop are all in such parts: who only looked at the parts of its own would take the
    /// loop for a cheap one for ever.
    pub(super) fn take_in(&self, part: Measured) {
        self.elsewhere.set(self.elsewhere.get().and(part));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// So many microseconds, for [`Site::learn`].
    fn us(us: f32) -> u64 {
        in_ticks(us) as u64
    }

    #[test]
    fn loops_that_take_turns_are_all_checked_now_and_then() {
        let fresh = std::thread::spawn(|| {
            for loops in 1..=64 {
                let mut checks = vec![0; loops];
                for _ in 0..1024 {
                    for checks in &mut checks {
                        *checks += u32::from(Site::is_to_be_checked());
                    }
                }
                assert!(
                    checks.iter().all(|checks| (16..=160).contains(checks)),
                    "{loops} take turns, checked {checks:?} times of 1024"
                );
            }
        });
        fresh.join().unwrap();
    }

    #[test]
    fn what_a_thread_waits_for_other_parts_is_not_what_its_items_take() {
        let site: &'static Site = Box::leak(Box::new(Site::new()));
        let begin = demand::ticks();
        let pace = Pace::begin(site, 2.0);
        pace.start();
        pace.begin_wait();
        let waiting = demand::ticks();
        std::thread::sleep(std::time::Duration::from_millis(5));
        let waited = demand::between(waiting, demand::ticks());
        pace.end_wait();
        pace.note_at(demand::ticks(), 1.0);
        let rest = demand::between(begin, demand::ticks()) - waited;
        assert!(pace.ticks.get() <= rest, "{} of {rest}", pace.ticks.get());
    }

    #[test]
    fn a_loop_of_tiny_items_that_was_taken_for_a_longer_one_is_seen_to_be_tiny_when_it_runs_alone()
    {
        let site = Site::new();
        // As a run that was shared sees it.
        (0..100).for_each(|_| site.learn(us(9.0), 10.0));
        assert!(!site.is_short(10.0) && site.may_be_shorter(10.0));
        // Half of ten tiny items, cut off one by one by this thread, while another one did the same with the other half.
        (0..100).for_each(|_| site.learn(us(7.4), 5.0));
        assert!(!site.is_short(10.0) && site.may_be_shorter(10.0));
        // Of many items many are in each piece.
        assert!(!site.may_be_shorter(100.0));
        site.learn_alone(us(0.1), 10.0);
        assert!(site.is_short(10.0));
        // What takes milliseconds is not run alone to see.
        let dear = Site::new();
        dear.learn(us(9000.0), 10.0);
        assert!(!dear.may_be_shorter(10.0));
    }

    #[test]
    fn what_others_have_measured_counts_as_what_this_thread_has() {
        let site: &'static Site = Box::leak(Box::new(Site::of_items(0.01)));
        let pace = Pace::begin(site, 1000.0);
        pace.ticks.set(us(9.9));
        pace.items.set(990.0);
        let part = Pace::at_rate(site, 10.0, pace.rate());
        part.ticks.set(us(200_000.0));
        part.items.set(10.0);
        part.outliers.set(2);
        pace.take_in(part.of_part());
        // A short one is mostly what it takes to hand it over.
        let short = Pace::at_rate(site, 10.0, pace.rate());
        short.ticks.set(us(10.0));
        short.items.set(10.0);
        pace.take_in(short.of_part());
        let all = pace.measured();
        assert_eq!((all.items, all.outliers), (1000.0, 2));
        pace.remember();
        let (average, most) = site.rates();
        assert!(average > in_ticks(50.0) && most > in_ticks(100.0));
    }

    #[test]
    fn one_item_of_milliseconds_among_thousands_of_tiny_ones_is_an_accident_and_two_are_not() {
        // A thread that has not asked yet does not know whether it has lost its CPU.
        let fresh = std::thread::spawn(|| {
            let site = Site::new();
            (0..100).for_each(|_| site.learn(us(0.6), 10.0));
            let accident = || site.learn(us(4000.0), 10.0);
            accident();
            assert!(site.is_short(10.0), "believed at once");
            // What is as usual again makes the next one a first one.
            site.learn(us(0.6), 10.0);
            assert!(site.entry().1 > 0.0, "still in doubt");
            site.set(site.rates().0, -site.rates().1);
            accident();
            assert!(!site.is_short(10.0), "not believed the second time");
        });
        fresh.join().unwrap();
    }
}
