//! A hierarchical timer wheel: arming, cancelling and firing a timer take constant time, whatever their number.
//!
//! Time is counted in ticks. Level `l` divides it into slots of `64^l` ticks; the slot of tick `t` has the *position*
//! `t >> 6l`, and is kept at index `position % 128`. A timer sits on the lowest level on which its position is fewer than
//! 128 slots ahead of the present one's, so an index stands for one position only: slots are absolute, and nothing depends on how much
//! time passes between two looks. Eight levels reach 2^49 ticks, more than nanoseconds in 64 bits can express: there is no
//! overflow list.
//!
//! Slots are handled in the order of their starts. A slot of level 0 is a single tick: its timers fire. A slot of a higher level is
//! spread over the levels below when its start is reached. They fit there, because they are at most
//! `64^l` ticks, 64 slots of level `l - 1`, ahead.
//!
//! Spreading ten thousand timers takes a millisecond, which would make all of them late. But an index window is 128
//! slots wide and not 64, so the slot *after* the present one can be spread as well. This is done in portions, some
//! time before the first timer of a crowded slot is due ([`lead`]). A lone timer wakes the driver only when it is due, not
//! when its slot starts: each slot knows a lower bound of its timers' ticks.
//!
//! The wheel links entries that live elsewhere. Its methods are unsafe where the caller vouches for them; all are called
//! under the lock of the shard.

use super::entry::Entry;
use std::ptr;

const LEVELS: usize = 8;
/// Slots that are kept per level: twice the number that a slot of the next level is worth.
const SLOTS: usize = 128;
/// A slot of level `l` is worth `1 << DIGIT * l` ticks.
const DIGIT: usize = 6;
/// How many timers one call spreads early.
const PORTION: usize = 256;

/// The last tick that a timer can have.
pub(super) const LAST_TICK: u64 = (1 << 49) - 1;

/// How many ticks ahead a slot of `count` timers is spread.
fn lead(count: u32) -> u64 {
    /// What one timer may take.
    const NANOS: u64 = 400;
    u64::from(count) * NANOS / super::TICK
}

/// The number of the slot of level `level` in which `tick` is.
fn position(level: usize, tick: u64) -> u64 {
    tick >> (DIGIT * level)
}

/// The first tick of a slot.
fn start(level: usize, position: u64) -> u64 {
    position << (DIGIT * level)
}

fn index(level: usize, position: u64) -> usize {
    level * SLOTS + position as usize % SLOTS
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    head: *const Entry,
    count: u32,
    /// No timer in it is due before this tick.
    soonest: u64,
}

/// The timers of one shard.
#[derive(Debug)]
pub(super) struct Wheel {
    /// Everything up to this tick has been fired or handed out.
    elapsed: u64,
    /// Bit `i` of level `l`: the slot at index `i` has timers.
    occupied: [u128; LEVELS],
    slots: Box<[Slot]>,
}

// SAFETY: whoever has the wheel has the lock of the shard, and with it the right to the entries.
unsafe impl Send for Wheel {}

impl Wheel {
    pub(super) fn new() -> Self {
        let empty = Slot {
            head: ptr::null(),
            count: 0,
            soonest: 0,
        };
        Self {
            elapsed: 0,
            occupied: [0; LEVELS],
            slots: vec![empty; LEVELS * SLOTS].into(),
        }
    }

    /// Up to when timers have been handed out: one that is due by then is not for the wheel.
    pub(super) fn elapsed(&self) -> u64 {
        self.elapsed
    }

    /// Links an entry, and returns when somebody has to look at its slot.
    ///
    /// # Safety
    /// The entry stays where it is until it is removed or handed out, `when` is between `elapsed()` and
    /// [`LAST_TICK`], and nobody else touches the entry's fields meanwhile except under the same lock.
    pub(super) unsafe fn insert(&mut self, entry: &Entry, when: u64) -> u64 {
        debug_assert!((self.elapsed..=LAST_TICK).contains(&when));
        let mut level = 0;
        while position(level, when) - position(level, self.elapsed) >= SLOTS as u64 {
            level += 1;
        }
        let place = index(level, position(level, when));
        let slot = &mut self.slots[place];
        // SAFETY: given by the caller.
        unsafe {
            entry.fields(|fields| {
                fields.when = when;
                fields.slot = place as u16;
                fields.previous = ptr::null();
                fields.next = slot.head;
            });
        }
        // SAFETY: what is linked is an entry of this wheel, alive and under the lock.
        if let Some(second) = unsafe { slot.head.as_ref() } {
            // SAFETY: as above.
            unsafe { second.fields(|fields| fields.previous = entry) };
        }
        slot.head = entry;
        slot.soonest = if slot.count == 0 {
            when
        } else {
            slot.soonest.min(when)
        };
        slot.count += 1;
        self.occupied[level] |= 1 << (place % SLOTS);
        self.look_at(level, position(level, when))
    }

    /// Unlinks an entry, and returns whether its slot is empty now.
    ///
    /// # Safety
    /// The entry is linked in this wheel.
    pub(super) unsafe fn remove(&mut self, entry: &Entry) -> bool {
        // SAFETY: linked entries' fields belong to the holder of the lock.
        let (place, previous, next) = unsafe {
            entry.fields(|fields| (usize::from(fields.slot), fields.previous, fields.next))
        };
        // SAFETY: the neighbours of a linked entry are linked, hence alive.
        if let Some(next) = unsafe { next.as_ref() } {
            // SAFETY: as above.
            unsafe { next.fields(|fields| fields.previous = previous) };
        }
        // SAFETY: as above.
        match unsafe { previous.as_ref() } {
            // SAFETY: as above.
            Some(previous) => unsafe { previous.fields(|fields| fields.next = next) },
            None => self.slots[place].head = next,
        }
        self.slots[place].count -= 1;
        if self.slots[place].count == 0 {
            self.occupied[place / SLOTS] &= !(1 << (place % SLOTS));
        }
        self.slots[place].count == 0
    }

    /// Unlinks and returns a timer that is due at `now`; `None` if there is none left, and then it is `now`.
    ///
    /// They come in the order of their ticks.
    pub(super) fn pop_due(&mut self, now: u64) -> Option<*const Entry> {
        while let Some((level, position)) = self.first_slot() {
            let start = start(level, position);
            if start > now {
                break;
            }
            // The slot may have started before: then it is one that was filled in its own time.
            self.elapsed = self.elapsed.max(start);
            let place = index(level, position);
            if level == 0 {
                let entry = self.slots[place].head;
                // SAFETY: an occupied slot has a first entry, which is linked.
                unsafe { self.remove(&*entry) };
                return Some(entry);
            }
            self.spread(place, usize::MAX);
        }
        self.elapsed = self.elapsed.max(now);
        None
    }

    /// Any timer at all, unlinked.
    pub(super) fn pop_any(&mut self) -> Option<*const Entry> {
        let (level, position) = self.first_slot()?;
        let entry = self.slots[index(level, position)].head;
        // SAFETY: an occupied slot has a first entry, which is linked.
        unsafe { self.remove(&*entry) };
        Some(entry)
    }

    /// Spreads a portion of a crowded slot before its time. Returns whether there is more to do at once.
    ///
    /// To be called with everything due handed out.
    pub(super) fn spread_early(&mut self) -> bool {
        for level in 1..LEVELS {
            let next = position(level, self.elapsed) + 1;
            let place = index(level, next);
            if self.occupied[level] & 1 << (place % SLOTS) == 0 {
                continue;
            }
            let slot = &self.slots[place];
            if slot.soonest.saturating_sub(lead(slot.count)) <= self.elapsed {
                self.spread(place, PORTION);
                return true;
            }
        }
        false
    }

    /// When somebody has to look again, `u64::MAX` for never.
    pub(super) fn next_look(&self) -> u64 {
        let mut next = u64::MAX;
        for level in 0..LEVELS {
            if let Some(position) = self.first_of(level) {
                next = next.min(self.look_at(level, position));
            }
        }
        next
    }

    /// When somebody has to look at an occupied slot: in time to spread it, or to fire it.
    fn look_at(&self, level: usize, position: u64) -> u64 {
        let look = if level == 0 {
            position
        } else {
            let slot = &self.slots[index(level, position)];
            // Before the slot ahead of it has begun it cannot be spread.
            let early = slot.soonest.saturating_sub(lead(slot.count));
            early.max(start(level, position - 1))
        };
        look.max(self.elapsed + 1)
    }

    /// The first occupied slot of a level.
    fn first_of(&self, level: usize) -> Option<u64> {
        let present = position(level, self.elapsed);
        let ahead = self.occupied[level].rotate_right((present % SLOTS as u64) as u32);
        (ahead != 0).then(|| present + u64::from(ahead.trailing_zeros()))
    }

    /// The level and position of the occupied slot that starts first; the higher level's of two that start together.
    fn first_slot(&self) -> Option<(usize, u64)> {
        (0..LEVELS)
            .rev()
            .filter_map(|level| Some((level, self.first_of(level)?)))
            .min_by_key(|&(level, position)| start(level, position))
    }

    /// Moves up to `portion` timers of a slot to the levels below.
    fn spread(&mut self, place: usize, portion: usize) {
        for _ in 0..portion {
            let entry = self.slots[place].head;
            // SAFETY: the head of a list is null or linked.
            let Some(entry) = (unsafe { entry.as_ref() }) else {
                return;
            };
            // SAFETY: it is linked here, and linked again right away; no tick that has elapsed is in the wheel.
            unsafe {
                self.remove(entry);
                let when = entry.fields(|fields| fields.when);
                self.insert(entry, when);
            }
        }
    }
}
